from loadwatch_formats.terminal import terminal_text


def test_what_a_terminal_would_obey_is_shown_as_what_it_is() -> None:
    assert terminal_text("a\x1b[2J\x9b1m\r\u202eb\n\t葵") == "a\\x1b[2J\\x9b1m\\x0d\\x202eb\n\t葵"

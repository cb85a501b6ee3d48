from loadwatch_collectors.runs.screen.terminal import fit, inside_sequence


def test_nothing_is_drawn_inside_a_sequence_or_a_character() -> None:
    assert inside_sequence(b"text\x1b[1;3")
    assert inside_sequence(b"text\x1b")
    assert inside_sequence("日".encode()[:2])
    assert inside_sequence("é".encode()[:1])
    assert not inside_sequence("日".encode())
    assert not inside_sequence(b"\x1b[31mred\x1b[0m")
    assert not inside_sequence(b"")
    assert not inside_sequence(b"plain\r")


def test_the_line_fits() -> None:
    assert fit("abcdef", 6) == "abcdef"
    assert len(fit("abcdef", 5)) <= 5
    assert fit("abcdef", 5).endswith("…")
    assert fit("日本語", 6) == "日本語"

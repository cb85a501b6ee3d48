from loadwatch_backend.evidence.profiles.reading.limits import Names


def test_a_name_is_taken_as_it_is() -> None:
    names = Names(100)
    assert names.clean("main.(*Server[go.shape.int]).Serve") == "main.(*Server[go.shape.int]).Serve"
    assert names.decode("処理 → 完了".encode()) == "処理 → 完了"
    assert names.cut == 0


def test_what_a_terminal_or_a_page_would_obey_is_replaced() -> None:
    assert Names(100).clean("a\x1b]0;x\x07b\u202ec\nd\ud800") == "a\ufffd]0;x\ufffdb\ufffdc\ufffdd\ufffd"


def test_a_cut_name_differs_where_the_whole_ones_do() -> None:
    names = Names(4)
    assert names.clean("abcdeX") != names.clean("abcdeY")
    assert names.decode(b"abcd" * 1_000_000).startswith("abcd… (")
    assert names.cut == 3

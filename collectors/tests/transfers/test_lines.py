from loadwatch_collectors.transfers.lines import LONGEST_LINE, numbered_lines


def test_lines_are_the_same_however_the_bytes_are_cut() -> None:
    text = b"one\n\ntwo two\nthree"
    expected = [(1, b"one"), (2, b""), (3, b"two two"), (4, b"three")]
    for size in range(1, len(text) + 1):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert list(numbered_lines(pieces)) == expected
    assert list(numbered_lines([])) == []
    assert list(numbered_lines([b"a\n"])) == [(1, b"a")]


def test_a_line_that_is_too_long_is_left_out_and_counted() -> None:
    long = b"x" * (LONGEST_LINE + 1)
    assert list(numbered_lines([b"a\n", long, b"x", b"\nb\n"])) == [(1, b"a"), (2, None), (3, b"b")]
    assert list(numbered_lines([b"a\n" + long + b"\nb"])) == [(1, b"a"), (2, None), (3, b"b")]
    assert list(numbered_lines([long])) == [(1, None)]
    assert list(numbered_lines([b"x" * LONGEST_LINE, b"\n"])) == [(1, b"x" * LONGEST_LINE)]

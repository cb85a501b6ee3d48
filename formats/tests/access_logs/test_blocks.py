import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_formats.access_logs.blocks import BLOCK_BYTES, LONGEST_LINE, LineBlocks


@given(st.lists(st.binary(max_size=20)), st.integers(min_value=1, max_value=9))
def test_however_bytes_are_cut_lines_are_whole(lines: list[bytes], step: int) -> None:
    data = b"\n".join(lines)
    blocks, text = LineBlocks(), ""
    for at in range(0, len(data), step):
        more = blocks.feed(data[at : at + step])
        assert not more or more.endswith("\n")
        text += more
    assert text + blocks.rest() == data.decode("latin-1")
    assert blocks.too_long == 0


@pytest.mark.parametrize("step", [BLOCK_BYTES, 4_096, 65_537])
def test_a_line_of_more_than_a_megabyte_is_left_out_and_counted(step: int) -> None:
    longest, longer = b"a" * LONGEST_LINE, b"b" * (LONGEST_LINE + 1)
    data = b"one\n" + longest + b"\n" + longer + b"\ntwo\n" + longer * 3 + b"\nthree\n" + longer
    blocks, text = LineBlocks(), ""
    for at in range(0, len(data), step):
        text += blocks.feed(data[at : at + step])
    text += blocks.rest()
    assert text == f"one\n{longest.decode()}\ntwo\nthree\n"
    assert blocks.too_long == 3


def test_more_at_once_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="at once"):
        LineBlocks().feed(b"x" * (BLOCK_BYTES + 1))

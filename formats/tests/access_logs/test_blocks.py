import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_formats.access_logs.blocks import BLOCK_BYTES, LONGEST_LINE, SAMPLE_BYTES, LineBlocks, samples_of


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


def cut(data: bytes, step: int = 1 << 16) -> list[bytes]:
    return [data[at : at + step] for at in range(0, len(data), step)]


def test_samples_are_whole_lines_and_nothing_is_lost() -> None:
    lines = [f"line {number}" for number in range(100_000)]
    data = "\n".join(lines).encode()
    begun: list[bytes] = []
    pieces = iter(cut(data))
    samples = samples_of(pieces, begun)
    first = next(samples)
    assert len(first) >= SAMPLE_BYTES - len(lines[-1])
    assert first.split("\n") == lines[: first.count("\n") + 1]
    assert b"".join([*begun, *pieces]) == data


@pytest.mark.parametrize("length", [SAMPLE_BYTES, 3 * SAMPLE_BYTES, LONGEST_LINE + 1, 3 * LONGEST_LINE])
def test_a_line_longer_than_a_sample_is_in_none_unless_there_is_no_other(length: int) -> None:
    long = b"x" * length
    assert list(samples_of(iter(cut(long + b"\none\ntwo")), [])) == ["one\ntwo"]
    assert list(samples_of(iter(cut(b"one\n" + long)), [])) == ["one"]
    alone = list(samples_of(iter(cut(long)), []))
    assert alone == ([long.decode()] if length <= LONGEST_LINE else [])


def test_samples_end_somewhere() -> None:
    begun: list[bytes] = []
    assert len(list(samples_of((b"line\n" * 10_000 for _ in range(10_000)), begun))) < 100
    assert len(begun) < 1_000

import io
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.runs.importers.reading import chunks
from loadwatch_backend.runs.importers.reading.chunks import Chunk, chunks_of_csv, chunks_of_lines, read_up_to


class Dribble(io.RawIOBase):
    """Gives three bytes at a time, as a slow pipe may."""

    def __init__(self, data: bytes) -> None:
        self._source = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._source.read(min(3, size))


def check(found: list[Chunk], data: bytes) -> None:
    assert b"".join(chunk.data for chunk in found) == data
    offset = 0
    for chunk in found:
        assert chunk.offset == offset
        assert chunk.line == data[:offset].count(b"\n") + 1
        offset += len(chunk.data)
    assert [chunk.last for chunk in found] == [False] * (len(found) - 1) + [True] * bool(found) or not found[-1].last


@given(st.lists(st.sampled_from([b"a", b"\n", b'"', b",", b'""', b'"x\ny"'])), st.integers(1, 20))
def test_nothing_is_lost_and_places_are_right(pieces: list[bytes], size: int) -> None:
    data = b"".join(pieces)
    check(list(chunks_of_lines(io.BytesIO(data), size)), data)
    check(list(chunks_of_csv(io.BytesIO(data), size)), data)


@given(
    st.lists(st.lists(st.sampled_from(["a", 'say ""x""', "two\nlines", ""]), min_size=1, max_size=3)),
    st.integers(1, 30),
)
def test_quoted_newlines_stay_inside(records: list[list[str]], size: int) -> None:
    data = "".join(",".join(f'"{field}"' for field in record) + "\n" for record in records).encode()
    for chunk in chunks_of_csv(io.BytesIO(data), size):
        assert chunk.data.count(b'"') % 2 == 0
        assert chunk.data.endswith(b"\n")


def test_a_quote_without_end_does_not_hold_the_whole_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "LONGEST_RECORD", 1_000)
    data = b'"never closed\n' + b"1,2,3\n" * 10_000
    found = list(chunks_of_csv(io.BytesIO(data), 100))
    assert b"".join(chunk.data for chunk in found) == data
    assert max(len(chunk.data) for chunk in found) <= 1_200


@pytest.mark.parametrize("stream", [io.BytesIO(b"abcdefgh"), Dribble(b"abcdefgh")])
def test_short_reads_are_put_together(stream: BinaryIO) -> None:
    assert [read_up_to(stream, 5), read_up_to(stream, 5), read_up_to(stream, 5)] == [b"abcde", b"fgh", b""]

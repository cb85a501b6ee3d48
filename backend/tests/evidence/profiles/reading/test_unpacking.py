import gzip

import pytest
from loadwatch_backend.evidence.profiles.model import ProfileLimitError, UnreadableProfileError
from loadwatch_backend.evidence.profiles.reading.read import unpacked


def test_what_is_not_compressed_stays_as_it_is() -> None:
    assert unpacked(b"abc", 10) == b"abc"


def test_members_one_after_another_are_one_content() -> None:
    assert unpacked(gzip.compress(b"abc") + gzip.compress(b"def") + b"\0" * 8, 10) == b"abcdef"


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = gzip.compress(bytes(50_000_000))
    assert len(bomb) < 60_000
    with pytest.raises(ProfileLimitError, match="more than 1 MiB after decompression"):
        unpacked(bomb, 1 << 20)


def test_as_many_members_as_anyone_likes_are_not_unpacked() -> None:
    with pytest.raises(UnreadableProfileError, match="follow the gzip stream"):
        unpacked(gzip.compress(b"") * 100, 10)


@pytest.mark.parametrize("end", [5, 12, 20])
def test_a_cut_stream_says_so(end: int) -> None:
    with pytest.raises(UnreadableProfileError, match="cut off"):
        unpacked(gzip.compress(b"abcdefghijklmnop" * 100)[:end], 10_000)


def test_damage_says_so() -> None:
    data = bytearray(gzip.compress(b"abcdefghijklmnop" * 100))
    data[-6] ^= 1
    with pytest.raises(UnreadableProfileError, match="damaged"):
        unpacked(bytes(data), 10_000)

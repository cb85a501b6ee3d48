import pytest
from loadwatch_formats import gob


def test_time_with_and_without_an_offset_in_seconds() -> None:
    raw = bytes([1, 0, 0, 0, 0x0E, 0xE2, 0x93, 0x58, 0xEA, 0x39, 0xA4, 0x78, 0x6A, 0, 0])
    assert gob.time_ns(raw) == 1795252714967080042
    assert gob.time_ns(b"\2" + raw[1:] + b"\x1e") == 1795252714967080042
    with pytest.raises(gob.GobError):
        gob.time_ns(b"\3" + raw[1:])


@pytest.mark.parametrize(
    ("raw", "value"),
    [(b"\x00", 0), (b"\x01", -1), (b"\x02", 1), (b"\xff\x80", 64), (b"\xfe\x01\x00", 128), (b"\xff\xff", -128)],
)
def test_integers(raw: bytes, value: int) -> None:
    assert gob.read_int(raw, 0) == (value, len(raw))


def test_values_of_every_type_are_passed_over() -> None:
    types: gob.Types = {
        64: gob.GobType("map", "Header", key=gob.STRING, element=65),
        65: gob.GobType("slice", "", element=gob.STRING),
        66: gob.GobType("struct", "S", (gob.Field("A", gob.COMPLEX), gob.Field("B", 64))),
        67: gob.GobType("struct", "Loop", (gob.Field("Self", 67),)),
    }
    value = b"\x01\x00\x00" + b"\x01\x01" + b"\x01k" + b"\x02\x01a\x01b" + b"\x00"
    assert gob.skip(types, 66, value, 0) == len(value)
    with pytest.raises(gob.GobError, match="deep"):
        gob.skip(types, 67, b"\x01" * 100, 0)
    with pytest.raises(gob.GobError, match="not defined"):
        gob.skip(types, 99, b"\x01", 0)


def test_numbers_that_are_cut_off_or_none() -> None:
    assert gob.read_uint(b"\x07", 0) == (7, 1)
    assert gob.read_uint(b"\xfe\x01\x00", 0) == (256, 3)
    with pytest.raises(IndexError):
        gob.read_uint(b"\xfe\x01", 0)
    with pytest.raises(gob.GobError, match="claims 128 bytes"):
        gob.read_uint(b"\x80" * 200, 0)


def test_times_since_the_year_one() -> None:
    zone_free = b"\x01" + (gob.UNIX_OF_YEAR_ONE + 5).to_bytes(8, "big") + (7_000_000).to_bytes(4, "big") + b"\xff\xff"
    assert gob.time_ns(zone_free) == 5_007_000_000
    with pytest.raises(gob.GobError, match="binary form"):
        gob.time_ns(b"\x01\x02\x03")


def test_messages_are_the_same_whatever_the_pieces() -> None:
    data = b"\x02\x02\x07" + b"\x03\xff\x80\x05" + b"\x09\x02"
    for size in (1, 2, len(data)):
        stream = gob.GobStream()
        found = [message for at in range(0, len(data), size) for message in stream.feed(data[at : at + size])]
        assert found == [gob.Message(1, b"\x02\x07", 1, 0), gob.Message(64, b"\xff\x80\x05", 2, 3)]
        assert (stream.offset, stream.left) == (7, 2)


def test_nothing_is_read_behind_an_absurd_length() -> None:
    stream = gob.GobStream()
    messages = stream.feed(b"\x02\x02\x07" + b"\xf8" + b"\xff" * 8 + b"x")
    assert next(messages).offset == 0
    with pytest.raises(gob.GobError, match="claims"):
        next(messages)
    assert (stream.offset, stream.left) == (3, 10)

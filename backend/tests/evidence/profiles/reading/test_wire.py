import pytest
from loadwatch_backend.evidence.profiles.reading.read import WireError, fields, signed


def test_fields_in_their_order() -> None:
    data = b"\x08\x96\x01\x12\x02hi\x1d\x01\x00\x00\x00\x21\x02" + bytes(7)
    assert list(fields(data)) == [(1, 0, 150, 0), (2, 2, 5, 7), (3, 5, 1, 0), (4, 1, 2, 0)]


@pytest.mark.parametrize("data", [b"\x00", b"\x08", b"\x12\x05hi", b"\x0b", b"\x08" + b"\xff" * 11, b"\x1d\x00"])
def test_what_is_no_message(data: bytes) -> None:
    with pytest.raises(WireError):
        list(fields(data))


def test_numbers_below_zero() -> None:
    assert signed((1 << 64) - 3) == -3
    assert signed(3) == 3

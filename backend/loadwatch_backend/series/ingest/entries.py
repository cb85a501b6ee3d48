"""How many things an encoded WriteRequest holds, counted before any object is made of them. Pure.

Two bytes of the wire format can be an object of hundreds: 375 kB of empty metadata took 2.5 GB. So series, labels,
samples, exemplars, histograms, metadata and fields that nobody knows are counted alike, and too many are refused.
The count never goes beyond what protobuf would make of the same bytes: where they stop being the wire format the walk
ends, since protobuf refuses them there.
"""

from collections.abc import Mapping

from loadwatch_backend.series.ingest.errors import TooManyEntriesError

_VARINT, _FIXED64, _BYTES, _GROUP, _GROUP_END, _FIXED32 = range(6)
_LONGEST_VARINT = 10

Shape = Mapping[int, "Shape"]
"""Which fields of a message are messages, and their shapes."""


class Entries:
    """What one request may still hold.

    Attributes:
        left: entries that are left of `most`.
    """

    __slots__ = ("left", "most")

    def __init__(self, most: int) -> None:
        self.most = most
        self.left = most

    def take(self, count: int) -> None:
        """Some more entries were found.

        Raises:
            TooManyEntriesError: they are more than the request may hold.
        """
        self.left -= count
        if self.left < 0:
            raise TooManyEntriesError(
                f"the request has more than {self.most} entries (series, labels, samples, exemplars, histograms and"
                " metadata together); send fewer samples per request"
            )

    def take_series(self, data: bytes, begin: int, end: int) -> None:
        """Count the fields of one series.

        Raises:
            TooManyEntriesError: they are more than the request may hold.
        """
        self.take(_count(data, begin, end, self.left))

    def take_request(self, data: bytes, series: int = 1) -> None:
        """Count the fields of a whole request and those of its series, which are its field of number `series`.

        Raises:
            TooManyEntriesError: they are more than the request may hold.
        """
        position, end = 0, len(data)
        while position < end:
            self.take(1)
            tag = data[position]
            if tag & 0x87 == _BYTES and position + 1 < end and data[position + 1] < 0x80:
                begin, number = position + 2, tag >> 3
                position = begin + data[position + 1]
            else:
                begin, position, number = _field(data, position, end)
            if number == series and position <= end:
                self.take_series(data, begin, position)

    def take_message(self, data: bytes, shape: "Shape") -> None:
        """Count the fields of a message and of all messages within it; `shape` says which fields those are.

        Raises:
            TooManyEntriesError: they are more than the request may hold.
        """
        waiting = [(0, len(data), shape)]
        while waiting:
            begin, end, within = waiting.pop()
            if not within:
                self.take(_count(data, begin, end, self.left))
                continue
            while begin < end:
                self.take(1)
                content, begin, number = _field(data, begin, end)
                inner = within.get(number)
                if inner is not None and begin <= end:
                    waiting.append((content, begin, inner))


def _count(data: bytes, begin: int, end: int, most: int) -> int:
    """Fields between two places, at most one more than `most`."""
    count = 0
    last = min(end, len(data)) - 1
    while begin < end and count <= most:
        # Nearly all fields have a short tag and a short length: this is half the time of asking `_field`.
        if begin < last and data[begin] & 0x87 == _BYTES and data[begin + 1] < 0x80:
            begin += 2 + data[begin + 1]
        else:
            _, begin, _ = _field(data, begin, end)
        count += 1
    return count


def _field(data: bytes, position: int, end: int) -> tuple[int, int, int]:
    """Where a field's content begins and ends, and its number if that content is bytes (else 0).

    The fields of a group are walked like any others, which can only count too many; what is no field ends beyond `end`.
    """
    tag, position = _varint(data, position, end)
    kind = tag & 7
    if kind == _BYTES:
        length, position = _varint(data, position, end)
        return position, position + length, tag >> 3
    if kind == _VARINT:
        _, after = _varint(data, position, end)
    elif kind in (_GROUP, _GROUP_END):
        after = position
    else:
        after = position + (8 if kind == _FIXED64 else 4 if kind == _FIXED32 else end)
    return position, after, 0


def _varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    """A number and where it ends; beyond `end` if it does not end before."""
    number = 0
    for place in range(min(_LONGEST_VARINT, end - position)):
        byte = data[position + place]
        number |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return number, position + place + 1
    return 0, end + 1

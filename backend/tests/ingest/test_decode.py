"""The scan gives what protobuf's own classes give, for any bytes, and refuses the same."""

import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import pytest
from google.protobuf.message import DecodeError
from hypothesis import example, given, settings
from hypothesis import strategies as st
from loadwatch_backend.series.ingest.decode import IngestLimits, decode, decompress
from loadwatch_backend.series.ingest.entries import Entries
from loadwatch_backend.series.ingest.errors import MalformedError, TooManyEntriesError, WriteTooLargeError
from loadwatch_backend.series.store.port import STALE_NAN_BITS
from loadwatch_backend.series.store.remote_pb2 import Label, MetricMetadata, Sample, TimeSeries, WriteRequest

from backend.tests.ingest.writing import NOW_MS, compress, request, series, value_of

LabelSet = tuple[tuple[bytes, bytes], ...]
Row = tuple[LabelSet, int, bytes]
"""Labels, time, and the value bit by bit."""

LIMITS = IngestLimits()
STALE = value_of(STALE_NAN_BITS)


class Senders:
    """Remembers encoded labels as the service does."""

    def __init__(self) -> None:
        self.known: dict[bytes, int] = {}
        self.labels: list[LabelSet] = []

    def decode(self, data: bytes) -> list[Row]:
        columns = decode(data, self.known, LIMITS)
        rows: list[Row] = []
        for number, timestamp, value in zip(
            columns.series.tolist(), columns.timestamps.tolist(), columns.values.tolist(), strict=True
        ):
            place = int(number)
            labels = self.labels[place] if place >= 0 else tuple(columns.fresh[-place - 1].labels)
            rows.append((labels, timestamp, struct.pack("<d", value)))
        for fresh in columns.fresh:
            if fresh.prefix is not None:
                self.known[fresh.prefix] = len(self.labels)
                self.labels.append(tuple(fresh.labels))
        return rows


def reference(data: bytes) -> list[Row]:
    return [
        (
            tuple((label.name, label.value) for label in one.labels),
            sample.timestamp,
            struct.pack("<d", sample.value),
        )
        for one in WriteRequest.FromString(data).timeseries
        for sample in one.samples
    ]


def check(senders: Senders, data: bytes) -> None:
    """The scan and protobuf agree on these bytes, or both refuse them."""
    try:
        expected = reference(data)
    except DecodeError:
        with pytest.raises(MalformedError):
            senders.decode(data)
    else:
        assert senders.decode(data) == expected


texts = st.binary(max_size=6) | st.sampled_from([b"__name__", b"m", b"job", b"\x12\x10\x09", b"\x12\x07\x10"])
labels = st.builds(Label, name=texts, value=texts)
times = st.integers(NOW_MS - 10**9, NOW_MS + 10**9) | st.integers(-(2**63), 2**63 - 1)
values = st.sampled_from([0.0, -0.0, 1.5, STALE, float("inf")]) | st.floats(width=64)
samples = st.builds(Sample, timestamp=times, value=values)
all_series = st.builds(
    TimeSeries,
    labels=st.lists(labels, max_size=3),
    samples=st.lists(samples, max_size=3) | st.lists(samples, min_size=1, max_size=1),
    exemplars=st.lists(st.binary(max_size=3), max_size=1),
    histograms=st.lists(st.binary(max_size=3), max_size=1),
)
metadata = st.builds(MetricMetadata, type=st.integers(0, 9), metric_family_name=texts, help=texts, unit=texts)
requests = st.builds(
    WriteRequest, timeseries=st.lists(all_series, max_size=5), metadata=st.lists(metadata, max_size=2)
).map(WriteRequest.SerializeToString)
unknown_fields = st.sampled_from([b"", b"\x12\x01x", b"\x20\x05", b"\x1a\x00", b"\x0a\x00"])


@given(st.lists(st.tuples(requests, unknown_fields).map(b"".join), max_size=4))
@settings(max_examples=300, deadline=None)
def test_any_request_reads_as_protobuf_reads_it(bodies: Sequence[bytes]) -> None:
    senders = Senders()
    # Twice: the second time most labels are known by their bytes.
    for data in [*bodies, *bodies]:
        check(senders, data)


@given(requests, st.data())
@settings(max_examples=500, deadline=None)
def test_damaged_requests_are_refused_as_protobuf_refuses_them(data: bytes, draw: st.DataObject) -> None:
    senders = Senders()
    check(senders, data)
    damaged = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 3))):
        if damaged:
            place = draw.draw(st.integers(0, len(damaged) - 1))
            damaged[place : place + draw.draw(st.integers(0, 2))] = draw.draw(st.binary(max_size=2))
    check(senders, bytes(damaged))
    check(senders, data[: draw.draw(st.integers(0, len(data)))])


@given(st.binary(max_size=200))
@example(b"\x0a\xff\xff\xff\xff\x0f")
@example(b"\x0a")
@example(b"\x0a\x05")
@example(b"\x0a\x03\x12\x10\x09")
@settings(max_examples=300, deadline=None)
def test_garbage_is_refused_as_protobuf_refuses_it(data: bytes) -> None:
    senders = Senders()
    senders.decode(request(series({"__name__": "m"}, (NOW_MS, 1.0))))
    check(senders, data)


@given(st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_garbage_raises_nothing_but_our_errors(data: bytes) -> None:
    with suppress(MalformedError, WriteTooLargeError):
        decode(decompress(data, 1 << 20), {}, LIMITS)


def test_labels_seen_before_need_no_parsing() -> None:
    senders = Senders()
    host = {"__name__": "m", "host": "a"}
    senders.decode(request(series(host, (NOW_MS, 1.5)), series({"__name__": "n"}, (NOW_MS, 2.5))))
    again = decode(
        request(
            series({"__name__": "n"}, (NOW_MS + 1, 0.0)),
            series(host, (NOW_MS + 1, STALE)),
            series(host, (NOW_MS + 2, 1.0), (NOW_MS + 3, 0.0), (NOW_MS + 4, 2.0)),
        ),
        senders.known,
        LIMITS,
    )
    assert again.fresh == []
    assert again.series.tolist() == [1, 0, 0, 0, 0]
    assert (again.timestamps - NOW_MS).tolist() == [1, 1, 2, 3, 4]
    assert again.values.view("u8")[1] == STALE_NAN_BITS
    assert again.values[[0, 2, 3, 4]].tolist() == [0.0, 1.0, 0.0, 2.0]


def test_a_tail_that_is_not_a_sample_is_not_taken_for_one() -> None:
    senders = Senders()
    data = request(series({"__name__": "m"}, (NOW_MS, 1.5)))
    senders.decode(data)
    # The last byte of the time says that another follows.
    broken = data[:-1] + bytes([data[-1] | 0x80])
    check(senders, broken)
    # The field's number and type say something else than "time".
    other = data[:-7] + b"\x18" + data[-6:]
    check(senders, other)
    assert senders.decode(other) == [(((b"__name__", b"m"),), 0, struct.pack("<d", 1.5))]


def test_exemplars_and_histograms_are_counted_and_metadata_is_read() -> None:
    one = series({"__name__": "m"}, (NOW_MS, 1.0))
    one.exemplars.append(b"x")
    two = TimeSeries(labels=one.labels, histograms=[b"h", b"h"])
    entry = MetricMetadata(type=1, metric_family_name=b"m", help=b"Help.", unit=b"seconds")
    columns = decode(request(one, two, metadata=[entry]), {}, LIMITS)
    assert (columns.exemplars, columns.histograms) == (1, 2)
    assert columns.metadata == ((1, b"m", b"Help.", b"seconds"),)
    assert len(columns.series) == 1


def test_a_long_label_set_is_read() -> None:
    labels = {"__name__": "m", **{f"label_{number}": "x" * 400 for number in range(50)}}
    senders = Senders()
    data = request(series(labels, (NOW_MS, 1.0)), series({"__name__": "m"}, (NOW_MS, 2.0)))
    check(senders, data)
    check(senders, data)


ONE = request(series({"__name__": "m"}, (NOW_MS, 1.0)))
SAMPLE = Sample(timestamp=NOW_MS, value=1.0).SerializeToString()


def field(tag: int, content: bytes) -> bytes:
    """A field of bytes as it is on the wire."""
    size = len(content)
    length = bytearray()
    while size > 0x7F:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([tag, *length, size]) + content


def one_series(content: bytes) -> bytes:
    """A request of one series with a name, this content and a sample."""
    return field(0x0A, field(0x0A, b"\x0a\x08__name__\x12\x01m") + content + field(0x12, SAMPLE))


MANY = 20_000
REPEATED = {
    "series": ONE * MANY,
    "empty series": b"\x0a\x00" * MANY,
    "empty metadata": b"\x1a\x00" * MANY,
    "empty labels": one_series(b"\x0a\x00" * MANY),
    "samples": one_series(field(0x12, SAMPLE) * MANY),
    "empty samples": one_series(b"\x12\x00" * MANY),
    "exemplars": one_series(b"\x1a\x00" * MANY),
    "histograms": one_series(b"\x22\x00" * MANY),
    "unknown numbers of a series": one_series(b"\x28\x05" * MANY),
    "unknown texts of a series": one_series(b"\x2a\x00" * MANY),
    "unknown numbers": b"\x20\x05" * MANY,
    "unknown texts": b"\x22\x00" * MANY,
    "unknown of four bytes": b"\x25abcd" * MANY,
    "unknown of eight bytes": b"\x21abcdefgh" * MANY,
    "unknown groups": b"\x23\x24" * MANY,
    "tags in more bytes than they need": b"\x9a\x80\x00\x00" * MANY,
    "lengths in more bytes than they need": b"\x1a\x80\x00" * MANY,
    "after a group with a broken series": b"\x23\x0a\x01\xff\x24" + b"\x1a\x00" * MANY,
    "in many series": one_series(b"\x0a\x00" * 9) * (MANY // 10),
}


@pytest.mark.parametrize("known", [False, True], ids=["labels unknown", "labels known"])
@pytest.mark.parametrize("what", REPEATED)
def test_whatever_is_repeated_is_counted_before_objects_are_made_of_it(what: str, *, known: bool) -> None:
    senders = Senders()
    if known:
        senders.decode(ONE)
    data = REPEATED[what]
    decode(data, senders.known, replace(LIMITS, entries=4 * MANY))
    with pytest.raises(TooManyEntriesError, match=r"more than 19000 entries.*send fewer samples"):
        decode(data, senders.known, replace(LIMITS, entries=MANY - 1000))


@given(requests, unknown_fields, st.booleans())
@settings(max_examples=300, deadline=None)
def test_nothing_that_protobuf_reads_is_left_uncounted(data: bytes, unknown: bytes, group: bool) -> None:
    request = WriteRequest.FromString(data)
    things = len(request.metadata) + sum(
        1 + len(one.labels) + len(one.samples) + len(one.exemplars) + len(one.histograms) for one in request.timeseries
    )
    entries = Entries(10**6)
    entries.take_request((b"\x23" + unknown + b"\x24" if group else unknown) + data)
    assert 10**6 - entries.left >= things


def test_a_long_series_takes_time_by_its_length() -> None:
    # Once every place was looked up by all bytes before it: 450 GB were copied for these nine megabytes.
    data = one_series(field(0x12, SAMPLE) * 500_000)
    assert len(decode(data, {}, LIMITS).series) == 500_001


def test_metadata_beyond_what_is_remembered_is_not_kept() -> None:
    entries = [MetricMetadata(type=1, metric_family_name=b"m%d" % n, help=b"x" * 5000) for n in range(5)]
    columns = decode(request(metadata=[*entries, entries[0]]), {}, replace(LIMITS, metadata_metrics=3))
    assert [(entry.metric, len(entry.help)) for entry in columns.metadata] == [
        (b"m0", 4096),
        (b"m1", 4096),
        (b"m2", 4096),
    ]
    assert columns.metadata_left_out == 2


def test_a_bomb_is_refused_by_its_announced_size() -> None:
    bomb = compress(b"\0" * (1 << 24))
    assert len(bomb) < 1 << 20
    with pytest.raises(WriteTooLargeError, match="send fewer samples per request"):
        decompress(bomb, 1 << 20)
    with pytest.raises(WriteTooLargeError, match=str(2**32 - 1)):
        decompress(b"\xff\xff\xff\xff\x0f", 1 << 20)


@pytest.mark.parametrize("body", [b"", b"\xff" * 11, b"\x05abc", b"\xff\x06\x00\x00sNaPpY"])
def test_what_is_not_a_snappy_block_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedError, match="snappy"):
        decompress(body, 1 << 20)

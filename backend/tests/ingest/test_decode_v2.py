"""Remote write 2.0: what Prometheus' own codec wrote is read, and hostile references are refused by name."""

import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st
from loadwatch_backend.series.ingest.decode import IngestLimits, decode
from loadwatch_backend.series.ingest.decode_v2 import decode_v2
from loadwatch_backend.series.ingest.errors import MalformedError, TooManyEntriesError
from loadwatch_backend.series.ingest.remote_v2_pb2 import Metadata, Request, Sample, TimeSeries
from loadwatch_backend.series.store.port import STALE_NAN_BITS

from backend.tests.ingest.writing import NOW_MS, request, series, value_of

LIMITS = IngestLimits()
GOLDEN = Path(__file__).parent / "golden" / "write_v2.binpb"
SYMBOLS = [b"", b"__name__", b"m", b"i", b"1"]


def one(refs: Sequence[int], *times: int, **parts: Any) -> TimeSeries:
    return TimeSeries(labels_refs=refs, samples=[Sample(timestamp=time, value=1.0) for time in times], **parts)


def encoded(*all_series: TimeSeries, symbols: Sequence[bytes] = SYMBOLS) -> bytes:
    return Request(symbols=symbols, timeseries=all_series).SerializeToString()


def test_what_prometheus_writes_is_read() -> None:
    columns = decode_v2(GOLDEN.read_bytes(), {}, LIMITS)
    names = [dict(entry.labels)[b"__name__"].decode() for entry in columns.fresh]
    assert names == ["orders_total", "level_bytes", "gone", "answer_seconds_bucket", "native_seconds"]
    assert columns.series.tolist() == [-1, -1, -2, -3, -4]
    assert columns.fresh[0].labels[1] == (b"shop", "東京".encode())
    assert (columns.timestamps - NOW_MS).tolist() == [0, 1000, 0, 0, 0]
    assert columns.values[[0, 1, 2, 4]].tolist() == [1, 2, 0, 5]
    assert columns.values.view("u8")[3] == STALE_NAN_BITS
    assert (columns.exemplars, columns.histograms) == (1, 1)
    assert [tuple(entry) for entry in columns.metadata] == [
        (1, b"orders_total", b"Orders so far.", b""),
        (2, b"level_bytes", b"", b"bytes"),
        (3, b"answer_seconds", b"How long.", b"seconds"),
        (3, b"native_seconds", b"", b""),
    ]


def test_both_versions_know_each_others_series() -> None:
    labels = {"__name__": "m", "i": "1"}
    first = decode(request(series(labels, (NOW_MS, 1.0))), {}, LIMITS)
    second = decode_v2(encoded(one([1, 2, 3, 4], NOW_MS)), {}, LIMITS)
    assert first.fresh[0].prefix == second.fresh[0].prefix is not None
    known = {first.fresh[0].prefix or b"": 7}
    again = decode_v2(encoded(one([1, 2, 3, 4], NOW_MS), symbols=[*SYMBOLS, b"more"]), known, LIMITS)
    assert (again.series.tolist(), again.fresh) == ([7], [])


@pytest.mark.parametrize(
    ("refs", "problem"),
    [
        ([1, 2, 3], "3 label references"),
        ([1, 5], "symbol 5, and the request has 5"),
        ([2**32 - 1, 2], "symbol 4294967295"),
    ],
)
def test_references_that_lead_nowhere_are_named(refs: Sequence[int], problem: str) -> None:
    columns = decode_v2(encoded(one(refs, NOW_MS), one([1, 2], NOW_MS)), {}, LIMITS)
    assert problem in (columns.fresh[0].problem or "")
    assert columns.fresh[1] == replace(columns.fresh[1], problem=None, labels=[(b"__name__", b"m")])


def test_metadata_with_a_reference_that_leads_nowhere_is_left_out() -> None:
    columns = decode_v2(encoded(one([1, 2], NOW_MS, metadata=Metadata(type=1, help_ref=99))), {}, LIMITS)
    assert (columns.series.tolist(), columns.metadata) == ([-1], ())


def test_many_references_to_one_long_symbol_cost_nothing() -> None:
    long = [b"", b"__name__", b"x" * 1_000_000]
    columns = decode_v2(encoded(one([1, 2] * 400_000, NOW_MS), symbols=long), {}, LIMITS)
    assert len(columns.fresh[0].labels) == LIMITS.labels + 1
    columns = decode_v2(encoded(one([1, 2] * 60, NOW_MS), symbols=long), {}, LIMITS)
    assert columns.fresh[0].prefix is None


@pytest.mark.parametrize("what", [b"\x22\x00", b"\x2a\x00", b"\x08\x05"])
def test_whatever_is_repeated_is_counted_before_objects_are_made_of_it(what: bytes) -> None:
    with pytest.raises(TooManyEntriesError):
        decode_v2(what * 5000, {}, replace(LIMITS, entries=4000))
    with pytest.raises(TooManyEntriesError):
        decode_v2(encoded(TimeSeries(samples=[Sample()] * 5000)), {}, replace(LIMITS, entries=4000))


@given(st.binary(max_size=200), st.integers(0, 400))
@settings(max_examples=300, deadline=None)
def test_damage_raises_nothing_but_our_errors(data: bytes, cut: int) -> None:
    for damaged in (data, GOLDEN.read_bytes()[:cut], GOLDEN.read_bytes()[:cut] + data):
        try:
            rows = [
                (struct.pack("<d", sample.value), sample.timestamp)
                for one in Request.FromString(damaged).timeseries
                for sample in one.samples
            ]
        except DecodeError:
            with pytest.raises(MalformedError):
                decode_v2(damaged, {}, LIMITS)
        else:
            columns = decode_v2(damaged, {}, LIMITS)
            found = zip(columns.values.tolist(), columns.timestamps.tolist(), strict=True)
            assert [(struct.pack("<d", value), time) for value, time in found] == rows


def test_a_stale_marker_keeps_its_bits() -> None:
    data = encoded(TimeSeries(labels_refs=[1, 2], samples=[Sample(timestamp=NOW_MS, value=value_of(STALE_NAN_BITS))]))
    assert decode_v2(data, {}, LIMITS).values.view("u8").tolist() == [STALE_NAN_BITS]
    with suppress(MalformedError):
        decode_v2(data[:-1], {}, LIMITS)

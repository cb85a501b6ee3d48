"""A body to the store: what is good is stored, what is bad is named and counted."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from loadwatch_backend.core.errors import LimitError
from loadwatch_backend.series.ingest.decode import IngestLimits
from loadwatch_backend.series.ingest.decode_v2 import decode_v2
from loadwatch_backend.series.ingest.errors import MalformedError, SamplesRejectedError, WriteTooLargeError
from loadwatch_backend.series.ingest.remote_v2_pb2 import Metadata, Request, Sample, TimeSeries
from loadwatch_backend.series.ingest.senders import Senders
from loadwatch_backend.series.ingest.service import IngestService, Push
from loadwatch_backend.series.ingest.validate import Reason
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore, open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Matcher, MatchOperator
from loadwatch_backend.series.store.remote_pb2 import MetricMetadata

from backend.tests.ingest.writing import NOW_MS, body, compress, series, value_of

METRIC = [Matcher("__name__", MatchOperator.EQUAL, "m")]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    store = open_embedded(EmbeddedSettings(data_directory=tmp_path, series_limit=20), lambda: NOW_MS)
    yield store
    store.close()


@pytest.fixture
def service(store: EmbeddedStore) -> IngestService:
    return IngestService(store, IngestLimits(new_series=8), lambda: NOW_MS)


def stored(store: EmbeddedStore, end_ms: int = NOW_MS + 10**9) -> dict[str, list[float]]:
    found = store.select(METRIC, 0, end_ms)
    parts = zip(found.offsets[:-1].tolist(), found.offsets[1:].tolist(), strict=True)
    return {
        labels["i"]: found.values[start:stop].tolist()
        for labels, (start, stop) in zip(found.labels, parts, strict=True)
    }


def wait(push: Push) -> None:
    if push.stored is not None:
        push.stored.result(timeout=120)


def named(number: int | str) -> dict[str, str]:
    return {"__name__": "m", "i": str(number)}


def test_labels_are_counted_as_long_as_they_are_where_a_request_repeats_one_symbol(
    store: EmbeddedStore, service: IngestService
) -> None:
    symbols = ["", "__name__", "m", "i", *(str(number) for number in range(400)), "v" * 4_000]
    symbols += [f"l{number}" for number in range(60)]
    long, name = symbols.index("v" * 4_000), symbols.index("l0")

    def one(number: int, count: int) -> TimeSeries:
        refs = [1, 2, 3, symbols.index(str(number)), *(ref for k in range(count) for ref in (name + k, long))]
        return TimeSeries(labels_refs=refs, samples=[Sample(timestamp=NOW_MS, value=1.0)])

    service.limits = replace(service.limits, request_label_bytes=60_000)
    request = Request(
        symbols=[text.encode() for text in symbols],
        timeseries=[*(one(number, 60) for number in range(300)), one(300, 10), one(301, 10), one(302, 0)],
    )
    push = service.push(compress(request.SerializeToString()), decode_v2)
    wait(push)
    assert service.counts.rejected_samples_total == {Reason.LABELS_TOO_LARGE: 301}
    assert "has at most 65536" in push.refusals()
    assert stored(store) == {"300": [1], "302": [1]}


def test_series_that_come_otherwise_have_the_same_limits(store: EmbeddedStore, service: IngestService) -> None:
    service.senders = Senders(most_active=100, most_new=3)
    service.admit([named(number) for number in range(2)], "archive")
    service.admit([named(number) for number in range(3)], "archive")
    with pytest.raises(LimitError, match="LOADWATCH_STORE_SERIES_LIMIT"):
        service.admit([named(number) for number in range(5)], "archive")
    assert store.statistics().series == 3
    with pytest.raises(LimitError, match="has at most 65536"):
        service.admit([{"__name__": "m", **{f"l{number}": "v" * 4_000 for number in range(20)}}], "archive")
    service.admit([named(number) for number in range(5)], "other")


def test_metadata_is_counted_as_long_as_it_is_where_a_request_repeats_one_text(
    store: EmbeddedStore, service: IngestService
) -> None:
    service.limits = replace(service.limits, metadata_bytes=10_000)
    symbols = [b"", b"__name__", b"i", b"1", b"h" * 4_000, *(b"m%d" % number for number in range(8))]
    request = Request(
        symbols=symbols,
        timeseries=[
            TimeSeries(
                labels_refs=[1, 5 + number, 2, 3],
                samples=[Sample(timestamp=NOW_MS, value=1.0)],
                metadata=Metadata(type=2, help_ref=4),
            )
            for number in range(8)
        ],
    )
    wait(service.push(compress(request.SerializeToString()), decode_v2))
    assert len(store.metadata()) == 2
    assert service.counts.metadata_skipped_total == 6


def test_good_samples_are_stored_again_and_again(store: EmbeddedStore, service: IngestService) -> None:
    for second in range(6):
        push = service.push(body(*(series(named(n), (NOW_MS + second * 1000, n * second * 1.0)) for n in range(3))))
        wait(push)
        push.raise_for_rejected()
    assert stored(store) == {"0": [0] * 6, "1": [0, 1, 2, 3, 4, 5], "2": [0, 2, 4, 6, 8, 10]}
    assert (service.counts.requests_total, service.counts.samples_total) == (6, 18)


def test_what_is_known_of_a_request_is_forgotten_with_its_series(tmp_path: Path) -> None:
    now_ms, hour_ms = [NOW_MS], 3_600_000
    settings = EmbeddedSettings(data_directory=tmp_path, retention_ms=hour_ms, rollup_retention_ms=hour_ms)
    with closing(open_embedded(settings, lambda: now_ms[0])) as it:
        service = IngestService(it, IngestLimits(retention_ms=hour_ms), lambda: now_ms[0])
        for second in range(5):
            wait(service.push(body(series(named("ends"), (NOW_MS + second, 1.0)))))
        now_ms[0] += 4 * hour_ms
        wait(service.push(body(series(named("goes on"), (now_ms[0], 2.0)))))
        it.seal(now_ms[0])
        assert it.apply_retention() == 5
        assert it.generation() == 1
        for second in range(5):
            wait(service.push(body(series(named("ends"), (now_ms[0] + second, 3.0)))))
        assert stored(it, now_ms[0] + hour_ms) == {"ends": [3.0] * 5, "goes on": [2.0]}


def test_special_values_are_stored_bit_by_bit(store: EmbeddedStore, service: IngestService) -> None:
    special = [STALE_NAN_BITS, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000, 0x8000000000000000, 1]
    wait(service.push(body(series(named(0), *((NOW_MS + n, value_of(bits)) for n, bits in enumerate(special))))))
    assert store.select(METRIC, 0, NOW_MS + 100).values.view("u8").tolist() == special


def test_good_samples_beside_bad_ones_are_stored(store: EmbeddedStore, service: IngestService) -> None:
    push = service.push(
        body(
            series(named(0), (NOW_MS, 1.0), (NOW_MS + 366 * 86_400_000, 2.0)),
            series({"i": "nameless"}, (NOW_MS, 1.0)),
            series([*named(1).items(), ("bad", b"\xff")], (NOW_MS, 1.0), (NOW_MS + 1, 1.0)),
            series(named(2), (NOW_MS, 3.0)),
            series(named("only in the future"), (NOW_MS + 366 * 86_400_000, 2.0)),
        )
    )
    wait(push)
    with pytest.raises(SamplesRejectedError) as caught:
        push.raise_for_rejected()
    detail = caught.value.detail
    for part in (
        "5 of 7 samples",
        "no metric name",
        "label bad of m{i='1'",
        "not valid UTF-8",
        "ahead of the server's clock",
    ):
        assert part in detail
    assert caught.value.status == 400
    assert stored(store) == {"0": [1.0], "2": [3.0]}
    assert store.statistics().series == 2
    assert service.counts.rejected_samples_total == {
        Reason.BAD_METRIC_NAME: 1,
        Reason.INVALID_UTF8: 2,
        Reason.TOO_FAR_AHEAD: 2,
    }


def test_only_the_first_few_problems_are_told(service: IngestService) -> None:
    push = service.push(body(*(series({"i": str(n)}, (NOW_MS, 1.0)) for n in range(1000))))
    assert push.stored is None
    with pytest.raises(SamplesRejectedError, match="and 995 more") as caught:
        push.raise_for_rejected()
    assert len(caught.value.detail) < 2000


def test_too_many_new_series_in_one_request(store: EmbeddedStore, service: IngestService) -> None:
    wait(service.push(body(series(named(0), (NOW_MS, 1.0)))))
    push = service.push(body(*(series(named(n), (NOW_MS + 1, 2.0)) for n in range(100_000))))
    wait(push)
    with pytest.raises(SamplesRejectedError, match=r"99999 new series in one request.*send them in smaller requests"):
        push.raise_for_rejected()
    assert stored(store) == {"0": [1.0, 2.0]}
    assert service.counts.rejected_samples_total == {Reason.NEW_SERIES_LIMIT: 99_999}


def test_too_many_series_in_all(store: EmbeddedStore, service: IngestService) -> None:
    for start in (0, 8):
        wait(service.push(body(*(series(named(n), (NOW_MS, 1.0)) for n in range(start, start + 8)))))
    push = service.push(body(*(series(named(n), (NOW_MS + 1, 2.0)) for n in range(15, 22))))
    wait(push)
    with pytest.raises(SamplesRejectedError, match="LOADWATCH_STORE_SERIES_LIMIT"):
        push.raise_for_rejected()
    assert stored(store)["15"] == [1.0, 2.0]
    assert service.counts.rejected_samples_total == {Reason.SERIES_LIMIT: 6}


def test_label_sets_in_any_order_are_one_series(store: EmbeddedStore, service: IngestService) -> None:
    wait(service.push(body(series([("i", "0"), ("__name__", "m")], (NOW_MS, 1.0)))))
    wait(service.push(body(series([("__name__", "m"), ("i", "0"), ("none", "")], (NOW_MS + 1, 2.0)))))
    assert stored(store) == {"0": [1.0, 2.0]}
    assert store.statistics().series == 1


def test_a_body_that_is_refused_stores_nothing(store: EmbeddedStore, service: IngestService) -> None:
    good = body(series(named(0), (NOW_MS, 1.0)))
    with pytest.raises(MalformedError, match="snappy"):
        service.push(good[:-3])
    with pytest.raises(MalformedError, match=r"prometheus\.WriteRequest"):
        service.push(compress(b"\x0a\x7f not a series"))
    small = IngestService(store, replace(service.limits, decompressed_bytes=10), lambda: NOW_MS)
    with pytest.raises(WriteTooLargeError):
        small.push(good)
    assert store.newest_ms() is None
    assert service.counts.rejected_requests_total == {Reason.MALFORMED: 2}
    assert small.counts.rejected_requests_total == {Reason.TOO_LARGE: 1}


def test_the_remembered_label_sets_are_bounded(store: EmbeddedStore, service: IngestService) -> None:
    bounded = IngestService(store, replace(service.limits, cached_series=4), lambda: NOW_MS)
    for second in range(4):
        for start in (0, 5):
            push = bounded.push(
                body(*(series(named(n), (NOW_MS + second, float(second))) for n in range(start, start + 5)))
            )
            wait(push)
            push.raise_for_rejected()
    assert stored(store) == {str(n): [0.0, 1.0, 2.0, 3.0] for n in range(10)}


def test_metadata_is_kept_and_bounded(store: EmbeddedStore, service: IngestService) -> None:
    bounded = IngestService(store, replace(service.limits, metadata_metrics=2), lambda: NOW_MS)
    entries = [
        MetricMetadata(type=1, metric_family_name=b"requests", help=b"Served \xff requests.", unit=b""),
        MetricMetadata(type=77, metric_family_name=b"odd", help=b"x" * 10_000),
        MetricMetadata(type=2, metric_family_name=b"one too many"),
        MetricMetadata(type=3, metric_family_name=b"requests", help=b"Again."),
    ]
    assert bounded.push(body(metadata=entries)).stored is None
    kept = store.metadata()
    assert set(kept) == {"requests", "odd"}
    assert (kept["requests"].type, kept["requests"].help) == ("histogram", "Again.")
    assert (kept["odd"].type, len(kept["odd"].help)) == ("unknown", 4096)
    assert bounded.counts.metadata_skipped_total == 1


def test_exemplars_and_histograms_are_skipped_and_counted(store: EmbeddedStore, service: IngestService) -> None:
    one = series(named(0), (NOW_MS, 1.0))
    one.exemplars.append(b"")
    one.histograms.append(b"")
    wait(service.push(body(one)))
    assert stored(store) == {"0": [1.0]}
    assert (service.counts.exemplars_skipped_total, service.counts.histograms_skipped_total) == (1, 1)

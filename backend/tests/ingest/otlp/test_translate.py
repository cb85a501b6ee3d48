"""What Prometheus' own code makes of OTLP (reference/main.go made the golden file) is what is made of it here."""

import base64
import gzip
import json
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.series.ingest.entries import Entries
from loadwatch_backend.series.ingest.errors import TooManyEntriesError
from loadwatch_backend.series.ingest.otlp.names import Kind, Strategy, UnnameableError, label_name, metric_name
from loadwatch_backend.series.ingest.otlp.otlp_pb2 import ExportRequest
from loadwatch_backend.series.ingest.otlp.service import read_json, read_protobuf
from loadwatch_backend.series.ingest.otlp.translate import OtlpRules, Translated, decode_labels, translate
from loadwatch_backend.series.store.port import STALE_NAN_BITS

GOLDEN = Path(__file__).parents[1] / "golden" / "translations.json.gz"
CASES: list[dict[str, Any]] = json.loads(gzip.decompress(GOLDEN.read_bytes()))
TRANSLATED = [
    pytest.param(case, to, id=f"{case['name']}, {to['strategy']}{', all' * to['scope']}")
    for case in CASES
    for to in case["translations"]
]

Row = tuple[tuple[tuple[str, str], ...], int, int, str]
"""Labels, start, time, and the value bit by bit."""


def entries() -> Entries:
    return Entries(1_000_000)


def request_of(case: dict[str, Any]) -> ExportRequest:
    return read_protobuf(base64.b64decode(case["proto"] or ""), entries())


def rows_of(found: Translated) -> Counter[Row]:
    return Counter(
        (
            tuple(sorted((name.decode(), value.decode()) for name, value in decode_labels(series))),
            start,
            time,
            struct.pack(">d", value).hex(),
        )
        for series, start, time, value in zip(found.series, found.starts, found.times, found.values, strict=True)
    )


def rules_of(to: dict[str, Any]) -> OtlpRules:
    return OtlpRules(
        strategy=Strategy(to["strategy"]),
        promote=frozenset(to["promote"]),
        keep_identity=to["keep"],
        scope=to["scope"],
    )


@pytest.mark.parametrize(("case", "to"), TRANSLATED)
def test_it_is_what_prometheus_makes_of_it(case: dict[str, Any], to: dict[str, Any]) -> None:
    found = translate(request_of(case), rules_of(to), entries())
    expected = Counter[Row](
        (tuple(sorted(one["labels"].items())), one["start"], one["time"], one["bits"])
        for one in to["samples"] or ()
        if not one.get("native")
    )
    rows = rows_of(found)
    assert not expected - rows
    # Where a point cannot be translated Prometheus leaves out what comes after it.
    if "error" not in to and case["name"] != "exponential":
        assert rows == expected
    metadata = {name: (one.type, one.help, one.unit) for name, one in found.metadata.items()}
    for name, one in to["metadata"].items():
        assert metadata[name] == (one["type"], one["help"], one["unit"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_json_and_protobuf_are_the_same_message(case: dict[str, Any]) -> None:
    request = read_json(json.dumps(case["request"]).encode(), entries())
    theirs = rows_of(translate(request_of(case), OtlpRules(), entries()))
    # What JSON calls NaN has one bit more in Go.
    expected = {(*row[:3], row[3].replace("7ff8000000000001", "7ff8000000000000")): n for row, n in theirs.items()}
    assert rows_of(translate(request, OtlpRules(), entries())) == expected


def test_exponential_histograms_keep_their_counts() -> None:
    case = next(case for case in CASES if case["name"] == "exponential")
    rows = rows_of(translate(request_of(case), OtlpRules(), entries()))
    native = [one for one in case["translations"][0]["samples"] if one.get("native")]
    for one in native:
        name = one["labels"]["__name__"]
        counts = [bits for labels, _, _, bits in rows if dict(labels)["__name__"] == f"{name}_count"]
        (value,) = struct.unpack(">d", bytes.fromhex(counts[0]))
        stale = struct.unpack(">Q", bytes.fromhex(counts[0])) == (STALE_NAN_BITS,)
        assert stale or value == one["count"]


def test_what_a_request_becomes_is_bounded() -> None:
    point = {"timeUnixNano": "1", "count": "1", "bucketCounts": ["1"] * 100, "explicitBounds": list(range(99))}
    document = {
        "resourceMetrics": [
            {
                "scopeMetrics": [
                    {
                        "metrics": [
                            {"name": "h", "histogram": {"aggregationTemporality": 2, "dataPoints": [point] * 100}}
                        ]
                    }
                ]
            }
        ]
    }
    request = read_json(json.dumps(document).encode(), entries())
    with pytest.raises(TooManyEntriesError):
        translate(request, OtlpRules(), Entries(9_000))


def test_a_time_of_zero_does_not_fill_the_years_since_with_target_info() -> None:
    points = [{"timeUnixNano": "0", "asInt": "1"}, {"timeUnixNano": "1750000000000000000", "asInt": "1"}]
    attributes = [{"key": key, "value": {"stringValue": "x"}} for key in ("service.name", "host.name")]
    document = {
        "resourceMetrics": [
            {
                "resource": {"attributes": attributes},
                "scopeMetrics": [{"metrics": [{"name": "g", "gauge": {"dataPoints": points}}]}],
            }
        ]
    }
    found = translate(read_json(json.dumps(document).encode(), entries()), OtlpRules(), entries())
    assert len(found.series) == 2 + 101


def test_a_name_of_which_nothing_would_be_left_stays() -> None:
    """Prometheus refuses it; a name is UTF-8, so nothing of it is in the way."""
    assert label_name("地域", Strategy.UNDERSCORES) == "地域"
    assert metric_name("日本.総数", "", Kind(counter=True), Strategy.UNDERSCORES_ALONE) == "日本.総数"
    assert metric_name("日本", "", Kind(), Strategy.UNDERSCORES) == "日本"
    for name in ("...", ""):
        with pytest.raises(UnnameableError):
            label_name(name, Strategy.UNDERSCORES)

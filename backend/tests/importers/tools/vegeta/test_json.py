"""No vegeta can be had here; its JSON is made from its own gob, member by member as `jsonResult` in lib/results.go."""

import csv
import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_backend.runs.importers.tools.vegeta import recognise_json as recognise

from backend.tests.importers.conftest import FIXTURES, Importing, unpacked

COLUMNS = ("time_ns", "latency_ns", "status", "outcome", "bytes_in", "bytes_out")


def go_time(ns: int, hours: int = 0) -> str:
    """As Go's RFC3339Nano: the fraction without trailing zeros, `Z` or an offset."""
    moment = datetime.fromtimestamp(ns // 10**9, UTC).astimezone(timezone(timedelta(hours=hours)))
    fraction = f".{ns % 10**9:09}".rstrip("0").rstrip(".")
    return moment.strftime("%Y-%m-%dT%H:%M:%S") + fraction + (f"{hours:+03}:00" if hours else "Z")


def to_json(attack: str, hours: int = 0) -> bytes:
    lines: list[str] = []
    for row in csv.reader(unpacked(f"vegeta/{attack}/vegeta.csv.gz").decode().splitlines()):
        document = {
            "attack": row[7],
            "seq": int(row[8]),
            "code": int(row[1]),
            "timestamp": go_time(int(row[0]), hours),
            "latency": int(row[2]),
            "bytes_out": int(row[3]),
            "bytes_in": int(row[4]),
            "error": row[5],
            "body": row[6],
            "method": row[9],
            "url": row[10],
            "headers": {"Content-Length": ["3"]} if row[11] else None,
        }
        lines.append(json.dumps(document, separators=(",", ":")))
    return ("\n".join(lines) + "\n").encode()


@pytest.mark.parametrize(("attack", "hours"), [("control", 0), ("pool-waits", 9)])
def test_json_holds_the_same_records_as_csv(imported: Importing, attack: str, hours: int) -> None:
    from_json = imported(to_json(attack, hours))
    from_csv = imported(FIXTURES / f"vegeta/{attack}/vegeta.csv.gz")
    assert from_json.result.format == "vegeta-json"
    for name in COLUMNS:
        assert (from_json.column(name) == from_csv.column(name)).all(), name
    assert from_json.texts("endpoint") == from_csv.texts("endpoint")
    assert from_json.texts("error") == from_csv.texts("error")


def test_damaged_lines_are_named_and_the_rest_is_the_same(imported: Importing) -> None:
    lines = to_json("control").splitlines(keepends=True)
    whole = imported(b"".join(lines))
    lines[7] = b'{"attack":"", "seq":\n'
    lines[20] = b'{"latency":1}\n'
    lines[30] = b'{"attack":"","seq":1,"code":200,"timestamp":"yesterday","latency":1,"bytes_out":0,"bytes_in":0}\n'
    lines[40] = b"[]\n"
    lines[-1] = lines[-1][:50]
    found = imported(b"".join(lines))
    assert found.result.figures.requests == 1_995
    places = [remark.place for remark in found.result.remarks if remark.kind is RemarkKind.DAMAGE]
    assert places == ["line 8", "line 21", "line 31", "line 41", "line 2000"]
    assert set(found.column("time_ns").tolist()) <= set(whole.column("time_ns").tolist())


def test_recognised_by_members() -> None:
    data = to_json("control")
    assert recognise(data[:65_536]) == 90
    assert recognise(data[:200]) == 60
    for other in (b"", b"{}", b"[1]", b'{"type":"Metric"}\n', b'{"summary":{}}', b'"attack"'):
        assert recognise(other) == 0

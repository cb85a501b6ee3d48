import csv
import io
import json
from typing import Any

import pytest
from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_backend.runs.importers.tools.vegeta import recognise_csv as recognise
from loadwatch_formats.outcomes import OUTCOMES, Outcome

from backend.tests.importers.conftest import FIXTURES, Importing, unpacked

ATTACKS = ("control", "pool-waits")
CSV = "vegeta/control/vegeta.csv.gz"
URL = "http://127.0.0.1:18081/"


def report(attack: str) -> dict[str, Any]:
    return json.loads((FIXTURES / f"vegeta/{attack}/report.json").read_text())


def write(rows: list[list[object]]) -> bytes:
    target = io.StringIO()
    csv.writer(target, lineterminator="\n").writerows(rows)
    return target.getvalue().encode()


def row(at: int, code: int = 200, error: str = "", url: str = URL, latency: int = 1_000_000) -> list[object]:
    return [1_795_252_714_000_000_000 + at * 10**6, code, latency, 0, 3, error, "b2s=", "big", at, "GET", url, ""]


@pytest.mark.parametrize("attack", ATTACKS)
def test_totals_are_those_of_vegetas_report(imported: Importing, attack: str) -> None:
    found = imported(FIXTURES / f"vegeta/{attack}/vegeta.csv.gz", filename="results.csv.gz")
    theirs, figures = report(attack), found.result.figures
    assert (found.result.format, found.result.tool) == ("vegeta-csv", "vegeta")
    assert figures.requests == theirs["requests"]
    assert figures.success_ratio == theirs["success"]
    assert figures.status_codes == theirs["status_codes"]
    assert figures.bytes_in == theirs["bytes_in"]["total"]
    assert figures.bytes_out == theirs["bytes_out"]["total"]
    assert figures.duration_seconds == theirs["duration"] / 1e9
    assert figures.rate == theirs["rate"]
    assert figures.latency.min == theirs["latencies"]["min"] / 1e9
    assert figures.latency.max == theirs["latencies"]["max"] / 1e9
    assert figures.latency.mean is not None
    assert int(figures.latency.mean * 1e9) == theirs["latencies"]["mean"]
    times, latencies = found.column("time_ns"), found.column("latency_ns")
    assert int(latencies.sum()) == theirs["latencies"]["total"]
    end = int((times + latencies).max())
    assert end - int(times.max()) == theirs["wait"]
    assert figures.wait_seconds == theirs["wait"] / 1e9
    assert figures.throughput == pytest.approx(theirs["throughput"], rel=1e-12)
    assert found.result.start_ms == times.min() // 10**6


@pytest.mark.parametrize("attack", ATTACKS)
def test_percentiles_are_exact_and_vegetas_are_estimates(imported: Importing, attack: str) -> None:
    found = imported(FIXTURES / f"vegeta/{attack}/vegeta.csv.gz")
    ordered = sorted(found.column("latency_ns").tolist())
    ours, theirs = found.result.figures.latency, report(attack)["latencies"]
    for name, key, q in (("p50", "50th", 500), ("p90", "90th", 900), ("p95", "95th", 950), ("p99", "99th", 990)):
        exact = getattr(ours, name)
        assert exact == ordered[-(-len(ordered) * q // 1000) - 1] / 1e9
        # A t-digest is nearest at the ends: two percent of rank around the estimate hold the exact figure.
        low = ordered[max(0, len(ordered) * (q - 20) // 1000)] / 1e9
        high = ordered[min(len(ordered) - 1, len(ordered) * (q + 20) // 1000)] / 1e9
        assert low <= theirs[key] / 1e9 <= high
        assert exact == pytest.approx(theirs[key] / 1e9, rel=0.03)
    remark = found.remark("vegeta-estimates")
    assert remark.kind is RemarkKind.DISTORTION


def test_timeouts_are_told_apart(imported: Importing) -> None:
    found = imported(FIXTURES / "vegeta/pool-waits/vegeta.csv.gz")
    assert found.result.figures.outcomes == {Outcome.OK: 6_385, Outcome.TIMEOUT: 2_615}
    ((text, count),) = found.result.errors
    assert count == 2_615
    assert "context deadline exceeded" in text
    assert "hoge" not in text
    assert [endpoint.name for endpoint in found.result.endpoints] == [f"GET {URL}"]
    assert found.result.seconds is not None
    assert found.result.seconds.outcomes.sum(axis=0).tolist() == [6_385, 2_615] + [0] * (len(OUTCOMES) - 2)


def test_cut_off_anywhere(imported: Importing) -> None:
    data = unpacked(CSV)[:60_000]
    lines = data.count(b"\n")
    last = data.rindex(b"\n") + 1
    for cut in (last, last + 1, last + 30, last + 70):
        found = imported(data[:cut])
        assert found.result.figures.requests == lines
        damage = [remark for remark in found.result.remarks if remark.kind is RemarkKind.DAMAGE]
        assert [remark.place for remark in damage] == ([] if cut == last else [f"line {lines + 1}"])


def test_damaged_lines_are_named(imported: Importing) -> None:
    lines = unpacked(CSV).splitlines(keepends=True)
    lines[4] = b"nonsense\n"
    lines[9] = lines[9].replace(b",200,", b",abc,", 1)
    lines[19] = b'1795252714,200,"\n'
    found = imported(b"".join(lines))
    assert found.result.figures.requests == 1_997
    places = [remark.place for remark in found.result.remarks if remark.kind is RemarkKind.DAMAGE]
    assert places == ["line 5", "line 10", "line 20"]


def test_much_damage_is_summed_up(imported: Importing) -> None:
    lines = unpacked(CSV).splitlines(keepends=True)
    found = imported(b"".join(line + b"x\n" for line in lines[:100]))
    assert found.result.figures.requests == 100
    assert found.remark("damaged-more").figures == {"places": 80}


def test_quoted_newlines_in_error_texts(imported: Importing) -> None:
    rows = [row(at, 0, 'dial tcp 1.2.3.4:80: "quoted",\nconnection refused') for at in range(50)]
    found = imported(write(rows))
    assert found.result.figures.outcomes == {Outcome.REFUSED: 50}
    assert found.result.name == "big"
    assert not [remark for remark in found.result.remarks if remark.kind is RemarkKind.DAMAGE]


def test_query_strings_and_ports_do_not_make_names(imported: Importing) -> None:
    reset = "read tcp 127.0.0.1:{}->127.0.0.1:80: read: connection reset by peer"
    rows = [row(at, 0, reset.format(30_000 + at), f"{URL}?n={at}#x{at}") for at in range(1_000)]
    found = imported(write(rows))
    assert [endpoint.name for endpoint in found.result.endpoints] == [f"GET {URL}"]
    assert found.result.errors == (("read tcp 127.0.0.1->127.0.0.1:80: read: connection reset by peer", 1_000),)


def test_older_files(imported: Importing) -> None:
    whole = imported(write([row(at) for at in range(100)]))
    eleven = imported(write([row(at)[:11] for at in range(100)]))
    nine = imported(write([row(at)[:9] for at in range(100)]))
    assert eleven.result.endpoints == whole.result.endpoints
    assert nine.result.figures == whole.result.figures
    assert nine.result.endpoints[0].name == "vegeta"


def test_recognised_by_content_alone() -> None:
    assert recognise(unpacked(CSV)[:65_536])
    assert recognise(unpacked(CSV)[:300])
    for other in (b"", b"\n\n", b"a,b,c\n", b"timeStamp,elapsed,label\n1,2,3\n", b'"' * 5_000, b"1,2,3,4,5,6,7,8,9\n"):
        assert not recognise(other)

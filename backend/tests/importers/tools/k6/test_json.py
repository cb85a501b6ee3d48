"""k6's JSON lines against k6's own summary of the same run."""

import gzip
import json
from collections import Counter
from typing import Any

import pytest
from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_backend.runs.importers.errors import UnreadableFileError
from loadwatch_backend.runs.importers.tools.k6.points import time_ns
from loadwatch_formats.outcomes import Outcome

from backend.tests.importers.conftest import FIXTURES, Importing, assert_same, unpacked

RUN = FIXTURES / "k6/run.json.gz"


def own_summary() -> dict[str, Any]:
    return json.loads((FIXTURES / "k6/handle.json").read_bytes())["metrics"]


def test_totals_agree_with_k6s_own_summary(imported: Importing) -> None:
    figures = imported(RUN).result.figures
    own = own_summary()
    assert figures.requests == own["http_reqs"]["values"]["count"]
    assert figures.requests - figures.outcomes[Outcome.OK] == own["http_req_failed"]["values"]["passes"]
    took = own["http_req_duration"]["values"]
    assert figures.latency.mean == pytest.approx(took["avg"] / 1000)
    assert figures.latency.max == pytest.approx(took["max"] / 1000)
    assert figures.latency.p50 == pytest.approx(took["med"] / 1000)


def test_every_ending_is_told_apart(imported: Importing) -> None:
    run = imported(RUN)
    assert dict(run.result.figures.outcomes) == {
        Outcome.OK: 71,
        Outcome.TIMEOUT: 2,
        Outcome.RESET: 14,
        Outcome.REFUSED: 2,
        Outcome.HTTP_4XX: 14,
        Outcome.HTTP_5XX: 14,
    }
    names = {endpoint.name: endpoint.figures.requests for endpoint in run.result.endpoints}
    assert names["home"] == 14, "a name of the script stays as it is"
    assert names["POST http://127.0.0.1:18080/items/7"] == 14, "a URL loses its query"
    assert ("read: connection reset by peer", 14) in run.result.errors


def test_a_request_starts_its_duration_before_its_point(imported: Importing) -> None:
    run = imported(RUN)
    points = [json.loads(line) for line in unpacked("k6/run.json.gz").splitlines()]
    ends = sorted(
        time_ns(point["data"]["time"])[0]
        for point in points
        if point["metric"] == "http_req_duration" and point["type"] == "Point"
    )
    assert sorted((run.column("time_ns") + run.column("latency_ns")).tolist()) == ends


def test_users_dropped_iterations_checks_bytes_and_thresholds_are_told(imported: Importing) -> None:
    run = imported(RUN)
    own = own_summary()
    assert run.result.facts.dropped_iterations == own["dropped_iterations"]["values"]["count"]
    assert run.remark("k6-checks").figures["failed_checks"] == own["checks"]["values"]["fails"]
    assert run.remark("k6-bytes").figures["bytes_in"] == own["data_received"]["values"]["count"]
    assert "p(95)<100" in run.remark("k6-thresholds").text
    seconds = run.result.seconds
    assert seconds is not None
    assert seconds.users is not None
    assert seconds.users[-1] == 2


def test_older_key_order_gives_the_same(imported: Importing) -> None:
    lines = [json.loads(line) for line in unpacked("k6/run.json.gz").splitlines()]
    older = "\n".join(
        json.dumps({"type": line["type"], "data": line["data"], "metric": line["metric"]}, separators=(",", ":"))
        for line in lines
    )
    newer = imported(RUN).result
    assert_same(imported(older.encode() + b"\n").result, newer)


def test_metadata_and_few_system_tags(imported: Importing) -> None:
    run = imported(FIXTURES / "k6/vu-iter.json.gz")
    assert run.result.figures.requests == 118
    assert run.result.figures.outcomes[Outcome.TIMEOUT] == 2
    assert run.result.figures.outcomes[Outcome.RESET] == 14


@pytest.mark.parametrize("name", ["k6/vu-iter.json.gz", "k6/seconds.csv.gz"])
def test_failed_checks_belong_to_the_request_before_them_if_vu_and_iter_tell(imported: Importing, name: str) -> None:
    run = imported(FIXTURES / name)
    endpoints = {endpoint.name: endpoint.figures.outcomes for endpoint in run.result.endpoints}
    assert {kind: n for kind, n in endpoints["home"].items() if n} == {Outcome.ASSERTION: 14}
    assert run.result.figures.outcomes[Outcome.OK] == 118 - 46 - 14
    assert ("check failed: home is short", 14) in run.result.errors
    assert run.remark("k6-checks-attributed").figures["failed_checks"] == 14
    assert not [remark for remark in run.result.remarks if remark.code == "k6-checks"]


def test_a_cut_off_file_keeps_what_is_whole(imported: Importing) -> None:
    whole = unpacked("k6/run.json.gz")
    lines = whole.splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if i > 400 and b'{"metric":"http_req_duration","type":"Point"' in line)
    run = imported(b"".join(lines[:at]) + lines[at][:150])
    whole_requests = sum(b'{"metric":"http_req_duration","type":"Point"' in line for line in lines[:at])
    assert run.result.figures.requests == whole_requests
    damage = [remark for remark in run.result.remarks if remark.kind is RemarkKind.DAMAGE]
    assert [remark.place for remark in damage] == [f"line {at + 1}"]
    assert "ends within" in damage[0].text


@pytest.mark.parametrize("metric", ["http_req_duration", "http_req_blocked"])
def test_a_damaged_line_is_left_out_with_its_place(imported: Importing, metric: str) -> None:
    lines = unpacked("k6/run.json.gz").splitlines(keepends=True)
    at = [i for i, line in enumerate(lines) if f'{{"metric":"{metric}"'.encode() in line][5]
    torn = [*lines[:at], lines[at][:60] + b"\n", *lines[at + 1 :]]
    run = imported(b"".join(torn))
    assert run.result.figures.requests == 117 - (metric == "http_req_duration")
    assert [r.place for r in run.result.remarks if r.kind is RemarkKind.DAMAGE] == [f"line {at + 1}"]


def test_two_lines_run_together_are_seen(imported: Importing) -> None:
    data = unpacked("k6/run.json.gz")
    lines = data.splitlines(keepends=True)
    at = [i for i, line in enumerate(lines) if b'{"metric":"http_req_duration"' in line][3]
    lines[at - 1] = lines[at - 1][:50]
    run = imported(b"".join(lines))
    assert run.result.figures.requests == 116
    assert run.remark("damaged").place == f"line {at}"


def test_missing_durations_are_reported(imported: Importing) -> None:
    lines = unpacked("k6/run.json.gz").splitlines(keepends=True)
    at = [i for i, line in enumerate(lines) if b'{"metric":"http_req_duration"' in line][3]
    run = imported(b"".join(lines[:at] + lines[at + 1 :]))
    assert dict(run.remark("k6-points-missing").figures) == {"http_reqs": 117, "http_req_duration": 116}


def test_a_file_of_damage_alone_is_refused(imported: Importing) -> None:
    first = unpacked("k6/run.json.gz").splitlines(keepends=True)[0]
    with pytest.raises(UnreadableFileError, match="nothing in the file"):
        imported(first + b'{"metric":"http_req_duration","type":"Po')


def test_gzip_and_plain_agree(imported: Importing) -> None:
    plain = unpacked("k6/run.json.gz")
    assert_same(imported(plain).result, imported(gzip.compress(plain)).result)


def test_expected_failures_and_failed_expectations_differ_from_k6(imported: Importing) -> None:
    lines = unpacked("k6/run.json.gz").decode().splitlines(keepends=True)
    points = [line for line in lines if '"metric":"http_req_duration","type":"Point"' in line]
    missing = next(line for line in points if '"status":"404"' in line).replace(
        '"expected_response":"false"', '"expected_response":"true"'
    )
    found = next(line for line in points if '"status":"200"' in line).replace(
        '"expected_response":"true"', '"expected_response":"false"'
    )
    run = imported((missing + found).encode())
    assert dict(run.result.figures.outcomes) == {Outcome.HTTP_4XX: 1, Outcome.ASSERTION: 1}
    assert run.remark("k6-expected-statuses").kind is RemarkKind.DISTORTION


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1795272899", (1795272899 * 10**9, True)),
        ("1795272899076", (1795272899076 * 10**6, False)),
        ("1795272899076845", (1795272899076845 * 10**3, False)),
        ("1795272899076845573", (1795272899076845573, False)),
        ("2026-11-21T14:54:59Z", (1795272899 * 10**9, True)),
        ("2026-11-21T14:54:59.076845573Z", (1795272899076845573, False)),
        ("2026-11-21T23:54:59.5+09:00", (1795272899_500_000_000, False)),
        ("2026-11-21T09:24:59-05:30", (1795272899 * 10**9, True)),
    ],
)
def test_all_time_formats(text: str, expected: tuple[int, bool]) -> None:
    assert time_ns(text) == expected


def test_counts_of_statuses_are_those_of_the_file(imported: Importing) -> None:
    statuses = Counter(
        json.loads(line)["data"]["tags"]["status"]
        for line in unpacked("k6/run.json.gz").splitlines()
        if b'"metric":"http_reqs","type":"Point"' in line
    )
    assert dict(imported(RUN).result.figures.status_codes) == dict(statuses)

"""JMeter's CSV results, made by JMeter 5.6.3, against the statistics of its own dashboard."""

import gzip
import json
import runpy
from typing import Any

import numpy as np
import pytest
from loadwatch_backend.evidence.records.model import LoadResult, RemarkKind
from loadwatch_backend.runs.importers.errors import UnreadableFileError
from loadwatch_backend.runs.importers.tools.jmeter import dashboard_percentile, parse_time
from loadwatch_backend.runs.importers.tools.jmeter import recognise_csv as recognise
from loadwatch_formats.outcomes import Outcome

from backend.tests.importers.conftest import FIXTURES, Importing, unpacked

JMETER = FIXTURES / "jmeter"
HEADER = (
    b"timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,"
    b"grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
)
ROW = b"1795274324103,36,basket,200,OK,readers 1-2,text,true,,122,125,2,2,http://127.0.0.1/items/5,32,0,15\n"


def statistics(name: str) -> dict[str, dict[str, Any]]:
    return json.loads(gzip.decompress((JMETER / f"{name}.statistics.json.gz").read_bytes()))


def long_results() -> bytes:
    text: str = runpy.run_path(str(JMETER / "long.py"))["lines"]()
    return text.encode()


def outcomes(result: LoadResult) -> dict[str, dict[Outcome, int]]:
    return {one.name: dict(one.figures.outcomes) for one in result.endpoints}


def test_totals_are_those_of_jmeters_dashboard(imported: Importing) -> None:
    result = imported(JMETER / "default.jtl.gz").result
    reference = statistics("default.jtl")
    total = reference.pop("Total")
    # The dashboard lists the controller, too, and leaves it out of its total.
    assert reference.pop("purchase")["sampleCount"] == 96
    assert result.figures.requests == total["sampleCount"]
    assert result.figures.requests - result.figures.outcomes[Outcome.OK] == total["errorCount"]
    assert result.figures.latency.mean == pytest.approx(total["meanResTime"] / 1000)
    for one in result.endpoints:
        figures, told = one.figures, reference.pop(one.name)
        assert (figures.requests, figures.latency.min, figures.latency.max) == (
            told["sampleCount"],
            told["minResTime"] / 1000,
            told["maxResTime"] / 1000,
        )
        assert figures.requests - figures.outcomes.get(Outcome.OK, 0) == told["errorCount"]
    assert not reference


def test_failures_are_told_by_code_and_assertion(imported: Importing) -> None:
    read = imported(JMETER / "default.jtl.gz")
    kinds = {name: set(found) for name, found in outcomes(read.result).items()}
    assert kinds["missing"] == {Outcome.HTTP_4XX}
    assert kinds["error"] == {Outcome.HTTP_5XX}
    assert kinds["wrong text"] == {Outcome.ASSERTION}
    assert kinds["hang"] == {Outcome.TIMEOUT}
    assert kinds["reset"] == {Outcome.RESET}
    assert kinds["refused"] == {Outcome.REFUSED}
    assert kinds["no such host"] == {Outcome.DNS}
    assert kinds["日本, 東京"] == {Outcome.OK}
    assert ('first line, with comma\nsecond "line"', 96) in read.result.errors
    assert read.result.figures.status_codes == {"0": 120, "200": 576, "404": 96, "500": 96}
    assert read.result.figures.bytes_in == read.column("bytes_in").sum() == 603_502


def test_transactions_are_not_counted_beside_their_requests(imported: Importing) -> None:
    for name in ("default.jtl.gz", "parent.csv.gz"):
        read = imported(JMETER / name)
        remark = read.remark("jmeter-transactions")
        assert remark.kind is RemarkKind.DISTORTION
        assert remark.figures["rows"] == read.texts("endpoint").count("pay")
        assert "purchase" not in outcomes(read.result)


def test_transactions_alone_are_the_requests(imported: Importing) -> None:
    message = b'"Number of samples in transaction : 2, number of failing samples : 0"'
    row = ROW.replace(b"basket", b"purchase").replace(b",OK,", b"," + message + b",")
    read = imported(HEADER + row * 3)
    assert outcomes(read.result) == {"purchase": {Outcome.OK: 3}}
    assert read.remark("jmeter-transactions-only").figures == {"rows": 3}


@pytest.mark.parametrize("name", ["headless", "semicolon", "tab", "parent"])
def test_any_layout_gives_the_same_requests(imported: Importing, name: str) -> None:
    read = imported(JMETER / f"{name}.csv.gz")
    assert read.result.format == "jmeter-csv"
    assert read.result.figures.requests == 168
    assert read.result.figures.outcomes[Outcome.OK] == 80
    assert read.result.figures.outcomes[Outcome.ASSERTION] == 16
    assert read.result.start_ms is not None
    assert 1_795_274_300_000 < read.result.start_ms < 1_795_274_400_000
    assert read.result.figures.bytes_in == (None if name == "tab" else 150_622)
    assert any(one.code == "jmeter-no-time-zone" for one in read.result.remarks) == (name == "semicolon")


@pytest.mark.parametrize(
    "text",
    [
        "1795274339228",
        "2026/11/21 15:18:59.228",
        "2026-11-21 15:18:59,228",
        "2026-11-21T15:18:59.228Z",
        "2026-11-22T00:18:59.228+09:00",
    ],
)
def test_dates_are_read_in_the_usual_formats(text: str) -> None:
    assert parse_time(text) == 1_795_274_339_228


def test_american_dates_are_read_to_the_second() -> None:
    assert parse_time("11/21/26 15:18:59") == 1_795_274_339_000


def test_the_dashboards_last_20000_are_told_with_both_figures(imported: Importing) -> None:
    read = imported(long_results())
    reference = statistics("long")
    told = {one.text.partition(":")[0]: one for one in read.result.remarks if one.code == "jmeter-last-20000"}
    assert set(told) == {"Total", "often"}
    for name, remark in told.items():
        assert remark.kind is RemarkKind.DISTORTION
        for ours, theirs in (("p90", "pct1ResTime"), ("p95", "pct2ResTime"), ("p99", "pct3ResTime")):
            assert remark.figures[f"tool_{ours}"] == pytest.approx(reference[name][theirs] / 1000)
    latency = read.result.figures.latency
    assert told["Total"].figures["ours_p95"] == latency.p95
    assert told["Total"].figures["ours_p99"] == latency.p99
    assert told["Total"].figures["ours_p95"] < told["Total"].figures["tool_p95"]


def test_the_dashboards_estimator_interpolates() -> None:
    assert dashboard_percentile(np.arange(1, 11), 0.5) == 5.5
    assert dashboard_percentile(np.array([7]), 0.99) == 7
    assert dashboard_percentile(np.arange(1, 5), 0.01) == 1


def test_a_status_that_an_assertion_excused_is_ok(imported: Importing) -> None:
    read = imported(HEADER + ROW.replace(b",200,OK,", b",404,Not Found,"))
    assert read.result.figures.outcomes == {Outcome.OK: 1}
    assert read.remark("jmeter-excused").figures == {"requests": 1}


def test_redirects_within_a_request_are_told(imported: Importing) -> None:
    rows = ROW + ROW.replace(b"basket", b"basket-0") + ROW.replace(b"basket", b"basket-1")
    read = imported(HEADER + rows)
    assert read.result.figures.requests == 3
    assert "basket" in read.remark("jmeter-sub-samples").text


def test_damaged_rows_are_left_out_with_their_places(imported: Importing) -> None:
    read = imported(HEADER + ROW + b'1795274324104,x,"broken\n' + ROW + HEADER + ROW + b"1795274324105,12,bas")
    assert read.result.figures.requests == 3
    places = [one.place for one in read.result.remarks if one.kind is RemarkKind.DAMAGE]
    assert places == ["line 3", "line 7"]


def test_a_time_beyond_every_clock_is_damage(imported: Importing) -> None:
    read = imported(HEADER + ROW + ROW.replace(b",36,", b"," + b"9" * 30 + b",") + ROW)
    assert read.result.figures.requests == 2
    assert [one.place for one in read.result.remarks if one.kind is RemarkKind.DAMAGE] == ["line 3"]


def test_columns_that_were_not_saved_are_done_without(imported: Importing) -> None:
    read = imported(b"timeStamp,elapsed,URL\n1795274324103,36,http://h/a?id=1\n1795274324203,46,http://h/a?id=2\n")
    assert outcomes(read.result) == {"http://h/a": {Outcome.OK: 2}}
    assert read.remark("jmeter-no-success").kind is RemarkKind.MISSING


def test_users_are_the_threads_at_the_end_of_each_second(imported: Importing) -> None:
    seconds = imported(JMETER / "default.jtl.gz").result.seconds
    assert seconds is not None
    assert seconds.users is not None
    assert seconds.users.max() == 8


def test_generators_that_count_their_own_threads_give_no_users(imported: Importing) -> None:
    header = HEADER.replace(b"Connect\n", b"Connect,Hostname\n")
    rows = ROW.replace(b",15\n", b",15,one\n") + ROW.replace(b",15\n", b",15,two\n")
    seconds = imported(header + rows).result.seconds
    assert seconds is not None
    assert seconds.users is None


def test_a_run_of_no_requests_is_a_result(imported: Importing) -> None:
    assert imported(HEADER).result.figures.requests == 0


def test_only_results_of_jmeter_are_recognised() -> None:
    assert recognise(unpacked("jmeter/default.jtl.gz")[:2000]) == 95
    assert recognise(unpacked("jmeter/headless.csv.gz")[:2000]) == 80
    assert recognise(ROW.replace(b"true", b"perhaps")) == 0
    assert recognise(unpacked("vegeta/control/vegeta.csv.gz")[:2000]) == 0
    assert recognise(b"") == 0


def test_nothing_readable_is_an_error(imported: Importing) -> None:
    with pytest.raises(UnreadableFileError, match="JMeter"):
        imported(b"no result at all\n" * 3, format="jmeter-csv")

"""Artillery's report against what Artillery printed of the same test."""

import re

import numpy as np
import pytest
from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_backend.runs.importers.errors import UnreadableFileError
from loadwatch_backend.runs.importers.tools.artillery import PERIOD_MS
from loadwatch_formats.outcomes import Outcome

from backend.tests.importers.conftest import FIXTURES, Importing

REPORT = FIXTURES / "artillery/report.json"


def printed(name: str) -> float:
    text = (FIXTURES / "artillery/report.txt").read_text().rpartition("Summary report")[2]
    match = re.search(rf"^{re.escape(name)}: \.+ ([\d.]+)", text, re.M)
    assert match is not None, name
    return float(match[1])


def test_totals_agree_with_the_printed_report(imported: Importing) -> None:
    figures = imported(REPORT).result.figures
    assert figures.requests == printed("http.requests")
    assert figures.outcomes[Outcome.OK] == printed("http.codes.200")
    assert figures.outcomes[Outcome.HTTP_4XX] == printed("http.codes.404")
    assert figures.outcomes[Outcome.HTTP_5XX] == printed("http.codes.500")
    assert figures.outcomes[Outcome.RESET] == printed("errors.ECONNRESET")
    assert figures.outcomes[Outcome.TIMEOUT] == printed("errors.ETIMEDOUT")
    assert figures.bytes_in == printed("http.downloaded_bytes")
    assert figures.latency.p95 == pytest.approx(0.0079)


def test_periods_are_spread_over_their_seconds(imported: Importing) -> None:
    run = imported(REPORT)
    seconds = run.result.seconds
    assert seconds is not None
    assert not seconds.exact
    assert len(seconds.outcomes) <= 2 * PERIOD_MS // 1000
    assert int(seconds.requests.sum()) == run.result.figures.requests
    assert seconds.latency is not None
    assert np.isnan(seconds.latency[-1]).all(), "the last period has a timeout and no answer"
    assert run.remark("artillery-ten-seconds").kind is RemarkKind.MISSING
    assert run.remark("artillery-estimates").kind is RemarkKind.DISTORTION


def test_endpoints_of_the_plug_in(imported: Importing) -> None:
    endpoints = {endpoint.name: endpoint.figures for endpoint in imported(REPORT).result.endpoints}
    assert endpoints["/items/7 (item)"].outcomes == {Outcome.OK: 21}
    assert endpoints["/hang"].outcomes == {Outcome.TIMEOUT: 3}
    assert endpoints["/ok"].latency.max == pytest.approx(0.015)


def test_a_failed_expectation_is_an_assertion_of_an_answered_request(imported: Importing) -> None:
    text = REPORT.read_text().replace('"errors.ECONNRESET"', '"errors.Failed capture or match"')
    outcomes = imported(text.encode()).result.figures.outcomes
    assert (outcomes[Outcome.OK], outcomes[Outcome.ASSERTION]) == (36, 6)
    assert sum(outcomes.values()) == 93


def test_reports_of_artillery_1_are_refused(imported: Importing) -> None:
    with pytest.raises(UnreadableFileError, match="Artillery 1"):
        imported(b'{"aggregate": {"scenariosCreated": 3, "requestsCompleted": 3}, "intermediate": []}')


def test_cut_off_report_is_refused(imported: Importing) -> None:
    with pytest.raises(UnreadableFileError, match="cut off"):
        imported(REPORT.read_bytes()[:-500])


def test_a_report_without_http_is_refused(imported: Importing) -> None:
    report = (
        b'{"aggregate": {"counters": {"vusers.created": 9, "websocket.messages_sent": 9, "errors.ECONNREFUSED": 9}}}'
    )
    with pytest.raises(UnreadableFileError, match=r"no HTTP request in Artillery's report.*websocket\.messages_sent"):
        imported(report)

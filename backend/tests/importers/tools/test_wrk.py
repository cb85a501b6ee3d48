"""wrk's text and the JSON of a script."""

import pytest
from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_backend.runs.importers.errors import UnreadableFileError
from loadwatch_backend.runs.importers.tools.wrk import parse_time
from loadwatch_formats.outcomes import Outcome

from backend.tests.importers.conftest import FIXTURES, Importing

MIXED, BOTH, DONE = FIXTURES / "wrk/mixed.txt", FIXTURES / "wrk/both.txt", FIXTURES / "wrk/done.json"


def test_text_agrees_with_wrk(imported: Importing) -> None:
    run = imported(MIXED)
    figures = run.result.figures
    assert figures.requests == 1035 + 58
    assert dict(figures.outcomes) == {Outcome.OK: 861, Outcome.OTHER: 174, Outcome.RESET: 58}
    assert figures.latency.p50 == pytest.approx(0.00247)
    assert figures.latency.p99 == pytest.approx(0.3147)
    assert figures.latency.p95 is None
    assert figures.bytes_in == round(0.90 * 1024**2)
    remark = run.remark("wrk-socket-errors")
    assert (remark.figures["tool_requests"], remark.figures["tool_rate"]) == (1035, 515.69)
    assert [endpoint.name for endpoint in run.result.endpoints] == ["http://127.0.0.1:18080/mixed"]


def test_text_without_latency_distribution_and_errors(imported: Importing) -> None:
    run = imported(FIXTURES / "wrk/plain.txt")
    assert dict(run.result.figures.outcomes) == {Outcome.OK: 3364}
    assert run.result.figures.latency.p50 is None
    assert run.result.figures.latency.mean == pytest.approx(0.00237)
    assert run.result.figures.rate == pytest.approx(1680.80)


def test_late_answers_are_requests_without_latency(imported: Importing) -> None:
    run = imported(FIXTURES / "wrk/timeouts.txt", started_ms=2_000)
    assert dict(run.result.figures.outcomes) == {Outcome.TIMEOUT: 4}
    assert run.result.figures.latency.max is None
    assert run.remark("wrk-timeouts").kind is RemarkKind.DISTORTION
    assert (run.result.start_ms, run.result.end_ms) == (2_000, 6_000)


def test_json_of_a_script_has_all_digits(imported: Importing) -> None:
    figures = imported(DONE).result.figures
    assert figures.latency.p95 == pytest.approx(0.254230)
    assert figures.duration_seconds == pytest.approx(2.099936)
    assert figures.bytes_in == 967630
    assert dict(figures.outcomes) == {Outcome.OK: 884, Outcome.OTHER: 178, Outcome.RESET: 60}


def test_text_with_a_scripts_json_prefers_it(imported: Importing) -> None:
    assert imported(BOTH).result.figures == imported(DONE).result.figures


def test_cut_off_text(imported: Importing) -> None:
    whole = MIXED.read_bytes()
    run = imported(whole[: whole.index(b"Requests/sec")])
    assert run.result.figures.requests == 1093
    assert run.remark("damaged").place == "end of file"
    with pytest.raises(UnreadableFileError, match="cut off after"):
        imported(whole[:250])


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("363.60us", 363.6e-6), ("4.51ms", 4.51e-3), ("2.01s", 2.01), ("1.50m", 90.0), ("2.00h", 7200.0), ("-nan%", None)],
)
def test_units(text: str, seconds: float | None) -> None:
    assert parse_time(text) == (None if seconds is None else pytest.approx(seconds))


def test_json_cut_off_is_refused(imported: Importing) -> None:
    with pytest.raises(UnreadableFileError, match="cut off"):
        imported(DONE.read_bytes()[:240])

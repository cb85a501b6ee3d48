"""hey's CSV and printed summary."""

import pytest
from loadwatch_backend.evidence.records.model import Latency, RemarkKind
from loadwatch_backend.runs.importers.errors import UnknownFormatError, UnreadableFileError
from loadwatch_backend.runs.importers.tools import hey
from loadwatch_formats.outcomes import Outcome

from backend.tests.importers.conftest import FIXTURES, Importing

CSV, TEXT = FIXTURES / "hey/mixed.csv", FIXTURES / "hey/mixed.txt"


def test_csv_rows_are_requests(imported: Importing) -> None:
    run = imported(CSV)
    assert run.result.figures.requests == 200
    assert dict(run.result.figures.outcomes) == {Outcome.OK: 166, Outcome.HTTP_4XX: 12, Outcome.HTTP_5XX: 22}
    took = sorted(float(line.split(",")[0]) for line in CSV.read_text().splitlines()[1:])
    assert run.result.figures.latency.p95 == took[189]
    assert run.result.figures.latency.max == took[-1]
    assert run.remark("hey-no-failures").kind is RemarkKind.MISSING
    assert run.result.start_ms is None


def test_csv_with_a_told_start(imported: Importing) -> None:
    run = imported(CSV, started_ms=1_795_272_000_000)
    first = min(float(line.split(",")[7]) for line in CSV.read_text().splitlines()[1:])
    assert run.result.start_ms == 1_795_272_000_000 + int(first * 1000)
    assert run.result.seconds is not None
    assert run.result.seconds.start_ms == 1_795_272_000_000


def test_timeouts_leave_an_empty_csv_and_say_so(imported: Importing) -> None:
    run = imported(FIXTURES / "hey/timeouts.csv")
    assert run.result.figures.requests == 0
    assert run.remark("hey-no-failures").text.startswith("hey's CSV holds answered requests only")


def test_row_limit_is_said(imported: Importing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hey, "KEPT", 200)
    assert imported(CSV).remark("hey-row-limit").kind is RemarkKind.DISTORTION


def test_cut_off_and_damaged_csv(imported: Importing) -> None:
    lines = CSV.read_bytes().splitlines(keepends=True)
    lines[9] = b"0.0044,0.0017,what,0.0001,0.0023,0.0002,OK,0.0012\n"
    lines[20] = b"0.0044,0.0017\n"
    run = imported(b"".join(lines)[:-4])
    assert run.result.figures.requests == 197
    places = [remark.place for remark in run.result.remarks if remark.kind is RemarkKind.DAMAGE]
    assert places == ["line 10", "line 21", "line 201"]


def test_a_stray_quote_costs_its_line_only(imported: Importing) -> None:
    lines = CSV.read_bytes().splitlines(keepends=True)
    lines[50] = b'"' + lines[50]
    run = imported(b"".join(lines))
    assert run.result.figures.requests == 199
    assert run.remark("damaged").place == "line 51"


@pytest.mark.parametrize("value", ["nan", "1e300", "-1e300", "inf"])
def test_absurd_figures_are_damage(imported: Importing, value: str) -> None:
    lines = CSV.read_text().splitlines(keepends=True)
    lines[3] = value + lines[3][6:]
    run = imported("".join(lines).encode())
    assert run.result.figures.requests == 199
    assert run.remark("damaged").place == "line 4"


def test_summary_agrees_with_what_hey_prints(imported: Importing) -> None:
    run = imported(TEXT)
    figures = run.result.figures
    assert figures.requests == 200
    assert dict(figures.outcomes) == {Outcome.OK: 167, Outcome.HTTP_4XX: 11, Outcome.HTTP_5XX: 22}
    assert (figures.latency.p50, figures.latency.p95, figures.latency.max) == (0.0024, 0.1855, 0.3463)
    assert figures.rate == 230.955
    assert figures.bytes_in == 156264
    assert run.result.seconds is None


@pytest.mark.parametrize(
    ("name", "outcome", "requests"),
    [("timeouts", Outcome.TIMEOUT, 16), ("refused", Outcome.REFUSED, 8), ("reset", Outcome.RESET, 40)],
)
def test_summary_of_failures_only(imported: Importing, name: str, outcome: Outcome, requests: int) -> None:
    run = imported(FIXTURES / f"hey/{name}.txt")
    assert dict(run.result.figures.outcomes) == {outcome: requests}
    assert run.result.figures.latency.mean is None, "hey prints NaN and zeros"
    assert len(run.result.errors) == 1, "texts differ by source port only"
    assert run.remark("hey-latency-of-answers").figures["failed"] == requests


def test_cut_off_summary_is_refused(imported: Importing) -> None:
    with pytest.raises(UnreadableFileError, match="cut off after"):
        imported(TEXT.read_bytes()[:400])


def test_totals_of_a_clock_that_was_set_back_are_none(imported: Importing) -> None:
    run = imported(FIXTURES / "hey/negative-total.txt", started_ms=1_795_272_000_000)
    figures = run.result.figures
    assert figures.requests > 100_000
    assert (figures.rate, figures.throughput, figures.duration_seconds) == (None, None, 0.0)
    assert figures.latency == Latency()
    assert run.result.end_ms is None
    assert run.result.endpoints[0].figures == figures
    assert run.remark("impossible-totals").kind is RemarkKind.DAMAGE


GHZ = b"""\nSummary:\n  Count:\t200\n  Total:\t181.57 ms\n  Slowest:\t69.60 ms\n  Fastest:\t26.09 ms
  Average:\t32.01 ms
  Requests/sec:\t1101.53\n\nStatus code distribution:\n  [OK]   200 responses\n"""


def test_the_summaries_of_tools_that_print_nearly_the_same_are_none_of_heys(imported: Importing) -> None:
    with pytest.raises(UnknownFormatError, match="oha --output-format json"):
        imported(FIXTURES / "oha/printed-summary.txt")
    older = TEXT.read_bytes().replace(b"  Total:", b"  Success rate:\t1.0000\n  Total:")
    with pytest.raises(UnknownFormatError, match="oha --output-format json"):
        imported(older)
    with pytest.raises(UnknownFormatError, match="Formats: "):
        imported(GHZ)


def test_a_summary_of_no_request_is_refused(imported: Importing) -> None:
    text = TEXT.read_text()
    cut = text.index("Status code distribution:") + len("Status code distribution:\n")
    with pytest.raises(UnreadableFileError, match="there is no HTTP request in the file"):
        imported(text[:cut].encode())

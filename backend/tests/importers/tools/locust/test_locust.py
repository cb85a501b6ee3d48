"""Locust's CSV files, alone and together, against the report that Locust printed of the same test."""

import io
import re
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from loadwatch_backend.evidence.records.model import OUTCOME_CODES, RemarkKind
from loadwatch_backend.runs.importers.errors import UnreadableFileError
from loadwatch_formats.outcomes import Outcome

from backend.tests.importers.conftest import FIXTURES, Importing

FULL, PLAIN, WHOLE = FIXTURES / "locust/full", FIXTURES / "locust/plain", FIXTURES / "locust/whole"


def zipped(folder: Path, *kinds: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted([*folder.glob("run_*.csv"), *folder.glob("run.html")]):
            if not kinds or path.stem.removeprefix("run_") in kinds:
                archive.write(path, path.name)
    return target.getvalue()


def tarred(folder: Path) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for path in sorted(folder.glob("run_*.csv")):
            archive.add(path, path.name)
    return target.getvalue()


def reported(folder: Path) -> tuple[int, int]:
    """Requests and failures of the table that Locust printed."""
    match = re.search(r"^ +Aggregated +(\d+) +(\d+)\(", (folder / "report.txt").read_text(), re.M)
    assert match is not None
    return int(match[1]), int(match[2])


@pytest.mark.parametrize("folder", [FULL, PLAIN])
def test_totals_are_those_of_locust_but_for_the_last_second(imported: Importing, folder: Path) -> None:
    run = imported(zipped(folder))
    requests, failures = reported(folder)
    figures = run.result.figures
    seconds = run.result.seconds
    assert seconds is not None
    most_in_a_second = int(seconds.requests.max())
    assert 0 <= requests - figures.requests <= 1.5 * most_in_a_second
    assert figures.requests - figures.outcomes[Outcome.OK] <= failures
    assert run.remark("locust-last-second").kind is RemarkKind.MISSING
    assert sum(endpoint.figures.requests for endpoint in run.result.endpoints) == figures.requests


def test_all_kinds_of_failures(imported: Importing) -> None:
    figures = imported(zipped(FULL)).result.figures
    assert {kind for kind, n in figures.outcomes.items() if n} == {
        Outcome.OK,
        Outcome.ASSERTION,
        Outcome.TIMEOUT,
        Outcome.RESET,
        Outcome.HTTP_4XX,
        Outcome.HTTP_5XX,
    }
    assert figures.status_codes["404"] == figures.outcomes[Outcome.HTTP_4XX]


def test_seconds_come_from_totals_and_sum_to_them(imported: Importing) -> None:
    run = imported(zipped(FULL))
    seconds = run.result.seconds
    assert seconds is not None
    assert not seconds.exact
    assert int(seconds.requests.sum()) == run.result.figures.requests
    for kind, n in run.result.figures.outcomes.items():
        assert int(seconds.outcomes[:, OUTCOME_CODES[kind]].sum()) == n, "each endpoint fails in one way"
    assert seconds.users is not None
    assert seconds.users.max() == 6
    assert seconds.bytes_in is not None
    assert int(seconds.bytes_in.sum()) == run.result.figures.bytes_in


def test_percentiles_of_seconds_only_with_full_history(imported: Importing) -> None:
    full, plain = imported(zipped(FULL)), imported(zipped(PLAIN))
    assert full.result.seconds is not None
    assert plain.result.seconds is not None
    assert full.result.seconds.latency is not None
    assert np.nanmax(full.result.seconds.latency) == 0.35
    assert full.remark("locust-ten-second-percentiles").kind is RemarkKind.DISTORTION
    assert plain.result.seconds.latency is None
    assert plain.remark("locust-cumulative-percentiles").kind is RemarkKind.MISSING


def test_rounding_is_said_with_figures(imported: Importing) -> None:
    run = imported(zipped(FULL))
    remark = run.remark("locust-rounded-percentiles")
    assert remark.kind is RemarkKind.DISTORTION
    assert remark.figures["tool_p100"] == 0.35
    assert remark.figures["ours_max"] == run.result.figures.latency.max
    assert remark.figures["p95_within"] == 0.005


def test_exceptions_of_the_script_are_no_requests(imported: Importing) -> None:
    with_them, without = imported(zipped(FULL)), imported(zipped(FULL, "stats", "stats_history", "failures"))
    assert with_them.remark("locust-exceptions").figures["exceptions"] > 0
    assert with_them.result.figures == without.result.figures


def test_zip_and_tar_agree(imported: Importing) -> None:
    left, right = imported(zipped(PLAIN)).result, imported(tarred(PLAIN)).result
    assert left.figures == right.figures
    assert left.endpoints == right.endpoints


def test_statistics_alone(imported: Importing) -> None:
    run = imported(FULL / "run_stats.csv", started_ms=5_000)
    together = imported(zipped(FULL)).result
    assert run.result.figures.latency == together.figures.latency
    assert run.result.seconds is None
    assert run.remark("locust-failure-kinds").figures["failures"] == run.result.figures.outcomes[Outcome.OTHER]
    assert run.remark("locust-no-history").kind is RemarkKind.MISSING
    assert run.result.start_ms == 5_000


def test_history_alone(imported: Importing) -> None:
    full, plain = imported(FULL / "run_stats_history.csv"), imported(PLAIN / "run_stats_history.csv")
    assert full.result.figures.requests == imported(zipped(FULL)).result.figures.requests
    assert full.result.figures.latency.p95 is None, "of 10 s, not of the test"
    assert "p95" in full.remark("locust-percentiles").text
    assert plain.result.figures.latency.p95 == 0.3, "cumulative, so of the test"


@pytest.mark.parametrize("kind", ["failures", "exceptions"])
def test_files_without_totals_are_refused(imported: Importing, kind: str) -> None:
    with pytest.raises(UnreadableFileError, match=r"_stats\.csv"):
        imported(FULL / f"run_{kind}.csv")


def test_other_percentile_columns(imported: Importing) -> None:
    text = (FULL / "run_stats.csv").read_text().replace("66%,", "99.5%,").replace(",95%,", ",42%,")
    run = imported(text.encode())
    assert run.result.figures.latency.p95 is None
    assert run.result.figures.latency.p99 is not None
    assert run.remark("locust-percentiles").text.startswith("The files have no p95")


def test_cut_off_history(imported: Importing) -> None:
    text = (PLAIN / "run_stats_history.csv").read_bytes()
    run = imported(text[:-60])
    damage = [remark for remark in run.result.remarks if remark.kind is RemarkKind.DAMAGE]
    assert [remark.place for remark in damage] == [f"line {text.count(10)}"]
    assert run.result.seconds is not None


def test_damaged_line_in_the_middle(imported: Importing) -> None:
    lines = (PLAIN / "run_stats_history.csv").read_bytes().splitlines(keepends=True)
    lines[5] = b"17952730,garbage\r\n"
    run = imported(b"".join(lines))
    assert run.remark("damaged").place == "line 6"
    seconds = run.result.seconds
    assert seconds is not None
    assert int(seconds.requests.sum()) == run.result.figures.requests, "the next row's totals hold the lost second"


def test_totals_that_begin_again(imported: Importing) -> None:
    lines = (PLAIN / "run_stats_history.csv").read_text().splitlines(keepends=True)
    again = [line.replace("17952730", "17952731") for line in lines[1:]]
    run = imported("".join(lines + again).encode())
    assert run.remark("locust-reset-stats").figures["restarts"] == 1
    seconds = run.result.seconds
    assert seconds is not None
    assert int(seconds.requests.sum()) == 2 * run.result.figures.requests


def test_before_the_first_request(imported: Importing) -> None:
    lines = (PLAIN / "run_stats_history.csv").read_bytes().splitlines(keepends=True)
    run = imported(b"".join(lines[:2]))
    assert run.result.figures.requests == 0
    assert run.result.figures.latency.p95 is None


def test_absurd_sizes_are_none_and_a_damaged_column_name_is_no_crash(imported: Importing) -> None:
    text = (PLAIN / "run_stats_history.csv").read_text()
    last = text.rstrip().rsplit(",", 1)
    run = imported(f"{last[0]},9e300\n".encode())
    assert run.result.figures.bytes_in == 0
    failures = (FULL / "run_failures.csv").read_text().replace("Occurrences", "Occurrences9")
    with pytest.raises(UnreadableFileError):
        imported(failures.encode())


def test_the_report_has_the_last_interval_which_no_csv_file_has(imported: Importing) -> None:
    requests, failures = reported(WHOLE)
    before = imported(zipped(WHOLE, "stats", "stats_history", "failures"))
    assert before.result.figures.requests < requests
    assert before.remark("locust-last-second").kind is RemarkKind.MISSING
    run = imported(zipped(WHOLE))
    figures, seconds = run.result.figures, run.result.seconds
    assert (figures.requests, figures.outcomes[Outcome.HTTP_4XX]) == (requests, failures)
    assert "locust-last-second" not in [remark.code for remark in run.result.remarks]
    assert seconds is not None
    for kind, n in figures.outcomes.items():
        assert int(seconds.outcomes[:, OUTCOME_CODES[kind]].sum()) == n
    assert sum(endpoint.figures.requests for endpoint in run.result.endpoints) == requests
    assert all(text.endswith("for url: /missing?...')") for text, _ in run.result.errors)
    exact = before.result.figures.latency
    assert figures.latency.min == exact.min, "as exact as in _stats.csv"
    alone = imported(WHOLE / "run.html")
    assert alone.result.figures.requests == requests
    assert (alone.result.seconds, alone.result.start_ms) == (None, alone.result.start_ms)
    assert alone.result.start_ms is not None


def test_a_report_of_another_test_or_cut_off_takes_nothing_away(imported: Importing) -> None:
    for page in ((WHOLE / "run.html").read_bytes()[:1_900], (WHOLE / "run.html").read_bytes()):
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as archive:
            for path in sorted(PLAIN.glob("run_*.csv")):
                archive.write(path, path.name)
            archive.writestr("run.html", page)
        found = imported(target.getvalue())
        assert found.result.figures == imported(zipped(PLAIN)).result.figures
        assert found.remark("locust-last-second").kind is RemarkKind.MISSING


def test_failures_of_one_kind_are_of_that_kind_in_every_second(imported: Importing) -> None:
    """Without --csv-full-history no endpoint has rows of its own; where all fail alike, none are needed."""
    lines = (WHOLE / "run_stats_history.csv").read_text().splitlines(keepends=True)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("run_stats_history.csv", "".join(line for line in lines if ",GET," not in line))
        archive.write(WHOLE / "run_failures.csv", "run_failures.csv")
    seconds = imported(target.getvalue()).result.seconds
    assert seconds is not None
    assert int(seconds.outcomes[:, OUTCOME_CODES[Outcome.HTTP_4XX]].sum()) > 0
    assert int(seconds.outcomes[:, OUTCOME_CODES[Outcome.OTHER]].sum()) == 0

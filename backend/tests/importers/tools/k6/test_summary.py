"""k6's three summaries, of which two are of one run: they must read the same despite their opposite senses."""

import json

import pytest
from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_backend.runs.importers.errors import UnreadableFileError
from loadwatch_backend.runs.importers.tools.k6.summary import parse_summary
from loadwatch_formats.outcomes import Outcome

from backend.tests.importers.conftest import FIXTURES, Importing, assert_same

EXPORT, HANDLED, MACHINE = (FIXTURES / f"k6/{name}.json" for name in ("export", "handle", "machine"))


def test_legacy_export_and_handle_summary_of_one_run_agree(imported: Importing) -> None:
    export, handled = imported(EXPORT).result, imported(HANDLED).result
    assert export.figures.outcomes == handled.figures.outcomes == {Outcome.OK: 71, Outcome.OTHER: 46}
    assert export.figures.latency.p95 == handled.figures.latency.p95 == pytest.approx(0.29384129739999987)
    assert export.figures.duration_seconds == pytest.approx(handled.figures.duration_seconds)
    assert (handled.figures.bytes_in, handled.figures.bytes_out) == (41812, 11831)
    assert handled.facts.dropped_iterations == 26
    assert not handled.has_records


def test_thresholds_have_opposite_senses_and_one_meaning() -> None:
    found = [set(parse_summary(json.loads(path.read_bytes())).thresholds) for path in (EXPORT, HANDLED)]
    assert found[0] == found[1]
    assert ("http_req_duration", "p(95)<100", False) in found[0]
    assert ("http_req_failed", "rate<0.5", True) in found[0]


def test_machine_readable_summary(imported: Importing) -> None:
    run = imported(MACHINE)
    assert run.result.tool_version == "1.8.1"
    assert run.result.figures.requests == 118
    assert run.result.figures.latency.p95 == pytest.approx(0.29895339644999996)
    assert run.result.end_ms == 1795272912056
    assert run.result.start_ms == run.result.end_ms - 3254
    assert run.remark("k6-checks").figures["failed_checks"] == 14


def test_machine_readable_summary_with_the_names_of_version_2(imported: Importing) -> None:
    text = MACHINE.read_text().replace("k6_version", "k6Version").replace("generated_at", "generatedAt")
    text = text.replace('"p90"', '"p(90)"').replace('"p95"', '"p(95)"')
    assert_same(imported(text.encode()).result, imported(MACHINE).result)


def test_what_a_summary_cannot_tell_is_said(imported: Importing) -> None:
    run = imported(HANDLED, started_ms=1_000_000)
    codes = {remark.code: remark.kind for remark in run.result.remarks}
    assert codes["k6-interpolated"] is RemarkKind.DISTORTION
    assert {"k6-no-series", "k6-failure-kinds", "k6-percentiles", "k6-thresholds"} <= set(codes)
    assert run.result.start_ms == 1_000_000
    assert run.result.end_ms == 1_000_000 + 3166


def test_a_cut_off_summary_is_refused_with_its_place(imported: Importing) -> None:
    with pytest.raises(UnreadableFileError, match=r"byte \d+ of 2000 .*cut off"):
        imported(HANDLED.read_bytes()[:2000])


def test_a_summary_without_metrics_is_refused(imported: Importing) -> None:
    with pytest.raises(UnreadableFileError, match="no metrics"):
        imported(b'{"root_group": {}, "metrics": {}}')

"""Order, causes and states of a diagnosis, with detectors made for it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from loadwatch_backend.catalogue.signals.model import Unit
from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.findings.detectors.pool import pool_exhausted as DETECTOR
from loadwatch_backend.findings.engine import diagnose
from loadwatch_backend.findings.model import (
    Detector,
    DiagnosisState,
    Evidence,
    Finding,
    Kind,
    Link,
    Look,
    Rule,
    Severity,
)
from loadwatch_backend.findings.window import Window

from backend.tests.findings.windows import START_MS, load, window

TEXT = Words("text", "文")
USED = {"used": 1.0}
FELT = Evidence(text=TEXT, link=Link.EFFECT, expression="up", unit=Unit.COUNT, value=1.0, at_ms=START_MS)


def _kind(id: str, severity: Severity = Severity.CRITICAL) -> Kind:
    return Kind(
        id=id, severity=severity, title=TEXT, explanation=TEXT, rule=Rule(text=TEXT, source=""), refuted_by=TEXT
    )


def _detector(
    id: str,
    seconds: float | None,
    *,
    follows: Sequence[str] = (),
    instance: str = "",
    lasts: float = 10,
    severity: Severity = Severity.CRITICAL,
    impact: bool = False,
) -> Detector:
    """Says that something began so many seconds into the window; None says that it did not."""
    kind = _kind(id, severity)

    def look(_: Window) -> Look:
        if seconds is None:
            return Look(clear=TEXT)
        begun = START_MS + round(seconds * 1_000)
        labels = {"job": "app", "instance": instance} if instance else {}
        finding = Finding(
            kind=kind,
            sentence=TEXT,
            from_ms=begun,
            to_ms=begun + round(lasts * 1_000),
            labels=labels,
            evidence=(FELT,) if impact else (),
        )
        return Look(findings=(finding,))

    return Detector(kind=kind, look=look, needs=("used",), follows=follows)


def _order(*detectors: Detector) -> list[str]:
    return [one.id for one in diagnose(window(USED), detectors).findings]


def test_by_when_harm_began() -> None:
    assert _order(_detector("late", 20), _detector("early", 5, lasts=30)) == ["early", "late"]


def test_a_cause_that_is_sampled_a_little_later_comes_first() -> None:
    assert _order(_detector("waits", 5, follows=["full"]), _detector("full", 6.5)) == ["full", "waits"]


def test_what_begins_long_after_is_no_cause() -> None:
    diagnosis = diagnose(window(USED), [_detector("waits", 5, follows=["full"]), _detector("full", 12)])
    assert [one.id for one in diagnosis.findings] == ["waits", "full"]
    assert not diagnosis.because_of


def test_what_ended_long_before_is_no_cause() -> None:
    diagnosis = diagnose(window(USED), [_detector("full", 1, lasts=2), _detector("waits", 40, follows=["full"])])
    assert not diagnosis.because_of


def test_another_instance_of_the_same_job_is_no_cause() -> None:
    detectors = [_detector("full", 1, instance="a"), _detector("waits", 2, follows=["full"], instance="b")]
    assert not diagnose(window(USED), detectors).because_of
    assert diagnose(window(USED), [detectors[0], _detector("waits", 2, follows=["full"], instance="a")]).because_of


def test_two_that_are_said_to_follow_from_each_other_end() -> None:
    assert _order(_detector("a", 1, follows=["b"]), _detector("b", 2, follows=["a"])) == ["a", "b"]


def test_what_begins_together_is_ordered_by_how_bad_it_is() -> None:
    assert _order(_detector("mild", 5, severity=Severity.WARNING), _detector("bad", 6)) == ["bad", "mild"]


def test_a_warning_that_nobody_felt_comes_after_what_somebody_felt_unless_it_is_its_cause() -> None:
    churn = _detector("churn", 1, severity=Severity.WARNING)
    assert _order(churn, _detector("full", 9, impact=True)) == ["full", "churn"]
    assert _order(churn, _detector("full", 9, impact=True, follows=["churn"])) == ["churn", "full"]


def test_what_accuses_nothing_comes_last_and_causes_nothing() -> None:
    noise = _detector("noise", 0, severity=Severity.INFO)
    diagnosis = diagnose(window(USED), [noise, _detector("full", 9, follows=["noise"])])
    assert [one.id for one in diagnosis.findings] == ["full", "noise"]
    assert not diagnosis.because_of


def test_noise_alone_finds_nothing() -> None:
    diagnosis = diagnose(window(USED), [_detector("noise", 0, severity=Severity.INFO), _detector("full", None)])
    assert diagnosis.state is DiagnosisState.NONE


def test_nothing_that_could_be_checked_cannot_tell() -> None:
    diagnosis = diagnose(window(USED), [DETECTOR])
    assert diagnosis.state is DiagnosisState.CANNOT_TELL
    assert diagnosis.missing[0].switched_on_by


def test_a_load_whose_systems_are_not_measured_is_not_cleared_by_its_own_figures() -> None:
    of_the_load = replace(_detector("generator", None), needs=())
    assert diagnose(window({}, load=load(100.0)), [of_the_load, DETECTOR]).state is DiagnosisState.CANNOT_TELL
    assert diagnose(window(USED, load=load(100.0)), [of_the_load, _detector("full", None)]).state is DiagnosisState.NONE


def test_what_could_not_be_judged_is_no_all_clear() -> None:
    short = Words("Needs 20 s of load; this run had 12 s.", "20秒の負荷が必要(この実行は12秒)。")

    def look(_: Window) -> Look:
        return Look(clear=TEXT, unjudged=short)

    diagnosis = diagnose(window(USED), [replace(_detector("stall", None), look=look), _detector("full", None)])
    assert diagnosis.state is DiagnosisState.CANNOT_TELL
    assert [(one.kind.id, one.text) for one in diagnosis.unjudged] == [("stall", short)]
    assert [one.kind.id for one in diagnosis.checked] == ["full"]


@pytest.mark.parametrize(
    ("failing", "state"), [(40.0, DiagnosisState.CANNOT_TELL), (0.1, DiagnosisState.NONE)], ids=["hurt", "well"]
)
def test_a_load_that_was_hurt_is_not_explained_by_what_was_not_seen(failing: float, state: DiagnosisState) -> None:
    seen = window(USED, load=load(100.0, timeout=failing))
    assert diagnose(seen, [DETECTOR, _detector("full", None)]).state is state


def test_in_less_time_than_it_needs_a_detector_cannot_tell() -> None:
    slow = replace(_detector("stall", None), least_seconds=20.0)
    short = replace(window(USED), to_ms=START_MS + 12_000)
    diagnosis = diagnose(short, [slow, _detector("full", None)])
    assert [one.text.en for one in diagnosis.unjudged] == ["Needs 20 s; there were 12 s."]
    assert (diagnosis.state, len(diagnosis.checked)) == (DiagnosisState.CANNOT_TELL, 1)
    assert diagnose(window(USED), [slow]).state is DiagnosisState.NONE
    found = replace(_detector("stall", 3), least_seconds=20.0)
    assert diagnose(short, [found]).state is DiagnosisState.FOUND


def test_a_detector_with_a_mistake_costs_nothing_of_the_others() -> None:
    def broken(_: Window) -> Look:
        raise ZeroDivisionError

    diagnosis = diagnose(window(USED), [replace(_detector("broken", 1), look=broken), _detector("full", 3)])
    assert [one.id for one in diagnosis.findings] == ["full"]
    assert list(diagnosis.failed) == ["broken"]
    assert [one.kind.id for one in diagnosis.unjudged] == ["broken"]
    assert not diagnosis.missing


def test_a_detector_that_fails_judges_the_targets_that_it_does_not_fail_at() -> None:
    def look(seen: Window) -> Look:
        if seen["used"].where(job="absurd"):
            raise OverflowError
        return _detector("full", 3, instance="a").look(seen) if seen["used"].where(job="app") else Look(clear=TEXT)

    both = window({'used{job="app",instance="a"}': 1.0, 'used{job="absurd",instance="x"}': 1.0})
    diagnosis = diagnose(both, [replace(_detector("full", None), look=look, needs=("used",))])
    assert [one.labels["instance"] for one in diagnosis.findings] == ["a"]
    assert list(diagnosis.failed) == ["full"]
    clear = window({'used{job="absurd",instance="x"}': 1.0, 'used{job="other",instance="y"}': 1.0})
    diagnosis = diagnose(clear, [replace(_detector("full", None), look=look, needs=("used",))])
    assert diagnosis.state is DiagnosisState.CANNOT_TELL
    assert "absurd x" in diagnosis.unjudged[0].text.en


def test_what_only_some_systems_have_is_missing_and_no_reason_for_doubt() -> None:
    unusual = replace(DETECTOR, usual=False)
    assert diagnose(window(USED, load=load(100.0)), [unusual, _detector("full", None)]).state is DiagnosisState.NONE


def test_a_symptom_that_nothing_explains_is_cannot_tell_and_named() -> None:
    detectors = [_detector("full", None), _detector("advice", 3, severity=Severity.INFO)]
    diagnosis = diagnose(window(USED, load=load(100.0, timeout=40.0)), detectors)
    assert diagnosis.state is DiagnosisState.CANNOT_TELL
    assert [one.en for one in diagnosis.symptoms] == ["2,400 of 8,400 requests failed (29 %); most timed out."]
    explained = diagnose(window(USED, load=load(100.0, timeout=40.0)), [*detectors, _detector("waits", 3)])
    assert (explained.state, len(explained.symptoms)) == (DiagnosisState.FOUND, 1)


def test_the_whole_of_an_episode_is_told_where_more_of_it_can_be_read() -> None:
    """A detector that counts from where its window begins; the window reads a minute more."""

    def look(seen: Window) -> Look:
        text = Words(f"{(seen.to_ms - seen.from_ms) // 1_000} s", "")
        finding = Finding(
            kind=_kind("full"), sentence=text, from_ms=seen.from_ms, to_ms=seen.to_ms, labels={}, evidence=()
        )
        return Look(findings=(finding,))

    detector = replace(_detector("full", 1), look=look)
    asked: list[str] = []

    def earlier(one: Detector, cut: Sequence[Finding]) -> Window:
        asked.extend([one.kind.id, *(finding.key for finding in cut)])
        return replace(window(USED), from_ms=START_MS - 60_000, is_open=True)

    seen = replace(window(USED), earlier=earlier)
    (finding,) = diagnose(seen, [detector, _detector("late", None)]).findings
    assert (finding.sentence.en, finding.from_ms, finding.began_earlier) == ("120 s", START_MS - 60_000, True)
    assert asked == ["full", "full"]
    late = diagnose(replace(seen, from_ms=START_MS - 200_000), [_detector("full", 1)]).findings
    assert not late[0].began_earlier, "what began within the window has its beginning"
    assert len(asked) == 2

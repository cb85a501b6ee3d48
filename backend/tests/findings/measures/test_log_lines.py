"""New error lines of logs are quoted beside the failures that they appear with."""

from dataclasses import replace

import numpy as np
import pytest
from loadwatch_backend.catalogue.signals.model import Unit
from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.findings.engine import diagnose
from loadwatch_backend.findings.measures.log_lines import LOG_METRICS
from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity
from loadwatch_backend.findings.registry import METRICS
from loadwatch_backend.findings.window import Load, Window

from backend.tests.findings.windows import BEFORE, START_MS, Values, load, over, steps, window

LOG = 'job="app",instance="app-1"'
NEW = np.concatenate([np.full(20, np.nan), np.arange(1.0, 41.0)])
"""A pattern whose counter is there from its first line on, 20 s after the run began."""
FAILING = load(steps((20, 100.0), (40, 60.0)), timeout=steps((20, 0.0), (40, 40.0)))
TEXT = Words("text", "文")


def logged(
    count: Values = NEW, *, level: str = "error", text: str = "accept4: too many open files"
) -> dict[str, Values]:
    return {
        f'log_messages_total{{{LOG},pattern_id="p1",level="{level}"}}': count,
        f'log_pattern_info{{{LOG},pattern_id="p1",pattern="{text}"}}': 1.0,
        f'log_lines_total{{{LOG},result="counted"}}': 50.0,
    }


def quoted(seen: Window, *, severity: Severity = Severity.CRITICAL, impact: bool = True) -> Finding:
    def look(_: Window) -> Look:
        evidence = Evidence(text=TEXT, link=Link.EFFECT, expression="up", unit=Unit.COUNT, value=1.0, at_ms=START_MS)
        link = Link.EFFECT if impact else Link.LIMIT
        kind = Kind(
            id="full", severity=severity, title=TEXT, explanation=TEXT, rule=Rule(text=TEXT, source=""), refuted_by=TEXT
        )
        return Look(
            findings=(
                Finding(
                    kind=kind,
                    sentence=TEXT,
                    from_ms=START_MS + 20_000,
                    to_ms=START_MS + 59_000,
                    labels={},
                    evidence=(replace(evidence, link=link),),
                ),
            )
        )

    detector = Detector(
        kind=Kind(
            id="full", severity=severity, title=TEXT, explanation=TEXT, rule=Rule(text=TEXT, source=""), refuted_by=TEXT
        ),
        look=look,
        needs=(),
    )
    (finding,) = diagnose(seen, [detector]).findings
    return finding


def test_a_new_error_is_quoted_with_how_often_and_since_when() -> None:
    before = quoted(window({}, load=FAILING))
    finding = quoted(window(logged(), load=FAILING))
    (quote,) = finding.evidence[1:]
    assert quote.text.en == "app-1 logged for the first time, 40 times meanwhile: accept4: too many open files"
    assert "初めて" in quote.text.ja
    assert quote.at_ms == START_MS + 21_000
    assert finding.certainty is before.certainty, "a quote makes nothing surer"
    assert set(LOG_METRICS) <= METRICS


def test_words_say_it_where_the_line_has_no_level() -> None:
    assert len(quoted(window(logged(level=""), load=FAILING)).evidence) == 2
    assert len(quoted(window(logged(level="", text="GET / 200"), load=FAILING)).evidence) == 1


@pytest.mark.parametrize(
    ("series", "impact", "why"),
    [
        (logged(level="info"), FAILING, "no error"),
        (logged(over(steps((20, 3.0), (40, 90.0)))), FAILING, "it was written before, too"),
        (logged(), load(100.0), "nothing failed"),
        (logged(), None, "no load"),
        ({name: one for name, one in logged().items() if "lines" not in name}, FAILING, "nobody says since when"),
    ],
)
def test_is_not_quoted(series: dict[str, Values], impact: Load | None, why: str) -> None:
    assert len(quoted(window(series, load=impact)).evidence) == 1, why


def test_a_log_that_is_read_only_since_shortly_before_says_nothing_of_what_is_new() -> None:
    late = np.full(60 + 2 * BEFORE + 1, 50.0)
    late[: BEFORE + 12] = np.nan
    series = logged() | {f'log_lines_total{{{LOG},result="counted"}}': late}
    assert len(quoted(window(series, load=FAILING)).evidence) == 1


def test_notes_and_what_nobody_felt_are_left_alone() -> None:
    assert len(quoted(window(logged(), load=FAILING), severity=Severity.INFO).evidence) == 1
    assert len(quoted(window(logged(), load=FAILING), impact=False).evidence) == 1

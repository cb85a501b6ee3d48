"""When something was: of a run on its clock, of the present on the wall's, which stays true when it is sent or kept."""

from dataclasses import replace

from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.findings.measures.facts import since_start

from backend.tests.findings.windows import START_MS, window


def test_the_present_has_clock_times() -> None:
    live = window({"up": 1.0})
    assert since_start(live, START_MS + 163_000) == Words("00:02:43 UTC", "00:02:43 UTC")
    assert since_start(live, START_MS + 163_000, "at ") == Words("at 00:02:43 UTC", "00:02:43 UTC")


def test_what_was_so_when_the_window_began_began_before() -> None:
    live = window({"up": 1.0})
    for words in (since_start(live, START_MS + 1_000), since_start(live, START_MS + 1_000, "at ")):
        assert words == Words("before 00:00:01 UTC", "00:00:01 UTCより前")


def test_a_run_has_a_clock_of_its_own() -> None:
    run = replace(window({"up": 1.0}), of_run=True)
    for words in (since_start(run, START_MS + 1_400), since_start(run, START_MS + 1_400, "at ")):
        assert words == Words("1.4 s into the run", "開始1.4秒後")

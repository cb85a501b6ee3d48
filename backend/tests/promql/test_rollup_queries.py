"""A few hundred of the queries of rollup_queries.py; the text of what is said of an answer that is not exact."""

from collections import Counter
from collections.abc import Generator, Sequence

import pytest
from loadwatch_backend.series.promql import levels
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.value import Matrix
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore
from loadwatch_backend.series.store.levels import Level
from loadwatch_backend.series.store.port import Matcher, Reading, Selection

from backend.tests.promql.reference.cases import BASE_MS
from backend.tests.promql.rollup_queries import MINUTE, Engines, Question, ask, compare, opened_engines, questions


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Generator[Engines]:
    with opened_engines(tmp_path_factory.mktemp("rollups")) as found:
        yield found


def test_rollups_give_the_same_or_say_what_they_are_off_by(engines: Engines) -> None:
    counts: Counter[str] = Counter()
    for question in questions(3, 240):
        assert compare(engines, question, counts) == [], question
    assert counts["both, exact"] == 240
    assert min(counts["old, exact"], counts["old, bounded"]) > 50


@pytest.mark.parametrize(
    ("text", "start", "infos"),
    [
        ("rate(requests_total[5m])", 10 * MINUTE, []),
        ("temperature", 10 * MINUTE, []),
        ("absent_over_time(missing[2m])", 10 * MINUTE, []),
        (
            "temperature",
            10 * MINUTE + 1,
            ["values are up to 60 s older than at full resolution, or missing where the look-back is shorter"],
        ),
        ("rate(requests_total[5m])", 10 * MINUTE + 1, ["windows of rate begin and end up to 60 s early"]),
        ("increase(requests_total[90s])", 10 * MINUTE, ["windows of increase begin and end up to 60 s early"]),
        ("max_over_time(temperature[30s])", 10 * MINUTE, ["windows of max_over_time begin and end up to 120 s early"]),
        (
            "quantile_over_time(0.9, temperature[5m]) + deriv(temperature[5m])",
            10 * MINUTE,
            [
                "quantile_over_time sees the last sample of each minute alone",
                "deriv sees the last sample of each minute alone",
            ],
        ),
        ("temperature[5m]", 10 * MINUTE, ["a range sees the last sample of each minute alone"]),
        ("max_over_time(rate(requests_total[2m])[10m:1m])", 10 * MINUTE + 7, []),
        (
            "max_over_time(temperature[10m:20s])",
            10 * MINUTE,
            ["values are up to 60 s older than at full resolution, or missing where the look-back is shorter"],
        ),
    ],
)
def test_what_is_said(engines: Engines, text: str, start: int, infos: list[str]) -> None:
    question = Question(text=text, start_ms=BASE_MS + start, end_ms=BASE_MS + start, step_ms=0)
    said = "one-minute rollups stand for samples before 2023-11-14T22:50:00Z, which were deleted for their age"
    _, found = ask(engines.old, question)
    assert found == [f"PromQL info: {said}: {info}" for info in infos]
    assert ask(engines.both, question)[1] == []


def test_who_cannot_be_told_gets_no_approximation(engines: Engines) -> None:
    at = BASE_MS + 10 * MINUTE
    assert len(engines.old.instant("temperature", at).labels) == 3
    assert len(engines.old.instant("temperature", at + 1).labels) == 0
    assert len(engines.old.instant("deriv(temperature[5m])", at).labels) == 0


def test_steps_with_all_samples_are_read_as_before(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    store = engines.both.store
    assert isinstance(store, EmbeddedStore)
    asked: list[Level] = []
    select = store.select

    def noted(matchers: Sequence[Matcher], start_ms: int, end_ms: int, reading: Reading, *level: Level) -> Selection:
        asked.extend(level or [Level.RAW])
        return select(matchers, start_ms, end_ms, reading, *level)

    monkeypatch.setattr(store, "select", noted)
    monkeypatch.setattr(store, "whole_spans", lambda: [(BASE_MS + 12 * MINUTE, 1 << 44)])
    monkeypatch.setattr(levels, "WORTH_MS", 1 << 60)
    engine = Engine(store, engines.both.settings)
    start, end = BASE_MS + 7, BASE_MS + 30 * MINUTE
    question = Question(text="stddev_over_time(temperature[5m])", start_ms=start, end_ms=end, step_ms=MINUTE)
    answer, infos = ask(engine, question)
    assert asked == [Level.LAST, Level.RAW]
    assert len(infos) == 1
    expected, _ = ask(engines.raw, question)
    assert isinstance(answer, Matrix)
    assert isinstance(expected, Matrix)
    assert answer.values[:, 17:].tolist() == expected.values[:, 17:].tolist()
    assert answer.values[:, :17].tolist() != expected.values[:, :17].tolist()

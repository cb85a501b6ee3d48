"""The tables of runs on the databases that people have."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.core.database.relational import Relational, open_relational
from loadwatch_backend.evidence.files.service import EvidenceFiles
from loadwatch_backend.evidence.records.figures import figures_of
from loadwatch_backend.findings.opinions import Opinions
from loadwatch_backend.findings.service import Findings
from loadwatch_backend.runs.analyses import Analyses
from loadwatch_backend.runs.analysis.analyst import Analyst
from loadwatch_backend.runs.annotations.service import AnnotationService
from loadwatch_backend.runs.registry.configuration import Configuration
from loadwatch_backend.runs.registry.places import Places
from loadwatch_backend.runs.registry.registry import PinnedWindows, Registry
from loadwatch_backend.runs.registry.repository import find_run
from loadwatch_backend.runs.registry.tables import RunTagRow
from loadwatch_backend.runs.reviews.reviews import Reviews
from loadwatch_backend.runs.reviews.schemas import MeetingIn, ReviewIn, ShareIn
from loadwatch_backend.runs.schemas import RunFinish, RunIn, RunPatch, RunQuery, RunSort, SnapshotWhen
from loadwatch_backend.runs.service import ActionScorer, OpenShare, Shares
from loadwatch_backend.runs.snapshots import Snapshotter
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.store.embedded.engine import open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from sqlalchemy import select

from backend.tests.conftest import NOW_MS, SetClock

LONG = "あ" * 200


@pytest.fixture
def relational(database_url: str) -> Iterator[Relational]:
    relational = open_relational(database_url)
    yield relational
    relational.close()


def test_runs_on_a_real_database(relational: Relational, tmp_path: Path):
    clock, places = SetClock(), Places(tmp_path)
    store = open_embedded(EmbeddedSettings(data_directory=tmp_path / "store"), clock)
    try:
        engine = Engine(store)
        analyst = Analyst(engine, clock, figures_of, Findings(engine.store, clock))
        analyses = Analyses(relational, places, analyst, clock)
        configuration = Configuration(relational, Snapshotter(engine, Library()), clock)
        opinions = Opinions(relational, clock)
        files = EvidenceFiles(relational, tmp_path, find_run, clock)
        notes = AnnotationService(relational, clock)
        registry = Registry(relational, places, analyses, configuration, opinions, clock, 86_400_000, files, notes)
        check_runs(registry, relational, clock)
        reviews = Reviews(relational, analyses, clock)
        check_writing(registry, reviews, Shares(relational, clock), configuration, relational)
        check_scores(registry, reviews, ActionScorer(relational, analyses, clock), clock)
        registry.delete("one")
        with relational.transaction() as session:
            assert session.scalars(select(RunTagRow)).all() == []
        assert PinnedWindows(relational, clock)() == [(NOW_MS - 300_000, NOW_MS + 300_000)]
        registry.delete("two")
    finally:
        store.close()


def check_runs(registry: Registry, relational: Relational, clock: SetClock) -> None:
    command = ["x" * 9_000] * 9
    facts = {**dict.fromkeys(("name", "scenario", "commit", "host"), LONG), "author": "葵😀", "command": command}
    lists = {"tags": ["a", "A", "は", "ば"], "parameters": {LONG: LONG}}
    one = registry.create(RunIn.model_validate({"id": "one", **lists, **facts}))
    assert (one.tags, one.parameters, one.command) == (lists["tags"], lists["parameters"], command)
    assert registry.create(RunIn(id="one")) == one
    registry.create(RunIn(id="two", scenario=LONG, target_rate=0.1, thresholds=["p95<1s"]))
    assert registry.finish("two", RunFinish(ended_ms=NOW_MS, exit_code=1)).exit_code == 1
    for sort in RunSort:
        for descending in (True, False):
            found = registry.list(RunQuery(q="あ", sort=sort, descending=descending))
            assert {run.id for run in found.runs} == {"one", "two"}
    for wanted in (RunQuery(tag=["は", "a"]), RunQuery(commit="あ"), RunQuery(q="葵 ば")):
        assert [run.id for run in registry.list(wanted).runs] == ["one"]
    for wanted in (
        RunQuery.model_validate({"author": "葵😀"}),
        RunQuery(q=f"{LONG[:150]}"),
        RunQuery(verdict="none", commit="あ"),
    ):
        assert "one" in [run.id for run in registry.list(wanted).runs], wanted
    assert registry.list(RunQuery(finding="none_")).runs == []
    nothing = registry.list(RunQuery(tag=["ハ"], sort=RunSort.NAME))
    assert (nothing.total, nothing.runs) == (0, [])
    assert [value["value"] for value in registry.facets().model_dump()["tags"]] == sorted(["a", "A", "は", "ば"])
    changed = registry.update("one", RunPatch.model_validate({"tags": ["b", "a"], "parameters": {"p": "1"}}))
    assert (changed.tags, changed.parameters, changed.name) == (["b", "a"], {"p": "1"}, LONG)
    assert registry.pin("two", pinned=True).is_baseline
    assert PinnedWindows(relational, clock)() == [(NOW_MS - 300_000, NOW_MS + 300_000)]


def check_writing(
    registry: Registry, reviews: Reviews, shares: Shares, configuration: Configuration, relational: Relational
) -> None:
    SetClock()
    text = "語" * 20_000
    written = reviews.write("one", ReviewIn(version=0, author=LONG, outcome=text, feedback=text))
    assert (written.version, written.outcome) == (1, text)
    assert len(reviews.history("one").versions) == 1
    long = {"id": "a" * 16, "text": "語" * 1_000, "owner": "語" * 100, "due": "2027-01-31", "expected": "語" * 200}
    several = [{"id": "b", "text": "b", "owner": "ken", "expected": "requests>=0"}, long]
    assert reviews.write("one", ReviewIn.model_validate({"version": 1, "actions": several})).version == 2
    assert [run.id for run in registry.list(RunQuery(open_actions=True)).runs] == ["one"]
    assert reviews.read("one").actions[1].expected == "語" * 200
    assert reviews.end_meeting(MeetingIn(scenario="語" * 200)).runs == []
    assert reviews.end_meeting(MeetingIn(attendees=[LONG] * 50)).runs == ["two", "one"]
    assert reviews.next_meeting().runs == []
    share = shares.create("one", ShareIn(note=LONG))
    assert shares.open((share.path or "").removeprefix("/share/")) == OpenShare(run="one", files=())
    configuration.capture("one", SnapshotWhen.BEFORE)
    assert configuration.difference("one", None).missing
    assert registry.deletion("one").reviews == 2


def check_scores(registry: Registry, reviews: Reviews, scorer: ActionScorer, clock: SetClock) -> None:
    clock.now_ms += 1
    registry.create(RunIn(id="three", scenario=LONG))
    registry.finish("three", RunFinish(ended_ms=clock.now_ms))
    clock.now_ms += 100_000
    registry.finish("one", RunFinish(ended_ms=clock.now_ms))
    for _ in range(2):
        scorer.tick()
        said = reviews.read("three").scored
        assert [(one.of_run, one.action, one.state) for one in said] == [
            ("one", "b", "not-measured"),
            ("one", "a" * 16, "not-measured"),
        ]
        # Analysed again, so scored again.
        clock.now_ms += 1_000
        registry.update("three", RunPatch.model_validate({"name": "x"}))
    registry.delete("three")
    clock.now_ms = NOW_MS

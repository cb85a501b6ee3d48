"""A recording is the same run, in its place."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from loadwatch_backend.runs.archive.format import ANALYSIS, RUN, SAMPLES
from loadwatch_collectors.runs.replay import parse_label

from scenarios.cases import CASES
from scenarios.record import FIRST_PLACE_MS, MINUTE_MS, PLACE_MS, make_label, place, place_of
from tests.scenarios.test_samples import samples

STARTED_MS = 1_795_453_276_209
RUN_DOCUMENT = {
    "started_ms": STARTED_MS,
    "skew_ms": -12,
    "progress": {"at_ms": STARTED_MS + 5_000},
    "command": ["/somewhere/else/build/tool", "/other"],
}
SNAPSHOTS: list[dict[str, Any]] = [{"at_ms": STARTED_MS, "settings": []}]


def archive() -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as file:
        file.writestr("manifest.json", "{}")
        file.writestr(RUN, json.dumps(RUN_DOCUMENT))
        file.writestr("snapshots.json", json.dumps(SNAPSHOTS))
        file.writestr("result.json", '{"has_records": true, "seconds": {"start_ms": 1795453276000}}')
        file.writestr(ANALYSIS, "{}")
        file.writestr("records.parquet", b"x")
        file.writestr(SAMPLES, samples())
    return output.getvalue()


def test_all_times_move_together_by_whole_minutes_and_nothing_else_does() -> None:
    with zipfile.ZipFile(io.BytesIO(place(archive(), "a-case", root=Path("/somewhere/else")))) as file:
        assert file.namelist() == ["manifest.json", RUN, "snapshots.json", "result.json", SAMPLES]
        run, snapshots, result = [json.loads(file.read(name)) for name in file.namelist()[1:4]]
    moved = run["started_ms"]
    by_ms = moved - STARTED_MS
    assert by_ms % MINUTE_MS == 0
    assert place_of("a-case") - MINUTE_MS < moved <= place_of("a-case")
    assert run == {
        "started_ms": moved,
        "skew_ms": -12,
        "progress": {"at_ms": moved + 5_000},
        "command": ["build/tool", "/other"],
    }
    assert snapshots == [{"at_ms": moved, "settings": []}]
    assert result == {"has_records": False, "seconds": {"start_ms": 1_795_453_276_000 + by_ms}}


def test_what_is_in_its_place_stays_there() -> None:
    once = place(archive(), "a-case", root=Path("/somewhere/else"))
    assert place(once, "a-case", root=Path("/somewhere/else")) == once


def test_no_two_cases_share_a_place() -> None:
    places = {place_of(case.name) for case in CASES}
    assert len(places) == len(CASES)
    assert all(one >= FIRST_PLACE_MS and (one - FIRST_PLACE_MS) % PLACE_MS == 0 for one in places)


def test_a_label_is_one_that_replay_reads() -> None:
    made: dict[str, Any] = {"at": "2026-11-23T17:00:00+00:00", "commit": "abc"}
    for case in CASES:
        document = make_label(case, run="r", made=made, said=["pool-exhausted"])
        label = parse_label(json.loads(json.dumps(document)), where=case.name)
        assert (label.case, label.purpose, label.healthy) == (case.name, case.purpose, case.healthy)
        assert len(label.expected) == len(case.expected)

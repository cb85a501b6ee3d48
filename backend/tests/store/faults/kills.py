"""kill -9 in each place, round after round: `python -m backend.tests.store.faults.kills PLACE DIRECTORY ROUNDS`.

A round begins in a prepared directory: start, die, start again, die elsewhere, start again and end. Then everything
that was acknowledged must be there. Prints what happened as JSON.
"""

import json
import random
import shutil
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

from backend.tests.store.faults.dying import Death, FaultError, Moment, in_child, keep
from backend.tests.store.faults.place import Acknowledge, Place
from backend.tests.store.faults.places import PLACES

NUMBERS = 100
"""Of acknowledged samples, for each start."""
LATEST_SECONDS = 0.003
"""After the beginning of a point, for a kill in its middle."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """Of all rounds in a place; `points` are those of a life that nobody ends."""

    place: str
    points: int
    rounds: int = 0
    kills: int = 0
    starts: int = 0
    acknowledged: int = 0
    failed_starts: int = 0
    failed_checks: int = 0
    faults: list[str] = field(default_factory=list[str])


def live(place: Place, directory: Path, first: int, acknowledge: Acknowledge) -> None:
    """A start and all of the work."""
    with place.opened(directory, first, acknowledge) as steps:
        for step in steps:
            step()


def kill(place: Place, directory: Path, rounds: int, *, say: bool = False) -> Outcome:
    """So many rounds below a directory; faults are in the outcome, with where a copy of what they left is."""
    chance = random.Random(f"{place.name} 20261126")
    prepared, data = directory / "prepared", directory / "round"
    shutil.rmtree(prepared, ignore_errors=True)
    prepared.mkdir(parents=True)
    in_child(lambda _acknowledge: place.prepare(prepared), death=None)
    points = _one(place, prepared, data, NUMBERS, None)[1]
    outcome = Outcome(place=place.name, points=points)
    for number in range(rounds):
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(prepared, data)
        _round(place, data, number, 1 + number * points // rounds, chance, outcome)
        outcome.rounds += 1
        if say and outcome.rounds % 10 == 0:
            sys.stderr.write(f"{place.name}: {outcome.rounds} of {rounds} rounds, {outcome.kills} kills\n")
    return outcome


def _one(place: Place, prepared: Path, data: Path, first: int, death: Death | None) -> tuple[bool, int]:
    """A life in a fresh copy."""
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(prepared, data)
    ended = in_child(lambda acknowledge: live(place, data, first, acknowledge), within=place.within, death=death)
    return ended.killed, ended.points


def _round(place: Place, data: Path, number: int, point: int, chance: random.Random, outcome: Outcome) -> None:
    acknowledged: list[int] = []
    deaths: list[Death | None] = [
        _death(point, number, chance),
        _death(1 + chance.randrange(outcome.points), number + 1, chance),
        None,
    ]
    before = data.with_name("before-start")
    for attempt, death in enumerate(deaths):
        shutil.rmtree(before, ignore_errors=True)
        shutil.copytree(data, before)
        outcome.starts += 1
        first = (attempt + 1) * NUMBERS
        try:
            ended = in_child(
                lambda acknowledge, first=first: live(place, data, first, acknowledge), within=place.within, death=death
            )
        except FaultError as error:
            outcome.failed_starts += 1
            kept = keep(before, f"{place.name}-{number}-{attempt}")
            outcome.faults.append(f"round {number}, start {attempt}, {death}: {error}; the directory before it: {kept}")
            return
        acknowledged += ended.acknowledged
        outcome.kills += ended.killed
    outcome.acknowledged += len(acknowledged)
    try:
        in_child(lambda _acknowledge: place.check(data, acknowledged), death=None)
    except FaultError as error:
        outcome.failed_checks += 1
        kept = keep(data, f"{place.name}-{number}")
        outcome.faults.append(f"round {number}, {deaths}: {error}; the directory after it: {kept}")


def _death(point: int, number: int, chance: random.Random) -> Death:
    moment = list(Moment)[number % len(Moment)]
    return Death(point=point, moment=moment, seconds=chance.uniform(0, LATEST_SECONDS))


def main(name: str, directory: Path, rounds: int) -> int:
    """The exit code: whether there was a fault."""
    outcome = kill(PLACES[name], directory, rounds, say=True)
    json.dump(asdict(outcome), sys.stdout)
    return bool(outcome.faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))

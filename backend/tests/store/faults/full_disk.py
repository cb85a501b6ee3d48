"""A full disk in each place: `python -m backend.tests.store.faults.full_disk PLACE DIRECTORY ROUNDS`.

A round begins in a prepared directory. After some of the work the kernel refuses that files grow (RLIMIT_FSIZE, EFBIG),
as it does on a full disk; the rest of the work is tried, then there is room, and what failed is done again. The next
start does all of it once more, and everything that was acknowledged must be there. Prints what happened as JSON.
"""

import json
import resource
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from loadwatch_backend.core.errors import ProblemError

from backend.tests.store.faults.dying import FaultError, in_child, keep
from backend.tests.store.faults.kills import NUMBERS, live
from backend.tests.store.faults.place import Acknowledge, Place
from backend.tests.store.faults.places import PLACES

STRIDE = 0.37
"""By which the part of the work that is done before moves on from round to round."""
TRIES = 3
"""Of a step once there is room: the first may notice that the database has to be opened again."""


@dataclass(slots=True, kw_only=True)
class FullOutcome:
    """Of all rounds in a place; `errors` are what was said and how often."""

    place: str
    rounds: int = 0
    full: int = 0
    """Rounds in which something was refused."""
    errors: dict[str, int] = field(default_factory=dict[str, int])
    acknowledged: int = 0
    faults: list[str] = field(default_factory=list[str])


def fill(place: Place, directory: Path, rounds: int, *, say: bool = False) -> FullOutcome:
    """So many rounds below a directory; faults are in the outcome, with where a copy of what they left is."""
    prepared, data, said = directory / "prepared", directory / "round", directory / "said"
    shutil.rmtree(prepared, ignore_errors=True)
    prepared.mkdir(parents=True)
    in_child(lambda _acknowledge: place.prepare(prepared), death=None)
    outcome = FullOutcome(place=place.name)
    for number in range(rounds):
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(prepared, data)
        said.unlink(missing_ok=True)
        room, share = place.rooms[number % len(place.rooms)], number * STRIDE % 1
        try:
            _round(place, data, said, room, share, outcome)
        except FaultError as error:
            kept = keep(data, f"{place.name}-full-{number}")
            outcome.faults.append(f"round {number}, room for {room} bytes: {error}; the directory after it: {kept}")
        outcome.rounds += 1
        if said.exists():
            outcome.full += 1
            for text in json.loads(said.read_bytes()):
                text = str(text).replace(str(directory), "DIRECTORY")
                outcome.errors[text] = outcome.errors.get(text, 0) + 1
        if say and outcome.rounds % 10 == 0:
            sys.stderr.write(f"{place.name}: {outcome.rounds} of {rounds} rounds, {outcome.full} full\n")
    return outcome


def _round(place: Place, data: Path, said: Path, room: int, share: float, outcome: FullOutcome) -> None:
    def work(acknowledge: Acknowledge) -> None:
        (data / "data").mkdir(exist_ok=True)
        with place.opened(data, NUMBERS, acknowledge) as steps:
            full = _Full(data, room, share, only_files=place.only_files)
            errors: list[str] = []
            failed: list[Callable[[], object]] = []
            for number, step in enumerate(steps):
                if number == int(share * len(steps)):
                    full.begin()
                try:
                    step()
                except Exception as error:
                    errors.append(text_of(error))
                    failed.append(step)
            full.end()
            if errors:
                said.write_text(json.dumps(errors))
            for step in failed:
                _again(step)

    acknowledged = list(in_child(work, death=None).acknowledged)
    acknowledged += in_child(lambda acknowledge: live(place, data, 2 * NUMBERS, acknowledge), death=None).acknowledged
    outcome.acknowledged += len(acknowledged)
    in_child(lambda _acknowledge: place.check(data, acknowledged), death=None)


def _again(step: Callable[[], object]) -> None:
    for left in reversed(range(TRIES)):
        try:
            step()
            return
        except Exception:
            if not left:
                raise


def text_of(error: Exception) -> str:
    """What people are told."""
    return error.detail if isinstance(error, ProblemError) else f"{error}"


class _Full:
    """The limit of this process."""

    def __init__(self, data: Path, room: int, share: float, *, only_files: bool) -> None:
        self._data = data
        self._room = round(room * (0.5 + share))
        self._only_files = only_files

    def begin(self) -> None:
        """No file grows beyond what the largest has, and some room."""
        largest = max(path.stat().st_size for path in (self._data / "data").rglob("*") if path.is_file())
        most = self._room + (0 if self._only_files else largest)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

    def end(self) -> None:
        """There is room again."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def main(name: str, directory: Path, rounds: int) -> int:
    """The exit code: whether there was a fault."""
    outcome = fill(PLACES[name], directory, rounds, say=True)
    json.dump(asdict(outcome), sys.stdout)
    return bool(outcome.faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))

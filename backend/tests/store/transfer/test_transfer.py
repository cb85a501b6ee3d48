"""Cut off at each place where it can be: nothing is lost, and nothing is there twice."""

import json
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from loadwatch_backend.series.store import transfer as module
from loadwatch_backend.series.store.embedded.settings import HOUR_MS
from loadwatch_backend.series.store.embedded.stored_hours import StoredHours, open_stored_hours
from loadwatch_backend.series.store.port import Selection
from loadwatch_backend.series.store.prometheus.connection import Connection, RemoteSettings
from loadwatch_backend.series.store.transfer import (
    EngineRefusesError,
    Job,
    StateFile,
    Target,
    TransferError,
    TransferState,
    count_all,
    parts_of,
    transfer,
)

from backend.tests.store.prometheus.engines import RealEngine, victoria_metrics
from backend.tests.store.prometheus.stub import OK, Asked, Reply, StubEngine
from backend.tests.store.transfer.filling import add, fill

FIRST_MS = 1_750_000_000_000 // HOUR_MS * HOUR_MS


class CutOffError(Exception):
    """The process was killed here."""


class Cutting(StateFile):
    """Writes so many states and then no more: what the engine took since is not in the file."""

    def __init__(self, directory: Path, left: int) -> None:
        super().__init__(directory)
        self.left = left

    def write(self, state: TransferState) -> None:
        if self.left == 0:
            raise CutOffError
        self.left -= 1
        super().write(state)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[RealEngine]:
    with victoria_metrics(tmp_path / "engine") as engine:
        yield engine


def exported(engine: RealEngine) -> tuple[int, int]:
    """How many samples it has, and how many of them more than once."""
    selector = quote('{__name__!=""}')
    with urllib.request.urlopen(f"{engine.url}/api/v1/export?match[]={selector}&start=0") as answer:
        lines = [json.loads(line) for line in answer]
    times = Counter((str(sorted(line["metric"].items())), at) for line in lines for at in line["timestamps"])
    return times.total(), times.total() - len(times)


def nothing(hour_ms: int, done: int, total: int) -> None:
    """Nobody watches."""
    assert hour_ms >= FIRST_MS
    assert 0 <= done <= total


def target_of(url: str, write_url: str, request_samples: int = 50, patience: float = 60) -> Target:
    settings = RemoteSettings(data_directory=Path("nowhere"), url=url, write_url=write_url)
    return Target(
        Connection(settings),
        request_samples=request_samples,
        patience_seconds=patience,
        tell=lambda _text: None,
        clock=lambda: FIRST_MS,
    )


def job_of(source: StoredHours, target: Target, file: StateFile, settle: Callable[[], None] = lambda: None) -> Job:
    return Job(
        source=source,
        target=target,
        file=file,
        name="the engine",
        skip_refused=False,
        ask_all=False,
        settle=settle,
        watch=nothing,
        now_ms=FIRST_MS,
    )


def test_cut_off_after_each_part_nothing_is_there_twice(
    tmp_path: Path, engine: RealEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Parts of a few series, so that labels tell them apart and a metric has several.
    monkeypatch.setattr(module, "parts_of", partial(parts_of, most=45))
    data = tmp_path / "data"
    count = fill(data, FIRST_MS, 3)
    target = target_of(engine.url, f"{engine.url}/api/v1/write")
    with open_stored_hours(data, 256 << 20, 1) as source:
        cuts = 0
        while True:
            try:
                state = transfer(job_of(source, target, Cutting(data, 1), engine.show_all))
                break
            except CutOffError:
                cuts += 1
        assert cuts > 15
        assert state.sent + state.present == count
        engine.show_all()
        found = count_all(source, target, nothing, settled=lambda: True)
    assert (found.samples + found.nan, found.hours, found.missing) == (count, 3, {})
    assert exported(engine) == (count, 0)


def test_a_store_that_has_others_meanwhile_is_asked_for_from_the_beginning(tmp_path: Path, engine: RealEngine) -> None:
    data = tmp_path / "data"
    count = fill(data, FIRST_MS, 3)
    target = target_of(engine.url, f"{engine.url}/api/v1/write")
    with open_stored_hours(data, 256 << 20, 1) as source, pytest.raises(CutOffError):
        transfer(job_of(source, target, Cutting(data, 3)))
    add(data, [({"__name__": "late"}, FIRST_MS + 5, 1.0)])
    with open_stored_hours(data, 256 << 20, 1) as source:
        # Cut off in this run, too: the next one still asks for every part.
        with pytest.raises(CutOffError):
            transfer(job_of(source, target, Cutting(data, 2), engine.show_all))
        state = transfer(job_of(source, target, StateFile(data), engine.show_all))
        assert state.ask
        engine.show_all()
        found = count_all(source, target, nothing, settled=lambda: True)
    assert (found.samples + found.nan, found.missing) == (count + 1, {})
    assert exported(engine) == (count + 1, 0)


def selection(*counts: int) -> Selection:
    total = sum(counts)
    return Selection(
        labels=[{"__name__": "m", "i": str(place)} for place in range(len(counts))],
        offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        timestamps=FIRST_MS + 1000 * np.arange(total, dtype=np.int64),
        values=np.arange(total, dtype=np.float64),
    )


@pytest.fixture
def stub() -> Iterator[StubEngine]:
    stub = StubEngine()
    yield stub
    stub.close()


@pytest.mark.parametrize("request_samples", [1, 3, 7, 10, 1000])
def test_requests_hold_so_many_samples_and_all_of_them(stub: StubEngine, request_samples: int) -> None:
    target = target_of(stub.url, f"{stub.url}/write", request_samples)
    assert target.put(selection(5, 0, 1, 7, 7), skip_refused=False) == 0
    sizes = [sum(len(one.timestamps) for one in asked.series) for asked in stub.taken]
    assert sizes == [request_samples] * (20 // request_samples) + (
        [20 % request_samples] if 20 % request_samples else []
    )
    rows = [(name, at - FIRST_MS // 1000, value) for name, at, value in stub.rows()]
    names = ["0"] * 5 + ["2"] + ["3"] * 7 + ["4"] * 7
    assert rows == [(name, place, float(place)) for place, name in enumerate(names)]


def test_what_is_refused_is_found_and_all_else_is_sent(stub: StubEngine) -> None:
    def reply(asked: Asked) -> Reply:
        return (400, {}, b"out of bounds") if any(6.0 in one.values for one in asked.series) else OK

    stub.reply = reply
    target = target_of(stub.url, f"{stub.url}/write")
    with pytest.raises(EngineRefusesError, match="400: out of bounds"):
        target.put(selection(5, 5), skip_refused=False)
    assert target.put(selection(5, 5), skip_refused=True) == 1
    assert {value for _, _, value in stub.rows()} == set(range(10)) - {6.0}


def test_what_concerns_us_stops_at_once_and_what_passes_is_waited_for(stub: StubEngine) -> None:
    answers: list[Reply] = [(503, {"retry-after": "0"}, b"busy"), (429, {}, b""), (404, {}, b"no such tenant")]
    stub.reply = lambda _asked: answers.pop(0)
    target = target_of(stub.url, f"{stub.url}/write")
    with pytest.raises(TransferError, match="404: no such tenant"):
        target.put(selection(1), skip_refused=True)
    assert not answers
    stub.reply = lambda _asked: (503, {"retry-after": "120"}, b"busy")
    asked = len(stub.asked)
    with pytest.raises(TransferError, match="60 s"):
        target.put(selection(1), skip_refused=True)
    assert len(stub.asked) == asked + 1

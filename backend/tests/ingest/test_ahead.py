"""Senders whose clock is ahead are named at once, whether their samples are stored or refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from loadwatch_backend.series.ingest.ahead import FORGET_MS, MOST_SENDERS
from loadwatch_backend.series.ingest.decode import IngestLimits
from loadwatch_backend.series.ingest.service import IngestService
from loadwatch_backend.series.ingest.validate import Reason
from loadwatch_backend.series.store.embedded.engine import open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings

from backend.tests.ingest.writing import NOW_MS, body, series


class Now:
    """The server's clock."""

    ms = NOW_MS

    def __call__(self) -> int:
        return self.ms


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture
def service(tmp_path: Path, now: Now) -> Iterator[IngestService]:
    store = open_embedded(EmbeddedSettings(data_directory=tmp_path), now)
    yield IngestService(store, IngestLimits(), now)
    store.close()


def push(service: IngestService, instance: str, now_ms: int, ahead_s: float, more: int = 1) -> None:
    labels = [{"__name__": "m", "job": "shop", "instance": instance, "i": str(number)} for number in range(more)]
    service.push(body(*(series(one, (now_ms + int(ahead_s * 1000), 1.0)) for one in labels)))


def test_who_is_ahead_is_told_whether_stored_or_refused(service: IngestService) -> None:
    push(service, "right", NOW_MS, 0)
    push(service, "a little", NOW_MS, 9)
    for _ in range(2):  # the second time the series are known
        push(service, "stored", NOW_MS, 590, more=3)
        push(service, "refused", NOW_MS, 700, more=3)
    assert service.ahead.read(NOW_MS) == {("shop", "stored"): 590.0, ("shop", "refused"): 700.0}
    assert service.counts.rejected_samples_total[Reason.TOO_FAR_AHEAD] == 6


def test_a_sender_known_from_better_times_is_named(service: IngestService) -> None:
    push(service, "known", NOW_MS, 0, more=5)
    push(service, "known", NOW_MS, 45, more=5)
    assert service.ahead.read(NOW_MS) == {("shop", "known"): 45.0}


def test_it_ends_as_zero_and_is_then_forgotten(service: IngestService, now: Now) -> None:
    push(service, "x", NOW_MS, 60)
    assert service.ahead.read(NOW_MS + FORGET_MS - 1) == {("shop", "x"): 60.0}
    assert service.ahead.read(NOW_MS + FORGET_MS) == {("shop", "x"): 0.0}
    assert service.ahead.read(NOW_MS + 2 * FORGET_MS + 1) == {}


def test_what_is_remembered_is_bounded(service: IngestService) -> None:
    for number in range(MOST_SENDERS + 50):
        push(service, f"host-{number}", NOW_MS, 60)
    assert len(service.ahead.read(NOW_MS)) == MOST_SENDERS

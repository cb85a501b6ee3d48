"""The clock of a running server is set back an hour, and set forward: durations go on as if nothing had been."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.alerting import Pager, Watch, make_watch, wait_for

HOUR_MS = 3_600_000


@pytest.fixture
def pager() -> Iterator[Pager]:
    pager = Pager()
    yield pager
    pager.close()


@pytest.fixture
def offset(tmp_path: Path) -> Path:
    """The file that sets the server's clock."""
    path = tmp_path / "offset"
    path.write_text("0")
    return path


@pytest.fixture
def watch(tmp_path: Path, pager: Pager, offset: Path) -> Iterator[Watch]:
    watch = make_watch(tmp_path / "s", pager, for_="6s", environment={"LOADWATCH_CLOCK_OFFSET_FILE": str(offset)})
    watch.server.start()
    yield watch
    if watch.server.process is not None:
        watch.server.kill()


def set_clock(offset: Path, ahead_ms: int) -> None:
    """As an administrator would, in one step."""
    new = offset.with_suffix(".new")
    new.write_text(str(ahead_ms))
    new.rename(offset)


@pytest.mark.parametrize("jump_ms", [-HOUR_MS, HOUR_MS])
def test_a_pending_alert_fires_when_its_time_has_passed(jump_ms: int, watch: Watch, offset: Path, pager: Pager) -> None:
    began = time.monotonic()
    watch.write(35)
    wait_for("pending", lambda: watch.state() == "pending")
    (alert,) = watch.alerts()
    set_clock(offset, jump_ms)
    watch.write(35, ahead_ms=jump_ms)
    wait_for("moved", lambda: watch.alerts()[0]["active_ms"] == pytest.approx(alert["active_ms"] + jump_ms, abs=2_000))
    assert watch.state() == "pending" or time.monotonic() - began > 5
    wait_for("told", lambda: pager.statuses() == ["firing"])
    # Neither at once, as a clock set forward would have it, nor an hour late.
    assert time.monotonic() - began >= 5
    (alert,) = watch.alerts()
    assert 5_000 < alert["fired_ms"] - alert["active_ms"] < HOUR_MS / 2

    watch.write(20, ahead_ms=jump_ms)
    wait_for("told of the end", lambda: pager.statuses() == ["firing", "resolved"])
    last = pager.heard[-1].alerts[0]
    assert last["endsAt"] > last["startsAt"]


def test_a_clock_set_back_while_the_server_was_away(watch: Watch, offset: Path, pager: Pager) -> None:
    watch.write(35)
    wait_for("pending", lambda: watch.state() == "pending")
    watch.server.kill()
    set_clock(offset, -HOUR_MS)
    watch.server.start()
    watch.write(35, ahead_ms=-HOUR_MS)
    wait_for("told", lambda: pager.statuses() == ["firing"])
    watch.write(20, ahead_ms=-HOUR_MS)
    wait_for("told of the end", lambda: pager.statuses() == ["firing", "resolved"])

"""Two servers on one database: one of them tells of a change, and the other takes over when it is killed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.tests.databases import DATABASES, make_database
from tests.alerting import Pager, Watch, make_watch, transitions, wait_for

# A follower takes over some ten seconds after the last sign of life; a busy machine may need longer.
TAKEOVER_SECONDS = 90


@pytest.fixture
def pager() -> Iterator[Pager]:
    pager = Pager()
    yield pager
    pager.close()


@pytest.fixture(params=DATABASES)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return make_database(request.param, tmp_path)


@pytest.fixture
def pair(tmp_path: Path, pager: Pager, database_url: str) -> Iterator[tuple[Watch, Watch]]:
    """Two servers, the first of which leads."""
    shared = {"LOADWATCH_DATABASE_URL": database_url}
    first = make_watch(tmp_path / "a", pager, environment=shared)
    second = make_watch(tmp_path / "b", pager, environment=shared)
    first.server.start()
    second.server.start()
    yield first, second
    for watch in (first, second):
        if watch.server.process is not None:
            watch.server.kill()


def write_both(pair: tuple[Watch, Watch], value: float) -> None:
    """Senders write to both servers; one may be away."""
    for watch in pair:
        if watch.server.process is not None:
            watch.write(value)


def leads(watch: Watch) -> bool:
    """Whether a server says that it evaluates."""
    return bool(watch.get("/api/alerts?sparklines=false")["evaluator"] == "here")


def test_one_tells_and_the_other_takes_over(pair: tuple[Watch, Watch], pager: Pager) -> None:
    first, second = pair
    wait_for("the first leads", lambda: leads(first))
    assert not leads(second)

    write_both(pair, 35)
    wait_for("told", lambda: pager.statuses() == ["firing"])
    (alert,) = second.alerts()
    assert alert["state"] == "firing"

    # What is said to the follower holds for both.
    second.acknowledge(alert["id"])
    wait_for("acknowledged", lambda: first.alerts()[0]["acknowledged"]["by"] == "local")

    first.server.kill()
    second.write(20)
    wait_for("the second leads", lambda: leads(second), TAKEOVER_SECONDS)
    wait_for("told of the end", lambda: pager.statuses() == ["firing", "resolved"], TAKEOVER_SECONDS)

    # Back again, the first follows, and what it knew from before does no harm.
    first.server.start()
    write_both(pair, 36)
    wait_for("told again", lambda: pager.statuses() == ["firing", "resolved", "firing"])
    assert not leads(first)
    assert leads(second)

    # One that stops well gives the lead back at once.
    second.server.stop()
    wait_for("the first leads again", lambda: leads(first))
    first.write(20)
    wait_for("told of the end", lambda: pager.statuses() == ["firing", "resolved"] * 2)
    assert len({heard.id for heard in pager.heard}) == 4
    assert [(before, after) for before, after, reason in transitions(first) if reason != "acknowledged"] == [
        (None, "firing"),
        ("firing", "resolved"),
    ] * 2

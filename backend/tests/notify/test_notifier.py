import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loadwatch_backend.alerting.notify.file.model import Configuration, NoticeRoute
from loadwatch_backend.alerting.notify.model import Envelope, Notice, NoticeKind, NoticeText
from loadwatch_backend.alerting.notify.notifier import Notifier
from loadwatch_backend.alerting.notify.routing.routing import announce
from loadwatch_backend.core.clock import system_clock
from loadwatch_backend.core.language import Language

from backend.tests.notify.receiving import run_receiver
from backend.tests.notify.sending import Sending, configuration, run_sending, webhook


def notice(run: str = "r1") -> Notice:
    return Notice(
        key=f"run-{run}-started",
        kind=NoticeKind.RUN_STARTED,
        at_ms=1_800_000_000_000,
        texts=dict.fromkeys(Language, NoticeText(title="Load test started", text="", facts=(("Tool", "k6"),))),
        url="https://watch.example.org/runs/r1",
        labels={"run": run},
    )


@dataclass
class Desk:
    """News that stay news until they are told."""

    waiting: list[Notice] = field(default_factory=list[Notice])

    def latest(self) -> Sequence[Notice]:
        return list(self.waiting)

    def delivered(self, notice: Notice) -> None:
        self.waiting = [one for one in self.waiting if one.key != notice.key]


@dataclass
class Groups:
    """A dispatcher without groups."""

    configuration: Configuration
    flushed: threading.Event = field(default_factory=threading.Event)

    def flush(self, now_ms: int) -> int | None:
        self.flushed.set()
        return None

    def notices(self, notice: Notice) -> list[Envelope]:
        return announce(self.configuration, notice)


def make(sending: Sending, desk: Desk) -> tuple[Notifier, Groups]:
    known = configuration(*sending.integrations)
    route = NoticeRoute(receiver="team", events=(NoticeKind.RUN_STARTED,))
    groups = Groups(
        Configuration(digest="1", root=known.root, receivers=known.receivers, notices=(route,)),
    )
    notifier = Notifier(
        relational=sending.relational,
        dispatcher=groups,
        outbox=sending.outbox,
        workers=sending.workers,
        clock=system_clock,
        news=desk,
    )
    return notifier, groups


def test_a_notice_is_told_once_however_often_it_is_handed_over(tmp_path: Path) -> None:
    with run_receiver() as receiver, run_sending(tmp_path, webhook(receiver.url), start=False) as sending:
        desk = Desk([notice()])
        notifier, _ = make(sending, desk)
        notifier.announce(notice())
        notifier.start()
        try:
            (request,) = receiver.wait(1)
            sending.wait_state("delivered")
            document: Any = request.json
            assert (document["version"], document["type"]) == ("loadwatch/1", "run-started")
            assert document["facts"] == [{"label": "Tool", "text": "k6"}]
            sending.wait(lambda _rows: desk.waiting == [])
            assert len(sending.rows()) == 1
        finally:
            notifier.stop()


def test_it_runs_while_it_leads(tmp_path: Path) -> None:
    with run_receiver() as receiver, run_sending(tmp_path, webhook(receiver.url), start=False) as sending:
        notifier, groups = make(sending, Desk())
        for _ in range(2):
            notifier.lead(True)
            assert groups.flushed.wait(60)
            notifier.announce(notice(str(len(receiver.requests))))
            receiver.wait(len(sending.rows()))
            notifier.lead(False)
            notifier.stop()
            groups.flushed.clear()
            assert not groups.flushed.wait(0.2)
        assert len(receiver.requests) == 2


def test_deliveries_written_elsewhere_are_seen(tmp_path: Path) -> None:
    """A server that does not lead writes; the one that does sends within a second or so."""
    with run_receiver() as receiver, run_sending(tmp_path, webhook(receiver.url), start=False) as sending:
        leader, groups = make(sending, Desk())
        leader.start()
        try:
            with sending.relational.transaction() as session:
                sending.outbox.put_all(session, groups.notices(notice()))
            receiver.wait(1)
            sending.wait_state("delivered")
        finally:
            leader.stop()

"""What goes first: within a group, and while a receiver is away."""

from pathlib import Path
from typing import Any

from loadwatch_backend.alerting.notify.outbox.outbox import MOST_WAITING
from loadwatch_backend.alerting.notify.outbox.repository import hasten_integration
from loadwatch_backend.alerting.notify.outbox.tables import DeliveryRow, IntegrationRow
from loadwatch_backend.core.clock import system_clock

from backend.tests.notify.receiving import (
    Receiver,
    answer,
    run_receiver,
)
from backend.tests.notify.sending import Sending, ShiftedClock, document, envelope, run_sending, webhook

NEVER_MS = 1 << 60


def test_messages_of_a_group_keep_their_order(tmp_path: Path) -> None:
    with run_receiver(behaviours=[answer(500)]) as receiver, run_sending(tmp_path, webhook(receiver.url)) as sending:
        sending.put(envelope("A", document={**document(), "n": 0}))
        sending.wait_attempts(1)
        # What comes later has the first one tried at once, then follows it; another group does not wait.
        sending.put(*(envelope("A", document={**document(), "n": number}) for number in range(1, 30)))
        sending.wait_state("delivered", 30)
        assert [request.json["n"] for request in receiver.requests] == [0, *range(30)]


def test_a_message_that_cannot_be_taken_does_not_hold_up_its_group_for_ever(tmp_path: Path) -> None:
    def picky(receiver: Receiver) -> Any:
        def respond(connection: Any) -> None:
            answer(500 if receiver.requests[-1].json["n"] == 0 else 200)(connection)

        return respond

    with run_receiver() as receiver, run_sending(tmp_path, webhook(receiver.url)) as sending:
        receiver.usually = picky(receiver)
        sending.put(envelope("A", document={**document(), "n": 0}))
        sending.wait_attempts(1)
        sending.put(*(envelope("A", document={**document(), "n": number}) for number in range(1, 4)))
        rows = sending.wait_state("delivered", 3)
        assert [row.seq for row in rows] == [2, 3, 4]
        sent = [request.json["n"] for request in receiver.requests]
        assert sent[:2] == [0, 0]
        assert [number for number in sent if number] == [1, 2, 3]
        # To send it now would tell of what is no longer so: it is a dead letter, and can be sent on purpose.
        first = sending.rows()[0]
        assert (first.state, first.reason[:10]) == ("withdrawn", "overtaken:")


def test_after_an_outage_a_group_is_told_in_order(tmp_path: Path) -> None:
    clock = ShiftedClock()
    with run_receiver(usually=answer(503)) as receiver:
        with run_sending(tmp_path, webhook(receiver.url), clock=clock) as sending:
            for number in range(4):
                sending.put(envelope("A", document={**document(), "n": number}))
                sending.wait_attempts(1)

            def all_tried(rows: list[DeliveryRow]) -> bool:
                clock.ahead_ms += 1_000
                sending.workers.wake()
                return all(row.attempts >= 2 and row.state == "waiting" for row in rows)

            sending.wait(all_tried)
        receiver.usually = answer()
        tried = len(receiver.requests)
        # All are due again before any is tried.
        clock.ahead_ms += 3_600_000
        with run_sending(tmp_path, webhook(receiver.url), clock=clock, start=False) as sending:
            sending.change(3, early=True)
            sending.workers.start()
            sending.wait_state("delivered", 4)
            delivered = [request.json["n"] for request in receiver.requests[tried:]]
            assert delivered == [0, 1, 2, 3]


def test_what_waits_is_tried_when_the_receiver_is_back(tmp_path: Path) -> None:
    with run_receiver(usually=answer(503)) as receiver, run_sending(tmp_path, webhook(receiver.url)) as sending:
        sending.put(*(envelope(f"Group{number}") for number in range(5)))
        sending.wait(lambda rows: all(row.attempts >= 1 and row.state == "waiting" for row in rows))
        receiver.usually = answer()
        sending.put(envelope("Group5"))
        sending.wait_state("delivered", 6)


def test_a_receiver_that_fails_is_asked_by_one_message_at_a_time(tmp_path: Path) -> None:
    with run_receiver(usually=answer(503)) as receiver, run_sending(tmp_path, webhook(receiver.url)) as sending:
        sending.put(*(envelope(f"Group{number}") for number in range(20)))
        sending.wait(lambda rows: all(row.attempts and row.state == "waiting" for row in rows))
        for row in sending.rows():
            sending.change(row.seq, next_ms=0)
        rest_until(sending, NEVER_MS)
        tried = len(receiver.requests)
        # What is new is tried at once; the others, although they are due, wait for the integration's turn.
        sending.put(envelope("New"))
        receiver.wait(tried + 1)
        sending.wait_attempts(1, seq=21)
        assert receiver.requests[tried].json == document("New")
        rest_until(sending, 0)
        sending.workers.wake()
        receiver.wait(tried + 2)
        sending.wait(lambda rows: all(row.state == "waiting" for row in rows))
        with sending.relational.transaction() as session:
            assert session.get_one(IntegrationRow, ("team", "webhook-0")).next_ms > 0
        # The first that arrives brings all the others.
        receiver.usually = answer()
        rest_until(sending, 0)
        sending.workers.wake()
        sending.wait_state("delivered", 21)


def rest_until(sending: Sending, next_ms: int) -> None:
    """When the integration that fails is tried again."""
    with sending.relational.transaction() as session:
        row = session.get_one(IntegrationRow, ("team", "webhook-0"))
        row.next_ms = row.delay_ms = next_ms


def test_what_is_critical_goes_first_when_a_receiver_is_back(tmp_path: Path) -> None:
    with run_receiver(usually=answer(503)) as receiver, run_sending(tmp_path, webhook(receiver.url)) as sending:
        resolved, warning = document("Resolved", "resolved"), document("Warning")
        warning["alerts"][0]["labels"] = {"alertname": "Warning", "severity": "warning"}
        sending.put(envelope("R", document=resolved), envelope("W", document=warning), envelope("C"))
        sending.wait(lambda rows: all(row.attempts and row.state == "waiting" for row in rows))
        tried = len(receiver.requests)
        with sending.relational.transaction() as session:
            hasten_integration(session, ("team", "webhook-0"), system_clock())
        receiver.usually = answer()
        sending.workers.wake()
        sending.wait_state("delivered", 3)
        assert receiver.requests[tried].json == document("C")


def test_repeated_messages_of_a_group_become_one_while_their_receiver_is_away(tmp_path: Path) -> None:
    now_ms = system_clock()  # Stands still: nothing is tried but what is new or asked for.
    with (
        run_receiver(usually=answer(503)) as receiver,
        run_sending(tmp_path, webhook(receiver.url), clock=lambda: now_ms) as sending,
    ):
        two = document()
        two["alerts"] = [*two["alerts"], *document("Other")["alerts"]]
        sending.put(envelope("A", alert_keys=["a"]))
        sending.wait_attempts(1)
        sending.put(envelope("A", alert_keys=["a"]))
        sending.wait_attempts(1, seq=2)
        sending.put(envelope("A", alert_keys=["a", "b"], document=two))
        sending.wait_attempts(1, seq=3)
        assert [row.state for row in sending.rows()] == ["withdrawn", "withdrawn", "waiting"]
        # The end of one is news of its own, which does not stand for what was told before.
        sending.put(envelope("A", alert_keys=["a"], document=document(status="resolved")))
        sending.wait_attempts(2, seq=3)
        sending.wait_attempts(1, seq=4)
        assert [row.state for row in sending.rows()] == ["withdrawn", "withdrawn", "waiting", "waiting"]
        receiver.usually = answer()
        tried = len(receiver.requests)
        sending.service().retry_all("team", "webhook-0")
        sending.wait_state("delivered", 2)
        assert [one.json["status"] for one in receiver.requests[tried:]] == ["firing", "resolved"]


def test_a_group_whose_receiver_is_away_is_bounded(tmp_path: Path) -> None:
    with run_sending(tmp_path, start=False) as sending:
        for number in range(MOST_WAITING + 10):
            sending.put(envelope("A", document={**document(), "n": number}))
        waiting = [row.seq for row in sending.rows() if row.state == "waiting"]
        assert waiting == list(range(11, MOST_WAITING + 11))
        assert sending.rows()[0].reason.startswith("crowded out:")

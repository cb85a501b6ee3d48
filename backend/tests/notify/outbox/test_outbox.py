"""The outbox, its workers and its log on SQLite and on MariaDB."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.alerting.notify.groups.repository import KeptAlert, write_alerts
from loadwatch_backend.alerting.notify.model import EnvelopeKind, NotifiedAlert
from loadwatch_backend.alerting.notify.outbox.messages import new_delivery_id
from loadwatch_backend.alerting.notify.outbox.repository import (
    DeliveryNotFoundError,
    claim,
    find_due,
    find_of_alerts,
    take_back,
)
from loadwatch_backend.alerting.notify.outbox.schedule import CARE_MS
from loadwatch_backend.alerting.notify.outbox.service import (
    DeliveryStateError,
    IntegrationNotFoundError,
    ReceiverNotFoundError,
)
from loadwatch_backend.alerting.notify.outbox.tables import AttemptRow
from loadwatch_backend.alerting.notify.outbox.worker import KEPT_MS, keep_house
from loadwatch_backend.alerting.notify.schemas import DeliveryState
from loadwatch_backend.alerting.notify.senders.model import Integration
from loadwatch_backend.alerting.notify.senders.slack import SlackIntegration
from loadwatch_backend.core.clock import system_clock
from loadwatch_backend.core.errors import BadRequestError
from loadwatch_backend.core.secret import Secret
from sqlalchemy import delete, func, select

from backend.tests.notify.receiving import answer, run_receiver
from backend.tests.notify.sending import Sending, document, envelope, no_fence, run_sending, webhook

Open = Callable[..., Sending]


@pytest.fixture
def open_sending(database_url: str, tmp_path: Path) -> Iterator[Open]:
    """Opens an outbox on an empty database."""
    with ExitStack() as stack:

        def make(*integrations: Integration, **options: Any) -> Sending:
            sending = stack.enter_context(run_sending(tmp_path, *integrations, url=database_url, start=False))
            with sending.relational.transaction() as session:
                for table in ("notify_deliveries", "notify_attempts", "notify_integrations", "notify_alerts"):
                    session.execute(delete(sending.table(table)))
            if options.get("start", True):
                sending.workers.start()
            return sending

        yield make


def test_messages_are_sent_and_noted(open_sending: Open) -> None:
    with run_receiver(behaviours=[answer(500)]) as receiver:
        sending = open_sending(webhook(f"{receiver.url}?token=T0PSECRET"))
        sending.put(*(envelope(f"Group{number}", alert_keys=[f"k{number}"]) for number in range(20)))
        sending.wait(lambda rows: all(row.attempts >= 1 and row.state != "sending" for row in rows))
        sending.wait_state("delivered", 20)
        found = sending.service().list(None, "", "", None, 500)
        assert len(found.deliveries) == 20
        assert found.counts == {
            DeliveryState.WAITING: 0,
            DeliveryState.SENDING: 0,
            DeliveryState.DELIVERED: 20,
            DeliveryState.WITHDRAWN: 0,
            DeliveryState.DEAD: 0,
        }
        with sending.relational.transaction() as session:
            assert session.scalar(select(func.count()).select_from(AttemptRow)) == 21
        detail = sending.service().read(found.deliveries[-1].id)
        assert (detail.alert_keys, detail.document) == (["k0"], document("Group0"))


def test_of_each_integration_the_first_message_that_it_took_is_known(open_sending: Open) -> None:
    with run_receiver() as receiver:
        sending = open_sending(webhook(receiver.url), webhook("http://127.0.0.1:9/", 1))
        begun_ms = system_clock()
        sending.put(*(envelope("Group", alert_keys=["k0", "k1"], integration=f"webhook-{place}") for place in (0, 1)))
        sending.wait_state("delivered", 1)
        sending.put(envelope("Group", alert_keys=["k0"]), envelope("Other", alert_keys=["k2"]))
        sending.wait_state("delivered", 3)
        sending.wait(lambda rows: any(row.integration == "webhook-1" and row.attempts for row in rows))
        with sending.relational.transaction() as session:
            found = {row.integration: row for row in find_of_alerts(session, ["k1", "k9"], begun_ms)}
            assert found["webhook-0"].seq < found["webhook-1"].seq
            assert found["webhook-0"].delivered_ms is not None
            assert found["webhook-1"].delivered_ms is None
            assert "connection" in found["webhook-1"].reason.lower()
            (again,) = find_of_alerts(session, ["k2"], begun_ms)
            assert again.subject != ""
            assert not find_of_alerts(session, ["k9"], begun_ms)
            assert not find_of_alerts(session, ["k1"], system_clock() + 1)


def test_a_claim_is_taken_once(open_sending: Open) -> None:
    sending = open_sending(start=False)
    sending.put(envelope())
    with sending.relational.transaction() as session:
        (due,) = find_due(session, system_clock(), (), 8)
        assert claim(session, due.seq, "one")
        assert not claim(session, due.seq, "two")
    with sending.relational.transaction() as session:
        assert find_due(session, system_clock(), (), 8) == []
        assert take_back(session, {"one"}) == 0
        assert take_back(session, set()) == 1
    with sending.relational.transaction() as session:
        assert len(find_due(session, system_clock(), (), 8)) == 1
        assert find_due(session, system_clock(), {("team", "webhook-0")}, 8) == []


def test_what_is_rolled_back_was_never_promised(open_sending: Open) -> None:
    sending = open_sending(start=False)

    def fail() -> None:
        with sending.relational.transaction() as session:
            sending.outbox.put(session, envelope())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert sending.rows() == []


def test_a_message_with_a_key_is_written_once(open_sending: Open) -> None:
    sending = open_sending(start=False)
    for _ in range(2):
        sending.put(envelope(key="run-1-started"), envelope(key="run-1-finished"))
    sending.put(envelope(key="run-1-started", integration="webhook-1"))
    assert len(sending.rows()) == 3


def test_pages_of_the_log(open_sending: Open) -> None:
    sending = open_sending(start=False)
    sending.put(*(envelope(f"Group{number}") for number in range(7)))
    sending.put(envelope("Other", receiver="else", subject="Disk 100% full_"))
    log = sending.service()
    first = log.list(None, "", "", None, 5)
    second = log.list(None, "", "", first.next_before, 5)
    subjects = [one.subject for one in (*first.deliveries, *second.deliveries)]
    assert subjects == ["Disk 100% full_", *(f"[FIRING] Group{number}" for number in range(6, -1, -1))]
    assert second.next_before is None
    assert len(log.list([DeliveryState.DEAD], "", "", None, 5).deliveries) == 0
    assert [one.receiver for one in log.list(None, "else", "", None, 5).deliveries] == ["else"]
    assert len(log.list(None, "", "full_ 100%", None, 5).deliveries) == 1
    assert len(log.list(None, "", "firing GROUP3", None, 5).deliveries) == 1
    assert log.list(None, "", "xyz", None, 5).counts[DeliveryState.WAITING] == 0
    with pytest.raises(BadRequestError):
        log.list(None, "", "", "1; drop", 5)


def test_what_is_old_is_deleted_and_what_waits_is_kept(open_sending: Open) -> None:
    with run_receiver() as receiver:
        sending = open_sending(webhook(f"{receiver.url}?token=T0PSECRET"))
        sending.put(envelope("A"), envelope("B"))
        rows = sending.wait_state("delivered", 2)
        sending.workers.stop()
        sending.put(envelope("C"))
        now_ms = system_clock()
        sending.change(rows[0].seq, created_ms=now_ms - KEPT_MS - 1)
        known = [("team", "webhook-0")]
        assert keep_house(sending.relational, now_ms, no_fence, known) == 1
        assert [row.subject for row in sending.rows()] == ["[FIRING] B", "[FIRING] C"]
        assert sending.attempts(rows[0].seq) == []
        # What fires is tried for as long as it does; what does not, or has no place, for a day.
        sending.put(envelope("D", alert_keys=["d"]), envelope("E", alert_keys=["e"], integration="webhook-9"))
        with sending.relational.transaction() as session:
            for key in "de":
                alert = NotifiedAlert(
                    key=key, labels={"alertname": key}, annotations={}, starts_ms=1, ends_ms=None, generator_url=""
                )
                write_alerts(session, [KeptAlert("1" * 16, alert)], [])
        keep_house(sending.relational, now_ms + CARE_MS - 60_000, no_fence, known)
        assert [row.state for row in sending.rows()[1:]] == ["waiting"] * 3
        keep_house(sending.relational, now_ms + 9 * CARE_MS, no_fence, known)
        assert [row.state for row in sending.rows()[1:]] == ["dead", "waiting", "dead"]
        assert [row.reason.partition(":")[2][:9] for row in sending.rows()[1:]] == [" nothing ", "", " for 24 h"]


def test_what_the_services_refuse(open_sending: Open) -> None:
    with run_receiver() as receiver:
        sending = open_sending(webhook(f"{receiver.url}?token=T0PSECRET"))
        log = sending.service()
        sending.put(envelope())
        (row,) = sending.wait_state("delivered")
        with pytest.raises(DeliveryStateError):
            log.retry(row.id)
        with pytest.raises(DeliveryNotFoundError):
            log.read("msg_unknown")
        with pytest.raises(ReceiverNotFoundError):
            log.test("nobody", None)
        with pytest.raises(IntegrationNotFoundError, match="it has: webhook-0"):
            log.retry_all("team", "slack-0")


def test_a_test_is_one_attempt_and_in_the_log(open_sending: Open) -> None:
    with run_receiver(behaviours=[answer(500, body=b"token T0PSECRET is known")]) as receiver:
        slack = SlackIntegration(id="slack-0", send_resolved=True, api_url=Secret(f"{receiver.url}/T0/SLACKSECRET"))
        sending = open_sending(webhook(f"{receiver.url}?token=T0PSECRET"), slack)
        log = sending.service()
        (failed,) = log.test("team", "webhook-0").results
        assert (failed.ok, failed.status_code, failed.error) == (False, 500, "answered 500")
        both = log.test("team", None).results
        assert [(one.integration, one.ok) for one in both] == [("webhook-0", True), ("slack-0", True)]
        found = log.list(None, "", "", None, 10).deliveries
        assert {one.kind for one in found} == {EnvelopeKind.TEST}
        assert sorted(one.state for one in found) == ["dead", "delivered", "delivered"]
        shown = "".join([*(log.read(one.id).model_dump_json() for one in found), log.receivers().model_dump_json()])
        assert "T0PSECRET" not in shown
        assert "SLACKSECRET" not in shown
        (_, state) = log.receivers().receivers[0].integrations
        assert (state.kind, state.state.value, state.dead) == ("slack", "ok", 0)


def test_ids_sort_by_age_and_fit_the_api() -> None:
    ids = [new_delivery_id(time_ms) for time_ms in (1, 1_000, 1_800_000_000_000, 1_800_000_000_001)]
    assert ids == sorted(ids)
    assert all(len(id) == 30 and id.startswith("msg_") for id in ids)
    assert len({new_delivery_id(5) for _ in range(1_000)}) == 1_000

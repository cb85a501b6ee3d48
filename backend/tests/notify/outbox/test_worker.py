import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.alerting.notify.outbox.service import DeliveryStateError
from loadwatch_backend.alerting.notify.outbox.tables import IntegrationRow
from loadwatch_backend.alerting.notify.senders.slack import SlackIntegration
from loadwatch_backend.alerting.notify.senders.webhook import WebhookIntegration
from loadwatch_backend.core.clock import system_clock
from loadwatch_backend.core.secret import Secret

from backend.tests.notify.receiving import (
    Receiver,
    answer,
    endless,
    hang_up,
    run_receiver,
    silent,
)
from backend.tests.notify.sending import ShiftedClock, document, envelope, run_sending, webhook
from tests.ports import free_port

HOUR_MS = 3_600_000
NEVER_MS = 1 << 60


def test_a_message_arrives_with_its_document_and_id(tmp_path: Path) -> None:
    with run_receiver() as receiver, run_sending(tmp_path, webhook(receiver.url)) as sending:
        sending.put(envelope())
        (request,) = receiver.wait(1)
        (row,) = sending.wait_state("delivered")
        assert request.json == document()
        assert request.headers["webhook-id"] == row.id
        assert request.headers["content-type"] == "application/json"
        (attempt,) = sending.attempts()
        assert (attempt.number, attempt.status_code, attempt.outcome) == (1, 200, "delivered")
        assert attempt.address == "127.0.0.1"
        assert (row.attempts, row.last_status, row.reason, row.firing, row.resolved) == (1, 200, "", 1, 0)


def test_the_second_attempt_has_the_same_id_and_body(tmp_path: Path) -> None:
    clock = ShiftedClock()
    with run_receiver(behaviours=[answer(500, body=b"oops")]) as receiver:
        with run_sending(tmp_path, webhook(receiver.url), clock=clock) as sending:
            sending.put(envelope())
            row = sending.wait_attempts(1)
            assert 1_000 <= row.delay_ms <= 2_000
            clock.ahead_ms = 2_000
            sending.workers.wake()
            first, second = receiver.wait(2)
            sending.wait_state("delivered")
            assert first.headers["webhook-id"] == second.headers["webhook-id"]
            assert first.body == second.body
            attempts = sending.attempts()
            assert [(one.number, one.status_code, one.outcome, one.response) for one in attempts] == [
                (1, 500, "passing", "oops"),
                (2, 200, "delivered", ""),
            ]


@pytest.mark.parametrize(
    ("behaviour", "status", "reason"),
    [
        (answer(408), 408, "answered 408"),
        (answer(425), 425, "answered 425"),
        (answer(503), 503, "answered 503"),
        (
            answer(302, {"Location": "/later"}),
            302,
            "answered 302, pointing to another path of its own; redirects are not followed",
        ),
        (hang_up(), None, "the connection was closed before the answer was whole"),
        (hang_up(b"HTTP/1.1 20"), None, "the answer is not HTTP"),
        (hang_up(b"HTTP/1.1 500 Mistake\r\nContent-Le"), 500, "answered 500"),
        (hang_up(b"SSH-2.0-OpenSSH_9.2\r\n"), None, "the answer is not HTTP"),
        (endless(b"HTTP/1.1 200 OK\r\n", b"X-More: " + b"x" * 1_000 + b"\r\n"), None, ""),
        (endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), None, "the answer has no end"),
    ],
)
def test_what_may_work_later_waits(tmp_path: Path, behaviour: Any, status: int | None, reason: str) -> None:
    with run_receiver(usually=behaviour) as receiver, run_sending(tmp_path, webhook(receiver.url)) as sending:
        sending.put(envelope())
        row = sending.wait_attempts(1)
        assert (row.state, row.last_status) == ("waiting", status)
        assert row.reason.startswith(reason)
        assert row.reason


@pytest.mark.parametrize("behaviour", [silent(threading.Event()), endless(b"HTTP/1.1 200 OK\r\nX", b"x", 0.01)])
def test_a_slow_answer_ends_with_the_time_for_one_attempt(tmp_path: Path, behaviour: Any) -> None:
    with run_receiver(usually=behaviour) as receiver:
        with run_sending(tmp_path, webhook(receiver.url, timeout_ms=300)) as sending:
            sending.put(envelope())
            row = sending.wait_attempts(1)
            assert (row.state, row.reason) == ("waiting", "no whole answer within the time for one attempt")


@pytest.mark.parametrize(
    "behaviour",
    [
        endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 10_000),
        endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"2710\r\n" + b"x" * 10_000 + b"\r\n"),
        endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x", 0.01),
        hang_up(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhal"),
        hang_up(b"HTTP/1.1 200 OK\r\nContent-Le"),
    ],
)
def test_a_200_is_the_receivers_word_whatever_follows(tmp_path: Path, behaviour: Any) -> None:
    with run_receiver(usually=behaviour) as receiver:
        with run_sending(tmp_path, webhook(receiver.url, timeout_ms=500)) as sending:
            sending.put(envelope())
            (row,) = sending.wait_state("delivered")
            assert row.last_status == 200
            assert len(sending.attempts()[0].response) <= 2_048


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (answer(400, body=b"bad"), "answered 400"),
        (answer(401), "answered 401"),
        (answer(403, {"Retry-After": "2"}), "answered 403 and asks to wait 2 s"),
        (answer(404), "answered 404"),
        (answer(410), "answered 410 Gone: nobody takes messages there any more"),
        (
            answer(301, {"Location": "https://user:pw@elsewhere.example.org/hook?token=secret"}),
            "answered 301, pointing to https://elsewhere.example.org/***; redirects are not followed",
        ),
    ],
)
def test_what_looks_permanent_is_tried_again_by_itself(tmp_path: Path, behaviour: Any, reason: str) -> None:
    clock = ShiftedClock()
    with run_receiver(behaviours=[behaviour]) as receiver:
        with run_sending(tmp_path, webhook(receiver.url, timeout_ms=60_000), clock=clock) as sending:
            sending.put(envelope())
            row = sending.wait_attempts(1)
            if row.state == "waiting":
                (state,) = sending.service().receivers().receivers[0].integrations
                assert (state.state.value, state.state_reason, state.waiting) == ("refusing", reason, 1)
                assert (row.reason, row.refused) == (reason, True)
            clock.ahead_ms = 10_000
            sending.workers.wake()
            sending.wait_state("delivered")
            assert [one.outcome for one in sending.attempts()] == ["permanent", "delivered"]
            assert sending.attempts()[0].error == reason
            assert {request.headers["webhook-id"] for request in receiver.requests} == {row.id}


def test_nobody_listening_and_a_forbidden_address(tmp_path: Path) -> None:
    with run_receiver(port=free_port()) as receiver:
        known = webhook(receiver.url)
    with run_sending(tmp_path, known) as sending:
        sending.put(envelope())
        assert sending.wait_attempts(1).reason == "connection refused: nothing listens there"
    with run_sending(tmp_path, known, networks=()) as sending:
        sending.put(envelope("Other"))
        row = sending.wait_attempts(1, seq=2)
        assert row.reason.startswith("127.0.0.1 is loopback; notifications go to public addresses only")
        assert (row.state, row.refused) == ("waiting", True)
    # Somebody allowed it: a server that begins to send tries at once what was refused.
    with run_receiver(port=int(known.url.reveal().rpartition(":")[2].partition("/")[0])):
        with run_sending(tmp_path, known) as sending:
            sending.wait_state("delivered", 2)


def test_a_receiver_says_when_to_come_again(tmp_path: Path) -> None:
    with run_receiver(behaviours=[answer(429, {"Retry-After": "77"})]) as receiver:
        with run_sending(tmp_path, webhook(receiver.url)) as sending:
            sending.put(envelope())
            row = sending.wait_attempts(1)
            assert (row.delay_ms, row.reason) == (77_000, "answered 429 and asks to wait 77 s")
            # Nothing else goes there meanwhile, either.
            sending.put(envelope("Other"))
            time.sleep(0.1)
            assert sending.rows()[1].attempts == 0


def test_an_integration_that_leads_elsewhere_is_tried_at_once(tmp_path: Path) -> None:
    with run_receiver(usually=answer(410)) as receiver, run_sending(tmp_path, webhook(receiver.url)) as sending:
        sending.put(envelope())
        sending.wait_attempts(1)
        sending.change(1, next_ms=NEVER_MS, delay_ms=NEVER_MS)
        with run_receiver() as elsewhere:
            sending.integrations[0] = webhook(elsewhere.url)
            sending.workers.wake()
            sending.wait_state("delivered")
            assert len(elsewhere.requests) == 1


def test_a_person_has_what_waits_for_an_integration_tried_at_once(tmp_path: Path) -> None:
    with run_receiver(usually=answer(404)) as receiver, run_sending(tmp_path, webhook(receiver.url)) as sending:
        sending.put(envelope("A"), envelope("B"))
        sending.wait(lambda rows: all(row.attempts and row.state == "waiting" for row in rows))
        for seq in (1, 2):
            sending.change(seq, next_ms=NEVER_MS, delay_ms=NEVER_MS)
        receiver.usually = answer()
        sending.service().retry_all("team", "webhook-0")
        sending.wait_state("delivered", 2)
        assert sending.service().receivers().receivers[0].integrations[0].state.value == "ok"


def test_a_person_stops_what_waits(tmp_path: Path) -> None:
    with run_receiver(usually=answer(404)) as receiver, run_sending(tmp_path, webhook(receiver.url)) as sending:
        sending.put(envelope("A"), envelope("B"), envelope("C"))
        sending.wait(lambda rows: all(row.attempts and row.state == "waiting" for row in rows))
        log = sending.service()
        out = log.stop(sending.rows()[0].id, "ada")
        assert (out.state.value, out.reason, out.next_attempt_ms) == ("withdrawn", "stopped by ada", None)
        with pytest.raises(DeliveryStateError):
            log.stop(out.id, "ada")
        assert log.stop_all("team", "webhook-0", "ada").integrations[0].waiting == 0
        assert {row.reason for row in sending.rows()} == {"stopped by ada"}
        # It can be sent on purpose, and what comes later is not stopped.
        receiver.usually = answer()
        log.retry(out.id)
        sending.put(envelope("D"))
        sending.wait_state("delivered", 2)
        assert [row.state for row in sending.rows()] == ["delivered", "withdrawn", "withdrawn", "delivered"]


def test_a_hung_receiver_does_not_hold_up_others(tmp_path: Path) -> None:
    released = threading.Event()
    with run_receiver(usually=silent(released)) as hung, run_receiver() as good:
        with run_sending(tmp_path, webhook(hung.url, timeout_ms=300_000), webhook(good.url, 1)) as sending:
            sending.put(*(envelope(f"Hung{number}") for number in range(20)))
            hung.wait(4)
            sending.put(envelope("Good", integration="webhook-1"))
            good.wait(1)
            assert len(hung.requests) == 4
            released.set()
            sending.wait_state("delivered", 21)


def test_slack_gets_one_message_at_a_time_with_a_pause(tmp_path: Path) -> None:
    with run_receiver(usually=answer(body=b"ok")) as receiver:
        slack = SlackIntegration(id="slack-0", send_resolved=True, api_url=Secret(receiver.url))
        with run_sending(tmp_path, slack) as sending:
            began = time.monotonic()
            sending.put(*(envelope(f"Group{number}", integration="slack-0") for number in range(2)))
            receiver.wait(2)
            assert time.monotonic() - began >= 1.0


def test_connections_are_kept(tmp_path: Path) -> None:
    with run_receiver() as receiver, run_sending(tmp_path, webhook(receiver.url)) as sending:
        for number in range(5):
            sending.put(envelope(f"Group{number}"))
            sending.wait_state("delivered", number + 1)
        assert {request.connection for request in receiver.requests} == {1}


def test_a_kept_connection_that_the_receiver_closed_costs_no_attempt(tmp_path: Path) -> None:
    with run_receiver(behaviours=[answer(), hang_up(), answer()]) as receiver:
        with run_sending(tmp_path, webhook(receiver.url)) as sending:
            sending.put(envelope("A"))
            sending.wait_state("delivered", 1)
            sending.put(envelope("B"))
            sending.wait_state("delivered", 2)
            assert [row.attempts for row in sending.rows()] == [1, 1]
            assert len({request.headers["webhook-id"] for request in receiver.requests}) == 2


def test_claims_of_a_server_that_died_are_sent_again_with_the_same_id(tmp_path: Path) -> None:
    with run_receiver() as receiver, run_sending(tmp_path, webhook(receiver.url), start=False) as sending:
        sending.put(envelope())
        sending.change(1, state="sending", claim="of-another")
        sending.workers.start()
        (row,) = sending.wait_state("delivered")
        assert receiver.wait(1)[0].headers["webhook-id"] == row.id


def test_a_server_that_lost_the_lead_sends_nothing(tmp_path: Path) -> None:
    class LostError(Exception):
        pass

    def lost(session: object) -> None:
        raise LostError

    with run_receiver() as receiver, run_sending(tmp_path, webhook(receiver.url), fence=lost) as sending:
        sending.put(envelope())
        time.sleep(0.2)
        assert (receiver.requests, sending.rows()[0].state) == ([], "waiting")


def test_what_waited_is_sent_when_the_lead_comes_back(tmp_path: Path) -> None:
    with run_receiver() as receiver, run_sending(tmp_path, webhook(receiver.url)) as sending:
        sending.workers.stop()
        sending.put(envelope())
        time.sleep(0.1)
        assert receiver.requests == []
        sending.workers.start()
        sending.wait_state("delivered")


def test_a_clock_that_is_set_back_an_hour_holds_nothing(tmp_path: Path) -> None:
    clock = ShiftedClock()
    with run_receiver(behaviours=[answer(500)]) as receiver:
        with run_sending(tmp_path, webhook(receiver.url), clock=clock) as sending:
            sending.put(envelope("A"))
            sending.wait_attempts(1)
            clock.ahead_ms = -HOUR_MS
            sending.workers.wake()
            sending.wait_state("delivered", 1)
            sending.put(envelope("B"))
            sending.wait_state("delivered", 2)


def test_an_early_try_that_fails_leaves_the_schedule(tmp_path: Path) -> None:
    now_ms = system_clock()  # Stands still: nothing is tried but what is new or asked for.
    with (
        run_receiver(usually=answer(503)) as receiver,
        run_sending(tmp_path, webhook(receiver.url), clock=lambda: now_ms) as sending,
    ):
        sending.put(envelope())
        before = sending.wait_attempts(1)
        sending.service().retry(before.id)
        after = sending.wait_attempts(2)
        assert (after.step, after.next_ms) == (before.step, before.next_ms)
        assert len(receiver.requests) == 2


def test_an_integration_that_is_not_configured_is_waited_for(tmp_path: Path) -> None:
    with run_receiver() as receiver, run_sending(tmp_path) as sending:
        sending.put(envelope())
        (row,) = sending.wait(lambda rows: rows[0].reason != "")
        assert "no receiver 'team' with an integration 'webhook-0'" in row.reason
        assert (row.state, row.attempts) == ("waiting", 0)
        sending.integrations.append(webhook(receiver.url))
        sending.service().retry(row.id)
        sending.wait_state("delivered")


def test_secrets_are_in_no_answer_error_or_log(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def echo(receiver: Receiver) -> Any:
        def respond(connection: Any) -> None:
            request = receiver.requests[-1]
            answer(500, body=json.dumps([request.path, dict(request.headers)]).encode())(connection)

        return respond

    with run_receiver() as receiver:
        receiver.usually = echo(receiver)
        secret = f"{receiver.url}/T0SECRET"
        known = WebhookIntegration(id="webhook-0", send_resolved=True, url=Secret(secret))
        with run_sending(tmp_path, known) as sending:
            sending.put(envelope())
            row = sending.wait_attempts(1)
            (attempt,) = sending.attempts()
            shown = "".join([row.reason, attempt.error, attempt.response, repr(known), *capfd.readouterr()])
            assert secret not in shown


def test_a_thousand_messages_at_once(tmp_path: Path) -> None:
    with run_receiver() as receiver, run_sending(tmp_path, webhook(receiver.url)) as sending:
        sending.put(*(envelope(f"Group{number}") for number in range(1_000)))
        sending.wait_state("delivered", 1_000)
        assert len({request.headers["webhook-id"] for request in receiver.requests}) == 1_000
        assert sending.workers.counts.attempts == {"delivered": 1_000}
        with sending.relational.transaction() as session:
            row = session.get_one(IntegrationRow, ("team", "webhook-0"))
            assert (row.failing, row.last_failure_ms) == (False, None)

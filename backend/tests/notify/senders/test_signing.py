import base64
from datetime import UTC, datetime
from pathlib import Path

import pytest
from loadwatch_backend.alerting.notify.senders.webhook import (
    SigningSecretError,
    WebhookIntegration,
    headers,
    parse_secret,
    parse_secrets,
)
from loadwatch_backend.core.secret import Secret
from standardwebhooks import Webhook, WebhookVerificationError

from backend.tests.notify.receiving import answer, run_receiver
from backend.tests.notify.sending import envelope, run_sending

OLD = "whsec_" + base64.b64encode(b"o" * 32).decode()
NEW = "whsec_" + base64.b64encode(b"n" * 24).decode()
OTHER = "whsec_" + base64.b64encode(b"x" * 24).decode()


def test_a_signature_is_verified_by_the_standard_library_of_it(tmp_path: Path) -> None:
    with run_receiver(behaviours=[answer(500)]) as receiver:
        known = WebhookIntegration(
            id="webhook-0", send_resolved=True, url=Secret(receiver.url), signing_secrets=(Secret(OLD),)
        )
        with run_sending(tmp_path, known) as sending:
            sending.put(envelope())
            sending.wait_attempts(1)
            sending.change(1, next_ms=0)
            sending.workers.wake()
            for request in receiver.wait(2):
                assert Webhook(OLD).verify(request.body.decode(), dict(request.headers)) == request.json
                with pytest.raises(WebhookVerificationError):
                    Webhook(OTHER).verify(request.body.decode(), dict(request.headers))
                with pytest.raises(WebhookVerificationError):
                    Webhook(OLD).verify(request.body.decode() + " ", dict(request.headers))
                sent = datetime.fromtimestamp(int(request.headers["webhook-timestamp"]), UTC)
                assert abs((datetime.now(UTC) - sent).total_seconds()) < 60


def test_while_secrets_are_rotated_both_verify(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{NEW}\n")
    with run_receiver() as receiver:
        secrets = (Secret(OLD), Secret(path=file))
        known = WebhookIntegration(
            id="webhook-0", send_resolved=True, url=Secret(receiver.url), signing_secrets=secrets
        )
        with run_sending(tmp_path, known) as sending:
            sending.put(envelope())
            (request,) = receiver.wait(1)
            for secret in (OLD, NEW):
                Webhook(secret).verify(request.body.decode(), dict(request.headers))
            assert len(request.headers["webhook-signature"].split()) == 2


def test_a_secret_that_is_none_sends_nothing_and_does_not_show_it(tmp_path: Path) -> None:
    with run_receiver() as receiver:
        known = WebhookIntegration(
            id="webhook-0", send_resolved=True, url=Secret(receiver.url), signing_secrets=(Secret("hunter22"),)
        )
        with run_sending(tmp_path, known) as sending:
            sending.put(envelope())
            row = sending.wait_attempts(1)
            assert row.refused
            assert "signing_secret: a signing secret begins with whsec_" in row.reason
            assert "hunter22" not in row.reason
            assert {attempt.outcome for attempt in sending.attempts()} == {"permanent"}
            assert receiver.requests == []


def test_without_a_secret_there_is_an_id_and_no_signature() -> None:
    assert headers((), "msg_1", 7, b"{}") == {"webhook-id": "msg_1", "webhook-timestamp": "7"}


@pytest.mark.parametrize(
    "text", ["", "whsec_", "whsec_!!!", "secret", "whsec_" + base64.b64encode(b"short").decode(), OLD[6:]]
)
def test_what_is_no_secret_is_refused(text: str) -> None:
    with pytest.raises(SigningSecretError):
        parse_secret(text)


def test_several_secrets_in_one_text() -> None:
    assert parse_secrets(f"{OLD} {NEW}\n") == (b"o" * 32, b"n" * 24)

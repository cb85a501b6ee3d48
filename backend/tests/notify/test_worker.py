from pathlib import Path

from loadwatch_backend.notify.configuration_model import Secret, WebhookIntegration

from backend.tests.notify.receiving import Receiver, run_receiver
from backend.tests.notify.sending import document, envelope, run_sending


def webhook(receiver: Receiver, place: int = 0, path: str = "", **more: object) -> WebhookIntegration:
    return WebhookIntegration(
        id=f"webhook-{place}", send_resolved=True, url=Secret(receiver.url + path), timeout_ms=5_000, **more
    )


def test_a_message_arrives_with_its_document_and_id(tmp_path: Path) -> None:
    with run_receiver() as receiver, run_sending(tmp_path, webhook(receiver)) as sending:
        sending.put(envelope())
        (request,) = receiver.wait(1)
        (row,) = sending.wait_state("delivered")
        assert request.json == document()
        assert request.headers["webhook-id"] == row.id
        assert request.headers["content-type"] == "application/json"
        (attempt,) = sending.attempts()
        assert (attempt.number, attempt.status_code, attempt.outcome, attempt.address) == (
            1,
            200,
            "delivered",
            "127.0.0.1",
        )
        assert (row.attempts, row.last_status, row.reason, row.firing, row.resolved) == (1, 200, "", 1, 0)

"""The test message: by the same way as alerts, at once, one attempt."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from random import random

from loadwatch_backend.alerting.notify.contract import Envelope, EnvelopeKind
from loadwatch_backend.alerting.notify.documents import alert_document, group_document
from loadwatch_backend.alerting.notify.model import NotifiedAlert
from loadwatch_backend.alerting.notify.outbox.attempts import attempt, digest_of
from loadwatch_backend.alerting.notify.outbox.messages import delivery_row, message_of
from loadwatch_backend.alerting.notify.outbox.outcomes import Attempt, attempt_row, note_integration
from loadwatch_backend.alerting.notify.outbox.repository import add_attempt, add_delivery
from loadwatch_backend.alerting.notify.outbox.tables import REASON_LENGTH, DeliveryRow
from loadwatch_backend.alerting.notify.routing.routing import fingerprint
from loadwatch_backend.alerting.notify.schemas import DeliveryState, TrialResult
from loadwatch_backend.alerting.notify.senders.model import AttemptOutcome, Integration, SendContext, cut
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.core.texts.words import Texts

THREADS = 8


def trial_envelope(receiver: str, integration: Integration, external_url: str, now_ms: int) -> Envelope:
    """One alert that nobody need look after, in the document that all alerts come in."""
    texts = Texts("notify", integration.language)
    subject, text = texts("test_subject"), texts("test_text")
    alert = NotifiedAlert(
        key=f"test-{now_ms}",
        labels={"alertname": "LoadwatchTest", "severity": "info", "receiver": receiver},
        annotations={"summary": subject, "description": text},
        starts_ms=now_ms,
        ends_ms=None,
        generator_url=external_url,
    )
    document = group_document(
        [alert_document(fingerprint(alert.labels), alert)],
        receiver=receiver,
        group_key=f'{{}}:{{alertname="LoadwatchTest", at="{now_ms}"}}',
        group_labels={"alertname": "LoadwatchTest"},
        external_url=external_url,
        most=0,
    )
    return Envelope(
        kind=EnvelopeKind.TEST,
        receiver=receiver,
        integration=integration.id,
        order_key=f"test:{integration.id}:{now_ms}",
        subject=subject,
        document=document,
    )


def run_trials(
    receiver: str,
    integrations: Sequence[Integration],
    *,
    relational: Relational,
    context: SendContext,
    external_url: str,
) -> list[TrialResult]:
    """Send a test message to each, all at once, and note it in the log."""

    def one(integration: Integration) -> TrialResult:
        return _run(receiver, integration, relational, context, external_url)

    if not integrations:
        return []
    with ThreadPoolExecutor(min(THREADS, len(integrations)), thread_name_prefix="notify-test") as pool:
        return list(pool.map(one, integrations))


def _run(
    receiver: str, integration: Integration, relational: Relational, context: SendContext, external_url: str
) -> TrialResult:
    at_ms, began = context.clock(), time.monotonic()
    envelope = trial_envelope(receiver, integration, external_url, at_ms)
    row = DeliveryRow(**delivery_row(envelope, at_ms))
    result = attempt(integration, message_of(row), context)
    done = Attempt(
        key=(receiver, integration.id),
        at_ms=at_ms,
        ended_ms=context.clock(),
        seconds=time.monotonic() - began,
        result=result,
        target=digest_of(integration),
        early=True,
        fresh=True,
    )
    with relational.transaction() as session:
        _note(session, row, done)
    return TrialResult(
        integration=integration.id,
        ok=result.outcome is AttemptOutcome.DELIVERED,
        status_code=result.status_code,
        seconds=done.seconds,
        error=result.error,
        response=result.response,
    )


def _note(session: Session, row: DeliveryRow, done: Attempt) -> None:
    """A test is in the log when it is over; it is not tried again."""
    delivered = done.result.outcome is AttemptOutcome.DELIVERED
    row.state = (DeliveryState.DELIVERED if delivered else DeliveryState.DEAD).value
    row.reason = "" if delivered else cut(f"a test, not tried again: {done.result.error}", REASON_LENGTH)
    row.delivered_ms = done.ended_ms if delivered else None
    row.attempts = 1
    row.last_status = done.result.status_code
    row.last_seconds = done.seconds
    add_delivery(session, row)
    add_attempt(session, attempt_row(row.seq, 1, done))
    note_integration(session, done, random)

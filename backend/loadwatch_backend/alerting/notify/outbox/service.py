"""Receivers, tests and the log of deliveries, for the endpoints."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from random import random

from loadwatch_backend.alerting.notify.file.model import Configuration, Receiver
from loadwatch_backend.alerting.notify.model import Envelope, EnvelopeKind, NotifiedAlert
from loadwatch_backend.alerting.notify.outbox.messages import IntegrationKey, delivery_row, message_of, own_envelope
from loadwatch_backend.alerting.notify.outbox.outbox import delivery_out, detail_out
from loadwatch_backend.alerting.notify.outbox.outcomes import (
    Attempt,
    attempt_row,
    note_integration,
    target_of,
    timed_attempt,
)
from loadwatch_backend.alerting.notify.outbox.repository import (
    DeliveryFilter,
    FailingIntegrations,
    add_row,
    count_by_integration,
    count_deliveries,
    find_deliveries,
    find_delivery,
    find_failing_integrations,
    find_integrations,
    hasten_integration,
    oldest_unfinished_ms,
    withdraw_all,
)
from loadwatch_backend.alerting.notify.outbox.tables import REASON_LENGTH, DeliveryRow, IntegrationRow
from loadwatch_backend.alerting.notify.schemas import (
    DeliveryDetail,
    DeliveryList,
    DeliveryOut,
    DeliveryState,
    IntegrationOut,
    IntegrationState,
    ReceiverList,
    ReceiverOut,
    TrialResult,
    TrialResults,
)
from loadwatch_backend.alerting.notify.senders.model import AttemptOutcome, Integration, SendContext, cut
from loadwatch_backend.alerting.notify.senders.registry import sender_of
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.core.errors import BadRequestError, InvalidError, NotFoundError
from loadwatch_backend.core.texts.words import Texts

THREADS = 8


def trial_envelope(receiver: str, integration: Integration, external_url: str, now_ms: int) -> Envelope:
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
    return own_envelope(
        EnvelopeKind.TEST,
        alert,
        receiver=receiver,
        integration=integration.id,
        order_key=f"test:{integration.id}:{now_ms}",
        subject=subject,
        at=f', at="{now_ms}"',
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
    add_row(session, row)
    add_row(session, attempt_row(row.seq, 1, done))
    note_integration(session, done, random)


FAILING_SECONDS = 1.0
Counts = Mapping[tuple[str, str, str], int]


class ReceiverNotFoundError(NotFoundError, code="receiver-not-found"):
    """The configuration has no such receiver."""


class IntegrationNotFoundError(NotFoundError, code="integration-not-found"):
    """The receiver has no such integration."""


class DeliveryStateError(InvalidError, code="delivery-state"):
    """The delivery is in a state in which this makes no sense."""


class DeliveryService:
    """Works on every server, whether it leads or not; the one that leads sees changes within a second."""

    def __init__(
        self,
        *,
        relational: Relational,
        configuration: Callable[[], Configuration],
        context: SendContext,
        external_url: str,
        wake: Callable[[], None],
    ) -> None:
        self._relational = relational
        self._configuration = configuration
        self._context = context
        self._external_url = external_url
        self._wake = wake
        self._failing: tuple[float, FailingIntegrations] | None = None

    # Receivers --------------------------------------------------------------------------------------------------------

    def receivers(self) -> ReceiverList:
        configuration = self._configuration()
        with self._relational.transaction() as session:
            rows = find_integrations(session)
            counts = count_by_integration(session)
        return ReceiverList(
            receivers=[_receiver_out(configuration, one, rows, counts) for one in configuration.receivers.values()]
        )

    def test(self, receiver: str, integration: str | None) -> TrialResults:
        """Send a test message to one integration, or to all of a receiver.

        Raises:
            ReceiverNotFoundError: there is no such receiver.
            IntegrationNotFoundError: it has no such integration.
        """
        found = self._receiver(receiver)
        chosen = found.integrations if integration is None else [_integration(found, integration)]
        if not chosen:
            return TrialResults(results=[])
        with ThreadPoolExecutor(min(THREADS, len(chosen)), thread_name_prefix="notify-test") as pool:
            return TrialResults(results=[*pool.map(partial(self._try, receiver), chosen)])

    def _try(self, receiver: str, integration: Integration) -> TrialResult:
        at_ms = self._context.clock()
        envelope = trial_envelope(receiver, integration, self._external_url, at_ms)
        row = DeliveryRow(**delivery_row(envelope, at_ms))
        key = receiver, integration.id
        done = timed_attempt(key, integration, message_of(row), self._context, early=True, fresh=True)
        with self._relational.transaction() as session:
            _note(session, row, done)
        ok = done.result.outcome is AttemptOutcome.DELIVERED
        return TrialResult.from_object(done.result, integration=integration.id, ok=ok, seconds=done.seconds)

    def retry_all(self, receiver: str, integration: str) -> ReceiverOut:
        """Try all that waits for an integration at once, in its order.

        Raises:
            ReceiverNotFoundError: there is no such receiver.
            IntegrationNotFoundError: it has no such integration.
        """
        key = (receiver, _integration(self._receiver(receiver), integration).id)
        with self._relational.transaction() as session:
            hasten_integration(session, key, self._context.clock())
        self._wake()
        return self._receiver_out(receiver)

    def stop_all(self, receiver: str, integration: str, actor: str) -> ReceiverOut:
        """Stop trying all that waits for an integration.

        Raises:
            ReceiverNotFoundError: there is no such receiver.
            IntegrationNotFoundError: it has no such integration.
        """
        key = (receiver, _integration(self._receiver(receiver), integration).id)
        with self._relational.transaction() as session:
            withdraw_all(session, key, stopped_by(actor))
        return self._receiver_out(receiver)

    def _receiver_out(self, name: str) -> ReceiverOut:
        return next(one for one in self.receivers().receivers if one.name == name)

    def _receiver(self, name: str) -> Receiver:
        found = self._configuration().receivers.get(name)
        if found is None:
            raise ReceiverNotFoundError(f"The configuration in force has no receiver {name!r}.")
        return found

    # The log ----------------------------------------------------------------------------------------------------------

    def list(
        self, states: Sequence[DeliveryState] | None, receiver: str, search: str, before: str | None, limit: int
    ) -> DeliveryList:
        """A page of the log, newest first.

        Raises:
            BadRequestError: `before` is not one that a list gave.
        """
        if before is not None and not (before.isascii() and before.isdigit() and len(before) < 19):
            raise BadRequestError("before is not a cursor; pass the next_before of the page before, or none.")
        wanted = DeliveryFilter(states=tuple(states or ()), receiver=receiver, words=search)
        now_ms = self._context.clock()
        with self._relational.transaction() as session:
            rows, cursor = find_deliveries(session, wanted, None if before is None else int(before), limit)
            return DeliveryList(
                deliveries=[delivery_out(row, now_ms) for row in rows],
                counts=count_deliveries(session, wanted),
                next_before=None if cursor is None else str(cursor),
            )

    def read(self, delivery_id: str) -> DeliveryDetail:
        """One delivery.

        Raises:
            DeliveryNotFoundError: there is none.
        """
        with self._relational.transaction() as session:
            return detail_out(session, find_delivery(session, delivery_id), self._context.clock())

    def retry(self, delivery_id: str) -> DeliveryOut:
        """Try a delivery at once, with the same id; one that was given up or withdrawn is tried as a new one is.

        Raises:
            DeliveryNotFoundError: there is none.
            DeliveryStateError: it was delivered.
        """
        now_ms = self._context.clock()
        with self._relational.transaction() as session:
            row = find_delivery(session, delivery_id, lock=True)
            if row.state == DeliveryState.DELIVERED:
                raise DeliveryStateError(f"Delivery {delivery_id} was delivered; there is nothing to send again.")
            if row.state in (DeliveryState.DEAD, DeliveryState.WITHDRAWN):
                row.state = DeliveryState.WAITING.value
                row.step = 0
                row.next_ms, row.delay_ms = now_ms, 0
                row.refused = False
                row.early = True
                row.reason = ""
            elif row.state == DeliveryState.WAITING:
                row.early = True
            out = delivery_out(row, now_ms)
        self._wake()
        return out

    def stop(self, delivery_id: str, actor: str) -> DeliveryOut:
        """Stop trying a delivery; an attempt that is under way may still arrive.

        Raises:
            DeliveryNotFoundError: there is none.
            DeliveryStateError: it has come to its end.
        """
        with self._relational.transaction() as session:
            row = find_delivery(session, delivery_id, lock=True)
            if row.state not in (DeliveryState.WAITING, DeliveryState.SENDING):
                raise DeliveryStateError(f"Delivery {delivery_id} is {row.state}; there is nothing to stop.")
            row.state = DeliveryState.WITHDRAWN.value
            row.reason = stopped_by(actor)
            row.claim = ""
            row.early = False
            return delivery_out(row, self._context.clock())

    def failing(self) -> FailingIntegrations:
        """Failing integrations with queued notifications; asked by every page, so the answer may be a second old."""
        now = time.monotonic()
        known = self._failing
        if known is None or now - known[0] > FAILING_SECONDS:
            with self._relational.transaction() as session:
                known = self._failing = now, find_failing_integrations(session, self._configuration())
        return known[1]

    # For /metrics -----------------------------------------------------------------------------------------------------

    def counts(self) -> dict[DeliveryState, int]:
        """Messages in the log by state, without tests: one that failed was shown to whoever pressed the button."""
        with self._relational.transaction() as session:
            return count_deliveries(session, DeliveryFilter(tests=False))

    def failing_seconds(self) -> dict[str, float]:
        """For how long each integration has failed while something waits for it; 0 for those that do not."""
        now_ms = self._context.clock()
        found = {
            f"{receiver.name}/{integration.id}": 0.0
            for receiver in self._configuration().receivers.values()
            for integration in receiver.integrations
        }
        for one in self.failing().failing:
            found[f"{one.receiver}/{one.integration}"] = max(0.0, (now_ms - one.since_ms) / 1_000)
        return found

    def oldest_waiting_seconds(self) -> float:
        with self._relational.transaction() as session:
            oldest_ms = oldest_unfinished_ms(session)
        return 0.0 if oldest_ms is None else max(0.0, (self._context.clock() - oldest_ms) / 1_000)


def _integration(receiver: Receiver, id: str) -> Integration:
    found = receiver.integration(id)
    if found is None:
        known = ", ".join(one.id for one in receiver.integrations) or "none"
        raise IntegrationNotFoundError(f"Receiver {receiver.name!r} has no integration {id!r}; it has: {known}.")
    return found


def _receiver_out(
    configuration: Configuration, receiver: Receiver, rows: Mapping[IntegrationKey, IntegrationRow], counts: Counts
) -> ReceiverOut:
    return ReceiverOut(
        name=receiver.name,
        integrations=[
            _integration_out(receiver.name, one, rows.get((receiver.name, one.id), IntegrationRow()), counts)
            for one in receiver.integrations
        ],
        routes=[route.id for route in configuration.root.walk() if route.receiver == receiver.name],
    )


def _integration_out(name: str, integration: Integration, row: IntegrationRow, counts: Counts) -> IntegrationOut:
    state, reason = _state(row)
    title = sender_of(integration).title

    def count(*states: DeliveryState) -> int:
        return sum(counts.get((name, integration.id, one.value), 0) for one in states)

    return IntegrationOut.from_object(
        integration,
        title=title.en,
        title_ja=title.ja,
        target=target_of(integration),
        state=state,
        state_reason=reason,
        last_success_ms=row.last_success_ms,
        last_failure_ms=row.last_failure_ms,
        failing_since_ms=row.since_ms,
        next_attempt_ms=row.next_ms if row.failing else None,
        waiting=count(DeliveryState.WAITING, DeliveryState.SENDING),
        dead=count(DeliveryState.DEAD),
    )


def _state(row: IntegrationRow) -> tuple[IntegrationState, str]:
    if row.last_success_ms is None and row.last_failure_ms is None:
        return IntegrationState.UNUSED, ""
    if not row.failing:
        return IntegrationState.OK, ""
    return IntegrationState.REFUSING if row.refused else IntegrationState.FAILING, row.reason


def stopped_by(actor: str) -> str:
    return f"stopped by {actor or 'somebody'}"

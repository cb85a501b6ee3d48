"""A dead man's switch: says to an address outside, each minute, that alerts are evaluated; silence there is the alarm.

The body is Alertmanager's webhook document with one alert named Watchdog, so that services for either kind take it.
No silence, route or inhibition is asked: nothing within Loadwatch can keep it quiet but that it does not work.
"""

from collections import Counter
from collections.abc import Callable

import structlog

from loadwatch_backend.alerting.notify.model import EnvelopeKind, NotifiedAlert
from loadwatch_backend.alerting.notify.outbox.messages import delivery_row, message_of, own_envelope
from loadwatch_backend.alerting.notify.outbox.outcomes import attempt
from loadwatch_backend.alerting.notify.outbox.tables import DeliveryRow
from loadwatch_backend.alerting.notify.senders.model import AttemptOutcome, Result, SendContext
from loadwatch_backend.alerting.notify.senders.webhook import WebhookIntegration
from loadwatch_backend.core.secret import Secret

logger = structlog.get_logger(__name__)

NAME = "Watchdog"
AGAIN_SECONDS = 5.0
"""Pause before the next try, when the address did not answer or there was nothing good to say."""
TIMEOUT_MS = 10_000


class Heartbeat:
    """`is_well` is asked before each beat and may take its time or raise: then none is sent."""

    def __init__(
        self, *, url: Secret, seconds: float, context: SendContext, is_well: Callable[[], bool], external_url: str
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._integration = WebhookIntegration(id="webhook-0", send_resolved=False, timeout_ms=TIMEOUT_MS, url=url)
        self._seconds = seconds
        self._context = context
        self._is_well = is_well
        self._external_url = external_url
        self._began_ms = context.clock()
        self._said = ""

    def tick(self) -> float:
        """Send one beat if all is well; the seconds until the next."""
        outcome, text = self._beat()
        self.counts[outcome] += 1
        if text != self._said:
            log = logger.info if outcome == AttemptOutcome.DELIVERED else logger.warning
            log("heartbeat", outcome=outcome, reason=text or "it arrives")
            self._said = text
        return self._seconds if outcome == AttemptOutcome.DELIVERED else min(AGAIN_SECONDS, self._seconds)

    def _beat(self) -> tuple[str, str]:
        try:
            if not self._is_well():
                return "withheld", "no rules are evaluated here at present"
        except Exception as error:
            return "withheld", f"the database does not answer: {type(error).__name__}"
        result = self._send()
        return result.outcome.value, result.error

    def _send(self) -> Result:
        now_ms = self._context.clock()
        alert = NotifiedAlert(
            key=NAME,
            labels={"alertname": NAME, "severity": "none"},
            annotations={
                "summary": "Loadwatch evaluates its rules. When this stops coming, nobody is told of anything."
            },
            starts_ms=self._began_ms,
            ends_ms=None,
            generator_url=self._external_url,
        )
        envelope = own_envelope(
            EnvelopeKind.ALERT, alert, receiver="heartbeat", integration="heartbeat", order_key=NAME, subject=NAME
        )
        return attempt(self._integration, message_of(DeliveryRow(**delivery_row(envelope, now_ms))), self._context)

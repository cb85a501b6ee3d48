"""How `alerts` and the application use notifications.

- `notify.groups.dispatch.Dispatcher.take(session, alerts, now_ms)`: within the transaction of the caller. Routes each
  alert that changed (began to fire, resolved, was acknowledged), puts it into its groups, and writes the deliveries of
  groups that are due at once. What is not due yet is in the database too, so that nothing is lost with the process.
- `notify.groups.dispatch.Dispatcher.annotate(session, annotations)`: within the same transaction, what has become known
  of alerts that fire.
- `notify.groups.dispatch.Dispatcher.flush(now_ms) -> int | None`: writes the deliveries of groups that have come due;
  the milliseconds until the next one is. Called by the notifier's own thread.
- `notify.groups.dispatch.Dispatcher.quiet(alerts, now_ms) -> Mapping[str, Quiet]`: why alerts are not sent at present,
  by key.
- `notify.groups.dispatch.Dispatcher.notices(notice) -> list[Envelope]`: who is told of a run.
- `notify.outbox.outbox.Outbox`: `put(session, Envelope)` writes one delivery; `notify.outbox.worker.Workers` send
  what is due.
- `notify.notifier.Notifier`: `start()` and `stop()` the threads (only the server that leads runs them), `wake()` after
  a transaction that wrote deliveries, `announce(notice)` for runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadwatch_backend.alerting.notify.model import EnvelopeKind
from loadwatch_backend.alerting.notify.schemas import FollowsFromOut, SilenceReference, UndeliveredOut


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """One message for one integration of one receiver, before it is rendered.

    `document` is the Alertmanager v4 body for alerts, and `{"version": "loadwatch/1", "type": ..., ...}` for notices:
    it is JSON, complete, and all that rendering reads. Envelopes with the same `order_key` are sent one after the
    other.

    Documents of alerts for senders that acknowledge (`SendRules`) have one key more, `loadwatch`, which is
    `{"acknowledged": true}` when somebody has acknowledged all alerts in them that fire.

    `alert_keys` are those of the alerts in it. Of envelopes with the same `key`, receiver and integration only the
    first is kept; without a key each is.
    """

    kind: EnvelopeKind
    receiver: str
    integration: str
    order_key: str
    subject: str
    document: Mapping[str, Any]
    alert_keys: Sequence[str] = ()
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """Why an alert is not sent, and who would be told. `inhibited_by` are keys of alerts."""

    silences: Sequence[SilenceReference] = ()
    inhibited_by: Sequence[str] = ()
    follows_from: FollowsFromOut | None = None
    muted: bool = False
    receivers: Sequence[str] = ()
    undelivered: Sequence[UndeliveredOut] = ()
    """Integrations of these receivers that do not take messages at present."""

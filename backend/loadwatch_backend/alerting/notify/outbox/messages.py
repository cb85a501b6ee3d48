"""Messages of the outbox: their ids, their columns, and the alerts in them."""

import base64
import hashlib
import secrets
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from loadwatch_backend.alerting.notify.documents import alert_document, group_document
from loadwatch_backend.alerting.notify.model import Envelope, EnvelopeKind, NotifiedAlert
from loadwatch_backend.alerting.notify.outbox.tables import SUBJECT_LENGTH, DeliveryRow
from loadwatch_backend.alerting.notify.routing.routing import fingerprint
from loadwatch_backend.alerting.notify.schemas import DeliveryState
from loadwatch_backend.alerting.notify.senders.model import Message, cut

IntegrationKey = tuple[str, str]
"""Receiver and integration."""

URGENT = frozenset({"critical", "page"})
"""Values of the label `severity`; a message with such an alert that fires goes before others."""


def new_delivery_id(now_ms: int) -> str:
    """`msg_` and 26 characters: 48 bits of time, then 80 random ones, so that ids sort by age."""
    number = now_ms.to_bytes(6, "big") + secrets.token_bytes(10)
    return "msg_" + base64.b32hexencode(number).decode().rstrip("=").lower()


def keyed_delivery_id(envelope: Envelope) -> str:
    """The id of a message that is written once, however often it is handed over."""
    text = "\0".join((envelope.key, envelope.receiver, envelope.integration))
    return "msg_" + hashlib.sha256(text.encode()).hexdigest()[:32]


def pack(document: bytes) -> bytes:
    """Compress; documents of many alerts repeat their labels."""
    return zlib.compress(document, 1)


def unpack(packed: bytes) -> bytes:
    return zlib.decompress(packed)


def delivery_row(envelope: Envelope, now_ms: int) -> dict[str, Any]:
    alerts: Sequence[Mapping[str, Any]] = envelope.document.get("alerts", ())
    resolved = sum(1 for alert in alerts if alert.get("status") == "resolved")
    order = "\0".join((envelope.receiver, envelope.integration, envelope.order_key))
    return {
        "id": keyed_delivery_id(envelope) if envelope.key else new_delivery_id(now_ms),
        "kind": envelope.kind.value,
        "receiver": envelope.receiver,
        "integration": envelope.integration,
        "order_hash": hashlib.sha256(order.encode()).hexdigest()[:32],
        "order_key": envelope.order_key,
        "subject": cut(envelope.subject, SUBJECT_LENGTH),
        "document": pack(orjson.dumps(envelope.document)),
        "alert_keys": pack(orjson.dumps(list(envelope.alert_keys))),
        "firing": len(alerts) - resolved,
        "resolved": resolved,
        "state": DeliveryState.WAITING.value,
        "reason": "",
        "created_ms": now_ms,
        "next_ms": now_ms,
        "delay_ms": 0,
        "early": False,
        "step": 0,
        "refused": False,
        "urgency": _urgency(alerts),
        "attempts": 0,
        "claim": "",
    }


def own_envelope(
    kind: EnvelopeKind,
    alert: NotifiedAlert,
    *,
    receiver: str,
    integration: str,
    order_key: str,
    subject: str,
    at: str = "",
) -> Envelope:
    """A message of Loadwatch's own with one alert, whose page is ours; `at` sets its group apart from others."""
    name = alert.labels["alertname"]
    document = group_document(
        [alert_document(fingerprint(alert.labels), alert)],
        receiver=receiver,
        group_key=f'{{}}:{{alertname="{name}"{at}}}',
        group_labels={"alertname": name},
        external_url=alert.generator_url,
    )
    return Envelope(
        kind=kind,
        receiver=receiver,
        integration=integration,
        order_key=order_key,
        subject=subject,
        document=document,
    )


def _urgency(alerts: Sequence[Mapping[str, Any]]) -> int:
    """0 before 1 before 2: what fires and is critical, what fires, and the rest."""
    firing = [alert.get("labels", {}) for alert in alerts if alert.get("status") == "firing"]
    return 2 if not firing else 0 if any(labels.get("severity") in URGENT for labels in firing) else 1


def is_whole(row: Mapping[str, Any], envelope: Envelope) -> frozenset[str]:
    """Keys of the alerts of a message that reports all of them as firing; empty for other messages."""
    whole = len(envelope.alert_keys) == row["firing"] and "loadwatch" not in envelope.document
    return frozenset(envelope.alert_keys) if whole else frozenset()


def is_repeated(firing: int, packed: bytes, notified: frozenset[str]) -> bool:
    """Whether a message reports nothing but alerts that fire and that another one reports as well."""
    if not notified or not firing:
        return False
    keys: list[str] = orjson.loads(unpack(packed))
    return len(keys) == firing and notified >= frozenset(keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDelivery:
    seq: int
    receiver: str
    integration: str
    message: Message
    attempts: int
    early: bool
    order_hash: str
    head: int | None
    """The oldest message of its group that waits still after it failed several times; None when there is none."""

    @property
    def key(self) -> IntegrationKey:
        return self.receiver, self.integration


def message_of(row: DeliveryRow) -> Message:
    body = unpack(row.document)
    return Message(
        id=row.id,
        kind=EnvelopeKind(row.kind),
        receiver=row.receiver,
        subject=row.subject,
        document=orjson.loads(body),
        body=body,
        order_key=row.order_key,
        created_ms=row.created_ms,
    )

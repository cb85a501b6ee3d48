"""What is handed to notifications: alerts and notices, free of where they come from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from loadwatch_backend.core.language import Language
from loadwatch_backend.series.store.port import Labels

RUN_NAME = "run_name"
"""Annotation with the name of the run whose id is the label `run`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifiedAlert:
    """An alert as receivers are notified of it.

    `key` names the episode and is the same in all that is sent of it. Times are milliseconds; `ends_ms` is None while
    it fires. `labels` include `alertname`, and `run` where it began during a load test that goes on; `run_given`: that
    one is no part of its identity. `acknowledged` alerts are sent when they change, and not repeated.
    """

    key: str
    labels: Labels
    annotations: Mapping[str, str]
    starts_ms: int
    ends_ms: int | None
    generator_url: str
    acknowledged: bool = False
    run_given: bool = False

    @property
    def identity(self) -> Labels:
        """The labels that never change: all but that of a run which the alert was given."""
        return {name: text for name, text in self.labels.items() if name != "run" or not self.run_given}

    @property
    def firing(self) -> bool:
        return self.ends_ms is None


ENDED_ANNOTATION = "ended"
"""Annotation of an alert that is over without having recovered: why."""
STOPPED_SENDING = "stopped-sending"


def has_stopped(annotations: Mapping[str, str]) -> bool:
    """Whether an alert is over because nobody sends its target any more, which says nothing of a recovery."""
    return annotations.get(ENDED_ANNOTATION) == STOPPED_SENDING


class EnvelopeKind(StrEnum):
    """What a delivery is about."""

    ALERT = "alert"
    RUN = "run"
    TEST = "test"


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


class NoticeKind(StrEnum):
    RUN_STARTED = "run-started"
    RUN_FINISHED = "run-finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeFinding:
    id: str
    sentence: str
    severity: str
    certainty: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeText:
    """What a notice says in one language. `facts` are label and text, in order; `findings` have causes first."""

    title: str
    text: str
    facts: Sequence[tuple[str, str]] = field(default_factory=tuple)
    findings: Sequence[NoticeFinding] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """News of a run for the team's chat. `labels` choose the receivers: scenario, tool, verdict, state, branch, ...

    `key` makes it one notice, however often it is handed over. `texts` has every language.
    """

    key: str
    kind: NoticeKind
    at_ms: int
    texts: Mapping[Language, NoticeText]
    url: str
    labels: Labels

"""Episodes as rows, and rows as episodes. No I/O."""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from loadwatch_backend.alerting.alerts.evaluation.explain import RUN_LABEL, TrackedAlert, Transition, source_key
from loadwatch_backend.alerting.alerts.history.tables import EpisodeRow
from loadwatch_backend.alerting.alerts.schemas import AlertState, ResolvedReason
from loadwatch_backend.alerting.notify.causes import FINDING_ANNOTATIONS, FINDING_ID, FINDING_OWN
from loadwatch_backend.alerting.notify.model import ENDED_ANNOTATION, RUN_NAME, STOPPED_SENDING, NotifiedAlert
from loadwatch_backend.alerting.rules import model
from loadwatch_backend.alerting.rules.model import Rule, RuleGroup
from loadwatch_backend.alerting.rules.presence import value_of
from loadwatch_backend.core.language import Language, in_language
from loadwatch_backend.series.store.port import Labels

OWN_ANNOTATIONS = frozenset((*model.OWN_ANNOTATIONS, *FINDING_OWN))
"""Settings of ours in the place of annotations; not sent on."""
_CHANGING = ("held_from_ms", "fired_ms", "false_since_ms", "flapping", "swung_ms", "no_data_since_ms", "resolved_ms")
"""Fields of an alert that are columns of the same name and change during an episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFacts:
    """What is kept of a rule with each episode, so that it can be read when the rule is gone."""

    rule_id: str
    file: str
    group: str
    name: str
    expression: str
    unit: str
    signal: str
    threshold: float | None
    for_ms: int
    keep_firing_for_ms: int
    comparison: str = ""
    """The operator between value and threshold; empty in rows of earlier versions."""

    def to_json(self) -> str:
        return orjson.dumps(asdict(self)).decode()

    @classmethod
    def from_json(cls, text: str) -> "RuleFacts":
        return cls(**orjson.loads(text))


def facts_of(group: RuleGroup, rule: Rule) -> RuleFacts:
    view = value_of(rule.parsed)
    return RuleFacts(
        rule_id=rule.id,
        file=group.file,
        group=group.name,
        name=rule.name,
        expression=rule.expression,
        unit=rule.unit,
        signal=rule.signal,
        threshold=finite(view.threshold),
        comparison=view.comparison,
        for_ms=rule.for_ms,
        keep_firing_for_ms=rule.keep_firing_for_ms,
    )


def episode_values(facts: RuleFacts, alert: TrackedAlert, now_ms: int) -> dict[str, Any]:
    annotations = kept_annotations(alert)
    identity = hashlib.sha256(orjson.dumps([facts.rule_id, source_key(alert.source)]))
    return {
        "id": alert.id,
        "identity": identity.hexdigest()[:32],
        "rule_id": facts.rule_id,
        "rule": facts.to_json(),
        "source": to_json(alert.source),
        "labels": to_json(alert.labels),
        "annotations": to_json(annotations),
        "words": words_of(alert.labels, annotations),
        "active_ms": alert.active_ms,
        "run_id": alert.labels.get(RUN_LABEL, "")[:40] or None,
        "run_name": alert.run_name[:200],
        "incident": None,
        "acknowledged_by": None,
        "acknowledged_ms": None,
        "acknowledged_comment": "",
        **changing_values(alert, now_ms),
    }


def changing_values(alert: TrackedAlert, now_ms: int) -> dict[str, Any]:
    return {
        **{name: getattr(alert, name) for name in _CHANGING},
        "state": str(alert.state),
        "value": finite(alert.value),
        "resolved_reason": None if alert.resolved_reason is None else str(alert.resolved_reason),
        "evaluated_ms": now_ms,
    }


def transition_values(transition: Transition, actor: str) -> dict[str, Any]:
    values = note_values(transition.alert, transition.at_ms, str(transition.reason), actor)
    return values | {"from_state": None if transition.before is None else str(transition.before)}


def note_values(alert: TrackedAlert | EpisodeRow, at_ms: int, reason: str, actor: str) -> dict[str, Any]:
    """The transition row of an acknowledgement or a note of a user, which leaves the state as it is."""
    return {
        "alert_id": alert.id,
        "from_state": str(alert.state),
        "to_state": str(alert.state),
        "at_ms": at_ms,
        "value": finite(alert.value),
        "reason": reason,
        "actor": actor,
    }


def kept_annotations(alert: TrackedAlert) -> dict[str, str]:
    """The rule's annotations, overridden by the finding's; a run is named by its title, except in URLs."""
    run, texts = alert.labels.get(RUN_LABEL, ""), {**alert.annotations, **alert.finding}
    if not run or not alert.run_name:
        return texts
    texts = {
        name: re.sub(rf"(?<![/=]){re.escape(run)}", lambda _: alert.run_name, text) for name, text in texts.items()
    }
    return {**texts, RUN_NAME: alert.run_name}


def tracked_alert(row: EpisodeRow) -> TrackedAlert:
    annotations: dict[str, str] = orjson.loads(row.annotations)
    # A rule may have an annotation `finding` of its own; only ours come with an id.
    own = (*FINDING_ANNOTATIONS, *FINDING_OWN) if FINDING_ID in annotations else ()
    finding = {name: annotations.pop(name) for name in own if name in annotations}
    return TrackedAlert(
        id=row.id,
        source=orjson.loads(row.source),
        labels=orjson.loads(row.labels),
        annotations=annotations,
        value=math.nan if row.value is None else row.value,
        state=AlertState(row.state),
        active_ms=row.active_ms,
        **{name: getattr(row, name) for name in _CHANGING},
        resolved_reason=None if row.resolved_reason is None else ResolvedReason(row.resolved_reason),
        finding=finding,
        run_name=row.run_name,
    )


def notified_alert(alert: TrackedAlert, generator_url: str, *, acknowledged: bool = False) -> NotifiedAlert:
    assert alert.fired_ms is not None
    stopped = alert.resolved_reason is ResolvedReason.STOPPED_SENDING
    return NotifiedAlert(
        key=alert.id,
        labels=alert.labels,
        annotations=notified_annotations(kept_annotations(alert))
        | ({ENDED_ANNOTATION: STOPPED_SENDING} if stopped else {}),
        starts_ms=alert.fired_ms,
        ends_ms=alert.resolved_ms,
        generator_url=generator_url,
        acknowledged=acknowledged,
        run_given=not alert.has_own_run,
    )


def notified_annotations(annotations: Mapping[str, str]) -> dict[str, str]:
    """Without our own settings, and without empty ones; in all languages, as who is notified may read any."""
    return {name: text for name, text in annotations.items() if text and name not in OWN_ANNOTATIONS}


def sent_annotations(annotations: Mapping[str, str], language: Language = Language.EN) -> dict[str, str]:
    return in_language(notified_annotations(annotations), language)


def words_of(labels: Labels, annotations: Mapping[str, str]) -> str:
    """The text that a search of the history matches, in lower case."""
    return " ".join([*labels.values(), annotations.get("summary", "")]).lower()


def to_json(mapping: Mapping[str, str]) -> str:
    return orjson.dumps(dict(mapping)).decode()


def finite(value: float | None) -> float | None:
    """None for NaN and infinities, which JSON and databases cannot hold."""
    return value if value is not None and math.isfinite(value) else None

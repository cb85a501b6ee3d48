"""Documents from rows and from what the evaluator has this moment. No I/O."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import orjson

from loadwatch_backend.alerting.alerts.evaluation.evaluator import LiveAlert
from loadwatch_backend.alerting.alerts.evaluation.explain import NO_DATA_LABEL, RUN_LABEL
from loadwatch_backend.alerting.alerts.evaluation.machine import MachineSettings, holding_until_ms
from loadwatch_backend.alerting.alerts.history.episodes import (
    RuleFacts,
    finite,
    kept_annotations,
    notified_annotations,
    sent_annotations,
    tracked_alert,
)
from loadwatch_backend.alerting.alerts.history.incidents import Member, head_of
from loadwatch_backend.alerting.alerts.history.tables import EpisodeRow
from loadwatch_backend.alerting.alerts.links import alert_path, moment_path
from loadwatch_backend.alerting.alerts.schemas import (
    Acknowledgement,
    AlertFinding,
    AlertOut,
    AlertRun,
    AlertState,
    IncidentMark,
    ResolvedReason,
    RunbookPart,
)
from loadwatch_backend.alerting.notify.causes import (
    FINDING_ANNOTATIONS,
    FINDING_FAMILY,
    FINDING_ID,
    FINDING_SAID,
    Explain,
)
from loadwatch_backend.alerting.notify.model import NotifiedAlert
from loadwatch_backend.alerting.notify.schemas import Quiet
from loadwatch_backend.alerting.rules.model import SourceKey
from loadwatch_backend.catalogue.runbooks.rendering import Runbooks
from loadwatch_backend.catalogue.runbooks.steps import MOST_STEPS, runbook_name
from loadwatch_backend.core.language import Language, translations_of
from loadwatch_backend.findings.model import Certainty
from loadwatch_backend.findings.schemas import TextOut
from loadwatch_backend.findings.snapshot import ActiveFinding, FindingsSnapshot

NOTHING_QUIET = Quiet()


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertContext:
    live: LiveAlert | None = None
    quiet: Quiet = NOTHING_QUIET
    sparkline: Sequence[float | None] = ()
    evaluated_ms: int | None = None
    head: str = ""
    """Id of the alert that stands for its incident; empty where the alert is alone."""
    snapshot: FindingsSnapshot | None = None


def alert_out(row: EpisodeRow, around: AlertContext, settings: MachineSettings) -> AlertOut:
    facts = RuleFacts.from_json(row.rule)
    live = around.live.alert if around.live is not None else None
    alert = tracked_alert(row) if live is None else live
    labels: dict[str, str] = dict(alert.labels)
    kept = kept_annotations(alert)
    annotations = sent_annotations(kept)
    state = AlertState(row.state)
    open_ = state is not AlertState.RESOLVED
    evaluated_ms = around.live.evaluated_ms if around.live is not None else around.evaluated_ms if open_ else None
    return AlertOut.from_object(
        facts,
        id=row.id,
        name=labels.get("alertname", facts.name),
        state=state,
        severity=labels.get("severity", ""),
        labels=labels,
        annotations=annotations,
        summary=annotations.get("summary", ""),
        description=annotations.get("description", ""),
        runbook_url=annotations.get("runbook_url", ""),
        translations=translations_of(kept),
        finding=_finding_out(alert.finding, around.snapshot if open_ else None),
        value=finite(alert.value),
        active_ms=alert.active_ms,
        fired_ms=alert.fired_ms if state is not AlertState.PENDING else None,
        resolved_ms=row.resolved_ms,
        resolved_reason=None if row.resolved_reason is None else ResolvedReason(row.resolved_reason),
        evaluated_ms=evaluated_ms or row.evaluated_ms,
        no_data=open_ and alert.no_data_since_ms is not None,
        no_data_since_ms=alert.no_data_since_ms if open_ else None,
        holding_until_ms=holding_until_ms(alert, facts.keep_firing_for_ms, settings)
        if open_ and alert.no_data_since_ms is None
        else None,
        flapping=alert.flapping,
        recent_transitions=0 if around.live is None else around.live.swings,
        run=None if row.run_id is None else AlertRun(id=row.run_id, name=row.run_name),
        incident=IncidentMark(id=row.incident or row.id, head=around.head or row.id),
        acknowledged=acknowledgement_of(row),
        silenced_by=list(around.quiet.silences),
        inhibited_by=list(around.quiet.inhibited_by),
        follows_from=around.quiet.follows_from,
        muted=around.quiet.muted,
        receivers=list(around.quiet.receivers),
        undelivered=list(around.quiet.undelivered),
        sparkline=list(around.sparkline),
        moment_url=moment_path(alert.active_ms, row.resolved_ms, facts.signal),
    )


def heads_of_incidents(
    rows: Iterable[EpisodeRow], explained: Explain, quiet: Mapping[str, Quiet] = {}
) -> dict[str, str]:
    members: dict[str, list[Member]] = {}
    for row in rows:
        if row.incident is not None:
            members.setdefault(row.incident, []).append(
                member_of(row, explained, held=row.id in quiet and bool(quiet[row.id].inhibited_by))
            )
    return {id: head_of(found) for id, found in members.items()}


def member_of(row: EpisodeRow, explained: Explain, *, held: bool = False) -> Member:
    labels: dict[str, str] = orjson.loads(row.labels)
    known, finding = explained(labels), orjson.loads(row.annotations).get(FINDING_ID, "")
    return Member(
        id=row.id,
        firing=row.state == AlertState.FIRING,
        held=held,
        reports=known is not None and finding in known.about,
        active_ms=row.active_ms,
        severity=labels.get("severity", ""),
    )


def steps_of(
    alert: AlertOut, runbooks: Runbooks, active: ActiveFinding | None
) -> dict[Language, list[list[RunbookPart]]]:
    """What to do first, by language: what its finding says, then what its runbook does."""
    name, step = runbook_name(alert.runbook_url), None if active is None else active.step
    found: dict[Language, list[list[RunbookPart]]] = {}
    for language in Language:
        written = () if name is None else runbooks.steps(name, language)
        steps = [[RunbookPart(text=one.text, code=one.code, href=one.href) for one in parts] for parts in written]
        if step is not None:
            steps = [[RunbookPart(text=step.read(language), code=False, href="")], *steps[: MOST_STEPS - 1]]
        if steps:
            found[language] = steps
    return found


def active_finding(finding: Mapping[str, str], snapshot: FindingsSnapshot | None) -> ActiveFinding | None:
    """The finding of an alert as it stands now; None where it does not, or findings are not evaluated."""
    key = finding.get(FINDING_FAMILY, "").split("\n")[0]
    return None if snapshot is None else snapshot.by_key.get(key)


def _finding_out(annotations: Mapping[str, str], snapshot: FindingsSnapshot | None) -> AlertFinding | None:
    if not annotations:
        return None
    sentence, japanese, id, certainty = (annotations.get(name, "") for name in FINDING_ANNOTATIONS)
    now = active_finding(annotations, snapshot)
    if now is not None:
        return AlertFinding(id=id, sentence=now.sentence, certainty=now.certainty, said_ms=None)
    # A rule may have written the annotations itself, in words of its own.
    known = Certainty(certainty) if certainty in set(Certainty) else Certainty.POSSIBLE
    said = annotations.get(FINDING_SAID, "")
    return AlertFinding(
        id=id,
        sentence=TextOut(en=sentence, ja=japanese or sentence),
        certainty=known,
        said_ms=int(said) if said.isdecimal() and len(said) < 16 else None,
    )


def acknowledgement_of(row: EpisodeRow) -> Acknowledgement | None:
    if row.acknowledged_by is None or row.acknowledged_ms is None:
        return None
    return Acknowledgement(by=row.acknowledged_by, at_ms=row.acknowledged_ms, comment=row.acknowledged_comment)


def asked_alert(row: EpisodeRow, external_url: str) -> NotifiedAlert:
    """An open alert as receivers know it, or as they would if it fired."""
    return NotifiedAlert(
        key=row.id,
        labels=orjson.loads(row.labels),
        annotations=notified_annotations(orjson.loads(row.annotations)),
        starts_ms=row.fired_ms or row.active_ms,
        ends_ms=row.resolved_ms,
        generator_url=external_url.rstrip("/") + alert_path(row.id),
        acknowledged=row.acknowledged_by is not None,
        run_given=RUN_LABEL not in orjson.loads(row.source),
    )


def watched_source(row: EpisodeRow) -> SourceKey:
    """Labels of the series that an alert is about, without the label that says that it vanished."""
    source: Mapping[str, str] = orjson.loads(row.source)
    return tuple(sorted((name, value) for name, value in source.items() if name != NO_DATA_LABEL))

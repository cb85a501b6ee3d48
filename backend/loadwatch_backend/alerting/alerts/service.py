"""Alerts for the endpoints: lists, one alert, its value over time; what people say to alerts."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import orjson
import structlog

from loadwatch_backend.alerting.alerts.documents import (
    NOTHING_QUIET,
    AlertContext,
    active_finding,
    alert_out,
    asked_alert,
    heads_of_incidents,
    steps_of,
    watched_source,
)
from loadwatch_backend.alerting.alerts.evaluation.evaluation import GroupRun, RuleStatus
from loadwatch_backend.alerting.alerts.evaluation.evaluator import Evaluator, LiveAlert
from loadwatch_backend.alerting.alerts.evaluation.explain import NO_DATA_LABEL
from loadwatch_backend.alerting.alerts.evaluation.machine import MachineSettings
from loadwatch_backend.alerting.alerts.history import repository
from loadwatch_backend.alerting.alerts.history.episodes import RuleFacts, note_values
from loadwatch_backend.alerting.alerts.history.tables import EpisodeRow
from loadwatch_backend.alerting.alerts.ports import Dispatch
from loadwatch_backend.alerting.alerts.schemas import (
    AlertCounts,
    AlertDetail,
    AlertList,
    AlertOut,
    AlertSeries,
    AlertState,
    HistoryList,
    IncidentOut,
    RuleFileOut,
    RuleGroupOut,
    RuleList,
    RuleOut,
    RuleState,
    TransitionOut,
)
from loadwatch_backend.alerting.notify.causes import BEST, RANKS, Explain
from loadwatch_backend.alerting.notify.file.matchers import LabelMatcher, MatcherError, all_match, parse_matchers
from loadwatch_backend.alerting.notify.schemas import Quiet
from loadwatch_backend.alerting.rules.files import RuleFiles
from loadwatch_backend.alerting.rules.model import Rule, RuleGroup, RuleSet, SourceKey
from loadwatch_backend.alerting.rules.presence import value_of
from loadwatch_backend.catalogue.runbooks.rendering import Runbooks
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.errors import InvalidError, NotFoundError, ProblemError, UnavailableError
from loadwatch_backend.core.faults import fault
from loadwatch_backend.core.language import Language, in_language, translations_of
from loadwatch_backend.findings.snapshot import FindingsSnapshot
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.labels import METRIC_NAME, drop_labels, label_key
from loadwatch_backend.series.promql.parsing.parse import parse_expression
from loadwatch_backend.series.promql.value import Grid, Matrix

Counts = Mapping[str, tuple[int, int]]
UNKNOWN = RuleStatus()


class RuleLister:
    """Lists rules. Health and durations are known to the server that evaluates; states to every server."""

    def __init__(self, rules: RuleFiles, evaluator: Evaluator, relational: Relational) -> None:
        self._rules = rules
        self._evaluator = evaluator
        self._relational = relational

    def list(self) -> RuleList:
        return self._list(self._rules.current())

    def reload(self) -> RuleList:
        """Read rule files again; their alerts follow within a second."""
        rules = self._rules.reload()
        self._evaluator.wake()
        return self._list(rules)

    def _list(self, rules: RuleSet) -> RuleList:
        with self._relational.transaction() as session:
            counts = repository.count_open(session)
        return RuleList(
            files=[
                RuleFileOut.from_object(file, rules=sum(len(group.rules) for group in file.groups))
                for file in rules.files
            ],
            groups=[_group_out(group, self._evaluator.group_run(group), counts) for group in rules.groups],
        )


def _group_out(group: RuleGroup, run: GroupRun, counts: Mapping[str, Counts]) -> RuleGroupOut:
    return RuleGroupOut.from_object(
        run,
        name=group.name,
        file=group.file,
        interval_seconds=run.interval,
        evaluation_seconds=run.seconds,
        rules=[_rule_out(rule, run.status.get(rule.id, UNKNOWN), counts.get(rule.id, {})) for rule in group.rules],
    )


def _rule_out(rule: Rule, status: RuleStatus, counts: Counts) -> RuleOut:
    firing, firing_without = counts.get(str(AlertState.FIRING), (0, 0))
    pending, pending_without = counts.get(str(AlertState.PENDING), (0, 0))
    return RuleOut.from_object(
        rule,
        for_seconds=rule.for_ms / 1_000,
        keep_firing_for_seconds=rule.keep_firing_for_ms / 1_000,
        annotations=in_language(rule.annotations, Language.EN),
        translations=translations_of(rule.annotations),
        state=RuleState.FIRING if firing else RuleState.PENDING if pending else RuleState.INACTIVE,
        firing=firing,
        pending=pending,
        without_data=firing_without + pending_without,
        health=status.health,
        error=status.error,
        evaluated_ms=status.evaluated_ms,
        evaluation_seconds=status.seconds,
    )


log = structlog.get_logger(__name__)

SPARKLINE_MS = 30 * 60_000
SPARKLINE_POINTS = 60
STEP_MS = SPARKLINE_MS // SPARKLINE_POINTS
KEPT_MS = 5_000
SERIES_POINTS = 500

Values = Mapping[SourceKey, Sequence[float | None]]


class ValueHistory:
    """Safe to use from any thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: dict[str, tuple[int, Values]] = {}
        self._lock = threading.Lock()

    def sparklines(self, expression: str, now_ms: int) -> Values:
        """The last half hour in 60 points, the newest now; by the labels of the rule's result.

        Empty when the expression cannot be evaluated: a page of alerts must not fail for want of a drawing.
        """
        kept_ms, values = self._kept.get(expression, (-KEPT_MS, {}))
        if 0 <= now_ms - kept_ms < KEPT_MS:
            return values
        start_ms = now_ms - (SPARKLINE_POINTS - 1) * STEP_MS
        try:
            matrix = self._range(expression, Grid(start_ms=start_ms, step_ms=STEP_MS, count=SPARKLINE_POINTS))
        except ProblemError as problem:
            log.info("no sparkline", expression=expression, reason=problem.detail)
            values = {}
        else:
            values = dict(_rows(matrix))
        with self._lock:
            self._kept = {text: one for text, one in self._kept.items() if 0 <= now_ms - one[0] < KEPT_MS}
            self._kept[expression] = now_ms, values
        return values

    def series(
        self, expression: str, key: SourceKey, start_ms: int, end_ms: int
    ) -> tuple[Sequence[int], Sequence[float | None]]:
        """Times and values of one alert, at most 500 points; raises as `Engine.range`."""
        step_ms = max(1_000, -(-(end_ms - start_ms) // (SERIES_POINTS - 1)))
        grid = Grid(start_ms=start_ms, step_ms=step_ms, count=max((end_ms - start_ms) // step_ms, 0) + 1)
        matrix = self._range(expression, grid)
        times = grid.times_ms().tolist()
        return times, next((row for labels, row in _rows(matrix) if labels == key), [None] * len(times))

    def _range(self, text: str, grid: Grid) -> Matrix:
        expression = value_of(parse_expression(text)).expression
        return self._engine.range(expression, grid.start_ms, grid.end_ms, grid.step_ms)


def _rows(matrix: Matrix) -> Iterator[tuple[SourceKey, list[float | None]]]:
    known = matrix.present & np.isfinite(matrix.values)
    for labels, row, mask in zip(matrix.labels, matrix.values.tolist(), known.tolist(), strict=True):
        key = label_key(drop_labels(labels, (METRIC_NAME,)))
        yield key, [value if there else None for value, there in zip(row, mask, strict=True)]


class AlertNotFoundError(NotFoundError, code="alert-not-found"):
    """There is no alert with this id."""


class AlertOverError(InvalidError, code="alert-over", title="The alert is over"):
    """The alert has ended already."""


class AlertHoldsError(InvalidError, code="alert-holds", title="The alert has data"):
    """The alert's data are there, so it cannot be closed."""


class AlertMatcherError(InvalidError, code="alert-matcher", title="Not a matcher"):
    """A matcher cannot be read."""


class NobodyEvaluatesError(UnavailableError, code="nobody-evaluates", title="Rules are not evaluated"):
    """No server on this database evaluates rules at present."""


EARLIER_EPISODES = 20
MOST_MEMBERS = 201
DISMISS_SECONDS = 5.0
"""How long a request waits for the server that evaluates, which reads requests each second."""
ORDER = {AlertState.FIRING: 0, AlertState.PENDING: 1, AlertState.RESOLVED: 2}


class AlertService:
    """Reads alerts and rules; acknowledges and dismisses. Works the same on a server that does not evaluate."""

    def __init__(
        self,
        *,
        relational: Relational,
        evaluator: Evaluator,
        dispatch: Dispatch,
        values: ValueHistory,
        runbooks: Runbooks,
        explained: Explain,
        settings: MachineSettings,
        external_url: str,
        clock: Clock,
        findings_now: Callable[[], FindingsSnapshot | None] = lambda: None,
        wake_notifier: Callable[[], None] = lambda: None,
        news: Callable[[], None] = lambda: None,
    ) -> None:
        """`findings_now` are the findings of the present.

        `wake_notifier` is called after a transaction that gave receivers something to hear, `news` after each change.
        """
        self._relational = relational
        self._evaluator = evaluator
        self._dispatch = dispatch
        self._values = values
        self._settings = settings
        self._external_url = external_url
        self._clock = clock
        self._findings_now = findings_now
        self._wake_notifier = wake_notifier
        self._news = news
        self._runbooks = runbooks
        self._explained = explained

    # Read -------------------------------------------------------------------------------------------------------------

    def list(
        self, states: Sequence[AlertState] | None, search: str, matchers: Sequence[str], limit: int, *, sparklines: bool
    ) -> AlertList:
        """See the endpoint.

        Raises:
            AlertMatcherError: a matcher cannot be read.
        """
        wanted = frozenset(states or (AlertState.FIRING, AlertState.PENDING))
        parsed = _parse(matchers)
        with self._relational.transaction() as session:
            now_rows = _most_severe(repository.find_open(session))
            over = repository.find_over(session, limit) if AlertState.RESOLVED in wanted else ()
            evaluated_ms = repository.last_evaluation(session)
        quiet = self._quiet(now_rows)
        words = search.lower().split()
        found = [
            row
            for row in (*now_rows, *over)
            if AlertState(row.state) in wanted
            and all(word in row.words for word in words)
            and (not parsed or all_match(parsed, _labels_of(row)))
        ]
        found.sort(key=lambda row: (ORDER[AlertState(row.state)], -(row.fired_ms or row.active_ms), row.id))
        return AlertList(
            alerts=self._outs(
                found[:limit],
                quiet,
                evaluated_ms,
                heads_of_incidents((*now_rows, *over), self._explained, quiet),
                sparklines=sparklines,
            ),
            counts=AlertCounts(
                firing=sum(row.state == AlertState.FIRING for row in now_rows),
                pending=sum(row.state == AlertState.PENDING for row in now_rows),
                acknowledged=sum(row.acknowledged_by is not None for row in now_rows),
                silenced=sum(bool(quiet[row.id].silences) for row in now_rows if row.id in quiet),
            ),
            total=len(found),
            evaluated_ms=self._evaluator.evaluated_ms if self._evaluator.here else evaluated_ms,
            evaluator="here" if self._evaluator.here else "elsewhere",
        )

    def history(self, start_ms: int, end_ms: int, search: str, run_id: str, limit: int) -> HistoryList:
        with self._relational.transaction() as session:
            rows = repository.find_history(session, start_ms, end_ms, search, run_id, limit + 1)
        heads = heads_of_incidents(rows[:limit], self._explained)
        outs = [self._out_of_history(row, heads) for row in rows[:limit]]
        return HistoryList(alerts=outs, more=len(rows) > limit)

    def read(self, alert_id: str) -> AlertDetail:
        """See the endpoint.

        Raises:
            AlertNotFoundError: there is none.
        """
        with self._relational.transaction() as session:
            row = _found(repository.find_episode(session, alert_id), alert_id)
            transitions = repository.find_transitions(session, alert_id)
            earlier = repository.find_earlier(session, row, EARLIER_EPISODES)
            members = repository.find_members(session, row, MOST_MEMBERS)
            total, firing, acknowledged = repository.count_members(session, row)
        # The newest of very many may be this one.
        members = members if any(one.id == row.id for one in members) else [*members, row]
        incident = self._incident(row, members)
        return AlertDetail(
            alert=incident.head if incident.head.id == row.id else self._out(row, {incident.id: incident.head.id}),
            incident=incident.model_copy(update={"total": total, "firing": firing, "acknowledged": acknowledged}),
            transitions=[TransitionOut.from_object(one, by=one.actor) for one in transitions],
            earlier=[self._out_of_history(one) for one in earlier],
        )

    def series(self, alert_id: str, start_ms: int | None, end_ms: int | None) -> AlertSeries:
        """See the endpoint; raises as `read`, and as a query does."""
        with self._relational.transaction() as session:
            row = _found(repository.find_episode(session, alert_id), alert_id)
        facts = RuleFacts.from_json(row.rule)
        last_ms = end_ms if end_ms is not None else row.resolved_ms or self._clock()
        first_ms = start_ms if start_ms is not None else row.active_ms - SPARKLINE_MS
        times, values = self._values.series(facts.expression, watched_source(row), min(first_ms, last_ms), last_ms)
        return AlertSeries(times_ms=[*times], values=[*values], threshold=facts.threshold, unit=facts.unit)

    # Say --------------------------------------------------------------------------------------------------------------

    def acknowledge(self, alert_id: str, by: str, comment: str, *, incident: bool = False) -> AlertOut:
        """See the endpoint; `incident`: with all alerts of its incident that fire.

        Raises:
            AlertNotFoundError: there is none.
            AlertOverError: it has ended.
        """
        return self._say(alert_id, by, comment, acknowledged=True, incident=incident)

    def unacknowledge(self, alert_id: str, by: str, *, incident: bool = False) -> AlertOut:
        """See the endpoint; raises as `acknowledge`."""
        return self._say(alert_id, by, "", acknowledged=False, incident=incident)

    def dismiss(self, alert_id: str, by: str) -> AlertOut:
        """See the endpoint.

        Raises:
            AlertNotFoundError: there is none.
            AlertOverError: it has ended.
            AlertHoldsError: its data are there.
            NobodyEvaluatesError: no server took it up.
        """
        with self._relational.transaction() as session:
            row = _found(repository.find_episode(session, alert_id), alert_id)
            _check_open(row)
            if row.no_data_since_ms is None and _labels_of(row).get(NO_DATA_LABEL) != "true":
                raise AlertHoldsError(
                    f"Alert {alert_id} has data, so it ends by itself when its condition no longer holds; silence it"
                    " to keep it quiet until then."
                )
            request_id = repository.ask_to_dismiss(session, alert_id, by[:200])
        self._evaluator.wake()
        self._wait_for(request_id)
        with self._relational.transaction() as session:
            row = _found(repository.find_episode(session, alert_id), alert_id)
        if row.state != AlertState.RESOLVED:
            raise AlertHoldsError(f"Alert {alert_id} has got data again, so it goes on.")
        return self._out(row)

    def _say(self, alert_id: str, by: str, comment: str, *, acknowledged: bool, incident: bool) -> AlertOut:
        now_ms = self._clock()
        name = by[:200]
        said = (name, now_ms, comment) if acknowledged else (None, None, "")
        with self._relational.transaction() as session:
            # Written before anything is read: from here on nobody else changes it.
            repository.write_acknowledgement(session, [alert_id], *said)
            row = _found(repository.find_episode(session, alert_id), alert_id)
            _check_open(row)
            # What somebody said to one of the others stays.
            others = [
                one
                for one in (repository.find_firing_members(session, row) if incident else ())
                if one.id != row.id and (one.acknowledged_by is None) is acknowledged
            ]
            repository.write_acknowledgement(session, [one.id for one in others], *said)
            rows = [row, *others]
            reason = "acknowledged" if acknowledged else "unacknowledged"
            repository.write_episodes(session, transitions=[note_values(one, now_ms, reason, name) for one in rows])
            fires = [asked_alert(one, self._external_url) for one in rows if one.state == AlertState.FIRING]
            if fires:
                self._dispatch.take(session, fires, now_ms)
            fault("acknowledge-before-commit")
        fault("acknowledge-after-commit")
        if fires:
            self._wake_notifier()
        self._news()
        return self._out(row)

    def _wait_for(self, request_id: int) -> None:
        deadline = time.monotonic() + DISMISS_SECONDS
        while time.monotonic() < deadline:
            with self._relational.transaction() as session:
                if not repository.is_asked(session, request_id):
                    return
            time.sleep(0.03)
        with self._relational.transaction() as session:
            repository.withdraw(session, request_id)
        raise NobodyEvaluatesError(
            "No server evaluates rules at present, so the alert cannot be closed; try again in some seconds."
        )

    # Documents --------------------------------------------------------------------------------------------------------

    def _incident(self, row: EpisodeRow, members: Sequence[EpisodeRow]) -> IncidentOut:
        quiet = self._quiet([one for one in members if one.state != AlertState.RESOLVED])
        heads = heads_of_incidents(members, self._explained, quiet)
        first = heads.get(row.incident or "", row.id)
        top = next(one for one in members if one.id == first)
        head = self._outs([top], quiet, None, heads, sparklines=True)[0]
        ends = [one.resolved_ms for one in members]
        firing = [one for one in members if one.state == AlertState.FIRING]
        began_ms = min(one.active_ms for one in members)
        return IncidentOut(
            id=head.incident.id,
            began_ms=began_ms,
            ended_ms=max((one for one in ends if one is not None), default=None) if None not in ends else None,
            head=head,
            others=self._outs([one for one in members if one.id != first], quiet, None, heads, sparklines=False),
            total=len(members),
            firing=len(firing),
            acknowledged=sum(one.acknowledged_by is not None for one in firing),
            steps=steps_of(
                head,
                self._runbooks,
                active_finding(orjson.loads(top.annotations), self._findings_now() if firing else None),
            ),
            notified=[*self._dispatch.notified([one.id for one in members], began_ms, self._clock())],
        )

    def _out(self, row: EpisodeRow, heads: Mapping[str, str] | None = None) -> AlertOut:
        rows = [] if row.state == AlertState.RESOLVED else [row]
        return self._outs([row], self._quiet(rows), None, heads or {}, sparklines=True)[0]

    def _out_of_history(self, row: EpisodeRow, heads: Mapping[str, str] | None = None) -> AlertOut:
        return alert_out(row, AlertContext(head=(heads or {}).get(row.incident or "", "")), self._settings)

    def _outs(
        self,
        rows: Sequence[EpisodeRow],
        quiet: Mapping[str, Quiet],
        evaluated_ms: int | None,
        heads: Mapping[str, str],
        *,
        sparklines: bool,
    ) -> "list[AlertOut]":
        live = self._evaluator.live() if rows else {}
        now_ms, snapshot = self._clock(), self._findings_now()
        return [
            alert_out(
                row,
                AlertContext(
                    live=_same_state(row, live),
                    quiet=quiet.get(row.id, NOTHING_QUIET),
                    sparkline=self._sparkline(row, now_ms) if sparklines else (),
                    evaluated_ms=evaluated_ms,
                    snapshot=snapshot,
                    head=heads.get(row.incident or "", ""),
                ),
                self._settings,
            )
            for row in rows
        ]

    def _sparkline(self, row: EpisodeRow, now_ms: int) -> Sequence[float | None]:
        if row.state == AlertState.RESOLVED:
            return ()
        return self._values.sparklines(RuleFacts.from_json(row.rule).expression, now_ms).get(watched_source(row), ())

    def _quiet(self, rows: Sequence[EpisodeRow]) -> Mapping[str, Quiet]:
        return self._dispatch.quiet([asked_alert(row, self._external_url) for row in rows], self._clock())


def _same_state(row: EpisodeRow, live: Mapping[str, LiveAlert]) -> LiveAlert | None:
    found = live.get(row.id)
    return found if found is not None and found.alert.state == row.state else None


def _most_severe(rows: Sequence[EpisodeRow]) -> "list[EpisodeRow]":
    """Without those of which a more severe one of the same name and series fires: that says the same, and more."""

    def rank(row: EpisodeRow) -> int:
        return RANKS.get(_labels_of(row).get("severity", ""), BEST)

    def same(row: EpisodeRow) -> tuple[str, str]:
        return RuleFacts.from_json(row.rule).name, row.source

    worst: dict[tuple[str, str], int] = {}
    for row in rows:
        if row.state == AlertState.FIRING:
            worst[same(row)] = min(worst.get(same(row), BEST), rank(row))
    return [row for row in rows if rank(row) <= worst.get(same(row), BEST)]


def _labels_of(row: EpisodeRow) -> Mapping[str, str]:
    return orjson.loads(row.labels)


def _parse(texts: Sequence[str]) -> "list[LabelMatcher]":
    try:
        return [one for text in texts for one in parse_matchers(text)]
    except MatcherError as error:
        raise AlertMatcherError(f'{error}; write matchers as severity="page" or job=~"a|b".') from error


def _found(row: EpisodeRow | None, alert_id: str) -> EpisodeRow:
    if row is None:
        raise AlertNotFoundError(f"There is no alert {alert_id}; alerts that never fired are kept for a day only.")
    return row


def _check_open(row: EpisodeRow) -> None:
    if row.state == AlertState.RESOLVED:
        raise AlertOverError(f"Alert {row.id} has ended, so there is nothing to do about it.")

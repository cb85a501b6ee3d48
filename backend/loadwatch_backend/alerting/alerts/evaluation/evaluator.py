"""Evaluates rules when samples arrive and at their groups' intervals, and writes what changes.

One thread decides what is due; a few workers evaluate, a group in one of them at a time. What concerns all groups (the
clock was set, rules were read again, states are read from the database, somebody closes an alert) waits until no group
is being evaluated. Nothing is evaluated while another server leads.
"""

import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from loadwatch_backend.alerting.alerts.evaluation.evaluation import NO_STATES, Evaluation, GroupRun
from loadwatch_backend.alerting.alerts.evaluation.explain import NO_DATA_LABEL, RuleStates, TrackedAlert, source_key
from loadwatch_backend.alerting.alerts.evaluation.machine import Machine, dismiss, resolve_all, shift_states
from loadwatch_backend.alerting.alerts.evaluation.recorder import Recorder, WatchList, make_watch_list
from loadwatch_backend.alerting.alerts.history.episodes import RuleFacts, facts_of
from loadwatch_backend.alerting.alerts.history.journal import Entry, Journal, Remembered, Request
from loadwatch_backend.alerting.alerts.ports import Lead, Rounds, RunSource, SentSource
from loadwatch_backend.alerting.alerts.schemas import AlertState, ResolvedReason
from loadwatch_backend.alerting.rules.files import RuleFiles
from loadwatch_backend.alerting.rules.model import (
    NoDataPolicy,
    Rule,
    RuleFileState,
    RuleGroup,
    RuleKind,
    RuleSet,
    SourceKey,
)
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.leadership import LeadershipLostError
from loadwatch_backend.core.database.outages import DatabaseError
from loadwatch_backend.core.errors import ProblemError


def states_of(found: Remembered) -> dict[str, RuleStates]:
    states: dict[str, RuleStates] = {}
    for rule_id in {*found.alerts, *found.swings}:
        alerts = {source_key(alert.source): alert for _, alert in found.alerts.get(rule_id, ())}
        states[rule_id] = RuleStates(alerts=alerts, swings=found.swings.get(rule_id, {}))
    return states


def with_seen(states: RuleStates, present: Iterable[SourceKey]) -> RuleStates:
    """States of a rule whose vanished series are alerts, with the series that count as having been there.

    Those are the ones that had data when rules were last evaluated, and those whose vanishing is an open alert.
    """
    gone = {
        tuple(pair for pair in key if pair[0] != NO_DATA_LABEL)
        for key in states.alerts
        if (NO_DATA_LABEL, "true") in key
    }
    return replace(states, seen=states.seen | gone | frozenset(present))


SLEW_MS = 1_000
"""Differences up to this are the clock being steered, as by NTP, and no jump."""


class ClockWatch:
    """The time of evaluations: the wall clock, but for jumps, which are taken out first. For one thread."""

    def __init__(self, clock: Clock, monotonic: Callable[[], float]) -> None:
        self._clock = clock
        self._monotonic = monotonic
        self._offset_ms = clock() - self._monotonic_ms()

    def read(self) -> tuple[int, int]:
        """The time now in ms, and by how much the clock was set since the last reading (0 mostly)."""
        now_ms = self._clock()
        offset_ms = now_ms - self._monotonic_ms()
        jump_ms, self._offset_ms = offset_ms - self._offset_ms, offset_ms
        return now_ms, jump_ms if abs(jump_ms) > SLEW_MS else 0

    def _monotonic_ms(self) -> int:
        return round(self._monotonic() * 1_000)


log = structlog.get_logger(__name__)

WORKERS = 2
BEAT_SECONDS = 2.0
"""Interval at which the time of evaluation is recorded and requests of users are read."""
PRUNE_SECONDS = 3_600.0
PRUNE_AGAIN_SECONDS = 1.0
RETRY_SECONDS = 1.0
SAME_FAILURE_SECONDS = 60.0
"""A failure so soon after another is the same one, and is logged once: in between much else may succeed."""

GroupKey = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveAlert:
    alert: TrackedAlert
    swings: int
    evaluated_ms: int | None


class Evaluator:
    """Started once; may be asked from any thread."""

    def __init__(
        self,
        *,
        rules: RuleFiles,
        rounds: Rounds,
        journal: Journal,
        recorder: Recorder,
        lead: Lead,
        machine: Machine,
        clock: Clock,
        runs: RunSource,
        targets_sent: SentSource = dict,
        metrics: Callable[[], Iterable[str]],
        news: Callable[[], None] = lambda: None,
        clock_monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`metrics` are the names of all that is in the store.

        `news` is called after each change; `clock_monotonic` is what the wall clock is held against.
        """
        self._rules = rules
        self._rounds = rounds
        self._journal = journal
        self._recorder = recorder
        self._lead = lead
        self._machine = machine
        self._news = news
        self._clock_watch = ClockWatch(clock, clock_monotonic)
        self._evaluation = Evaluation(rounds, machine, recorder, runs, targets_sent)
        self._wake = threading.Condition()
        self._touched: set[str] = set()
        self._arrived: set[str] = set()
        self._requests: Sequence[Request] = ()
        self._states: dict[str, RuleStates] = {}
        self._facts: dict[str, RuleFacts] = {}
        self._groups: dict[GroupKey, GroupRun] = {}
        self._group_of: dict[str, GroupRun] = {}
        self._watch_list = WatchList(by_metric={}, readers_of_all=(), sleepers={})
        self._metrics = metrics
        self._known: set[str] = set()
        self._asleep: frozenset[str] = frozenset()
        self._rule_set: RuleSet | None = None
        self._seed_ms: int | None = None
        self._loaded = False
        self._jump_ms = 0
        self._busy = 0
        self._stopping = False
        self._next_beat = 0.0
        self._next_prune = 0.0
        self._not_before = -math.inf
        self.counts = self._evaluation.counts
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="rules")
        self._thread = threading.Thread(target=self._run, name="alert-evaluator", daemon=True)

    # From any thread --------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._rules.watch(lambda _rules: self.wake())
        self._thread.start()

    def stop(self) -> None:
        """End what is under way and stop. All states are in the database already."""
        with self._wake:
            self._stopping = True
            self._wake.notify_all()
        self._thread.join()
        self._pool.shutdown()

    def touched(self, metrics: frozenset[str]) -> None:
        """Wake the rules that read these metrics, as new samples of them can be read."""
        with self._wake:
            self._touched |= metrics
            self._wake.notify_all()

    def wake(self) -> None:
        """Something else has changed: who leads, the rules, or what people ask for."""
        with self._wake:
            self._next_beat = 0.0
            self._wake.notify_all()

    def group_run(self, group: RuleGroup) -> GroupRun:
        """The run of a group; one without results where another server evaluates it."""
        return self._groups.get((group.file, group.name)) or GroupRun(group=group, next_tick=0.0)

    def live(self) -> dict[str, LiveAlert]:
        """Open alerts by id; empty while another server evaluates."""
        found: dict[str, LiveAlert] = {}
        for rule_id, states in list(self._states.items()):
            run = self._group_of.get(rule_id)
            evaluated_ms = None if run is None else run.status[rule_id].evaluated_ms
            for key, alert in states.alerts.items():
                swings = len(states.swings.get(key, ()))
                found[alert.id] = LiveAlert(alert=alert, swings=swings, evaluated_ms=evaluated_ms)
        return found

    def alerts_by_state(self) -> dict[str, float]:
        counts = {str(AlertState.PENDING): 0.0, str(AlertState.FIRING): 0.0}
        for states in list(self._states.values()):
            for alert in states.alerts.values():
                counts[str(alert.state)] += 1
        return counts

    @property
    def missed(self) -> int:
        """Evaluations of groups that came too late to be made."""
        return sum(run.missed for run in list(self._groups.values()))

    @property
    def evaluated_ms(self) -> int | None:
        return max((run.evaluated_ms for run in list(self._groups.values()) if run.evaluated_ms), default=None)

    @property
    def here(self) -> bool:
        """Whether this server evaluates."""
        return self._lead.held and self._loaded

    def is_current(self, now_ms: int, slack_ms: int) -> bool:
        """Whether rules were evaluated here within the shortest interval of a group and `slack_ms`."""
        if not self.here:
            return False
        groups = list(self._groups.values())
        latest = self.evaluated_ms
        if not groups:
            return True
        patience_ms = slack_ms + min(run.group.interval_ms for run in groups)
        return latest is not None and abs(now_ms - latest) <= patience_ms

    # The deciding thread ----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._wake:
                if not self._stopping and (pause := self._pause()) > 0:
                    self._wake.wait(pause)
                if self._stopping:
                    break
            try:
                self._turn()
            except (DatabaseError, LeadershipLostError) as error:
                self._lose(error)
            except Exception as error:
                log.exception("the evaluation of rules stumbled")
                self._lose(error)
        with self._wake:
            while self._busy:
                self._wake.wait(BEAT_SECONDS)

    def _pause(self) -> float:
        """Seconds until there is something to do; with `_wake` held."""
        now = time.monotonic()
        if not self._lead.held:
            return 0.0 if self._loaded else BEAT_SECONDS
        if now < self._not_before:
            return self._not_before - now
        if self._touched or self._arrived or not self._loaded:
            return 0.0
        return min([self._next_beat, *(run.next_due() for run in self._groups.values() if not run.busy)]) - now

    def _turn(self) -> None:
        if not self._lead.held:
            self._drop()
            return
        if time.monotonic() < self._not_before:
            return
        # What has arrived is taken before the clock is read: samples that arrive later may be younger than `now_ms`,
        # and an evaluation at that time would not see them, so they are left for the next turn.
        with self._wake:
            self._arrived |= self._touched
            self._touched = set()
        now_ms, jump_ms = self._clock_watch.read()
        self._jump_ms += jump_ms
        if not self._settle(now_ms):
            return
        if time.monotonic() >= self._next_beat:
            self._next_beat = time.monotonic() + BEAT_SECONDS
            self._requests = self._journal.beat(now_ms)
            if time.monotonic() >= self._next_prune:
                more = self._journal.prune(now_ms)
                self._next_prune = time.monotonic() + (PRUNE_AGAIN_SECONDS if more else PRUNE_SECONDS)
        self._dispatch(now_ms)

    def _settle(self, now_ms: int) -> bool:
        """Do what concerns all groups, if there is any of it; False while groups must be waited for."""
        rules = self._rules.current()
        if self._loaded and not self._jump_ms and rules is self._rule_set and not self._requests:
            return True
        with self._wake:
            if self._busy:
                self._wake.wait(BEAT_SECONDS)
            if self._busy:
                return False
        if not self._loaded:
            self._load(now_ms)
        if self._jump_ms:
            self._shift(now_ms)
        if rules is not self._rule_set:
            self._take_rules(rules, now_ms)
        for request in self._requests:
            self._dismiss(request, now_ms)
        self._requests = ()
        return True

    def _drop(self) -> None:
        """Forget all states, as another server leads."""
        with self._wake:
            while self._busy:
                self._wake.wait(BEAT_SECONDS)
        self._loaded = False
        self._rule_set = None
        self._states, self._facts, self._groups, self._group_of = {}, {}, {}, {}
        self._recorder.forget()

    def _lose(self, error: Exception) -> None:
        """A transaction failed, and may have been committed all the same: read the states again before going on."""
        self._loaded = False
        now = time.monotonic()
        if now > self._not_before + SAME_FAILURE_SECONDS:
            log.error("alerts cannot be written; it is tried again", error=str(error).partition("\n")[0])
        self._not_before = now + RETRY_SECONDS

    def _load(self, now_ms: int) -> None:
        found = self._journal.load(now_ms, self._machine.settings.flap_window_ms)
        self._states = states_of(found)
        self._facts = {rule_id: episodes[0][0] for rule_id, episodes in found.alerts.items()}
        self._seed_ms = found.evaluated_ms
        self._rule_set = None
        # The load has seen to it that no duration counts the jump.
        self._jump_ms = 0
        self._loaded = True

    def _shift(self, now_ms: int) -> None:
        log.warning("the clock was set; durations go on as they were", seconds=self._jump_ms / 1_000)
        states = {rule_id: shift_states(one, self._jump_ms) for rule_id, one in self._states.items()}
        self._journal.move([alert for one in states.values() for alert in one.alerts.values()], now_ms)
        self._states = states
        self._jump_ms = 0

    def _take_rules(self, rules: RuleSet, now_ms: int) -> None:
        """Go on with the states of rules that are as they were, and end those of rules that are gone."""
        groups = rules.groups
        known = {rule.id for group in groups for rule in group.rules}
        files = {
            file.path: file for file in rules.files if file.state is not RuleFileState.OK and Path(file.path).exists()
        }

        def may_be_there(facts: RuleFacts | None) -> bool:
            file = None if facts is None else files.get(facts.file)
            return facts is not None and file is not None and file.may_have(facts.group, facts.name)

        gone = [
            rule_id
            for rule_id in self._states
            # What fires is not over because somebody mistyped a rule, or a rule file before the start.
            if rule_id not in known and not may_be_there(self._facts.get(rule_id))
        ]
        entries = [
            Entry(facts=self._facts[rule_id], step=resolve_all(self._states[rule_id], now_ms, ResolvedReason.RULE_GONE))
            for rule_id in gone
            if self._states[rule_id].alerts
        ]
        if entries:
            self._journal.write(entries, now_ms)
            self._news()
        self._states = {rule_id: one for rule_id, one in self._states.items() if rule_id not in gone}
        self._facts |= {rule.id: facts_of(group, rule) for group in groups for rule in group.rules}
        self._seed([rule for group in groups for rule in group.rules])
        former, now = self._groups, time.monotonic()
        self._groups = {
            (group.file, group.name): GroupRun.begin(group, now, former.get((group.file, group.name)))
            for group in groups
        }
        self._group_of = {rule.id: run for run in self._groups.values() for rule in run.group.rules}
        self._watch_list = make_watch_list([rule for group in groups for rule in group.rules])
        # Arrivals are noted from before the first evaluation on: nothing comes in between unseen.
        self._known |= set(self._metrics())
        self._asleep = self._watch_list.asleep(self._known)
        self._recorder.keep_only(frozenset(known), now_ms)
        self._rule_set = rules

    def _seed(self, rules: Sequence[Rule]) -> None:
        """After a start: which series had data when rules were last evaluated, for rules that miss them."""
        seed_ms, self._seed_ms = self._seed_ms, None
        if seed_ms is None:
            return
        round_ = self._rounds(seed_ms)
        for rule in rules:
            if rule.kind is RuleKind.ALERTING and rule.no_data is NoDataPolicy.ALERT:
                try:
                    present = round_.alerting(rule).present or ()
                except ProblemError as problem:
                    log.warning("it is not known which series a rule had", rule=rule.name, reason=problem.detail)
                    present = ()
                self._states[rule.id] = with_seen(self._states.get(rule.id, NO_STATES), present)

    def _dismiss(self, request: Request, now_ms: int) -> None:
        for rule_id, states in self._states.items():
            step = dismiss(states, request.alert_id, now_ms)
            if step is not None:
                self._journal.write([Entry(facts=self._facts[rule_id], step=step, actor=request.asked_by)], now_ms)
                self._states[rule_id] = step.states
                self._news()
                break
        self._journal.settle(request)

    # Evaluations ------------------------------------------------------------------------------------------------------

    def _dispatch(self, now_ms: int) -> None:
        arrived, self._arrived = self._arrived, set()
        if not arrived <= self._known:
            self._known |= arrived
            self._asleep = self._watch_list.asleep(self._known)
        for rule_id in self._watch_list.woken_by(arrived):
            self._group_of[rule_id].woken.add(rule_id)
        now = time.monotonic()
        for run in self._groups.values():
            due = run.take_due(now, self._asleep)
            if due:
                with self._wake:
                    self._busy += 1
                self._pool.submit(self._work, run, due, now_ms)

    def _work(self, run: GroupRun, due: Sequence[Rule], at_ms: int) -> None:
        """In a worker: evaluate, write to the database, and only then keep the new states."""
        started = time.monotonic()
        try:
            outcome = self._evaluation.evaluate(run, due, self._states, self._facts, at_ms)
            if outcome.entries:
                self._journal.write(outcome.entries, at_ms)
            self._states |= outcome.states
            self._evaluation.show(due, outcome.states, at_ms)
            if outcome.entries:
                self._news()
        except Exception as error:
            if not isinstance(error, (DatabaseError, LeadershipLostError)):
                log.exception("an evaluation could not be written")
            self._lose(error)
        finally:
            run.finish(started, time.monotonic(), at_ms)
            with self._wake:
                self._busy -= 1
                self._wake.notify_all()

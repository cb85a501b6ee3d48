"""Health of every target and collector, from the samples that the senders push about themselves."""

from collections import defaultdict
from collections.abc import Mapping

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.series.store.port import Labels, Matcher, MatchOperator, Reader
from loadwatch_backend.series.targets.health import NOTHING, ErrorText, Health, Samples, judge_collector, without_stale
from loadwatch_backend.series.targets.repository import AnswerRow, Target, find_answers, write_answers
from loadwatch_backend.series.targets.schemas import CollectorOut, TargetAnswerIn, TargetList, TargetOut

LISTED_MS = 7 * 24 * 3_600_000
"""How long a silent target stays listed that nobody said was taken away: an outage of a weekend is not forgotten."""
COLLECTOR_LISTED_MS = 24 * 3_600_000
"""How long a silent collector of a target stays listed that is sent by others."""
GONE_MS = 900_000
"""A target that nobody has sent for so long is gone; alerts/evaluation/evaluation.py has the same figure."""
RECENT_MS = 120_000
"""Span of samples read: two of a scrape each minute."""
AHEAD_MS = 600_000
"""Samples of a sender whose clock is ahead still count."""
PRESENT_MS = 10_000
"""An agent that has said nothing for so long is not there at this moment; AgentsOverlap has the same figure."""
SEARCHED_MS = (900_000, 4 * 3_600_000, 24 * 3_600_000, LISTED_MS)
"""Spans in which the last word of a silent collector is looked for, one after another."""

Key = tuple[str, str, str]
"""job, instance, collector"""


def key_of(labels: Labels) -> Key:
    """Which collector of which target a series is about."""
    return labels.get("job", ""), labels.get("instance", ""), labels.get("collector", "")


class TargetSentError(ProblemError, code="target-sent", status=409, title="The target is being sent"):
    """A target is being sent, so that nobody can have taken it away."""


class TargetService:
    """Lists targets; safe to use from any thread."""

    def __init__(self, store: Reader, clock: Clock, relational: Relational) -> None:
        self._relational = relational
        self._store = store
        self._clock = clock
        self._silent: dict[Key, int] = {}
        """When collectors that are silent now were last heard, so that it is looked for only once."""

    def list(self) -> TargetList:
        """All targets heard of within seven days, by job, instance and collector, but those that were taken away."""
        now_ms = self._clock()
        keys = self._keys(now_ms)
        health = self._health(keys, now_ms)
        answers = self._answers()
        agents = self._agents(now_ms)
        targets: dict[tuple[str, str], list[CollectorOut]] = defaultdict(list)
        for job, instance, collector in keys:
            targets[job, instance].append(
                _out(collector, health[job, instance, collector], agents.get((job, instance, collector), []), now_ms)
            )
        listed: list[TargetOut] = []
        for (job, instance), collectors in targets.items():
            sent_ms = max((one.last_sample_ms for one in collectors if one.last_sample_ms is not None), default=None)
            answer = _answer_that_holds(answers.get((job, instance)), sent_ms)
            gone = sent_ms is None or now_ms - sent_ms >= GONE_MS
            if answer is None or not answer.taken_away:
                listed.append(
                    TargetOut(
                        job=job,
                        instance=instance,
                        collectors=[
                            one
                            for one in collectors
                            if gone or now_ms - (one.last_sample_ms or 0) < COLLECTOR_LISTED_MS
                        ],
                        sent_ms=sent_ms,
                        gone=gone,
                        kept_by=None if answer is None else answer.answered_by,
                    )
                )
        return TargetList(now_ms=now_ms, targets=listed)

    def last_sent(self) -> dict[Target, int]:
        """When each target was last sent; 0 of one that was taken away."""
        now_ms = self._clock()
        up = self._recent("up", now_ms)
        sent: dict[Target, int] = {}
        for key in self._keys(now_ms):
            sent[key[:2]] = max(sent.get(key[:2], 0), self._last_sample(key, up.get(key, NOTHING), now_ms) or 0)
        for target, answer in self._answers().items():
            if target in sent and answer.taken_away and _answer_that_holds(answer, sent[target]):
                sent[target] = 0
        return sent

    def answer(self, given: TargetAnswerIn, by: str) -> TargetList:
        """Note whether targets were taken away.

        Raises:
            TargetSentError: one of them is being sent.
        """
        targets = {(one.job, one.instance) for one in given.targets}
        for target in self.list().targets:
            if (target.job, target.instance) in targets and any(one.up is not None for one in target.collectors):
                raise TargetSentError(
                    f"{target.job} on {target.instance} is being sent: take it out of its sender's configuration first."
                )
        with self._relational.transaction() as session:
            write_answers(
                session, targets, taken_away=given.taken_away, by=by, now_ms=self._clock(), kept_ms=2 * LISTED_MS
            )
        return self.list()

    def _keys(self, now_ms: int) -> "list[Key]":
        named = Matcher("__name__", MatchOperator.EQUAL, "up")
        return sorted({key_of(one) for one in self._store.series([[named]], now_ms - LISTED_MS, now_ms + AHEAD_MS)})

    def _answers(self) -> Mapping[Target, AnswerRow]:
        with self._relational.transaction() as session:
            return find_answers(session)

    def _health(self, keys: "list[Key]", now_ms: int) -> dict[Key, Health]:
        up, duration, count, cpu = (
            self._recent(name, now_ms)
            for name in (
                "up",
                "scrape_duration_seconds",
                "scrape_samples_scraped",
                "collector_cpu_seconds_total",
            )
        )
        errors = self._errors(now_ms)
        found: dict[Key, Health] = {}
        for key in keys:
            health = judge_collector(
                up=up.get(key, NOTHING),
                duration=duration.get(key, NOTHING),
                count=count.get(key, NOTHING),
                cpu=cpu.get(key, NOTHING),
                errors=errors.get(key, []),
                now_ms=now_ms,
            )
            if health.last_sample_ms is None:
                health = _silent(self._last_sample(key, NOTHING, now_ms))
            else:
                self._silent.pop(key, None)
            found[key] = health
        return found

    def _recent(self, metric: str, now_ms: int) -> dict[Key, Samples]:
        matchers = [Matcher("__name__", MatchOperator.EQUAL, metric)]
        selection = self._store.select(matchers, now_ms - RECENT_MS, now_ms + AHEAD_MS)
        found: dict[Key, Samples] = {}
        for row, labels in enumerate(selection.labels):
            begin, end = int(selection.offsets[row]), int(selection.offsets[row + 1])
            found[key_of(labels)] = without_stale(selection.timestamps[begin:end], selection.values[begin:end])
        return found

    def _errors(self, now_ms: int) -> dict[Key, "list[ErrorText]"]:
        matchers = [Matcher("__name__", MatchOperator.EQUAL, "collector_error_info")]
        selection = self._store.select(matchers, now_ms - RECENT_MS, now_ms + AHEAD_MS)
        found: dict[Key, list[ErrorText]] = defaultdict(list)
        for row, labels in enumerate(selection.labels):
            begin, end = int(selection.offsets[row]), int(selection.offsets[row + 1])
            samples = without_stale(selection.timestamps[begin:end], selection.values[begin:end])
            if samples.last == 1 and not samples.ended:
                found[key_of(labels)].append(ErrorText(text=labels.get("error", ""), last_ms=int(samples.times[-1])))
        return found

    def _agents(self, now_ms: int) -> dict[Key, "list[str]"]:
        matchers = [Matcher("__name__", MatchOperator.EQUAL, "collector_agent_info")]
        selection = self._store.select(matchers, now_ms - PRESENT_MS, now_ms + PRESENT_MS)
        found: dict[Key, list[str]] = defaultdict(list)
        for row, labels in enumerate(selection.labels):
            begin, end = int(selection.offsets[row]), int(selection.offsets[row + 1])
            samples = without_stale(selection.timestamps[begin:end], selection.values[begin:end])
            if len(samples.times) and not samples.ended:
                host, process, started = (labels.get(f"agent_{name}", "") for name in ("host", "pid", "started"))
                found[key_of(labels)].append(f"{host}[{process}] {started}")
        return {key: sorted(names) for key, names in found.items()}

    def _last_sample(self, key: Key, recent: Samples, now_ms: int) -> int | None:
        """Time of a collector's newest sample; of one that is silent it is looked for."""
        if len(recent.times):
            self._silent.pop(key, None)
            return int(recent.times[-1])
        if key in self._silent:
            return self._silent[key]
        matchers = [
            Matcher(label, MatchOperator.EQUAL, value)
            for label, value in zip(("__name__", "job", "instance", "collector"), ("up", *key), strict=True)
        ]
        for span in SEARCHED_MS:
            selection = self._store.select(matchers, now_ms - span, now_ms)
            samples = without_stale(selection.timestamps, selection.values)
            if len(samples.times):
                self._silent[key] = int(samples.times.max())
                return self._silent[key]
        return None


def _answer_that_holds(answer: AnswerRow | None, sent_ms: int | None) -> AnswerRow | None:
    """What somebody said of a target that was not sent since."""
    return answer if answer is not None and answer.answered_ms >= (sent_ms or 0) else None


def _silent(last_ms: int | None) -> Health:
    return Health(up=None, last_sample_ms=last_ms, duration_seconds=None, cpu_ratio=None, samples=None, error=None)


def _out(collector: str, health: Health, agents: list[str], now_ms: int) -> CollectorOut:
    last_ms = health.last_sample_ms
    return CollectorOut(
        collector=collector,
        up=health.up,
        last_sample_ms=last_ms,
        lag_seconds=None if last_ms is None else max(now_ms - last_ms, 0) / 1_000,
        duration_seconds=health.duration_seconds,
        cpu_ratio=health.cpu_ratio,
        samples=health.samples,
        error=health.error,
        agents=agents,
    )

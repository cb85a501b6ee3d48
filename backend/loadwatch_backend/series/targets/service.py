"""Health of every target and collector, from the samples that the senders push about themselves."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import Field

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Labels, Matcher, MatchOperator, Reader
from loadwatch_backend.series.targets.repository import AnswerRow, Target, find_answers, write_answers


class CollectorOut(Schema):
    """Health of one collector on one target."""

    collector: str = Field(description="Empty where another sender pushes, such as Prometheus or vmagent.")
    up: bool | None = Field(description="Whether the last look worked; null while nothing fresh is known.")
    last_sample_ms: Milliseconds | None
    lag_seconds: float | None = Field(description="Age of the newest sample.")
    duration_seconds: float | None = Field(description="How long the last look took.")
    cpu_ratio: float | None = Field(description="CPU that the collector costs, in cores.")
    samples: int | None = Field(description="Samples of the last look.")
    error: str | None = Field(description="Why the last look failed.")
    agents: list[str] = Field(
        description="Agents that read it at this moment, as HOST[PROCESS] START; two are one too many."
    )


class TargetName(Schema):
    """Which target."""

    job: str = Field(max_length=4_096)
    instance: str = Field(max_length=4_096)


class TargetOut(Schema):
    """A thing observed."""

    job: str
    instance: str
    collectors: list[CollectorOut]
    sent_ms: Milliseconds | None = Field(description="When it was last sent, by whichever collector.")
    gone: bool = Field(description="Nobody has sent it for 15 minutes.")
    kept_by: str | None = Field(description="Who said that it was not taken away, since it was last sent.")


class TargetAnswerIn(Schema):
    """Whether silent targets were taken away."""

    targets: list[TargetName] = Field(min_length=1, max_length=2_000)
    taken_away: bool = Field(description="They leave the list until they are sent again; else they stay, as gone.")


class TargetList(Schema):
    """Every target heard of within the last seven days that nobody took away."""

    now_ms: Milliseconds
    targets: list[TargetOut]


IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

SILENT_INTERVALS = 4
SILENT_LEAST_MS = 10_000


class Samples(NamedTuple):
    """Samples of one series in rising time, stale markers left out; `ended` tells that the newest one is a marker."""

    times: IntArray
    values: FloatArray
    ended: bool = False

    @property
    def last(self) -> float | None:
        return float(self.values[-1]) if len(self.values) else None


NOTHING = Samples(times=np.empty(0, np.int64), values=np.empty(0, np.float64))


class ErrorText(NamedTuple):
    text: str
    last_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What is known of a collector; `up` is None where nothing fresh is.

    `error` beside `up` is the trouble of one that goes on: a part that cannot be read, or a search that is ambiguous.
    """

    up: bool | None = None
    last_sample_ms: int | None = None
    duration_seconds: float | None = None
    cpu_ratio: float | None = None
    samples: int | None = None
    error: str | None = None


def without_stale(times: IntArray, values: FloatArray) -> Samples:
    stale = values.view(np.uint64) == STALE_NAN_BITS
    return Samples(times=times[~stale], values=values[~stale], ended=bool(len(stale) and stale[-1]))


def silence_ms(times: IntArray) -> int:
    """How long a collector may say nothing before that means something: four of its usual pauses, at least 10 s."""
    pause = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    return max(round(SILENT_INTERVALS * pause), SILENT_LEAST_MS)


def cpu_ratio(samples: Samples) -> float | None:
    """CPU seconds a second over the samples, from the last reset on."""
    if len(samples.times) < 2:
        return None
    resets = np.flatnonzero(np.diff(samples.values) < 0)
    first = int(resets[-1]) + 1 if len(resets) else 0
    seconds = float(samples.times[-1] - samples.times[first]) / 1_000
    return float(samples.values[-1] - samples.values[first]) / seconds if seconds > 0 else None


def judge_collector(
    *, up: Samples, duration: Samples, count: Samples, cpu: Samples, errors: Sequence[ErrorText], now_ms: int
) -> Health:
    last_ms = int(up.times[-1]) if len(up.times) else None
    is_fresh = last_ms is not None and not up.ended and now_ms - last_ms <= silence_ms(up.times)
    is_up = bool(up.last) if is_fresh else None
    newest = max(errors, key=lambda error: error.last_ms, default=None)
    # One that fails may have failed for another reason at the tick before; one that goes on says its trouble each tick.
    since_ms = None if last_ms is None else last_ms if is_up else last_ms - silence_ms(up.times)
    held = newest is not None and (since_ms is None or newest.last_ms >= since_ms)
    return Health(
        up=is_up,
        last_sample_ms=last_ms,
        duration_seconds=duration.last,
        cpu_ratio=cpu_ratio(cpu),
        samples=None if count.last is None else int(count.last),
        error=newest.text if newest is not None and held else None,
    )


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
            last_ms = (found := health[job, instance, collector]).last_sample_ms
            targets[job, instance].append(
                CollectorOut(
                    collector=collector,
                    lag_seconds=None if last_ms is None else max(now_ms - last_ms, 0) / 1_000,
                    agents=agents.get((job, instance, collector), []),
                    **asdict(found),
                )
            )
        listed: list[TargetOut] = []
        for (job, instance), collectors in targets.items():
            sent_ms = max((one.last_sample_ms for one in collectors if one.last_sample_ms is not None), default=None)
            answer = _answer_that_holds(answers.get((job, instance)), sent_ms)
            gone = sent_ms is None or now_ms - sent_ms >= GONE_MS
            if answer is None or not answer.taken_away:
                shown = [one for one in collectors if gone or now_ms - (one.last_sample_ms or 0) < COLLECTOR_LISTED_MS]
                by = None if answer is None else answer.answered_by
                listed.append(
                    TargetOut(job=job, instance=instance, collectors=shown, sent_ms=sent_ms, gone=gone, kept_by=by)
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
        names = ("up", "scrape_duration_seconds", "scrape_samples_scraped", "collector_cpu_seconds_total")
        up, duration, count, cpu = (self._recent(name, now_ms) for name in names)
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
            last_ms = self._last_sample(key, up.get(key, NOTHING), now_ms)
            found[key] = health if health.last_sample_ms is not None else Health(last_sample_ms=last_ms)
        return found

    def _recent(self, metric: str, now_ms: int) -> dict[Key, Samples]:
        found = self._samples(metric, now_ms - RECENT_MS, now_ms + AHEAD_MS)
        return {key_of(labels): samples for labels, samples in found}

    def _samples(self, metric: str, start_ms: int, end_ms: int) -> Iterator[tuple[Labels, Samples]]:
        selection = self._store.select([Matcher("__name__", MatchOperator.EQUAL, metric)], start_ms, end_ms)
        for labels, times, values in selection.each():
            yield labels, without_stale(times, values)

    def _errors(self, now_ms: int) -> dict[Key, "list[ErrorText]"]:
        found: dict[Key, list[ErrorText]] = defaultdict(list)
        for labels, samples in self._samples("collector_error_info", now_ms - RECENT_MS, now_ms + AHEAD_MS):
            if samples.last == 1 and not samples.ended:
                found[key_of(labels)].append(ErrorText(text=labels.get("error", ""), last_ms=int(samples.times[-1])))
        return found

    def _agents(self, now_ms: int) -> dict[Key, "list[str]"]:
        found: dict[Key, list[str]] = defaultdict(list)
        for labels, samples in self._samples("collector_agent_info", now_ms - PRESENT_MS, now_ms + PRESENT_MS):
            if len(samples.times) and not samples.ended:
                host, process, started = (labels.get(f"agent_{name}", "") for name in ("host", "pid", "started"))
                found[key_of(labels)].append(f"{host}[{process}] {started}")
        return {key: sorted(names) for key, names in found.items()}

    def _last_sample(self, key: Key, recent: Samples, now_ms: int) -> int | None:
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
    return answer if answer is not None and answer.answered_ms >= (sent_ms or 0) else None

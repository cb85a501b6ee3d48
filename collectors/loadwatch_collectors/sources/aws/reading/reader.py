"""Reads the wanted metrics of one place: which are due, in which requests, again where an answer was not whole.

Used by one thread at a time; `clock` (monotonic seconds) and `pause` are given, so that tests need not wait.

CloudWatch is usually a minute or two behind, and at bad times half an hour. What it holds up is asked for until it has
come, and then for the usual time more, since counts that belong to the same minute need not come together.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from loadwatch_collectors.collector import Labels, MissingPrivilege, Sample
from loadwatch_collectors.sources.aws.client.client import AwsClient, Backoff
from loadwatch_collectors.sources.aws.client.errors import (
    AwsError,
    ForbiddenError,
    OutOfTimeError,
    RequestError,
    ServiceError,
    ThrottledError,
    UnreachableError,
)
from loadwatch_collectors.sources.aws.discovery.part import Permission
from loadwatch_collectors.sources.aws.model import DataPage, DataRequest, MetricKey, WantedMetric, WantedStatistic
from loadwatch_collectors.sources.aws.reading.insights import History, Span, join_spans
from loadwatch_collectors.sources.aws.reading.states import (
    CATCH_UP_MS,
    COMPLETE,
    FORBIDDEN,
    DataQueries,
    MetricDataResult,
    Window,
    is_due,
    make_batches,
    make_window,
    reread_from,
    split_questions,
)

_USUAL_SHARE = 0.5
"""A delay of up to this share of the time that is read again is covered by that time itself."""


class Arrivals:
    """The newest delivered points of one account in one region. Times are milliseconds."""

    def __init__(self, reread_ms: int) -> None:
        self._reread_ms = reread_ms
        self.newest_ms: dict[str, int] = {}
        """End of the newest point that was delivered, by namespace."""
        self._marks: dict[str, deque[tuple[int, int]]] = {}
        self._floors: dict[str, int] = {}

    def note(self, namespace: str, newest_ms: int) -> None:
        self.newest_ms[namespace] = max(self.newest_ms.get(namespace, 0), newest_ms)

    def end_poll(self, now_ms: int) -> None:
        """All points of a poll were noted: remember how far delivery was, for as long as points are read again."""
        for namespace, newest in self.newest_ms.items():
            marks = self._marks.setdefault(namespace, deque())
            while marks and marks[0][0] <= now_ms - self._reread_ms:
                marks.popleft()
            marks.append((now_ms, newest))
            # Delivery only goes on, so the oldest mark is the least.
            self._floors[namespace] = marks[0][1]

    def known_to(self, namespace: str, read_to_ms: int) -> int:
        """Up to when points are known that were read to `read_to_ms`: earlier where CloudWatch is unusually late."""
        floor = self._floors.get(namespace)
        if floor is None or read_to_ms - floor <= (1 + _USUAL_SHARE) * self._reread_ms:
            return read_to_ms
        return floor + self._reread_ms


REPEATS = 2
"""How often queries whose answer was not whole are asked again in one poll."""
MAX_PAGES = 500
_FAILED_ATTEMPTS = 3
MOST_SEARCHES = 60
"""Requests that one poll spends on finding queries that CloudWatch does not accept."""
REFUSED_SECONDS = 1_800.0
"""How long a metric is left alone that CloudWatch does not accept."""
AGING_MS = 300_000
"""A metric that has waited this long is as urgent as one of the next higher priority."""
_NOT_ACCEPTED = frozenset(
    ["ValidationError", "InvalidParameterValue", "InvalidParameterCombination", "MissingParameter"]
    + [f"{word}Exception" for word in ("InvalidParameterValue", "InvalidParameterCombination")]
    + ["MissingRequiredParameterException"]
)
_ADDED_STATISTICS = frozenset({"Sum", "SampleCount"})
GET_METRIC_DATA = "cloudwatch:GetMetricData"


class ReaderOptions(NamedTuple):
    """Times of reading, in milliseconds."""

    delay_ms: int = 120_000
    reread_ms: int = 600_000


@dataclass(slots=True, kw_only=True)
class Reading:
    """What one poll of one place gave. `error` is why it ended early; the samples before it are good."""

    samples: list[Sample] = field(default_factory=list[Sample])
    states: Counter[str] = field(default_factory=Counter[str])
    metrics_requested: Counter[str] = field(default_factory=Counter[str])
    """By preset; every repetition counts, since CloudWatch bills it."""
    metrics_repeated: int = 0
    missing: list[MissingPrivilege] = field(default_factory=list[MissingPrivilege])
    unread: int = 0
    """Metrics that were due and are not read whole; they are asked for again at the next poll."""
    error: AwsError | None = None
    refused: list[AwsError] = field(default_factory=list[AwsError])
    """Metrics that CloudWatch does not accept, such as one with a wrong unit; the others are read."""


_Key = tuple[MetricKey, int, tuple[WantedStatistic, ...]]


@dataclass(slots=True, eq=False)
class _Memory:
    histories: tuple[History, ...]
    witness_of: str = ""
    """The resource whose delivery it tells: the metric is written each period, whatever happens."""
    asked_to_ms: int | None = None
    read_to_ms: int | None = None
    forbidden: set[int] = field(default_factory=set[int])
    """Statistics that CloudWatch refused when they were asked for last."""
    refusal: AwsError | None = None
    refused_until: float = float("-inf")


class PlaceReader:
    def __init__(
        self,
        client: AwsClient,
        options: ReaderOptions,
        *,
        backoff: Backoff | None = None,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._client = client
        self._options = options
        self._backoff = backoff or Backoff()
        self._clock = clock
        self._pause = pause
        self._memories: dict[_Key, _Memory] = {}
        self._delivery = Arrivals(options.reread_ms)
        self._failure: AwsError | None = None
        """Why the last request failed; told again while the collector backs off."""
        self._searches = 0

    @property
    def newest_ms(self) -> Mapping[str, int]:
        return self._delivery.newest_ms

    def read(self, wanted: Sequence[WantedMetric], now_ms: int, deadline: float) -> Reading:
        """Read what is due at `now_ms`; never raises an `AwsError`, it is in the result."""
        reading = Reading()
        for key in self._memories.keys() - {_key(metric) for metric in wanted}:
            del self._memories[key]
        due = [(metric, self._window(metric, now_ms)) for metric in wanted if self._is_due(metric, now_ms)]
        answers: list[MetricDataResult] = []
        self._searches = MOST_SEARCHES
        # Urgent ones first, so that a poll that ends early has lost the least.
        for batch in make_batches(sorted(due, key=lambda item: self._urgency(*item))):
            try:
                self._ask_accepted(batch, deadline, reading, answers)
            except ForbiddenError as error:
                reading.error = error
                lost = f"all {len(wanted)} metrics of {self._client.place}"
                reading.missing.append(Permission(error.action, lost).missing())
                break
            except AwsError as error:
                reading.error = error
                break
        reading.unread = len(due) - self._take(answers, reading, now_ms)
        reading.missing += self._forbidden()
        reading.refused += [memory.refusal for memory in self._memories.values() if memory.refusal is not None]
        return reading

    def _urgency(self, metric: WantedMetric, window: Window) -> tuple[int, int]:
        """Sort key: by priority, which rises while a metric waits for its turn."""
        memory = self._memory(metric)
        since_ms = memory.asked_to_ms or memory.read_to_ms or window.end_ms
        waited_ms = max(0, window.end_ms - since_ms - window.period_ms * metric.every)
        return metric.priority - waited_ms // AGING_MS, -waited_ms

    def _is_due(self, metric: WantedMetric, now_ms: int) -> bool:
        return self._clock() >= self._memory(metric).refused_until and is_due(
            now_ms,
            period_ms=metric.period_seconds * 1000,
            delay_ms=self._options.delay_ms,
            read_to_ms=self._memory(metric).asked_to_ms,
            every=metric.every,
        )

    def _window(self, metric: WantedMetric, now_ms: int) -> Window:
        memory = self._memory(metric)
        reread_ms = self._options.reread_ms
        window = make_window(
            now_ms,
            period_ms=metric.period_seconds * 1000,
            delay_ms=self._options.delay_ms,
            # Points of seconds are not kept for longer, and five statistics of them must fit into one request.
            reread_ms=reread_ms if metric.period_seconds >= 60 else min(reread_ms, CATCH_UP_MS),
            known_to_ms=memory.read_to_ms and self._delivery.known_to(metric.metric.namespace, memory.read_to_ms),
        )
        if memory.read_to_ms is None:
            # Should this first read fail, the next one begins where it began.
            memory.read_to_ms = window.end_ms
        return window

    def _memory(self, metric: WantedMetric) -> _Memory:
        key = _key(metric)
        found = self._memories.get(key)
        if found is None:
            histories = tuple(History() for _ in metric.statistics)
            witness_of = metric.resource if metric.absent == "gap" else ""
            found = self._memories[key] = _Memory(histories=histories, witness_of=witness_of)
        return found

    def _ask_accepted(
        self, batch: DataQueries, deadline: float, reading: Reading, answers: list[MetricDataResult]
    ) -> None:
        """Add the answers to a batch.

        CloudWatch refuses a whole request for one query that it does not accept: that one is found by halving, and left
        alone.

        Raises:
            AwsError: the batch could not be asked.
        """
        try:
            answers += self._ask_whole(batch, deadline, reading)
        except RequestError as error:
            if error.code not in _NOT_ACCEPTED or self._searches <= 0:
                raise
            self._searches -= 1
            questions = _by_metric(batch.owners)
            if len(questions) == 1:
                metric = questions[0][0]
                memory = self._memory(metric)
                name = f"{metric.metric.name} of {metric.metric.namespace}"
                memory.refusal = RequestError(f"{name} is not accepted: {error}", code=error.code)
                memory.refused_until = self._clock() + REFUSED_SECONDS
                return
            middle = len(questions) // 2
            for half in (questions[:middle], questions[middle:]):
                for part in split_questions(_window_of(batch), half):
                    self._ask_accepted(part, deadline, reading, answers)

    def _ask_whole(self, batch: DataQueries, deadline: float, reading: Reading) -> list[MetricDataResult]:
        """The answers to a batch and to its repetitions.

        Raises:
            AwsError: the batch itself could not be asked. A repetition that fails costs nothing but its queries.
        """
        answers = [self._ask(batch, deadline, reading)]
        window = _window_of(batch)
        for _ in range(REPEATS):
            last = answers[-1]
            again = _by_metric(last.batch.owners[index] for index in last.open_queries())
            if not again:
                break
            self._backoff.refused(self._clock())
            try:
                for part in split_questions(window, again):
                    reading.metrics_repeated += part.metrics_requested
                    answers.append(self._ask(part, deadline, reading))
            except AwsError:
                break
        return answers

    def _ask(self, batch: DataQueries, deadline: float, reading: Reading) -> MetricDataResult:
        answer = MetricDataResult(batch)
        token = ""
        seen: set[str] = set()
        for _ in range(MAX_PAGES):
            page = self._request(batch.request._replace(next_token=token), deadline)
            if not seen:
                asked = {id(metric): metric.preset for metric, _ in batch.owners}
                reading.metrics_requested.update(asked.values())
            answer.add(page)
            token = page.next_token
            if not token or token in seen:
                break
            seen.add(token)
        else:
            raise RequestError(f"cloudwatch GetMetricData in {self._client.place}: more than {MAX_PAGES} pages")
        for index in range(len(batch.owners)):
            reading.states[answer.state(index)] += 1
        return answer

    def _request(self, request: DataRequest, deadline: float) -> DataPage:
        """One page; throttling is waited out within the deadline, other passing failures are tried a few times."""
        failures = 0
        while True:
            self._wait(deadline)
            try:
                page = self._client.get_metric_data(request, deadline=deadline)
            except RequestError:
                self._failure = None  # AWS has answered; it says nothing about the pace of requests.
                raise
            except OutOfTimeError:
                # Nothing was asked: neither a reason to leave AWS alone nor what AWS said last.
                if self._failure is None:
                    raise
                raise self._failure.with_traceback(None) from None
            except AwsError as error:
                self._failure = error
                self._backoff.refused(self._clock())
                if isinstance(error, ServiceError | UnreachableError):
                    failures += 1
                elif not isinstance(error, ThrottledError):
                    raise
                if failures >= _FAILED_ATTEMPTS:
                    raise
            else:
                self._failure = None
                self._backoff.succeeded(self._clock())
                return page

    def _wait(self, deadline: float) -> None:
        now = self._clock()
        wait = self._backoff.wait_seconds(now)
        if now + wait > deadline:
            if self._failure is not None:
                raise self._failure.with_traceback(None)  # Or each time it is told again it would hold more frames.
            raise OutOfTimeError(f"cloudwatch GetMetricData in {self._client.place}: no time is left in this poll")
        if wait > 0:
            self._pause(wait)

    def _take(self, answers: Sequence[MetricDataResult], reading: Reading, now_ms: int) -> int:
        """New and revised points as samples; zeros where their absence is known to mean zero. How many are whole."""
        merged: dict[tuple[int, int], tuple[WantedMetric, Window, dict[int, float], str]] = {}
        for answer in answers:
            window = _window_of(answer.batch)
            for index, (metric, statistic) in enumerate(answer.batch.owners):
                key = (id(metric), statistic)
                values = dict(merged[key][2]) | answer.values[index] if key in merged else answer.values[index]
                merged[key] = (metric, window, values, answer.state(index))
        for metric, window, values, _ in merged.values():
            if values:
                self._delivery.note(metric.metric.namespace, max(values) + window.period_ms)
        self._delivery.end_poll(now_ms)
        # What is always written first: it tells where the absence of the others means zero.
        ordered = sorted(merged.items(), key=lambda item: item[1][0].absent != "gap")
        spans: dict[str, Span | None] | None = None
        # Once for all metrics of a resource.
        periods: dict[tuple[str, Labels, int], int] = {}
        for (_, statistic), (metric, window, values, state) in ordered:
            memory = self._memory(metric)
            history = memory.histories[statistic]
            name = metric.statistics[statistic]
            if state == FORBIDDEN:
                memory.forbidden.add(statistic)
                continue
            memory.forbidden.discard(statistic)
            zeros: Mapping[int, float] = {}
            if metric.absent != "gap" and state == COMPLETE and name.statistic in _ADDED_STATISTICS:
                if spans is None:
                    spans = self._spans()
                span = spans.get(metric.resource)
                if span is not None:
                    settled_ms = min(span.last_ms, self._settled_before(metric, window))
                    zeros = history.holes(window, values, first_ms=span.first_ms, last_ms=settled_ms)
            for point in history.merge(window, {**zeros, **values} if zeros else values):
                reading.samples.append(Sample(name.series, point.value, metric.labels, point.time_ms))
                if metric.period_series:
                    periods[metric.period_series, metric.labels, point.time_ms] = metric.period_seconds
        reading.samples += [Sample(name, float(value), labels, at) for (name, labels, at), value in periods.items()]
        return self._note_read(merged.values())

    def _spans(self) -> dict[str, Span | None]:
        """For each resource, when its metrics that are always written were delivered, in this poll or before."""
        found: dict[str, list[Span | None]] = {}
        for (_, period_seconds, _), memory in self._memories.items():
            if memory.witness_of:
                spans = (history.span(period_seconds * 1000) for history in memory.histories)
                found.setdefault(memory.witness_of, []).extend(spans)
        return {resource: join_spans(spans) for resource, spans in found.items()}

    def _settled_before(self, metric: WantedMetric, window: Window) -> int:
        """What lies before is not asked for again: a count that has not come by then is taken as none.

        Earlier it may be late by itself, when the other metrics of its minute are there already.
        """
        known = self._delivery.known_to(metric.metric.namespace, window.end_ms)
        return reread_from(known, window.period_ms, self._options.reread_ms)

    def _forbidden(self) -> list[MissingPrivilege]:
        counts: Counter[str] = Counter()
        for key, memory in self._memories.items():
            if memory.forbidden:
                counts[key[0].namespace] += len(memory.forbidden)
        return [
            Permission(GET_METRIC_DATA, f"{count} statistics of {namespace} in {self._client.place}").missing()
            for namespace, count in counts.items()
        ]

    def _note_read(self, entries: Iterable[tuple[WantedMetric, Window, Mapping[int, float], str]]) -> int:
        partial: set[int] = set()
        windows: dict[int, tuple[WantedMetric, Window]] = {}
        for metric, window, _, state in entries:
            windows[id(metric)] = (metric, window)
            if state not in (COMPLETE, FORBIDDEN):
                partial.add(id(metric))
        for identity, (metric, window) in windows.items():
            memory = self._memory(metric)
            memory.asked_to_ms = window.end_ms
            memory.refusal = None
            if identity not in partial:
                memory.read_to_ms = window.end_ms
        return len(windows) - len(partial)


def _key(metric: WantedMetric) -> _Key:
    return (metric.metric, metric.period_seconds, metric.statistics)


def _window_of(batch: DataQueries) -> Window:
    request = batch.request
    return Window(request.start_ms, request.end_ms, batch.owners[0][0].period_seconds * 1000)


def _by_metric(owners: Iterable[tuple[WantedMetric, int]]) -> list[tuple[WantedMetric, Sequence[int]]]:
    found: dict[int, tuple[WantedMetric, list[int]]] = {}
    for metric, index in owners:
        found.setdefault(id(metric), (metric, []))[1].append(index)
    return list(found.values())

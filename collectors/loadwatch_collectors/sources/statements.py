"""Counting statements of any database: sums that begin anew, and the series that are made of them."""

import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from loadwatch_formats.metrics.mysql_statements import FIELDS, OTHER, UNSEEN
from loadwatch_formats.own_traffic import COMMENT, NAME
from loadwatch_formats.statements.plans import NoPlan

from loadwatch_collectors.collector import KEPT, Collector, Labels, MissingPrivilege, Sample, kept
from loadwatch_collectors.errors import CollectorError, PrivilegeError
from loadwatch_collectors.transport.kept import KeptSession

Counts = tuple[float, ...]
"""In the order of `FIELDS`; times in seconds."""
NOTHING: Counts = (0.0,) * len(FIELDS)
CALLS = list(FIELDS).index("calls")
SECONDS = list(FIELDS).index("seconds")
MOST_KNOWN = 20_000
"""Statements that are remembered between two readings."""


def now_ms() -> int:
    return int(time.time() * 1_000)


def counted(**values: float) -> Counts:
    """What a source tells, by the names of `FIELDS`; the rest is 0."""
    return tuple(float(values.get(name, 0.0)) for name in FIELDS)


class Key(NamedTuple):
    """Which statement: the database it ran in, and what its server or its fingerprint calls it."""

    schema: str
    digest: str


class Row(NamedTuple):
    """A row of a table of sums.

    Attributes:
        key: more than one row may have it.
        since: when the row was made, as text; a row that was emptied and made anew has another one.
        counts: since then.
        word: the first word of the statement in small letters.
    """

    key: Key
    since: str
    counts: Counts
    word: str


class Growth(NamedTuple):
    grown: Mapping[Key, Counts]
    words: Mapping[Key, str]
    resets: int


def add(one: Counts, other: Counts) -> Counts:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def subtract(one: Counts, other: Counts) -> Counts:
    """What the first has more; never below 0."""
    return tuple(max(a - b, 0.0) for a, b in zip(one, other, strict=True))


class Sums:
    """Remembers a table of sums, and tells how it grew.

    A reading may hold only the rows that changed. Rows of one key are added before they are compared, so with such
    rows, and when a sum fell, the whole table is asked for.
    """

    def __init__(self) -> None:
        self._known: dict[Key, tuple[str, Counts]] | None = None
        self._begun = ""
        self._doubled = False

    @property
    def wants_whole(self) -> bool:
        return self._known is None or self._doubled

    def update(self, rows: Sequence[Row], *, whole: bool, now: str) -> Growth | None:
        """How much the statements have grown; None where only the whole table can tell.

        The first reading is where counting begins: nothing has grown by then.

        Args:
            rows: every row, or those that changed since the last reading and perhaps others.
            whole: whether it is every row.
            now: the time by the server's clock, as `Row.since` is.
        """
        merged: dict[Key, tuple[str, Counts]] = {}
        words: dict[Key, str] = {}
        doubled = False
        for row in rows:
            before = merged.get(row.key)
            doubled = doubled or before is not None
            merged[row.key] = (
                (row.since, row.counts) if before is None else (min(before[0], row.since), add(before[1], row.counts))
            )
            words[row.key] = row.word
        if not whole and (doubled or self.wants_whole):
            return None
        if self._known is None:
            self._known, self._begun, self._doubled = dict(list(merged.items())[:MOST_KNOWN]), now, doubled
            return Growth(grown={}, words=words, resets=0)
        grown: dict[Key, Counts] = {}
        resets = 0
        for key, (since, counts) in merged.items():
            before = self._known.get(key)
            if before is None:
                # One that was there before counting began, and was not remembered, tells nothing yet.
                grown[key] = counts if since >= self._begun else NOTHING
            elif since != before[0] or counts[CALLS] < before[1][CALLS] or counts[SECONDS] < before[1][SECONDS]:
                if not whole:
                    return None
                resets += 1
                grown[key] = counts
            else:
                grown[key] = subtract(counts, before[1])
        if whole:
            resets += any(key not in merged for key in self._known) and not resets
            self._known, self._doubled = {}, doubled
        for key, state in merged.items():
            if key in self._known or len(self._known) < MOST_KNOWN:
                self._known[key] = state
        return Growth(
            grown={key: counts for key, counts in grown.items() if counts != NOTHING}, words=words, resets=resets
        )


REST = 1_000
"""A reading is followed by a pause of this many times the server time that it took."""
LONGEST_PAUSE_SECONDS = 15.0
_READINGS = 10
_T = TypeVar("_T")


class Pace:
    """Measures questions, and says when the next reading is due.

    The server's part is estimated from outside: the time of a reading's questions, less that of the shortest for each
    of them, which is the way there and back. The least of the last readings counts, since a busy machine makes them
    longer and never shorter. It is above the processor's time in any case.
    """

    def __init__(self, every_seconds: float) -> None:
        self._every = every_seconds
        self._questions: list[float] = []
        self._took: deque[float] = deque(maxlen=_READINGS)
        self._due = 0.0

    def is_due(self, now: float) -> bool:
        """Whether it is time, `now` by `time.monotonic()`."""
        return now >= self._due

    def ask(self, query: Callable[[str], Sequence[_T]], sql: str) -> Sequence[_T]:
        """Run the query, and time it as part of the reading under way."""
        began = time.monotonic()
        rows = query(sql)
        self._questions.append(time.monotonic() - began)
        return rows

    def read(self, began: float) -> None:
        """End the reading that began at `began`, and set when the next one is due."""
        asked, self._questions = self._questions, []
        if asked:
            self._took.append(sum(asked) - len(asked) * min(asked))
        self._due = began + max(self._every, min(min(self._took, default=0.0) * REST, LONGEST_PAUSE_SECONDS)) - 0.05

    def wait(self, began: float, seconds: float) -> None:
        """Drop the reading under way; the next one is due `seconds` after `began`."""
        self._questions.clear()
        self._due = began + seconds


REPEAT_MS = 30_000
"""Interval at which an unchanged sum is sent again: queries look back five minutes at most."""
OVERTAKING = 2.0
"""A statement takes the place of the least named one at this many times its time."""
OTHER_KEY, UNSEEN_KEY, OWN_KEY = Key("", OTHER), Key("", UNSEEN), Key("", NAME)
TEXTS = {
    OTHER_KEY: "(all other statements)",
    OWN_KEY: "(Loadwatch's own statements)",
    UNSEEN_KEY: "(prepared statements whose text was gone before it could be read)",
}
LABELS = ("schema", "digest", "digest_text")


class _Named:
    def __init__(self, labels: Labels, born_ms: int) -> None:
        self.labels = labels
        self.counts = NOTHING
        self.sent: list[float | None] = [None] * len(NOTHING)
        self.born_ms = born_ms
        self.sent_ms = 0


class Totals:
    def __init__(
        self, most: int, now_ms: int, *, names: Mapping[str, str] = FIELDS, labels: tuple[str, str, str] = LABELS
    ) -> None:
        """`most` statements have names at a time.

        Args:
            most: see above.
            now_ms: since when is counted.
            names: of the metrics, by the field that they tell; fields without one are not sent.
            labels: names of the labels for database, digest and text.
        """
        self._most = most
        self._names = [(place, names[field]) for place, field in enumerate(FIELDS) if field in names]
        self._labels = labels
        self._named: dict[Key, _Named] = {}
        self._waiting: dict[Key, Counts] = {}
        self._before_ms = now_ms
        self._own: set[Key] = set()

    def wanted(self, grown: Mapping[Key, Counts]) -> list[Key]:
        """Those that get a name with this reading, if their texts can be told; the dearest first."""
        for key, counts in grown.items():
            if (
                key not in self._named
                and key not in self._own
                and (key in self._waiting or len(self._waiting) < MOST_KNOWN)
            ):
                self._waiting[key] = add(self._waiting.get(key, NOTHING), counts)
        fresh = [key for key in grown if key in self._waiting]
        fresh.sort(key=lambda key: -self._waiting[key][SECONDS])
        room = self._most - sum(key not in TEXTS for key in self._named)
        if len(fresh) <= room:
            return fresh
        held = sorted((named.counts[SECONDS], key) for key, named in self._named.items() if key not in TEXTS)
        chosen = fresh[: max(room, 0)]
        for key, (least, loser) in zip(fresh[max(room, 0) :], held, strict=False):
            if self._waiting[key][SECONDS] < OVERTAKING * least or not self._waiting[key][SECONDS]:
                break
            # Its series ends; what it does from now on is among the others.
            del self._named[loser]
            chosen.append(key)
        return chosen

    def add(self, grown: Mapping[Key, Counts], texts: Mapping[Key, str]) -> None:
        """Count what has grown; those of `wanted` have their texts in `texts`: own ones have `COMMENT` in theirs."""
        own = {key for key, text in texts.items() if COMMENT in text}
        self._own |= own
        for key in own:
            self._waiting.pop(key, None)
        texts = {**texts, OWN_KEY: TEXTS[OWN_KEY]}
        for statement, counts in grown.items():
            key = OWN_KEY if statement in self._own else statement
            named = self._named.get(key)
            if named is None and key in texts:
                named = self._named[key] = self._name(key, texts[key])
                self._waiting.pop(key, None)
            if named is None:
                named = self._named.setdefault(OTHER_KEY, self._name(OTHER_KEY, TEXTS[OTHER_KEY]))
            named.counts = add(named.counts, counts)

    def samples(self, now_ms: int) -> Iterable[Sample]:
        """All sums; those that did not change are marked as kept.

        A series that begins has a 0 at the time of the reading before, so that what it grew by then is not lost.
        """
        for named in self._named.values():
            repeat = now_ms - named.sent_ms >= REPEAT_MS
            for place, name in self._names:
                value, before = named.counts[place], named.sent[place]
                if before is None:
                    yield Sample(name, value, named.labels)
                    if named.born_ms < now_ms:
                        yield Sample(name, 0.0, named.labels, named.born_ms)
                elif before != value or repeat:
                    yield Sample(name, value, named.labels)
                else:
                    yield Sample(name, value, named.labels, KEPT)
                named.sent[place] = value
            if repeat:
                named.sent_ms = now_ms
        self._before_ms = now_ms

    def _name(self, key: Key, text: str) -> _Named:
        return _Named(tuple(zip(self._labels, (*key, text), strict=True)), self._before_ms)


EVERY_SECONDS = 5.0
"""Interval between two rounds of choosing and explaining statements."""
AT_ONCE = 3
"""Statements that a look explains, the dearest first."""
AGAIN_SECONDS = {None: 600.0, NoPlan.NO_EXAMPLE: 10.0}
"""After which a statement that still takes time is looked at again, by why there was no plan."""
AGAIN_REFUSED_SECONDS = 300.0
MOST_PLANS = 200
"""Statements with a plan, or with the reason why there is none."""


class Found(NamedTuple):
    """What EXPLAIN gave: the steps (`write_plan`), or why there are none; `example` is masked."""

    plan: str = ""
    reason: NoPlan | None = None
    example: str = ""


@dataclass(slots=True)
class _Known:
    found: Found
    again_at: float
    sent_ms: int = 0


class Plans:
    def __init__(self, metric: str, labels: tuple[str, str]) -> None:
        """`labels` are the names of those for database and digest."""
        self._metric, self._labels = metric, labels
        self._seconds: dict[Key, float] = {}
        self._known: dict[Key, _Known] = {}
        self._next = 0.0

    def add(self, grown: Mapping[Key, Counts]) -> None:
        """Note what statements took; those of no database are mostly an agent's own."""
        for key, counts in grown.items():
            if key.schema and key not in TEXTS and (key in self._seconds or len(self._seconds) < MOST_KNOWN):
                self._seconds[key] = self._seconds.get(key, 0.0) + counts[SECONDS]

    def due(self, now: float) -> list[Key]:
        """The statements to explain now, seconds of a clock that never goes back; mostly none."""
        if now < self._next or not self._seconds:
            return []
        self._next = now + EVERY_SECONDS
        room = len(self._known) < MOST_PLANS
        asked = [key for key in self._seconds if (now >= self._known[key].again_at if key in self._known else room)]
        asked.sort(key=lambda key: -self._seconds[key])
        self._seconds = {}
        return asked[:AT_ONCE]

    def note(self, key: Key, found: Found, now: float) -> None:
        """Remember what was found; the same plan keeps its example, and NO_EXAMPLE replaces nothing."""
        again = now + AGAIN_SECONDS.get(found.reason, AGAIN_REFUSED_SECONDS)
        before = self._known.get(key)
        if before is not None and (
            found.reason is NoPlan.NO_EXAMPLE or (found.reason, found.plan) == (before.found.reason, before.found.plan)
        ):
            before.again_at = again
            return
        self._known[key] = _Known(found, again)

    def missing(self, permission: str, remedy: Callable[[str], str]) -> list[MissingPrivilege]:
        refused = {key.schema for key, known in self._known.items() if known.found.reason is NoPlan.NOT_PERMITTED}
        return [
            MissingPrivilege(f"{permission} {schema}", "plans of its statements", remedy(schema))
            for schema in sorted(refused)
        ]

    def samples(self, now_ms: int) -> Iterable[Sample]:
        for key, known in self._known.items():
            found = known.found
            labels = (
                *zip(self._labels, key, strict=True),
                ("plan", found.plan),
                ("reason", found.reason or ""),
                ("example", found.example),
            )
            fresh = now_ms - known.sent_ms >= REPEAT_MS
            yield Sample(self._metric, 1.0, labels, None if fresh else KEPT)
            if fresh:
                known.sent_ms = now_ms


def ask_plan(session: KeptSession, ask: Callable[[], Sequence[_T]]) -> Sequence[_T] | NoPlan:
    """Return EXPLAIN's rows, or a NoPlan in place of the server's message, which may repeat a value."""
    try:
        return session.run(ask)
    except PrivilegeError:
        return NoPlan.NOT_PERMITTED
    except CollectorError:
        return NoPlan.REFUSED


WINDOW_SECONDS = 60.0
ENOUGH = 0.95
LEAST_EXECUTED = 100
"""Fewest statements in a minute for which a low share is reported."""
ASK_AGAIN_SECONDS = 10.0
"""Pause after the server has said that it counts no statements, or that we may not see them."""


class Coverage:
    """Counts what was executed and what was told apart.

    Attributes:
        executed, explained: since the collector began.
    """

    def __init__(self) -> None:
        self.executed = 0.0
        self.explained = 0.0
        self._before: Mapping[str, float] | None = None
        self._steps: deque[tuple[float, float, float]] = deque()

    def update(self, now: float, counters: Mapping[str, float], explained: float) -> None:
        before, self._before = self._before, counters
        if before is None:
            return
        executed = sum(
            count - old if count >= (old := before.get(name, 0.0)) else count for name, count in counters.items()
        )
        self.executed += executed
        self.explained += explained
        self._steps.append((now, executed, explained))
        while now - self._steps[0][0] >= WINDOW_SECONDS:
            self._steps.popleft()

    @property
    def lately(self) -> tuple[float, float]:
        """What was executed and told apart in the last minute."""
        return sum(step[1] for step in self._steps), sum(step[2] for step in self._steps)

    @property
    def ratio(self) -> float | None:
        """Of the last minute, at most 1; None where nothing was executed."""
        executed, explained = self.lately
        return min(explained / executed, 1.0) if executed > 0 else None

    @property
    def is_low(self) -> bool:
        executed, explained = self.lately
        return executed >= LEAST_EXECUTED and explained < ENOUGH * executed


class NotCountingError(CollectorError):
    """The server answers, and counts no statements."""


class StatementsCollector(Collector):
    def __init__(
        self, session: KeptSession, totals: Totals, every: float, explain: Callable[[float], None] | None
    ) -> None:
        self._kept_session = session
        self._explain = explain
        self._totals = totals
        self._sums = Sums()
        self._coverage = Coverage()
        self._pace = Pace(every)
        self._resets: float = 0.0
        self._kept: list[Sample] = []
        self._refused: CollectorError | None = None

    def collect(self) -> Sequence[Sample]:
        began = time.monotonic()
        if not self._pace.is_due(began):
            if self._refused is not None:
                raise self._refused
            return self._kept
        self._refused = None
        try:
            samples = self._kept_session.run(self._read)
        except (NotCountingError, PrivilegeError) as error:
            self._refused = self._lasting(error)
            if self._refused is None:
                raise
            self._pace.wait(began, ASK_AGAIN_SECONDS)
            if self._refused is error:
                raise
            raise self._refused from error
        self._pace.read(began)
        if self._explain is not None:
            self._explain(began)
        self._kept = kept(sample for sample in samples if sample.timestamp_ms in (None, KEPT))
        return samples

    def close(self) -> None:
        self._kept_session.close()

    def _lasting(self, error: CollectorError) -> CollectorError | None:
        """The error as it is told until the server is asked again; None where that is at the next tick."""
        return error

    @abstractmethod
    def _read(self) -> list[Sample]: ...

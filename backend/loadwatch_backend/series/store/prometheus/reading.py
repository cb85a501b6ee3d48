"""Raw samples of the engine, by instant queries of range selectors, which all engines answer; bounded while they come.

VictoriaMetrics shows stale markers so, and keeps no other NaN. Others leave stale markers out: those of the last
minutes are in our memory.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from loadwatch_backend.core.cancellation import Cancellation
from loadwatch_backend.series.store.errors import EngineAwayError, QueryLimitError
from loadwatch_backend.series.store.patterns import value_test
from loadwatch_backend.series.store.port import STALE_NAN, Matcher, MatchOperator, Reading, quoted
from loadwatch_backend.series.store.prometheus.connection import Connection
from loadwatch_backend.series.store.prometheus.wire import SeriesSamples

_CLASSIC = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*", re.ASCII)
_OF_SELF = ("loadwatch_store_", "loadwatch_rule_")
NAME = "__name__"
ANY_METRIC = Matcher(NAME, MatchOperator.REGEX, ".+")


def selector_text(matchers: Sequence[Matcher]) -> str:
    """A series selector of PromQL; names beyond the classic ones are quoted, as Prometheus 3 takes them.

    Raises:
        PatternError: a regular expression is none.
    """
    # No engine takes a selector that asks for nothing.
    asked = (*matchers, ANY_METRIC) if all(value_test(one)("") for one in matchers) else matchers
    return "{" + ",".join(f"{label_text(one.label)}{one.operator}{quoted(one.value)}" for one in asked) + "}"


def label_text(name: str) -> str:
    return name if _CLASSIC.fullmatch(name) else quoted(name)


def is_plain_name(matchers: Sequence[Matcher]) -> bool:
    return len(matchers) == 1 and matchers[0].label == NAME and matchers[0].operator is MatchOperator.EQUAL


def is_of_self(matchers: Sequence[Matcher]) -> bool:
    """Whether they ask only for what this server says of its own queue and rules.

    Its memory has the newest of that while the engine is away, which somebody has to be told of just then.
    """
    return any(
        one.label == NAME and one.operator is MatchOperator.EQUAL and one.value.startswith(_OF_SELF) for one in matchers
    )


_SAMPLE_BYTES = 64
"""Of a sample in an answer at most, with its share of the labels."""
_LEAST_ANSWER_BYTES = 64 << 20
_AT_ONCE = 64
"""Metrics of one query."""
_NORMAL_NAN: float = float(np.array([0x7FF8000000000001], np.uint64).view(np.float64)[0])
"""Prometheus' NaN that is no stale marker (model/value/value.go, NormalNaN)."""
_VALUES = b'"values":['
_OF_VICTORIA = "X-Server-Hostname"
"""A header of all answers of VictoriaMetrics."""


@dataclass(slots=True)
class Budget:
    """Counts what comes against what the store and one who asks may load."""

    most: int
    reading: Reading | None = None
    taken: int = 0

    def take(self, samples: int) -> None:
        """Raises QueryLimitError when it is too much, and whatever the reading's `reserve` raises."""
        self.taken += samples
        if self.taken > self.most:
            raise QueryLimitError(
                f"the query loads more than {self.most} samples; ask for fewer series or a"
                " shorter range, or raise LOADWATCH_QUERY_MEMORY_BYTES"
            )
        if self.reading is not None:
            over = self.taken > self.reading.most_samples
            # The whole of it raises, because it is more than may be.
            self.reading.reserve(self.taken if over else samples)


def read_raw(
    connection: Connection, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int, budget: Budget
) -> list[list[SeriesSamples]]:
    """For each of the selectors its series.

    Raises:
        QueryLimitError: more than the store may load; and what the budget's `reading` raises.
        PatternError, EngineAnswerError: a regular expression, or a question, that the engine does not take.
        EngineAwayError: no usable answer; CancelledError: nobody waits for it.
    """
    found: dict[str, list[SeriesSamples]] = {}
    names = list({matchers[0].value: None for matchers in wanted if is_plain_name(matchers)})
    for first in range(0, len(names), _AT_ONCE):
        some = names[first : first + _AT_ONCE]
        found |= {name: [] for name in some}
        pattern = "|".join(map(re.escape, some))
        for series in _query(connection, [Matcher(NAME, MatchOperator.REGEX, pattern)], start_ms, end_ms, budget):
            found[series.labels[NAME]].append(series)
    return [
        found[matchers[0].value] if is_plain_name(matchers) else _query(connection, matchers, start_ms, end_ms, budget)
        for matchers in wanted
    ]


def _query(
    connection: Connection, matchers: Sequence[Matcher], start_ms: int, end_ms: int, budget: Budget
) -> list[SeriesSamples]:
    # One millisecond more, because a range has no sample at its beginning.
    text = f"{selector_text(matchers)}[{end_ms - start_ms + 1}ms]"
    pairs = [("query", text), ("time", f"{end_ms // 1000}.{end_ms % 1000:03d}")]
    most_bytes = max(budget.most * _SAMPLE_BYTES, _LEAST_ANSWER_BYTES)
    cancellation = Cancellation() if budget.reading is None else budget.reading.cancellation
    with connection.post("/api/v1/query", pairs, most_bytes, cancellation) as stream:
        body = stream.whole()
        nan = STALE_NAN if _OF_VICTORIA in stream.response.headers else _NORMAL_NAN
    found: list[SeriesSamples] = []
    for labels, times, values in matrix_rows(body):
        # Prometheus 2 has the sample at the beginning too.
        inside = times >= start_ms
        values[np.isnan(values)] = nan
        budget.take(int(inside.sum()))
        found.append(SeriesSamples(labels, times[inside], values[inside]))
    return found


def matrix_rows(body: bytes) -> list[SeriesSamples]:
    """Labels, times and values of each series of a matrix.

    Raises:
        EngineAwayError: it is none.
    """
    try:
        if _VALUES not in body:
            body = orjson.dumps(orjson.loads(body))  # As all engines but a few write it, without spaces.
        # A list and a text for each sample are most of the work: samples are cut out, and read as numbers at once.
        head, *pieces = body.split(_VALUES)
        cut = [piece.partition(b"]]") for piece in pieces]
        document: Any = orjson.loads(head + b"".join(b'"values":0' + rest for _, _, rest in cut))
        if document["status"] != "success" or document["data"]["resultType"] != "matrix":
            raise ValueError("no matrix")
        found: list[SeriesSamples] = []
        for entry, (samples, _, _) in zip(document["data"]["result"], cut, strict=True):
            times, values = np.fromstring(samples.translate(None, b'[]"'), sep=",").reshape(-1, 2).T
            labels = {str(name): str(value) for name, value in entry["metric"].items()}
            # Seconds as a float are exact to the millisecond for all times that there are.
            found.append(SeriesSamples(labels, np.rint(times * 1000).astype(np.int64), values))
        return found
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise EngineAwayError(f"the engine's answer is no matrix: {body[:200]!r}") from error

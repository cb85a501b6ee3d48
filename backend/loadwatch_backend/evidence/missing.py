"""What failed that would have counted: the edge to the store."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.series.store.port import Matcher, MatchOperator, Reader

ROUTE_COLLECTORS = ("access_log",)
STATEMENT_COLLECTORS = ("mysql_statements", "postgresql_statements")
PROFILE_COLLECTORS = ("pprof",)
MOST_FAULTS = 3
LONGEST_ERROR = 300


@dataclass(frozen=True, slots=True)
class Fault:
    """A collector that is configured and failed, with the last that it said; `at_ms`: when that was."""

    collector: str
    instance: str
    error: str
    at_ms: int


def read_faults(store: Reader, collectors: Sequence[str], from_ms: int, to_ms: int) -> list[Fault]:
    """The last fault of each that failed in a window, the latest first.

    Raises:
        ProblemError: of the store.
    """
    selection = store.select(
        [
            Matcher("__name__", MatchOperator.EQUAL, "collector_error_info"),
            Matcher("collector", MatchOperator.REGEX, "|".join(map(re.escape, collectors))),
        ],
        max(from_ms, 0),
        max(to_ms, from_ms, 0),
    )
    found: dict[tuple[str, str, str], Fault] = {}
    for row, labels in enumerate(selection.labels):
        begin, end = int(selection.offsets[row]), int(selection.offsets[row + 1])
        failed = selection.timestamps[begin:end][np.isfinite(selection.values[begin:end])]
        if not len(failed):
            continue
        key = (labels.get("collector", ""), labels.get("job", ""), labels.get("instance", ""))
        error = " ".join(labels.get("error", "").split())[:LONGEST_ERROR]
        fault = Fault(collector=key[0], instance=key[2] or key[1], error=error, at_ms=int(failed[-1]))
        if key not in found or found[key].at_ms < fault.at_ms:
            found[key] = fault
    return sorted(found.values(), key=lambda one: (-one.at_ms, one.collector, one.instance))[:MOST_FAULTS]


def fault_remarks(faults: Sequence[Fault], language: Language) -> list[str]:
    say = Texts("missing", language)
    return [say("failed", collector=one.collector, instance=one.instance, error=one.error) for one in faults]


def profile_remarks(faults: Sequence[Fault], language: Language) -> list[str]:
    return [Texts("missing", language)("no_profiles"), *fault_remarks(faults, language)]

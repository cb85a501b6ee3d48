"""What a difference means: one rule, three words and a fourth for not knowing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
from loadwatch_formats.numbers import format_value

from loadwatch_backend.catalogue.signals.model import NEAR, Orientation, Signal, Unit
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.numbers import duration, duration_ja, figure
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.runs.analysis.schemas import ResourceReached
from loadwatch_backend.runs.compare.schemas import (
    CompareCell,
    CompareGroup,
    CompareHeadline,
    CompareRow,
    ComparisonOpinion,
    Grade,
    MetricInfo,
)
from loadwatch_backend.runs.compare.statistics import ENOUGH_REPEATS, Difference
from loadwatch_backend.runs.key_figures import OWN

FloatArray = npt.NDArray[np.float64]

UNLIMITED = frozenset({"process_cpu", "process_threads", "goroutines", "host_load"})
"""Uses whose limit no series tells: all cores of a process, threads. So it is with every use in bytes."""


class Nearness(StrEnum):
    """How near a run came to the limit of what a signal is the use of."""

    NEAR = "near"
    FAR = "far"
    UNKNOWN = "unknown"
    """Nothing told the limit."""


def nearness(signal: Signal, values: FloatArray, reached: Sequence[ResourceReached]) -> Nearness | None:
    """Of a signal over a run's steady window; None of one that is no use of a resource.

    Args:
        signal: what it is; a ratio of which more is worse has its limit at 1.
        values: over the window.
        reached: how near the run came to each limit.
    """
    if signal.resource:
        shares = [one for one in reached if one.resource == signal.resource]
        if not shares:
            return Nearness.UNKNOWN
        return Nearness.NEAR if any(one.ratio_max >= one.near for one in shares) else Nearness.FAR
    if signal.orientation is not Orientation.MORE_IS_WORSE:
        return None
    if signal.id in UNLIMITED or signal.unit is Unit.BYTES:
        return Nearness.UNKNOWN
    if signal.unit is Unit.RATIO:
        return Nearness.NEAR if len(values) and float(values.max()) >= NEAR else Nearness.FAR
    return None


NO_DATA = "no-data"
SHORT = "short"
SINGLE_RUN = "single-run"
FEW_REPEATS = "few-repeats"
LIMIT_DIFFERS = "limit-differs"
FAR_FROM_LIMIT = "far-from-limit"
LIMIT_UNKNOWN = "limit-unknown"
NO_DIRECTION = "no-direction"
BELOW_ZERO = "below-zero"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """An opinion, how sure it is, and why it is not firmer; the remark is empty when nothing is to be said."""

    opinion: ComparisonOpinion
    grade: Grade
    remark: str


def judge(difference: Difference | None, orientation: Orientation, reach: float, *, repeats: int) -> Judgement:
    """The interval inside the margin is "same", wholly outside of it better or worse, anything else cannot be told.

    Args:
        difference: None where a side has no figure.
        orientation: which way of the figure is good.
        reach: the margin on the logarithmic scale.
        repeats: number of runs on the side that has fewer.
    """
    if difference is None:
        return Judgement(opinion=ComparisonOpinion.UNCLEAR, grade=Grade.CANNOT_TELL, remark=NO_DATA)
    if math.isinf(difference.low):
        return Judgement(opinion=ComparisonOpinion.UNCLEAR, grade=Grade.CANNOT_TELL, remark=SHORT)
    remark = SINGLE_RUN if repeats < 2 else FEW_REPEATS if repeats < ENOUGH_REPEATS else ""
    opinion = direction(difference, orientation, reach)
    told = Grade.REPEATS if repeats >= ENOUGH_REPEATS else Grade.CLEAR
    return Judgement(
        opinion=opinion, grade=Grade.CANNOT_TELL if opinion is ComparisonOpinion.UNCLEAR else told, remark=remark
    )


def direction(difference: Difference, orientation: Orientation, reach: float) -> ComparisonOpinion:
    """The word alone."""
    if -reach < difference.low and difference.high < reach:
        return ComparisonOpinion.SAME
    if -reach <= difference.high and difference.low <= reach:
        return ComparisonOpinion.UNCLEAR
    if orientation is Orientation.NEUTRAL:
        return ComparisonOpinion.NEUTRAL
    grew = difference.log > 0
    return ComparisonOpinion.BETTER if grew == (orientation is Orientation.MORE_IS_BETTER) else ComparisonOpinion.WORSE


GOOD, FAILED, SLOW = "ok_rate", "error_rate", "p95"
TOLD = (GOOD, SLOW, FAILED, "signal:lag_max", "signal:rps_stored")
"""Said in this order, as far as both sides have them."""
LEAST_FACTOR = 2.0
"""From here on a change is said as a factor."""


def headlines(groups: Sequence[CompareGroup], rows: Sequence[CompareRow], language: Language) -> list[CompareHeadline]:
    """One for each group but the first."""
    texts = Texts("compare", language)
    by_metric = {row.metric.id: row for row in rows}
    return [_headline(groups, place, by_metric, texts) for place in range(1, len(groups))]


_Pair = tuple[CompareCell, CompareCell]


def _headline(groups: Sequence[CompareGroup], place: int, rows: dict[str, CompareRow], texts: Texts) -> CompareHeadline:
    own = {id: pair for id in rows if id.startswith(OWN) and (pair := _pair(rows[id], place)) is not None}
    pairs = {**own, **{id: _pair(rows.get(id), place) for id in TOLD}}
    parts = [_part(rows[id].metric, pair, texts) for id, pair in pairs.items() if pair is not None]
    if pairs[GOOD] is None and not own:
        parts.insert(0, texts("unknown", title=texts(GOOD)))
    parts.append(_runs(len(groups[0].runs), len(groups[place].runs), texts))
    first = next(iter(own.values()), None)
    judged = _judged(pairs[GOOD] or first, [pairs[FAILED], pairs[SLOW]])
    return CompareHeadline(
        group=groups[place].id,
        text=texts("separator").join(part for part in parts if part),
        opinion=ComparisonOpinion.UNCLEAR if judged is None else judged.opinion,
        grade=None if judged is None else judged.grade,
    )


def _pair(row: CompareRow | None, place: int) -> _Pair | None:
    """The base's cell and the group's; None where either has no figure."""
    if row is None or row.cells[0].value is None or row.cells[place].value is None:
        return None
    return row.cells[0], row.cells[place]


def _judged(good: _Pair | None, others: Sequence[_Pair | None]) -> CompareCell | None:
    """The cell whose opinion stands for the sentence: that of good answers, unless the rest of it is worse.

    More good answers with a larger share that fails, or slower ones, are neither better nor worse. Fewer good answers
    are worse whatever the others are: what fails at once is quick.
    """
    if good is None:
        return None
    worse = next((pair[1] for pair in others if pair is not None and pair[1].opinion is ComparisonOpinion.WORSE), None)
    if worse is None or good[1].opinion is ComparisonOpinion.WORSE:
        return good[1]
    if good[1].opinion is ComparisonOpinion.BETTER:
        return good[1].model_copy(update={"opinion": ComparisonOpinion.NEUTRAL})
    return worse


def _part(metric: MetricInfo, pair: _Pair, texts: Texts) -> str:
    """Both figures, and of good answers and the user's own the change; nothing of a share or a lag that is the same."""
    other, leads = pair[1], metric.id == GOOD or metric.id.startswith(OWN)
    title = texts.known(metric.id, metric.title)
    before, after = (_figure(cell.value or 0.0, metric.unit, texts) for cell in pair)
    if before == after or other.opinion is ComparisonOpinion.SAME:
        return texts("same", title=title, after=after) if leads or metric.id == SLOW else ""
    if not leads or other.delta is None:
        return texts("short", title=title, before=before, after=after)
    factor = other.delta + 1
    change = texts("times", factor=figure(round(factor, 1))) if factor >= LEAST_FACTOR else _percent(other.delta, texts)
    return texts("changed", title=title, before=before, after=after, change=change)


def _figure(value: float, unit: str, texts: Texts) -> str:
    if unit == "ratio":
        return texts("percent", sign="", percent=figure(value * 100))
    if unit == "seconds":
        return duration_ja(value) if texts.language is Language.JA else duration(value)
    if unit.startswith("bytes"):
        return format_value(value, unit)
    return figure(value) if unit == "count" else f"{figure(value)}/s"


def _percent(delta: float, texts: Texts) -> str:
    percent = abs(delta) * 100
    digits = 0 if percent >= 10 else 1
    return texts("percent", sign="+" if delta > 0 else "−", percent=f"{percent:.{digits}f}")


def _runs(base: int, other: int, texts: Texts) -> str:
    if base == other:
        return texts("runs-1" if base == 1 else "runs-each", count=base)
    return texts("runs-unlike", base=base, count=other)

"""What a difference means: one rule, three words and a fourth for not knowing."""

import math
from dataclasses import dataclass

from loadwatch_backend.compare.schemas import Grade, Opinion
from loadwatch_backend.compare.statistics import ENOUGH_REPEATS, Difference
from loadwatch_backend.signals.model import Orientation

NO_DATA = "no-data"
SHORT = "short"
SINGLE_RUN = "single-run"
FEW_REPEATS = "few-repeats"
LIMIT_DIFFERS = "limit-differs"
FAR_FROM_LIMIT = "far-from-limit"
LIMIT_UNKNOWN = "limit-unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """An opinion, how sure it is, and why it is not firmer; the remark is empty when nothing is to be said."""

    opinion: Opinion
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
        return Judgement(opinion=Opinion.UNCLEAR, grade=Grade.CANNOT_TELL, remark=NO_DATA)
    if math.isinf(difference.low):
        return Judgement(opinion=Opinion.UNCLEAR, grade=Grade.CANNOT_TELL, remark=SHORT)
    remark = SINGLE_RUN if repeats < 2 else FEW_REPEATS if repeats < ENOUGH_REPEATS else ""
    opinion = direction(difference, orientation, reach)
    told = Grade.REPEATS if repeats >= ENOUGH_REPEATS else Grade.CLEAR
    return Judgement(opinion=opinion, grade=Grade.CANNOT_TELL if opinion is Opinion.UNCLEAR else told, remark=remark)


def direction(difference: Difference, orientation: Orientation, reach: float) -> Opinion:
    """The word alone."""
    if -reach < difference.low and difference.high < reach:
        return Opinion.SAME
    if -reach <= difference.high and difference.low <= reach:
        return Opinion.UNCLEAR
    if orientation is Orientation.NEUTRAL:
        return Opinion.NEUTRAL
    grew = difference.log > 0
    return Opinion.BETTER if grew == (orientation is Orientation.MORE_IS_BETTER) else Opinion.WORSE

"""What a difference means, in one word and a reason."""

from dataclasses import dataclass

from loadwatch_backend.compare.schemas import Opinion
from loadwatch_backend.compare.statistics import LEAST_EFFECT, SIGNIFICANT, Difference
from loadwatch_backend.signals.model import Orientation

NO_DATA = "no-data"
SHORT = "short"
SINGLE_RUN = "single-run"
FEW_REPEATS = "few-repeats"
ENOUGH_REPEATS = 3
"""Fewer repeats cannot show how far equal runs differ by themselves (needs.md B5, E7)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """An opinion and why it is not firmer; the remark is empty when nothing is to be said."""

    opinion: Opinion
    remark: str


def judge(difference: Difference | None, orientation: Orientation, *, short: bool, repeats: int) -> Judgement:
    """The opinion on a difference; `repeats` is the number of runs on the side that has fewer."""
    if difference is None:
        return Judgement(opinion=Opinion.UNCLEAR, remark=NO_DATA)
    remark = SINGLE_RUN if repeats < 2 else FEW_REPEATS if repeats < ENOUGH_REPEATS else ""
    if short:
        return Judgement(opinion=Opinion.UNCLEAR, remark=SHORT)
    if abs(difference.delta) < LEAST_EFFECT or difference.p_value >= SIGNIFICANT:
        return Judgement(opinion=Opinion.SAME, remark=remark)
    if orientation is Orientation.NEUTRAL:
        return Judgement(opinion=Opinion.NEUTRAL, remark=remark)
    grew = difference.delta > 0
    better = grew == (orientation is Orientation.MORE_IS_BETTER)
    return Judgement(opinion=Opinion.BETTER if better else Opinion.WORSE, remark=remark)

"""A comparison in one sentence: what these runs show; how sure that is stands beside it. Pure."""

from collections.abc import Sequence

from loadwatch_backend.compare.schemas import CompareCell, CompareGroup, CompareHeadline, CompareRow, Opinion
from loadwatch_backend.findings.seen.numbers import duration, duration_ja, figure
from loadwatch_backend.kit.language import Language
from loadwatch_backend.texts.compare import COMPARE
from loadwatch_backend.texts.words import Texts

GOOD, FAILED, SLOW = "ok_rate", "error_rate", "p95"
TOLD = (GOOD, SLOW, FAILED, "signal:lag_max", "signal:rps_stored")
"""Said in this order, as far as both sides have them."""
LEAST_FACTOR = 2.0
"""From here on a change is said as a factor."""


def headlines(groups: Sequence[CompareGroup], rows: Sequence[CompareRow], language: Language) -> list[CompareHeadline]:
    """One for each group but the first."""
    texts = Texts(COMPARE, language)
    by_metric = {row.metric.id: row for row in rows}
    return [_headline(groups, place, by_metric, texts) for place in range(1, len(groups))]


_Pair = tuple[CompareCell, CompareCell]


def _headline(groups: Sequence[CompareGroup], place: int, rows: dict[str, CompareRow], texts: Texts) -> CompareHeadline:
    pairs = {id: _pair(rows.get(id), place) for id in TOLD}
    parts = [_part(id, rows[id].metric.unit, pair, texts) for id, pair in pairs.items() if pair is not None]
    if pairs[GOOD] is None:
        parts.insert(0, texts("unknown", title=texts(GOOD)))
    parts.append(_runs(len(groups[0].runs), len(groups[place].runs), texts))
    judged = _judged(pairs[GOOD], [pairs[FAILED], pairs[SLOW]])
    return CompareHeadline(
        group=groups[place].id,
        text=texts("separator").join(part for part in parts if part),
        opinion=Opinion.UNCLEAR if judged is None else judged.opinion,
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
    worse = next((pair[1] for pair in others if pair is not None and pair[1].opinion is Opinion.WORSE), None)
    if worse is None or good[1].opinion is Opinion.WORSE:
        return good[1]
    if good[1].opinion is Opinion.BETTER:
        return good[1].model_copy(update={"opinion": Opinion.NEUTRAL})
    return worse


def _part(id: str, unit: str, pair: _Pair, texts: Texts) -> str:
    """Both figures, and of good answers the change; nothing of a share or a lag that is the same, which is usual."""
    other = pair[1]
    before, after = (_figure(cell.value or 0.0, unit, texts) for cell in pair)
    if before == after or other.opinion is Opinion.SAME:
        return texts("same", title=texts(id), after=after) if id in (GOOD, SLOW) else ""
    if id != GOOD or other.delta is None:
        return texts("short", title=texts(id), before=before, after=after)
    factor = other.delta + 1
    change = texts("times", factor=figure(round(factor, 1))) if factor >= LEAST_FACTOR else _percent(other.delta, texts)
    return texts("changed", title=texts(id), before=before, after=after, change=change)


def _figure(value: float, unit: str, texts: Texts) -> str:
    if unit == "ratio":
        return texts("percent", sign="", percent=figure(value * 100))
    if unit == "seconds":
        return duration_ja(value) if texts.language is Language.JA else duration(value)
    return f"{figure(value)}/s"


def _percent(delta: float, texts: Texts) -> str:
    percent = abs(delta) * 100
    digits = 0 if percent >= 10 else 1
    return texts("percent", sign="+" if delta > 0 else "−", percent=f"{percent:.{digits}f}")


def _runs(base: int, other: int, texts: Texts) -> str:
    if base == other:
        return texts("runs-1" if base == 1 else "runs-each", count=base)
    return texts("runs-unlike", base=base, count=other)

"""A comparison in one sentence: good answers, failures where they differ, p50, and of how many runs. Pure."""

from collections.abc import Sequence

from loadwatch_backend.compare.schemas import CompareCell, CompareGroup, CompareHeadline, CompareRow, Opinion
from loadwatch_backend.findings.seen.numbers import figure
from loadwatch_backend.kit.language import Language
from loadwatch_backend.texts.compare import COMPARE
from loadwatch_backend.texts.words import Texts

GOOD, FAILED, MIDDLE = "ok_rate", "error_rate", "p50"
LEAST_FACTOR = 2.0
"""From here on, and below its inverse, a change is said as a factor where more is better."""


def headlines(groups: Sequence[CompareGroup], rows: Sequence[CompareRow], language: Language) -> list[CompareHeadline]:
    """One for each group but the first."""
    texts = Texts(COMPARE, language)
    by_metric = {row.metric.id: row.cells for row in rows}
    return [_headline(groups, place, by_metric, texts) for place in range(1, len(groups))]


def _headline(
    groups: Sequence[CompareGroup], place: int, rows: "dict[str, list[CompareCell]]", texts: Texts
) -> CompareHeadline:
    good, failed, middle = (_pair(rows.get(id), place) for id in (GOOD, FAILED, MIDDLE))
    parts = [_good_answers(good, texts), _failures(failed, texts), _middle(middle, texts)]
    parts.append(_runs(len(groups[0].runs), len(groups[place].runs), texts))
    judged = _judged(good, [failed, middle])
    return CompareHeadline(
        group=groups[place].id,
        text=texts("separator").join(part for part in parts if part),
        opinion=Opinion.UNCLEAR if judged is None else judged.opinion,
        grade=None if judged is None else judged.grade,
    )


_Pair = tuple[CompareCell, CompareCell]


def _pair(cells: Sequence[CompareCell] | None, place: int) -> _Pair | None:
    """The base's cell and the group's; None where either has no figure."""
    if cells is None or cells[0].value is None or cells[place].value is None:
        return None
    return cells[0], cells[place]


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


def _good_answers(pair: _Pair | None, texts: Texts) -> str:
    title = texts("good answers")
    if pair is None:
        return texts("unknown", title=title)
    base, other = pair
    before, after = (f"{figure(cell.value or 0.0)}/s" for cell in (base, other))
    if other.opinion is Opinion.SAME:
        return texts("same", title=title, after=after)
    if other.opinion is Opinion.UNCLEAR:
        return texts("unclear", title=title, before=before, after=after)
    if other.delta is None:
        return texts("short", title=title, change=f"{before} → {after}")
    factor = other.delta + 1
    if factor >= LEAST_FACTOR:
        change = texts("times", factor=figure(round(factor, 1)))
    else:
        change = _percent(other.delta, texts)
    return texts("changed", title=title, before=before, after=after, change=change)


def _failures(pair: _Pair | None, texts: Texts) -> str:
    """Only where they surely differ: of most comparisons there is nothing to say."""
    if pair is None or pair[1].opinion not in (Opinion.BETTER, Opinion.WORSE):
        return ""
    before, after = (_share(cell.value or 0.0, texts) for cell in pair)
    return texts("short", title=texts("failed"), change=f"{before} → {after}")


def _middle(pair: _Pair | None, texts: Texts) -> str:
    if pair is None:
        return ""
    _, other = pair
    if other.opinion is Opinion.SAME:
        return texts("short-same", title=MIDDLE)
    if other.opinion is Opinion.UNCLEAR or other.delta is None:
        return texts("short-unclear", title=MIDDLE)
    factor = other.delta + 1
    change = texts("times", factor=figure(round(factor, 1))) if factor >= LEAST_FACTOR else _percent(other.delta, texts)
    return texts("short", title=MIDDLE, change=change)


def _share(value: float, texts: Texts) -> str:
    return texts("percent", sign="", percent=figure(value * 100))


def _percent(delta: float, texts: Texts) -> str:
    percent = abs(delta) * 100
    digits = 0 if percent >= 10 else 1
    return texts("percent", sign="+" if delta > 0 else "−", percent=f"{percent:.{digits}f}")


def _runs(base: int, other: int, texts: Texts) -> str:
    if base == other:
        return texts("runs-1" if base == 1 else "runs-each", count=base)
    return texts("runs-unlike", base=base, count=other)

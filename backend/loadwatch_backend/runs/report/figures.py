"""What a report says of the figures that a run is read by first, in one language. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_formats.numbers import format_count, format_score, format_value

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts, Words
from loadwatch_backend.runs.analysis.schemas import KeyFigure, ThresholdState
from loadwatch_backend.runs.key_figures import OWN
from loadwatch_backend.runs.schemas import RunOut

_OF = {"target": "of_target", "accepted": "of_accepted", "answered_ok": "of_answered"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFigure:
    """A figure as a report shows it.

    Attributes:
        window: what it covers; empty where there is no value.
        notes: what it is held against, kinds of failures, why there is no value.
        state: of the threshold on it; empty without one.
        is_own: the user's own.
    """

    name: str
    value: str
    window: str
    notes: Sequence[str]
    threshold: str
    state: str
    is_own: bool


def shown_figures(run: RunOut, language: Language) -> list[ShownFigure]:
    """All of them, in their order."""
    texts = Texts("report", language)
    said = {f"{OWN}{one.name}": Words(one.detail, one.detail_ja).read(language) for one in run.own_figures}
    return [_shown(one, texts, said.get(one.id, "")) for one in run.key_figures]


def _shown(one: KeyFigure, texts: Texts, detail: str) -> ShownFigure:
    notes = [
        _against(one, texts),
        ", ".join(texts.known(kind, kind) for kind in one.kinds),
        # What became of a threshold says itself that nothing was measured.
        detail
        or (texts.known(f"note_{one.note}", one.note) if one.note and one.state is not ThresholdState.UNKNOWN else ""),
    ]
    is_own = one.id.startswith(OWN)
    shown = format_score if is_own else format_value
    window = texts.known(one.window, one.window.replace("..", "–"))
    return ShownFigure(
        name=one.id.removeprefix(OWN)
        if is_own
        else texts.known(f"figure_{one.id}", texts("figure_latency", name=one.id)),
        value=format_count(one.value) if one.unit == "count" else shown(one.value, one.unit),
        window="" if one.value is None else window,
        notes=[note for note in notes if note],
        threshold=one.threshold,
        state="" if one.state is None else one.state.value,
        is_own=is_own,
    )


def _against(one: KeyFigure, texts: Texts) -> str:
    """A threshold says its limit itself."""
    if one.against is None or one.base not in _OF:
        return ""
    counted = one.unit == "count"
    told = texts(_OF[one.base], value=format_count(one.against) if counted else format_value(one.against, one.unit))
    missing = 0 if one.value is None or not counted else round(one.against) - round(one.value)
    if missing == 0:
        return told
    return f"{told}, {texts('of_missing' if missing > 0 else 'of_surplus', count=format_count(abs(missing)))}"

"""A small chart of a piece of evidence as SVG text; colours come from the page's classes."""

from markupsafe import Markup, escape

from loadwatch_backend.findings.schemas import EvidenceOut
from loadwatch_backend.kit.language import Language
from loadwatch_backend.report.numbers import format_value
from loadwatch_backend.texts.findings import FINDINGS
from loadwatch_backend.texts.words import Texts

WIDTH, HEIGHT = 200, 36


def draw_spark(evidence: EvidenceOut, language: Language) -> Markup:
    """Its values from zero up, with what they are held against as a dashed line; empty without values."""
    values = [] if evidence.chart is None else evidence.chart.values
    known = [value for value in values if value is not None]
    if not known:
        return Markup("")
    top = max(*known, evidence.limit or 0.0, 1e-12)

    def y(value: float) -> float:
        return HEIGHT - 1 - (HEIGHT - 2) * max(value, 0.0) / top

    commands: list[str] = []
    pen_down = False
    for place, value in enumerate(values):
        if value is None:
            pen_down = False
            continue
        x = 1 + (WIDTH - 2) * (place / max(len(values) - 1, 1))
        commands.append(f"{'L' if pen_down else 'M'}{x:.1f} {y(value):.1f}")
        # A lone point between gaps has no length and would not show.
        if not pen_down and (place + 1 == len(values) or values[place + 1] is None):
            commands.append("h1.5")
        pen_down = True
    texts = Texts(FINDINGS, language)
    spoken = texts("chart", low=format_value(min(known), evidence.unit), high=format_value(max(known), evidence.unit))
    limit = ""
    if evidence.limit is not None:
        spoken += ", " + texts("chart_limit", limit=format_value(evidence.limit, evidence.unit))
        limit = f'<path class="bound" d="M0 {y(evidence.limit):.1f}H{WIDTH}"/>'
    return Markup(
        f'<svg class="spark" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(spoken)}">{limit}'
        f'<path class="line s1" d="{"".join(commands)}"/></svg>'
    )

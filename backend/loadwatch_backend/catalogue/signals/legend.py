"""Names of series, from a template such as `{{instance}} {{mysql_user}}`. Pure."""

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

LABEL = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?:\|\s*percentile\s*)?\}\}")
"""With `| percentile` the label is a quantile of 0 to 1, told as a percentile."""


def render_legend(template: str, labels: Mapping[str, str]) -> str:
    """The name of a series; a missing label leaves nothing behind, not even a second space."""

    def shown(found: re.Match[str]) -> str:
        value = labels.get(found[1], "")
        return percentile_name(value) if "|" in found[0] else value

    return " ".join(LABEL.sub(shown, template).split())


def percentile_name(quantile: str) -> str:
    """`p99.9` of `0.999`, `max` of `1`; what is no quantile stays as it is."""
    try:
        share = Decimal(quantile)
    except InvalidOperation:
        return quantile
    if not 0 <= share <= 1:
        return quantile
    return {Decimal(0): "min", Decimal(1): "max"}.get(share, f"p{(share * 100).normalize():f}")


def name_series(title: str, template: str, labels: Mapping[str, str], *, shared: bool) -> str:
    """A name that is clear in the chart: with the signal's title where several signals share it."""
    rendered = render_legend(template, labels)
    if not rendered:
        return title
    return f"{title} · {rendered}" if shared else rendered

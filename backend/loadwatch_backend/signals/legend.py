"""Names of series, from a template such as `{{instance}} {{mysql_user}}`. Pure."""

import re
from collections.abc import Mapping

LABEL = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")


def render_legend(template: str, labels: Mapping[str, str]) -> str:
    """The name of a series; a missing label leaves nothing behind, not even a second space."""
    return " ".join(LABEL.sub(lambda found: labels.get(found[1], ""), template).split())


def name_series(title: str, template: str, labels: Mapping[str, str], *, shared: bool) -> str:
    """A name that is clear in the chart: with the signal's title where several signals share it."""
    rendered = render_legend(template, labels)
    if not rendered:
        return title
    return f"{title} · {rendered}" if shared else rendered

"""Templates of labels and annotations."""

from collections.abc import Mapping
from dataclasses import dataclass, field


class TemplateError(Exception):
    """The template cannot be read or expanded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateContext:
    """What a template may speak of."""

    labels: Mapping[str, str]
    value: float
    external_labels: Mapping[str, str] = field(default_factory=dict[str, str])
    external_url: str = ""


def check_template(text: str) -> None:
    """Raises TemplateError."""


def render(text: str, context: TemplateContext) -> str:
    """The text."""
    for name, value in context.labels.items():
        text = text.replace("{{ $labels." + name + " }}", value)
    return text.replace("{{ $value }}", f"{context.value:g}")

"""Templates of labels and annotations, as Prometheus' rules have them.

Go's text/template with `$labels`, `$value`, `$externalLabels`, `$externalURL` and Prometheus' functions.
Source: template/template.go and rules/alerting.go of Prometheus 3.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from loadwatch_backend.alerting.rules.gotemplate.builtins import BUILTINS, Function
from loadwatch_backend.alerting.rules.gotemplate.execute import execute
from loadwatch_backend.alerting.rules.gotemplate.formatting import Record, StringMap, TemplateError
from loadwatch_backend.alerting.rules.gotemplate.parse import Template, parse_template
from loadwatch_backend.alerting.rules.template_functions import FUNCTIONS, Sample, context_functions
from loadwatch_backend.series.store.port import Labels

__all__ = ["TemplateContext", "TemplateError", "check_template", "expand", "render"]

MAX_TEXT = 64 * 1024
MAX_QUERIES = 100
"""Queries in one expansion."""
_CACHED_TEXT = 1_000
"""Characters of the longest template that is kept when it is read: a tree takes some 40 bytes for each."""
_VARIABLES = ("$labels", "$externalLabels", "$externalURL", "$value")
_NAMES = frozenset((*BUILTINS, *FUNCTIONS, *context_functions(0, "", lambda _: [])))

Query = Callable[[str], Sequence[tuple[Labels, float]]]


def _no_query(text: str) -> Sequence[tuple[Labels, float]]:
    raise TemplateError(f"there is nothing to ask for {text!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateContext:
    """What a template may speak of; `query` answers PromQL at `time_ms` with label sets and values."""

    labels: Mapping[str, str]
    value: float
    external_labels: Mapping[str, str] = field(default_factory=dict[str, str])
    external_url: str = ""
    time_ms: int = 0
    query: Query = _no_query


def check_template(text: str) -> None:
    """Read a template without expanding it.

    Raises:
        TemplateError: says what is wrong and where.
    """
    _parsed(text)


def render(text: str, context: TemplateContext) -> str:
    """The expanded text; one that fails reads `<error expanding template: ...>`, as in Prometheus."""
    try:
        return expand(text, context)
    except TemplateError as error:
        return f"<error expanding template: {error}>"


def expand(text: str, context: TemplateContext) -> str:
    """The expanded text.

    Raises:
        TemplateError: it cannot be read or expanded.
    """
    if "{{" not in text:
        return text
    labels = StringMap(context.labels)
    external = StringMap(context.external_labels)
    data = Record(
        "struct",
        {"Labels": labels, "ExternalLabels": external, "ExternalURL": context.external_url, "Value": context.value},
    )
    variables = {
        "$labels": labels,
        "$externalLabels": external,
        "$externalURL": context.external_url,
        "$value": context.value,
    }

    asked = 0

    def query(text: str) -> list[Sample]:
        nonlocal asked
        asked += 1
        if asked > MAX_QUERIES:
            raise TemplateError(f"the template asks more than {MAX_QUERIES} queries")
        return [Sample(labels, value) for labels, value in context.query(text)]

    functions = {**_STATIC, **context_functions(context.time_ms, context.external_url, query)}
    return execute(_parsed(text), data, functions, variables)


_STATIC: Mapping[str, Function] = {**BUILTINS, **FUNCTIONS}


def _parsed(text: str) -> Template:
    return _kept(text) if len(text) <= _CACHED_TEXT else _read(text)


def _read(text: str) -> Template:
    if len(text) > MAX_TEXT:
        raise TemplateError(f"the template has {len(text)} characters; at most {MAX_TEXT} are taken")
    return parse_template(text, _NAMES, _VARIABLES)


_kept = lru_cache(maxsize=4_096)(_read)

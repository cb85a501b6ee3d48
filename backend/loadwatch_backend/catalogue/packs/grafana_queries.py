"""Queries of a Grafana dashboard as expressions of a pack: filters by variables go, other variables are set. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

_VARIABLE = re.compile(r"\$\{(\w+)(?:\.[\w.]+)?(?::[^{}]*)?\}|\[\[(\w+)(?::[^\]]*)?\]\]|\$(\w+)")
_STRING = r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|`[^`]*`'
_OUTSIDE = re.compile(rf"{_VARIABLE.pattern}|({_STRING})")
_BRACES = re.compile(rf"\{{((?:{_STRING}|[^{{}}\"'`])*)\}}")
_MATCHER = re.compile(rf'([\w.:]+|"[^"]*")\s*(=~|!~|!=|=)\s*({_STRING})(\s*,?\s*)')
_SPACE = re.compile(rf"({_STRING})|(?:\s|#[^\n]*)+")
_NO_METRICS = ("and", "or", "unless", "bool", "atan2")
_ALL = "$__all"
_SET = ("custom", "interval", "textbox")
_SPAN = re.compile(r"now-(\d+)([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_INTERVAL = re.compile(r"__(?:rate_interval|interval|auto_interval\w*?)(_ms)?")
_IN_BRACKETS = re.compile(r"\[\s*\$__interval\s*\]")
_SUBQUERY = re.compile(r"\[[^\]:\"]*:[^\]\"]*\]")
_RENAMED = {
    r"\bholt_winters\(": "double_exponential_smoothing(",
    r"\b(topk|bottomk)_(?:avg|last|max|median|min)\(": r"\1(",
}
"""By Prometheus 3; and what only VictoriaMetrics has."""
_DEPTH = 5
"""Variables whose values are variables."""


class NotTakenError(Exception):
    """Why something of a dashboard has no place in a pack."""


class Variable(NamedTuple):
    """A variable that filters by a label, or one that is set to `values`."""

    name: str
    filters: bool
    values: Sequence[str]

    def with_inputs(self, inputs: Mapping[str, str]) -> "Variable":
        """With what is asked at the import of the dashboard; it filters where that has no value in the file."""
        values = [_VARIABLE.sub(lambda found: inputs.get(_name(found), found[0]), one) for one in self.values]
        kept = [value for one, value in zip(self.values, values, strict=True) if value or not one]
        return self._replace(values=kept, filters=self.filters or len(kept) < len(values))


class Query(NamedTuple):
    """An expression without variables; `dropped` are labels that were matched, by the variable that they had."""

    text: str
    dropped: Mapping[str, str]


def items(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; none of anything else."""
    return [one for one in cast("list[Any]", value) if isinstance(one, dict)] if isinstance(value, list) else []


def mapping(value: Any) -> dict[str, Any]:
    """An object; an empty one of anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def text_of(value: Any) -> str:
    """A text; empty of anything else."""
    return value if isinstance(value, str) else ""


def read_variable(model: Mapping[str, Any]) -> Variable:
    """A variable of `templating.list`."""
    kind, query = text_of(model.get("type")), text_of(model.get("query"))
    current: Any = mapping(model.get("current")).get("value")
    chosen = [str(one) for one in cast("list[Any]", current if isinstance(current, list) else [current])]
    listed = [str(one.get("value")) for one in items(model.get("options"))]
    listed = listed or [one.strip().rpartition(" : ")[2] for one in re.split(r"(?<!\\),", query)]
    options, values = ([one for one in each if one not in ("", "None", _ALL)] for each in (listed, chosen))
    if kind == "custom" and model.get("includeAll") and (_ALL in chosen or not values):
        values = [str(model["allValue"])] if model.get("allValue") else options
    elif kind in _SET:
        values = values or options[:1]
    elif kind == "constant":
        values = values or [query]
    return Variable(text_of(model.get("name")), kind != "constant" and not (kind in _SET and values), values)


def _name(found: re.Match[str]) -> str:
    return found[1] or found[2] or found[3]


class Variables:
    """The variables of a dashboard; `used` is what those that were met have become, None for no filter."""

    def __init__(self, dashboard: Mapping[str, Any]) -> None:
        listed = items(mapping(dashboard.get("templating")).get("list"))
        inputs = {text_of(one.get("name")): text_of(one.get("value")) for one in items(dashboard.get("__inputs"))}
        self._known = {one.name: one.with_inputs(inputs) for one in map(read_variable, listed)}
        start = _SPAN.match(text_of(mapping(dashboard.get("time")).get("from")))
        amount, unit = start.groups() if start else ("1", "h")
        seconds = int(amount) * _SECONDS[unit]
        self._spans = {"__range": f"{amount}{unit}", "__range_s": f"{seconds}", "__range_ms": f"{seconds}000"}
        self.used: dict[str, str | None] = {}

    def query(self, text: str) -> Query:
        """A query without its variables, in one line.

        Raises:
            NotTakenError: a variable has no value, or is not known.
        """
        dropped: dict[str, str] = {}
        text = _SPACE.sub(lambda found: found[1] or " ", text).strip()
        for _ in range(_DEPTH):
            text = _OUTSIDE.sub(self._value, text)
        text = _BRACES.sub(lambda found: self._selector(found, dropped), text)
        for _ in range(_DEPTH):
            text = _VARIABLE.sub(lambda found: self._value(found) if _name(found) in self._known else found[0], text)
        for old, new in _RENAMED.items():
            text = re.sub(old, new, text)
        fitted = _IN_BRACKETS.sub("[$window]", text)
        if "$__interval" in fitted or (fitted != text and _SUBQUERY.search(text)):
            self.used["__interval"] = "1m"
            return Query(text.replace("$__interval_ms", "60000").replace("$__interval", "1m"), dropped)
        self.used |= {} if fitted == text else {"__rate_interval": "$window"}
        return Query(fitted, dropped)

    def words(self, text: str, filtered: Callable[[str], str]) -> str:
        """A title or a legend; `filtered` says what stands there for a variable that filters, or is not known."""

        def one(found: re.Match[str]) -> str:
            known = self._known.get(_name(found))
            return filtered(_name(found)) if known is None or known.filters else ", ".join(known.values)

        return _VARIABLE.sub(one, text)

    def _selector(self, found: re.Match[str], dropped: dict[str, str]) -> str:
        labels: list[str] = []
        inner = _MATCHER.sub(lambda one: self._matcher(one, dropped, labels), found[1])
        if not labels:
            return f"{{{inner}}}"
        if inner.strip():
            return f"{{{inner.strip().removesuffix(',')}}}"
        metric = re.search(r"([\w:}\]]+)\s*$", found.string[: found.start()])
        return "" if metric and metric[1] not in _NO_METRICS else f'{{{labels[0]}=~".+"}}'

    def _matcher(self, found: re.Match[str], dropped: dict[str, str], labels: list[str]) -> str:
        label, operator, string, end = found.groups()
        names = [_name(one) for one in _VARIABLE.finditer(string)]
        known = [self._known.get(name, Variable(name, True, ())) for name in names]
        if label == "__name__":
            known = [one._replace(filters=not one.values) for one in known]
        filters = [one.name for one in known if one.filters]
        if not known:
            return found[0]
        if filters and label == "__name__":
            raise NotTakenError(f"${filters[0]} stands for names of metrics")
        value = _VARIABLE.sub("\0", string[1:-1])
        self.used |= {one.name: None if one.filters else ", ".join(one.values) for one in known}
        if filters and (operator.startswith("!") or not re.search("[A-Za-z0-9]", value)):
            dropped |= dict.fromkeys(filters, label)
            labels.append(label)
            return ""
        if "~" not in operator and (filters or any(len(one.values) != 1 for one in known)):
            operator, value = f"{operator[0]}~", re.escape(value).replace("\\", "\\\\")
        for one in known:
            several = one.values[0] if len(one.values) == 1 else f"({'|'.join(one.values)})"
            value = value.replace("\0", ".*" if one.filters else several, 1)
        return f"{label}{operator}{string[0]}{value}{string[0]}{end}"

    def _value(self, found: re.Match[str]) -> str:
        """Of a variable that is no filter: its value, or what Grafana puts there itself; a string as it is."""
        if found.lastindex == 4 or _name(found).isdigit():
            return found[0]
        name = _name(found)
        known = self._known.get(name)
        if known is None and (interval := _INTERVAL.fullmatch(name)):
            return f"$__interval{interval[1] or ''}"
        values = [self._spans[name]] if known is None and name in self._spans else known.values if known else []
        around = found.string[: found.start()].rstrip()[-1:] + found.string[found.end() :].lstrip()[:1]
        if not values and around in ("[]", "[:", ":]"):
            self.used[name] = "$window"
            return "$__interval"
        if not values:
            raise NotTakenError(f"the variable ${name} is {'no filter here and has no value' if known else 'unknown'}")
        self.used[name] = value = ",".join(values) if re.search(r":(?:csv|raw)\W", found[0]) else values[0]
        return value

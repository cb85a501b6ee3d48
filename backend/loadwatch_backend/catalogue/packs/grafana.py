"""A pack made of a Grafana dashboard: its panels, queries, units and legends; see docs/guide/packs.md. Pure."""

import functools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import yaml

from loadwatch_backend.catalogue.packs.quality import labels_made, metrics_in
from loadwatch_backend.catalogue.signals.interval import any_tree_of, selectors_of
from loadwatch_backend.catalogue.signals.model import LABEL
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.series.promql.parsing.expression import Binary, Expression, Negation, ValueType
from loadwatch_backend.series.promql.parsing.parse import value_type
from loadwatch_backend.series.store.port import MatchOperator

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
"""Functions that Prometheus 3 has renamed, and those that only VictoriaMetrics has."""
_DEPTH = 5
"""How deep variables may refer to variables."""


class NotTakenError(Exception):
    """Why something of a dashboard has no place in a pack."""


class Variable(NamedTuple):
    name: str
    filters: bool
    values: Sequence[str]

    def with_inputs(self, inputs: Mapping[str, str]) -> "Variable":
        """Fill in the inputs of the dashboard's import; it filters if an input has no value in the file."""
        values = [_VARIABLE.sub(lambda found: inputs.get(_name(found), found[0]), one) for one in self.values]
        kept = [value for one, value in zip(self.values, values, strict=True) if value or not one]
        return self._replace(values=kept, filters=self.filters or len(kept) < len(values))


class Query(NamedTuple):
    """An expression without variables; `dropped` are labels that were matched, by the variable that they had."""

    text: str
    dropped: Mapping[str, str]


def items(value: Any) -> list[dict[str, Any]]:
    return [one for one in cast("list[Any]", value) if isinstance(one, dict)] if isinstance(value, list) else []


def mapping(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""


def read_variable(model: Mapping[str, Any]) -> Variable:
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


_PROMETHEUS = ("prometheus", "victoriametrics", "mimir", "thanos", "cortex")
_OTHERS = ("loki", "cloudwatch", "influx", "elastic", "graphite", "__expr__", "-- dashboard --", "-- grafana --")
_CHANGING = ("calculateField", "groupBy", "filterByValue", "reduce", "histogram", "heatmap", "regression", "smoothing")
_NO_TITLE = ("", "row", "new row", "dashboard row", "row title")
_MOST_ID = 80
_MOST_THERE = 5


@functools.cache
def _units() -> tuple[Mapping[str, tuple[str, str]], Mapping[str, str]]:
    file = Path(__file__).with_name("grafana_units.yml")
    data: dict[str, dict[str, str]] = yaml.safe_load(file.read_text("utf-8"))
    names = data.pop("names")
    return {id: (unit, scale) for unit, ids in data.items() for id, scale in ids.items()}, names


class Imported(NamedTuple):
    text: str
    remarks: Sequence[str]


def slug(text: str, most: int = 60, empty: str = "panel") -> str:
    found = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:most].strip("-")
    return found if found[:1].isalpha() else f"{empty}-{found}".strip("-")


def read_dashboard(model: Any) -> Mapping[str, Any]:
    """The dashboard in what Grafana exports or its API answers.

    Raises:
        ValueError: there is none in it.
    """
    found = mapping(model)
    for key in ("dashboard", "spec"):
        found = mapping(found[key]) if key in found else found
    if "elements" in found and "layout" in found:
        raise ValueError("it has Grafana's schema v2; export it in the classic form (V1)")
    if not items(found.get("panels")) and not items(found.get("rows")):
        raise ValueError("it is no Grafana dashboard with panels")
    return found


class DashboardImport:
    """A dashboard as the pack `name`; `known` are ids of other packs."""

    def __init__(self, dashboard: Mapping[str, Any], name: str, known: Collection[str]) -> None:
        self._dashboard = dashboard
        self._name = name
        self._variables = Variables(dashboard)
        self._ids = set(known)
        self._metrics = Counter[str]()
        self._notes: list[str] = []
        listed = items(mapping(dashboard.get("templating")).get("list")) + items(dashboard.get("__inputs"))
        sources = [one for one in listed if one.get("pluginId") or one.get("type") == "datasource"]
        self._sources = {text_of(one.get("name")): text_of(one.get("pluginId") or one.get("query")) for one in sources}

    def pack(self) -> Imported:
        """Raises: ValueError: no panel can be taken."""
        title = text_of(self._dashboard.get("title")) or self._name
        groups: list[dict[str, Any]] = []
        left: list[str] = []
        promql = taken = 0
        for row, models in self._rows():
            panels: list[dict[str, Any]] = []
            for model in models:
                shown = self._words(text_of(model.get("title")))
                before = promql
                try:
                    whole = self._library(model)
                    targets = self._targets(whole, shown)
                    promql += 1
                    panels.append(self._panel(whole, shown, targets))
                except NotTakenError as error:
                    shown = shown or f"a {text_of(model.get('type'))} panel"
                    left.append(f"not taken: {shown}: {error}" + (" (PromQL)" if promql > before else ""))
            taken += len(panels)
            if panels:
                full = title if row in ("", title) else f"{title}: {row}"
                groups.append({"id": self._id(row or "panels"), "title": full, "panels": panels})
        if not groups:
            raise ValueError("\n  ".join(["no panel can be taken", *left]))
        used = sorted(self._variables.used.items())
        kept = ", ".join(f"${name} = {value or 'empty'}" for name, value in used if value is not None)
        free = ", ".join(f"${name}" for name, value in used if value is None)
        remarks = [f"{taken} of {promql} PromQL panels of the Grafana dashboard {title!r}"]
        remarks += [f"no filter, as with All in Grafana (filter the page by job and instance): {free}"] if free else []
        remarks += [f"set: {kept}"] if kept else []
        remarks += self._notes + left
        there = [one for one, _ in self._metrics.most_common(_MOST_THERE)] or ["up"]
        pack = {"pack": self._name, "title": title, "there_when": there, "groups": groups}
        text = yaml.safe_dump(pack, sort_keys=False, allow_unicode=True, width=100_000)
        comments = ("".join(each if each.isprintable() else " " for each in one) for one in remarks)
        return Imported("".join(f"# {one}\n" for one in comments) + text, remarks)

    # The layout ---------------------------------------------------------------------------------------------------

    def _rows(self) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        for row in items(self._dashboard.get("rows")):
            yield self._row_title(row), items(row.get("panels"))
        top = items(self._dashboard.get("panels"))
        places = [(mapping(one.get("gridPos")).get("y"), mapping(one.get("gridPos")).get("x", 0)) for one in top]
        if all(isinstance(y, int) and isinstance(x, int) for y, x in places):
            top = [one for _, one in sorted(zip(places, top, strict=True), key=lambda pair: pair[0])]
        title, panels = "", list[dict[str, Any]]()
        for model in top:
            if model.get("type") != "row":
                panels.append(model)
                continue
            yield title, panels
            title, panels = self._row_title(model), items(model.get("panels"))
        yield title, panels

    def _row_title(self, row: Mapping[str, Any]) -> str:
        title = self._words(text_of(row.get("title")))
        return "" if title.lower() in _NO_TITLE else title

    def _library(self, model: dict[str, Any]) -> dict[str, Any]:
        library = mapping(model.get("libraryPanel"))
        if not library:
            return model
        elements = mapping(self._dashboard.get("__elements"))
        element = mapping(elements.get(text_of(library.get("uid")))) or library
        found = mapping(element.get("model"))
        if not found and not items(model.get("targets")):
            raise NotTakenError(f"the library panel {text_of(library.get('name'))!r} is not in the file")
        return {**found, **model}

    # A panel ------------------------------------------------------------------------------------------------------

    def _targets(self, model: Mapping[str, Any], title: str) -> list[dict[str, Any]]:
        """Its queries in PromQL that are shown.

        Raises:
            NotTakenError: it has none.
        """
        targets = items(model.get("targets"))
        if not targets:
            raise NotTakenError(f"no query ({text_of(model.get('type')) or 'no type'})")
        own = self._source(model.get("datasource"))
        sources = [self._source(one.get("datasource")) or own for one in targets]
        ours = [
            one
            for one, source in zip(targets, sources, strict=True)
            if source in ("", "prometheus") and text_of(one.get("expr")).strip()
        ]
        others = ", ".join(sorted(set(sources) - {"", "prometheus"}))
        if not ours:
            raise NotTakenError(f"another data source: {others}" if others else "no query in PromQL")
        shown = [one for one in ours if not one.get("hide")] or (ours if "__expr__" in others else [])
        if not shown:
            raise NotTakenError("all its queries in PromQL are hidden")
        if others:
            self._notes.append(f"changed: {title}: without its queries of another data source: {others}")
        return shown

    def _source(self, value: Any) -> str:
        kind = text_of(mapping(value).get("type"))
        name = text_of(value) or text_of(mapping(value).get("uid"))
        if kind in ("", "datasource") or kind.startswith("$"):
            told = next((one for one in (*_PROMETHEUS, *_OTHERS) if one in name.lower()), "")
            kind = self._sources.get(name.strip("${}[]")) or told
        return "prometheus" if any(one in kind.lower() for one in _PROMETHEUS) and "logs" not in kind else kind

    def _panel(self, model: Mapping[str, Any], title: str, targets: Sequence[dict[str, Any]]) -> dict[str, Any]:
        made: dict[tuple[str, str, str], tuple[dict[str, Any], Query, Expression]] = {}
        faults: list[str] = []
        names: set[str] = set()
        for target in targets:
            try:
                query = self._variables.query(text_of(target.get("expr")))
                tree = _tree(query.text)
            except NotTakenError as error:
                faults.append(str(error))
                continue
            unit, scale, name = _unit_of(_unit_id(model, target))
            names.add(name)
            text = query.text
            if scale:
                text = f"({text}) {scale}" if isinstance(tree, Binary | Negation) else f"{text} {scale}"
            legend = self._legend(text_of(target.get("legendFormat")), query, tree)
            own = title or _readable(query.text)
            if len(targets) > 1:
                named = self._words(_overridden(model, target, "displayName") or _column(model, target))
                named = named or _tidy(LABEL.sub(" ", legend)) or _readable(query.text)
                own = named or text_of(target.get("refId")) or own
                legend = " ".join(one[0] for one in LABEL.finditer(legend))
            signal = {"id": "", "title": own, "unit": unit, "expr": text, "legend": legend}
            made.setdefault((own, text, legend), (signal, query, tree))
            self._metrics.update(sorted(metrics_in(query.text)))
        fault = "; ".join(dict.fromkeys(faults))
        if not made:
            raise NotTakenError(fault)
        title = title or next(iter(made.values()))[0]["title"]
        panel_id = self._id(title)
        for signal, _, _ in made.values():
            more = "" if len(made) == 1 else f"-{slug(signal['title'], 40, 'query')}"
            signal["id"] = self._unique(f"{panel_id}{more}".replace("-", "_"))
        changes = [text_of(one.get("id")) for one in items(model.get("transformations")) if not one.get("disabled")]
        self._notes += [f"changed: {title}: without {len(faults)} of its queries: {fault}"] if fault else []
        self._notes += [f"changed: {title}: without the transformation {one}" for one in changes if one in _CHANGING]
        if shift := text_of(model.get("timeShift")):
            self._notes.append(f"changed: {title}: without its time shift of {shift}")
        name = names.pop() if len(names) == 1 else ""
        panel: dict[str, Any] = {"id": panel_id, "title": f"{title} ({name})" if name else title}
        label = _split(text_of(model.get("repeat")), [(query, tree) for _, query, tree in made.values()])
        panel |= {"split": label} if label else {}
        signals = [signal for signal, _, _ in made.values()]
        panel |= {"form": "stacked"} if _stacked(model, signals, label) else {}
        return panel | {"signals": signals}

    def _legend(self, template: str, query: Query, tree: Expression) -> str:
        kept = labels_made(tree)
        text = self._variables.words(
            "" if template == "__auto" else template,
            lambda name: f"{{{{{query.dropped[name]}}}}}" if name in query.dropped else "",
        )
        text = LABEL.sub(lambda found: f"{{{{{found[1]}}}}}" if kept is None or found[1] in kept else "", text)
        more = [*query.dropped.values()]
        if not text:
            more += sorted(kept - {"le"} if kept is not None else _distinguishing_labels(tree))
        more = [one for one in dict.fromkeys(more) if kept is None or one in kept]
        skipped = [*LABEL.findall(text), *(("job",) if "instance" in more else ())]
        return " ".join([*(f"{{{{{one}}}}}" for one in more if one not in skipped), *text.split()])

    def _words(self, text: str) -> str:
        found = self._variables.words(text, lambda _: "")
        return " ".join(text.split()) if found == text else _tidy(found)

    def _id(self, title: str) -> str:
        return self._unique(f"{self._name}-{slug(title, _MOST_ID - 8 - len(self._name))}"[: _MOST_ID - 4])

    def _unique(self, id: str) -> str:
        id = id[: _MOST_ID - 4].rstrip("-_")
        found, number = id, 2
        while found in self._ids:
            found, number = f"{id}-{number}" if "-" in id else f"{id}_{number}", number + 1
        self._ids.add(found)
        return found


def _tree(text: str) -> Expression:
    try:
        tree = any_tree_of(text)
    except ProblemError as error:
        raise NotTakenError(f"no PromQL that is evaluated here: {error.detail}") from None
    if value_type(tree) not in (ValueType.VECTOR, ValueType.SCALAR):
        raise NotTakenError("its query has no value at an instant")
    return tree


def _distinguishing_labels(tree: Expression) -> set[str]:
    matchers = [one for selector in selectors_of(tree) for one in selector.matchers]
    return {"instance"} | {
        one.label for one in matchers if one.operator is not MatchOperator.EQUAL and one.label != "__name__"
    }


def _split(variable: str, made: Sequence[tuple[Query, Expression]]) -> str:
    """The label of the variable that a panel was repeated for, where all its series have it."""
    labels = {query.dropped.get(variable, "") for query, _ in made}
    label = labels.pop() if len(labels) == 1 else ""
    kept = [labels_made(tree) for _, tree in made]
    return label if all(one is None or label in one for one in kept) else ""


def _stacked(model: Mapping[str, Any], signals: Sequence[dict[str, Any]], split: str) -> bool:
    """Whether a panel is a stack, whose signals get layers: not with the same labels in several, or negative values."""
    custom = mapping(mapping(mapping(model.get("fieldConfig")).get("defaults")).get("custom"))
    stacked = model.get("stack") is True or mapping(custom.get("stacking")).get("mode") in ("normal", "percent")
    own = ("job", "instance", split)
    layers = [[label for label in LABEL.findall(one["legend"]) if label not in own] for one in signals]
    negative = any(one["expr"].lstrip("( ").startswith("-") for one in signals)
    if not stacked or negative or (len(signals) > 1 and any(layers)):
        return False
    for one, labels in zip(signals, layers, strict=True):
        one |= {"layers": labels, "total": "mean" if one["unit"] == "ratio" else "sum"}
    return True


def _unit_of(id: str) -> tuple[str, str, str]:
    known, names = _units()
    if id in known:
        return *known[id], ""
    return "count", "", names.get(id, re.sub(r"^(?:suffix|prefix|currency|count|si:.?|time):?", "", id))


def _unit_id(model: Mapping[str, Any], target: Mapping[str, Any]) -> str:
    """Grafana's unit for one query of a panel, from where its several versions keep it."""
    if unit := _overridden(model, target, "unit"):
        return unit
    ref, legend = text_of(target.get("refId")), text_of(target.get("legendFormat"))
    axes = [text_of(one.get("format")) for one in items(model.get("yaxes"))] or model.get("y_formats") or []
    for one in items(model.get("seriesOverrides")):
        alias = text_of(one.get("alias"))
        if one.get("yaxis") == 2 and len(axes) > 1 and (alias == legend or _meets(alias, legend)):
            return axes[1]
    styles = {text_of(one.get("pattern")): text_of(one.get("unit")) for one in items(model.get("styles"))}
    older = mapping(mapping(mapping(model.get("options")).get("fieldOptions")).get("defaults"))
    defaults = mapping(mapping(model.get("fieldConfig")).get("defaults"))
    found = (defaults.get("unit"), older.get("unit"), *axes[:1], model.get("format"))
    return next((text_of(one) for one in (*found, styles.get(f"Value #{ref}"), styles.get("Value")) if one), "")


def _overridden(model: Mapping[str, Any], target: Mapping[str, Any], key: str) -> str:
    ref, legend = text_of(target.get("refId")), text_of(target.get("legendFormat"))
    for one in items(mapping(model.get("fieldConfig")).get("overrides")):
        matcher = mapping(one.get("matcher"))
        option = text_of(matcher.get("options"))
        met = {
            "byFrameRefID": option == ref,
            "byName": option in (legend, f"Value #{ref}", _column(model, target)) and bool(option),
            "byRegexp": _meets(option, legend),
        }
        values = [text_of(each.get("value")) for each in items(one.get("properties")) if each.get("id") == key]
        if values and met.get(text_of(matcher.get("id"))):
            return values[0]
    return ""


def _column(model: Mapping[str, Any], target: Mapping[str, Any]) -> str:
    value = f"Value #{text_of(target.get('refId'))}"
    options = [mapping(one.get("options")) for one in items(model.get("transformations"))]
    renamed = [mapping(one.get("renameByName")).get(value) for one in options]
    styled = [one.get("alias") for one in items(model.get("styles")) if one.get("pattern") == value]
    return next((text_of(one) for one in (*renamed, *styled) if one), "")


def _meets(pattern: str, text: str) -> bool:
    found = re.fullmatch(r"/(.*)/[gimsuy]*", pattern)
    try:
        return bool(found and text and re.search(found[1], text))
    except re.error:
        return False


def _tidy(text: str) -> str:
    """Remove the punctuation and prepositions left around a word that was taken away."""
    text = re.sub(r"\(\s*\)|\[\s*\]|\{\s*\}", " ", " ".join(text.split()))
    text = re.sub(r"^[\s\-–:,;|/=.]+|[\s\-–:,;|/=]+$", "", text)
    text = re.sub(r"\s+(?:for|on|of|in|by|at|from|per)$", "", text)
    return " ".join(text.split())


def _readable(expression: str) -> str:
    name = min(metrics_in(expression), key=expression.find, default="")
    return re.sub(r"[_:]+", " ", name.removesuffix("_total")).strip().capitalize()

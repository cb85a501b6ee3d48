"""A test file's text to what it says, or to all that is wrong with it (cmd/promtool/unittest.go)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from typing import TypeVar

import yaml
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.series.promql.parsing.expression import Expression
from loadwatch_backend.series.promql.parsing.parse import parse_expression
from loadwatch_backend.series.promql.parsing.series_notation import parse_labels, parse_values
from loadwatch_backend.series.store.port import Labels
from loadwatch_formats.durations import parse_duration
from loadwatch_formats.times import parse_rfc3339

from backend.tests.rules.promtool_format.yaml_document import (
    Entry,
    Fault,
    Faults,
    items_of,
    mapping_of,
    read_document,
    text_of,
)

DEFAULT_INTERVAL_MS = 60_000
_LATEST_SECONDS = 1e12
"""As in the API: what lies beyond is no time but a slip."""
_FILE_KEYS = ("rule_files", "evaluation_interval", "group_eval_order", "fuzzy_compare", "tests")
_TEST_KEYS = (
    "name",
    "interval",
    "start_timestamp",
    "input_series",
    "alert_rule_test",
    "promql_expr_test",
    "external_labels",
    "external_url",
)
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSeries:
    """One series; a value each interval, None for no sample."""

    labels: Labels
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedAlert:
    """An alert that must fire; `labels` without `alertname`."""

    labels: Labels
    annotations: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertTest:
    """Which alerts of one name fire at a time; line of the file."""

    line: int
    at_ms: int
    name: str
    expected: Sequence[ExpectedAlert]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedSample:
    """A sample that a query must give."""

    labels: Labels
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTest:
    """What a query gives at a time; line of the file."""

    line: int
    at_ms: int
    text: str
    expression: Expression
    expected: Sequence[ExpectedSample]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTest:
    """One test; times count from `start_ms`."""

    line: int
    name: str
    interval_ms: int
    start_ms: int = 0
    series: Sequence[InputSeries] = ()
    alerts: Sequence[AlertTest] = ()
    queries: Sequence[QueryTest] = ()
    external_labels: Labels = field(default_factory=dict[str, str])
    external_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTestFile:
    """A test file; worth something only without faults. `rule_files` as written."""

    rule_files: Sequence[tuple[str, int]]
    interval_ms: int
    group_order: Sequence[str]
    tests: Sequence[RuleTest]
    faults: Sequence[Fault]


def read_test_file(content: bytes) -> RuleTestFile:
    """What a test file says."""
    return _Reader().read(content)


class _Reader:
    def __init__(self) -> None:
        self._faults = Faults()
        self._interval_ms = DEFAULT_INTERVAL_MS

    def read(self, content: bytes) -> RuleTestFile:
        root = read_document(content, self._faults)
        entries = dict[str, Entry]()
        if root is not None:
            entries.update(mapping_of(root, "a test file", self._faults, _FILE_KEYS))
        self._interval_ms = self._duration(entries, "evaluation_interval") or DEFAULT_INTERVAL_MS
        order = [self._text_of(node, "a group") for node in self._items(entries, "group_eval_order")]
        if len(set(order)) < len(order):
            self._faults.add(entries["group_eval_order"].value, "a group stands twice in `group_eval_order`")
        files = [
            (self._text_of(node, "a rule file"), node.start_mark.line + 1)
            for node in self._items(entries, "rule_files")
        ]
        tests = [self._test(place, node) for place, node in enumerate(self._items(entries, "tests"))]
        return RuleTestFile(
            rule_files=files,
            interval_ms=self._interval_ms,
            group_order=order,
            tests=tests,
            faults=sorted(self._faults.found),
        )

    def _test(self, place: int, node: yaml.Node) -> RuleTest:
        entries = mapping_of(node, "a test", self._faults, _TEST_KEYS)
        return RuleTest(
            line=node.start_mark.line + 1,
            name=self._text(entries, "name") or f"test {place + 1}",
            interval_ms=self._duration(entries, "interval") or self._interval_ms,
            start_ms=self._parsed(entries, "start_timestamp", _parse_time, 0),
            series=[self._series(one) for one in self._items(entries, "input_series")],
            alerts=[self._alert_test(one) for one in self._items(entries, "alert_rule_test")],
            queries=[made for one in self._items(entries, "promql_expr_test") if (made := self._query_test(one))],
            external_labels=self._strings(entries, "external_labels"),
            external_url=self._text(entries, "external_url"),
        )

    def _series(self, node: yaml.Node) -> InputSeries:
        entries = mapping_of(node, "an input series", self._faults, ("series", "values"))
        for key in ("series", "values"):
            if key not in entries:
                self._faults.add(node, f"an input series needs `{key}`")
        labels = self._parsed(entries, "series", parse_labels, dict[str, str]())
        return InputSeries(
            labels=labels,
            values=self._parsed(entries, "values", parse_values, list[float | None]()),
        )

    def _alert_test(self, node: yaml.Node) -> AlertTest:
        entries = mapping_of(node, "an alert test", self._faults, ("eval_time", "alertname", "exp_alerts"))
        name = self._text(entries, "alertname")
        if not name:
            self._faults.add(node, "an alert test needs `alertname`")
        expected: list[ExpectedAlert] = []
        for one in self._items(entries, "exp_alerts"):
            parts = mapping_of(one, "an expected alert", self._faults, ("exp_labels", "exp_annotations"))
            expected.append(
                ExpectedAlert(
                    labels=self._strings(parts, "exp_labels"), annotations=self._strings(parts, "exp_annotations")
                )
            )
        return AlertTest(
            line=node.start_mark.line + 1, at_ms=self._duration(entries, "eval_time"), name=name, expected=expected
        )

    def _query_test(self, node: yaml.Node) -> QueryTest | None:
        entries = mapping_of(node, "a query test", self._faults, ("expr", "eval_time", "exp_samples"))
        expected: list[ExpectedSample] = []
        for one in self._items(entries, "exp_samples"):
            parts = mapping_of(one, "an expected sample", self._faults, ("labels", "value", "histogram"))
            if "histogram" in parts:
                self._faults.add(parts["histogram"].key, "native histograms are not supported")
            expected.append(
                ExpectedSample(
                    labels=self._parsed(parts, "labels", parse_labels, dict[str, str]()),
                    value=self._parsed(parts, "value", _parse_number, 0.0),
                )
            )
        text = self._text(entries, "expr")
        if not text:
            self._faults.add(node, "a query test needs `expr`")
            return None
        expression = self._parsed(entries, "expr", _parse_query, None)
        if expression is None:
            return None
        return QueryTest(
            line=node.start_mark.line + 1,
            at_ms=self._duration(entries, "eval_time"),
            text=text,
            expression=expression,
            expected=expected,
        )

    # Parts ------------------------------------------------------------------------------------------------------------

    def _items(self, entries: Mapping[str, Entry], key: str) -> Sequence[yaml.Node]:
        return items_of(entries[key].value, f"`{key}`", self._faults) if key in entries else ()

    def _text_of(self, node: yaml.Node, what: str) -> str:
        return text_of(node, what, self._faults) or ""

    def _text(self, entries: Mapping[str, Entry], key: str) -> str:
        return self._text_of(entries[key].value, f"`{key}`") if key in entries else ""

    def _strings(self, entries: Mapping[str, Entry], key: str) -> dict[str, str]:
        if key not in entries:
            return {}
        found = mapping_of(entries[key].value, f"`{key}`", self._faults)
        return {name: self._text_of(entry.value, f"`{name}`") for name, entry in found.items()}

    def _duration(self, entries: Mapping[str, Entry], key: str) -> int:
        return self._parsed(entries, key, parse_duration, 0)

    def _parsed(self, entries: Mapping[str, Entry], key: str, parse: Callable[[str], _Made], otherwise: _Made) -> _Made:
        text = self._text(entries, key)
        if not text:
            return otherwise
        try:
            return parse(text)
        except ValueError as error:
            self._faults.add(entries[key].value, f"`{key}`: {error}")
            return otherwise


def _parse_number(text: str) -> float:
    try:
        return float(text.replace("_", ""))
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None


def _parse_query(text: str) -> Expression | None:
    try:
        return parse_expression(text)
    except ProblemError as error:
        raise ValueError(error.detail) from error


def _parse_time(text: str) -> int:
    try:
        seconds = float(text)
    except ValueError:
        return _parse_date(text)
    if not abs(seconds) < _LATEST_SECONDS:
        raise ValueError(f"{text!r} is no time: seconds since 1970 have at most 12 digits")
    return round(seconds * 1000)


def _parse_date(text: str) -> int:
    try:
        return (parse_rfc3339(text, UTC) + 500_000) // 1_000_000
    except ValueError:
        raise ValueError(f"{text!r} is no time: write 2026-01-31T12:00:00Z, or seconds since 1970") from None

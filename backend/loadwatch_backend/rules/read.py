"""A rule file's text to groups of rules, or to all that is wrong with it.

Source of the format: model/rulefmt/rulefmt.go of Prometheus. Ours are the annotations `loadwatch_*` (see `model`).
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import yaml
from loadwatch_formats.durations import parse_duration
from loadwatch_formats.yaml_nodes import is_null

from loadwatch_backend.kit.errors import ProblemError
from loadwatch_backend.promql.parsing.expression import Expression, ValueType
from loadwatch_backend.promql.parsing.parse import parse_expression, value_type
from loadwatch_backend.rules.model import (
    NO_DATA_ANNOTATION,
    OWN_ANNOTATIONS,
    SIGNAL_ANNOTATION,
    UNIT_ANNOTATION,
    NoDataPolicy,
    Rule,
    RuleGroup,
    RuleKind,
)
from loadwatch_backend.rules.template import TemplateError, check_template
from loadwatch_backend.rules.yaml_document import (
    Entry,
    Fault,
    Faults,
    integer_of,
    items_of,
    mapping_of,
    read_document,
    text_of,
)

_FILE_KEYS = ("groups",)
_GROUP_KEYS = ("name", "interval", "query_offset", "limit", "labels", "rules")
_RULE_KEYS = ("record", "alert", "expr", "for", "keep_firing_for", "labels", "annotations")
_ALERTING_ONLY = ("for", "keep_firing_for", "annotations")
_POLICIES = ", ".join(policy.value for policy in NoDataPolicy)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A rule that cannot be read; `name` is empty where it has none that can."""

    group: str
    name: str
    faults: Sequence[Fault]


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What a file says. Its groups are worth something only without faults; they are without the rules left out."""

    groups: Sequence[RuleGroup]
    faults: Sequence[Fault]
    """Of the file and its groups."""
    left_out: Sequence[LeftOut] = ()
    """Rules that cannot be read, each with all that is wrong with it."""

    @property
    def all_faults(self) -> Sequence[Fault]:
        """Everything that is wrong, in the order of the text."""
        return sorted([*self.faults, *(fault for one in self.left_out for fault in one.faults)])


def read_rules(content: bytes, file: str, default_interval_ms: int) -> Read:
    """The groups of a rule file's content; `file` is kept as their origin, and its last part goes into rules' ids."""
    return _Reader(file, default_interval_ms).read(content)


class _Reader:
    def __init__(self, file: str, default_interval_ms: int) -> None:
        self._file = file
        self._interval_ms = default_interval_ms
        self._faults = Faults()
        self._left_out: list[LeftOut] = []
        self._ids: set[str] = set()

    def read(self, content: bytes) -> Read:
        root = read_document(content, self._faults)
        groups: list[RuleGroup] = []
        if root is not None:
            entries = mapping_of(root, "a rule file", self._faults, _FILE_KEYS)
            names: set[str] = set()
            if "groups" in entries:
                for node in items_of(entries["groups"].value, "`groups`", self._faults):
                    groups.append(self._group(node, names))
        return Read(groups=groups, faults=sorted(self._faults.found), left_out=self._left_out)

    def _group(self, node: yaml.Node, names: set[str]) -> RuleGroup:
        entries = mapping_of(node, "a group", self._faults, _GROUP_KEYS)
        name = self._text(entries, "name") or ""
        if not name:
            self._faults.add(entries["name"].value if "name" in entries else node, "a group needs a `name`")
        elif name in names:
            self._faults.add(entries["name"].value, f"the group {name!r} stands twice in this file")
        names.add(name)
        labels = self._labels(entries, f"group {name!r}")
        limit = 0
        if "limit" in entries:
            limit = integer_of(entries["limit"].value, "`limit`", self._faults) or 0
        group = RuleGroup(
            name=name,
            file=self._file,
            interval_ms=self._duration(entries, "interval") or self._interval_ms,
            rules=(),
            limit=limit,
            query_offset_ms=self._duration(entries, "query_offset"),
            labels=labels,
        )
        nodes = items_of(entries["rules"].value, "`rules`", self._faults) if "rules" in entries else ()
        rules = [rule for one in nodes if (rule := self._rule_or_none(one, group)) is not None]
        return replace(group, rules=rules)

    def _rule_or_none(self, node: yaml.Node, group: RuleGroup) -> Rule | None:
        """A rule; none when anything is wrong with it, which then is no fault of its file."""
        faults_of_file, self._faults = self._faults, Faults()
        entries = mapping_of(node, "a rule", self._faults, _RULE_KEYS)
        kind, name = RuleKind.ALERTING, ""
        rule = None
        if entries:
            kind, name = self._name(node, entries)
            rule = self._rule(node, entries, kind, name, group)
        else:
            self._faults.add(node, "a rule needs `alert` or `record`, and `expr`")
        faults, self._faults = sorted(self._faults.found), faults_of_file
        if not faults:
            return rule
        self._left_out.append(LeftOut(group=group.name, name=name, faults=faults))
        return None

    def _rule(
        self, node: yaml.Node, entries: Mapping[str, Entry], kind: RuleKind, name: str, group: RuleGroup
    ) -> Rule | None:
        expression, parsed = self._expression(node, entries)
        if kind is RuleKind.RECORDING:
            for key in _ALERTING_ONLY:
                if key in entries:
                    self._faults.add(entries[key].key, f"a recording rule has no `{key}`; only alerting rules do")
        own = self._labels(entries, f"rule {name!r}")
        annotations = self._annotations(entries)
        for_ms, keep_ms = self._duration(entries, "for"), self._duration(entries, "keep_firing_for")
        if kind is RuleKind.ALERTING:
            self._check_templates(entries)
        if parsed is None:
            return None
        labels = {**group.labels, **own}
        return Rule(
            id=self._id(group.name, kind, name, expression, labels),
            kind=kind,
            name=name,
            expression=expression,
            parsed=parsed,
            line=node.start_mark.line + 1,
            labels=labels,
            annotations={key: text for key, text in annotations.items() if key not in OWN_ANNOTATIONS},
            for_ms=for_ms,
            keep_firing_for_ms=keep_ms,
            no_data=self._policy(entries, annotations),
            unit=annotations.get(UNIT_ANNOTATION, ""),
            signal=annotations.get(SIGNAL_ANNOTATION, ""),
            limit=group.limit,
            query_offset_ms=group.query_offset_ms,
        )

    def _name(self, node: yaml.Node, entries: Mapping[str, Entry]) -> tuple[RuleKind, str]:
        record, alert = self._text(entries, "record") or "", self._text(entries, "alert") or ""
        if record and alert:
            self._faults.add(entries["record"].key, "a rule has either `alert` or `record`, not both")
        elif not record and not alert:
            self._faults.add(node, "a rule needs the key `alert` or `record` with a name")
        return (RuleKind.RECORDING, record) if record else (RuleKind.ALERTING, alert)

    def _expression(self, node: yaml.Node, entries: Mapping[str, Entry]) -> tuple[str, Expression | None]:
        text = self._text(entries, "expr")
        if text is None and "expr" in entries:
            return "", None
        if not text:
            self._faults.add(entries["expr"].value if "expr" in entries else node, "a rule needs an expression: `expr`")
            return "", None
        try:
            parsed = parse_expression(text)
            kind = value_type(parsed)
        except ProblemError as error:
            self._faults.add(entries["expr"].value, error.detail)
            return text, None
        if kind not in (ValueType.VECTOR, ValueType.SCALAR):
            self._faults.add(
                entries["expr"].value, f"the expression gives a {kind.value}; a rule needs a vector or a scalar"
            )
            return text, None
        return text.strip(), parsed

    def _labels(self, entries: Mapping[str, Entry], what: str) -> dict[str, str]:
        labels: dict[str, str] = {}
        for name, entry in self._strings(entries, "labels").items():
            if name in ("", "__name__"):
                self._faults.add(entry.key, f"{name!r} is no name of a label of {what}")
            labels[name] = text_of(entry.value, "a label", self._faults) or ""
        return labels

    def _annotations(self, entries: Mapping[str, Entry]) -> dict[str, str]:
        annotations: dict[str, str] = {}
        for name, entry in self._strings(entries, "annotations").items():
            if not name:
                self._faults.add(entry.key, "an annotation has no name")
            annotations[name] = text_of(entry.value, "an annotation", self._faults) or ""
        return annotations

    def _policy(self, entries: Mapping[str, Entry], annotations: Mapping[str, str]) -> NoDataPolicy:
        text = annotations.get(NO_DATA_ANNOTATION)
        if text is None:
            return NoDataPolicy.KEEP
        try:
            return NoDataPolicy(text)
        except ValueError:
            node = self._strings(entries, "annotations")[NO_DATA_ANNOTATION].value
            self._faults.add(node, f"{NO_DATA_ANNOTATION} is {text!r}; it may be {_POLICIES}")
            return NoDataPolicy.KEEP

    def _check_templates(self, entries: Mapping[str, Entry]) -> None:
        for part in ("labels", "annotations"):
            for name, entry in self._strings(entries, part).items():
                if isinstance(entry.value, yaml.ScalarNode):
                    try:
                        check_template(entry.value.value)
                    except TemplateError as error:
                        self._faults.add(entry.value, f"the template of {part[:-1]} {name!r}: {error}")

    def _strings(self, entries: Mapping[str, Entry], key: str) -> Mapping[str, Entry]:
        # Read more than once: only the first reading may tell of faults.
        if key not in entries:
            return {}
        known = len(self._faults.found)
        found = mapping_of(entries[key].value, f"`{key}`", self._faults)
        fresh = self._faults.found[known:]
        del self._faults.found[known:]
        self._faults.found.extend(fault for fault in fresh if fault not in self._faults.found)
        return found

    def _text(self, entries: Mapping[str, Entry], key: str) -> str | None:
        return text_of(entries[key].value, f"`{key}`", self._faults) if key in entries else None

    def _duration(self, entries: Mapping[str, Entry], key: str) -> int:
        return self._parsed(entries, key, parse_duration)

    def _parsed(self, entries: Mapping[str, Entry], key: str, parse: Callable[[str], int]) -> int:
        text = self._text(entries, key)
        if text is None or (not text and is_null(entries[key].value)):
            return 0
        try:
            return parse(text)
        except ValueError as error:
            self._faults.add(entries[key].value, f"`{key}`: {error}")
            return 0

    def _id(self, group: str, kind: RuleKind, name: str, expression: str, labels: Mapping[str, str]) -> str:
        """Alike rules of one file are told apart by their order."""
        parts: list[object] = [
            self._file.rsplit("/", 1)[-1],
            group,
            kind.value,
            name,
            expression,
            sorted(labels.items()),
        ]
        count = 0
        while (made := _digest([*parts, count] if count else parts)) in self._ids:
            count += 1
        self._ids.add(made)
        return made


def _digest(parts: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:16]

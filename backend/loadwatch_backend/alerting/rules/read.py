"""A rule file's text to groups of rules, or to all that is wrong with it.

Source of the format: model/rulefmt/rulefmt.go of Prometheus. Ours are the annotations `loadwatch_*` (see `model`).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from loadwatch_formats.durations import parse_duration
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, InstanceOf

from loadwatch_backend.alerting.rules.model import (
    CAUSE_ANNOTATION,
    FINDING_ANNOTATION,
    NO_DATA_ANNOTATION,
    OWN_ANNOTATIONS,
    SIGNAL_ANNOTATION,
    UNIT_ANNOTATION,
    NoDataPolicy,
    Rule,
    RuleGroup,
    RuleKind,
)
from loadwatch_backend.alerting.rules.template import TemplateError, check_template
from loadwatch_backend.catalogue.packs.typed_yaml import Document, Fault, FaultsError, Loc
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.language import Language, translation_key
from loadwatch_backend.series.promql.parsing.expression import Expression, ValueType
from loadwatch_backend.series.promql.parsing.parse import parse_expression, value_type

_OUR_RUNBOOKS = "{{ $externalURL }}/runbooks/"
_POLICIES = ", ".join(policy.value for policy in NoDataPolicy)


def _duration(value: object) -> int:
    if value is not None and not isinstance(value, str):
        raise ValueError("a duration such as 5m must stand here")
    return parse_duration(value) if value else 0


@dataclass(frozen=True, slots=True)
class _Query:
    text: str
    parsed: Expression


def _query(value: object) -> _Query:
    if not value or not isinstance(value, str):
        raise ValueError("a rule needs an expression: `expr`")
    try:
        parsed = parse_expression(value)
        kind = value_type(parsed)
    except ProblemError as error:
        raise ValueError(error.detail) from error
    if kind not in (ValueType.VECTOR, ValueType.SCALAR):
        raise ValueError(f"the expression gives a {kind.value}; a rule needs a vector or a scalar")
    return _Query(value.strip(), parsed)


Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Texts = Annotated[dict[str, Text], BeforeValidator(lambda value: {} if value is None else value)]
Duration = Annotated[int, BeforeValidator(_duration)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _RuleForm(_Form):
    record: Text = ""
    alert: Text = ""
    expr: Annotated[InstanceOf[_Query], BeforeValidator(_query)]
    for_: Duration = Field(default=0, alias="for")
    keep_firing_for: Duration = 0
    labels: Texts = {}
    annotations: Texts = {}


class _GroupForm(_Form):
    name: Text = ""
    interval: Duration = 0
    query_offset: Duration = 0
    limit: Annotated[int, BeforeValidator(lambda value: 0 if value is None else value)] = 0
    labels: Texts = {}
    rules: list[Any] | None = None


class _FileForm(_Form):
    groups: list[_GroupForm] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A rule that cannot be read; `name` is empty where it has none that can."""

    group: str
    name: str
    faults: Sequence[Fault]


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """The result of reading a rule file. Its groups are valid only where `faults` is empty."""

    groups: Sequence[RuleGroup]
    faults: Sequence[Fault]
    """Faults of the file or its groups, as opposed to those of a single rule."""
    left_out: Sequence[LeftOut] = ()

    @property
    def all_faults(self) -> Sequence[Fault]:
        return sorted([*self.faults, *(fault for one in self.left_out for fault in one.faults)])


def read_rules(content: bytes, file: str, default_interval_ms: int) -> Read:
    """The groups of a rule file's content; `file` is kept as their origin, and its last part goes into rules' ids."""
    return _Reader(file, default_interval_ms).read(content)


class _Reader:
    def __init__(self, file: str, default_interval_ms: int) -> None:
        self._file = file
        self._interval_ms = default_interval_ms
        self._faults: list[Fault] = []
        self._left_out: list[LeftOut] = []
        self._ids: set[str] = set()

    def read(self, content: bytes) -> Read:
        try:
            self._document = Document.read(content, self._file, texts=True)
            forms = self._document.load(_FileForm).groups or []
        except FaultsError as error:
            return Read(groups=(), faults=error.faults)
        names: set[str] = set()
        groups = [self._group(form, ("groups", place), names) for place, form in enumerate(forms)]
        return Read(groups=groups, faults=sorted(self._faults), left_out=self._left_out)

    def _group(self, form: _GroupForm, at: Loc, names: set[str]) -> RuleGroup:
        if not form.name:
            self._fault((*at, "name"), "a group needs a `name`")
        elif form.name in names:
            self._fault((*at, "name"), f"the group {form.name!r} stands twice in this file")
        names.add(form.name)
        self._check_labels(form.labels, at, f"group {form.name!r}")
        group = RuleGroup(
            name=form.name,
            file=self._file,
            interval_ms=form.interval or self._interval_ms,
            rules=(),
            limit=form.limit,
            query_offset_ms=form.query_offset,
            labels=form.labels,
        )
        read = [self._rule_or_none(data, (*at, "rules", place), group) for place, data in enumerate(form.rules or [])]
        return replace(group, rules=[rule for rule in read if rule is not None])

    def _rule_or_none(self, data: Any, at: Loc, group: RuleGroup) -> Rule | None:
        """A rule, or None where it has faults; those are kept as `left_out`, apart from the file's own."""
        faults_of_file, self._faults = self._faults, []
        rule = None
        try:
            rule = self._rule(self._document.typed(_RuleForm, data or {}, at), at, group)
        except FaultsError as error:
            self._faults += error.faults
        faults, self._faults = sorted(self._faults), faults_of_file
        if not faults:
            return rule
        name = next((name for key in ("record", "alert") if (name := self._document.text((*at, key)))), "")
        self._left_out.append(LeftOut(group=group.name, name=name, faults=faults))
        return None

    def _rule(self, form: _RuleForm, at: Loc, group: RuleGroup) -> Rule | None:
        if not form.record and not form.alert:
            return self._fault(at, "a rule needs `alert` or `record` with a name")
        if form.record and form.alert:
            self._fault((*at, "record"), "a rule has either `alert` or `record`, not both", key=True)
        kind, name = (RuleKind.RECORDING, form.record) if form.record else (RuleKind.ALERTING, form.alert)
        self._check_labels(form.labels, at, f"rule {name!r}")
        if "" in form.annotations:
            self._fault((*at, "annotations", ""), "an annotation has no name", key=True)
        if kind is RuleKind.RECORDING:
            for key in sorted({"for_", "keep_firing_for", "annotations"} & form.model_fields_set):
                key = key.strip("_")
                self._fault((*at, key), f"a recording rule has no `{key}`; only alerting rules do", key=True)
        else:
            self._check_templates(form, at)
        policy = form.annotations.get(NO_DATA_ANNOTATION, NoDataPolicy.KEEP)
        if policy not in list(NoDataPolicy):
            return self._fault(
                (*at, "annotations", NO_DATA_ANNOTATION), f"{NO_DATA_ANNOTATION} is {policy!r}; it may be {_POLICIES}"
            )
        annotations, labels = _with_runbooks(form.annotations), {**group.labels, **form.labels}
        return Rule(
            id=self._id(group.name, kind, name, form.expr.text, labels),
            kind=kind,
            name=name,
            expression=form.expr.text,
            parsed=form.expr.parsed,
            line=self._document.fault(at, "").line,
            labels=labels,
            annotations={key: text for key, text in annotations.items() if key not in OWN_ANNOTATIONS},
            for_ms=form.for_,
            keep_firing_for_ms=form.keep_firing_for,
            no_data=NoDataPolicy(policy),
            unit=annotations.get(UNIT_ANNOTATION, ""),
            signal=annotations.get(SIGNAL_ANNOTATION, ""),
            finding=annotations.get(FINDING_ANNOTATION, ""),
            cause=annotations.get(CAUSE_ANNOTATION, ""),
            limit=group.limit,
            query_offset_ms=group.query_offset_ms,
        )

    def _check_labels(self, labels: Mapping[str, str], at: Loc, what: str) -> None:
        for name in {"", "__name__"} & labels.keys():
            self._fault((*at, "labels", name), f"{name!r} is no name of a label of {what}", key=True)

    def _check_templates(self, form: _RuleForm, at: Loc) -> None:
        for part, texts in (("labels", form.labels), ("annotations", form.annotations)):
            for name, text in texts.items():
                try:
                    check_template(text)
                except TemplateError as error:
                    self._fault((*at, part, name), f"the template of {part[:-1]} {name!r}: {error}")

    def _fault(self, at: Loc, text: str, *, key: bool = False) -> None:
        self._faults.append(self._document.fault(at, text, key=key))

    def _id(self, group: str, kind: RuleKind, name: str, expression: str, labels: Mapping[str, str]) -> str:
        """The id of a rule; equal rules of one file are numbered in their order."""
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


def _with_runbooks(annotations: Mapping[str, str]) -> Mapping[str, str]:
    runbook = annotations.get("runbook_url", "")
    if not runbook.startswith(_OUR_RUNBOOKS):
        return annotations
    translated = [language for language in Language if translation_key("summary", language) in annotations]
    made = {translation_key("runbook_url", one): f"{runbook}?lang={one}" for one in translated}
    return {**annotations, **made, **annotations}


def _digest(parts: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:16]

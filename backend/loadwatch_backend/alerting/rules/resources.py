"""Rules of resources whose packs give thresholds, or say nothing of alerts: made as the text of a rule file."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson
from loadwatch_formats.durations import format_duration

from loadwatch_backend.alerting.rules.model import FINDING_ANNOTATION, SIGNAL_ANNOTATION, UNIT_ANNOTATION
from loadwatch_backend.catalogue.packs.library import FILE, Catalogue, shipped_catalogue
from loadwatch_backend.catalogue.signals.interval import WINDOW, any_tree_of
from loadwatch_backend.catalogue.signals.model import AlertOf, Entity, InfoJoin, Pack, Resource, Unit, any_of, is_number
from loadwatch_backend.core.language import Language, translation_key
from loadwatch_backend.core.texts.numbers import share
from loadwatch_backend.core.texts.words import message_of
from loadwatch_backend.series.promql.parsing.expression import (
    Aggregation,
    Binary,
    Call,
    Cardinality,
    Expression,
    Matching,
    Negation,
    Text,
)

LOOK_BACK, LATE_LOOK_BACK = "1m", "15m"
"""In place of `$window`; the second where values come late."""
_NOT_SAID = AlertOf.model_validate({"for": "15s"})
_LEGEND = re.compile(r"\{\{ *(\w+) *\}\}")


def alert_files(catalogue: Catalogue, *, built_in: bool) -> Mapping[str, bytes]:
    """Texts of rule files by pack, as `redis/pack.yml`; `built_in`: with rules of what the shipped packs have."""
    shipped = frozenset[str]() if built_in else frozenset(one.id for one in shipped_catalogue().resources)
    found: dict[str, bytes] = {}
    for pack in catalogue.packs:
        own = [one for resource in pack.resources if resource.id not in shipped for one in resource.each]
        rules = [rule for one in own for rule in _rules(pack, one, catalogue)]
        if rules:
            found[f"{pack.id}/{FILE}"] = orjson.dumps({"groups": [{"name": pack.id, "rules": rules}]})
    return found


def _rules(pack: Pack, resource: Resource, catalogue: Catalogue) -> Iterator[Mapping[str, Any]]:
    alert = resource.alert or _NOT_SAID
    if alert.rule or alert.none or (resource.alert is None and resource.harm == "demand"):
        return
    thresholds = {"warning": alert.warning, "critical": alert.critical}
    if not any(thresholds.values()):
        thresholds = {"warning": resource.near, "critical": resource.full}
    late = resource.cadence or pack.cadence
    window = LATE_LOOK_BACK if late else LOOK_BACK
    ratios = [ratio for one in resource.each for ratio in _ratios(one, window)]
    signal = next((one.id for one in catalogue.signals if one.resource == resource.id and not one.limit), "")
    for severity, threshold in thresholds.items():
        if threshold is not None:
            annotations = {
                **_texts(resource, threshold, alert.for_ms, resource.entity or pack.entity),
                "runbook_url": f"{{{{ $externalURL }}}}/runbooks/{alert.runbook}" if alert.runbook else "",
                FINDING_ANNOTATION: resource.finding_id or "none",
                SIGNAL_ANNOTATION: signal,
                UNIT_ANNOTATION: Unit.RATIO,
            }
            yield {
                "alert": resource.alert_name,
                "expr": any_of([f"{ratio} >= {threshold:g}" for ratio in ratios]),
                "for": format_duration(alert.for_ms),
                "keep_firing_for": format_duration(alert.keep_firing_for_ms),
                "labels": {"severity": severity, "component": pack.id},
                "annotations": {name: text for name, text in annotations.items() if text},
            }


def _texts(resource: Resource, threshold: float, for_ms: int, entity: Entity | None) -> Mapping[str, str]:
    where = _LEGEND.sub(r"{{ $labels.\1 }}", resource.legend)
    where += "".join(_called(one) for one in entity.names) if entity is not None and where else ""
    used = "{{ $value | humanizePercentage }}"
    summary = message_of("rules", "summary" if where else "whole", where=where, thing=resource.title, used=used)
    said = message_of("rules", "description", threshold=share(threshold), held=format_duration(for_ms))
    found: dict[str, str] = {}
    for language in Language:
        description = " ".join(filter(None, (said.read(language), resource.advice.read(language))))
        for name, text in (("summary", summary.read(language)), ("description", description)):
            found[name if language is Language.EN else translation_key(name, language)] = text
    return found


def _called(join: InfoJoin) -> str:
    """A template of a further name of the target; nothing where it has that name already, or none."""
    matchers, values = ",".join(f"{one}=%q" for one in join.on), " ".join(f"$labels.{one}" for one in join.on)
    query = f'printf "last_over_time({join.info}{{{matchers}}}[{LATE_LOOK_BACK}])" {values} | query'
    name = f'{{{{ $name := . | first | label "{join.take[0]}" }}}}'
    shown = "{{ if ne $name $labels.instance }} ({{ $name }}){{ end }}{{ end }}"
    return f"{{{{ with {query} }}}}{name}{shown}"


def _ratios(resource: Resource, window: str) -> Sequence[str]:
    """Used shares of each limit. As on the page, both are joined by the labels that both have; 0 is no limit."""
    used, own = _filled(resource.use, window), _labels_of(resource.use)
    ratios: list[str] = []
    for alternatives in resource.limits.values():
        limit, theirs = _filled(alternatives, window), _labels_of(alternatives)
        if all(is_number(one) for one in alternatives):
            ratios.append(f"({used}) / {limit}")
            continue
        known = own if theirs is None else theirs if own is None else own & theirs
        join = "" if known is None else f" on ({', '.join(sorted(known))}) group_left ()"
        ratios.append(f"({used}) /{join} (({limit}) > 0)")
    return ratios


def _filled(alternatives: Sequence[str], window: str) -> str:
    return any_of(alternatives).replace(WINDOW, window)


def _labels_of(alternatives: Sequence[str]) -> frozenset[str] | None:
    """The labels that all of them give; None where the text does not say it."""
    known, *others = [_labels(any_tree_of(one)) for one in alternatives]
    for one in others:
        known = None if known is None or one is None else known & one
    return known


def _labels(tree: Expression) -> frozenset[str] | None:
    match tree:
        case Aggregation(operator="topk" | "bottomk" | "limitk" | "limit_ratio", expression=inner):
            return _labels(inner)
        case Aggregation(without=False, labels=labels):
            return frozenset(labels)
        case Negation(expression=inner):
            return _labels(inner)
        case Call(function="label_replace" | "label_join", arguments=(inner, Text(added), *_)):
            known = _labels(inner)
            return None if known is None else known | {added}
        case Call(arguments=(inner, *_)):
            return _labels(inner)
        case Binary(operator="or", left=left, right=right):
            one, other = _labels(left), _labels(right)
            return None if one is None or other is None else one & other
        case Binary(matching=Matching(cardinality=Cardinality.ONE_TO_ONE, on=True, labels=labels)):
            return frozenset(labels)
        case Binary(left=left, right=right):
            one, other = _labels(left), _labels(right)
            return other if one is None else one
        case _:
            return None

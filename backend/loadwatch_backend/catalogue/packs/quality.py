"""How good a pack is, by listed rules, and what in it is likely to be a mistake. Pure."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal, NamedTuple, cast

from loadwatch_backend.catalogue.packs.typed_yaml import Document, Fault
from loadwatch_backend.catalogue.signals.interval import any_tree_of, selectors_of
from loadwatch_backend.catalogue.signals.model import LABEL, Pack
from loadwatch_backend.series.promql.parsing.expression import (
    Aggregation,
    Binary,
    Call,
    Cardinality,
    Expression,
    children,
)
from loadwatch_backend.series.promql.parsing.parse import value_type
from loadwatch_backend.series.store.port import MatchOperator

Level = Literal["basic", "complete", "tested"]
LEVELS: tuple[Level, ...] = ("basic", "complete", "tested")
_TEXTS = ("title", "help", "advice")
_SAME_SERIES = ("topk", "bottomk", "limitk", "limit_ratio")


class Contents(NamedTuple):
    alerts: Collection[str] = ()
    runbooks: Collection[str] = ()
    rule_cases: int = 0
    finding_cases: int = 0
    healthy_cases: int = 0


class Requirement(NamedTuple):
    level: Level
    text: str
    met: bool


def requirements(pack: Pack, document: Document, contents: Contents) -> Sequence[Requirement]:
    own_alerts = [one.alert for one in pack.resources if one.alert is not None and not one.alert.none]
    english = {name.removesuffix(".md") for name in contents.runbooks if not name.endswith(".ja.md")}
    japanese = {name.removesuffix(".ja.md") for name in contents.runbooks if name.endswith(".ja.md")}
    named = {one.runbook for one in own_alerts if one.runbook}
    return [
        Requirement("basic", "it loads", True),
        Requirement("complete", "panels", any(panel.signals for group in pack.groups for panel in group.panels)),
        Requirement("complete", "resources", bool(pack.resources)),
        Requirement("complete", "rules or alerts", bool(own_alerts or contents.alerts)),
        Requirement(
            "complete", "runbooks in both languages", bool(english) and english == japanese and named <= english
        ),
        Requirement("complete", "all texts in both languages", not list(english_alone(document))),
        Requirement("tested", "a rule case, where it has rules", bool(contents.rule_cases or not contents.alerts)),
        Requirement("tested", "a case that expects a finding", contents.finding_cases > 0),
        Requirement("tested", "a healthy case", contents.healthy_cases > 0),
    ]


def level_of(found: Sequence[Requirement]) -> Level:
    """The highest level of which, and of all below it, each rule is met."""
    reached: Level = "basic"
    for level in LEVELS:
        if not all(one.met for one in found if one.level == level):
            break
        reached = level
    return reached


def claim_fault(pack: Pack, document: Document, found: Sequence[Requirement]) -> Fault | None:
    reached = level_of(found)
    if pack.level is None or LEVELS.index(pack.level) <= LEVELS.index(reached):
        return None
    claimed = LEVELS[: LEVELS.index(pack.level) + 1]
    missing = ", ".join(one.text for one in found if one.level in claimed and not one.met)
    return document.fault(("level",), f"the pack claims {pack.level} and is {reached}; missing: {missing}")


def english_alone(document: Document) -> Iterator[Fault]:
    """Texts without Japanese; a single word may be a name, which is the same in both."""

    def walk(value: Any, loc: tuple[str | int, ...]) -> Iterator[Fault]:
        items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportUnknownArgumentType] - of YAML
        for key, inner in cast("Sequence[tuple[str | int, Any]]", items):
            if key in _TEXTS:
                if " " in inner.strip() if isinstance(inner, str) else "ja" not in (inner or ()):
                    yield document.fault((*loc, key), "the text has no Japanese: write {en: …, ja: …}")
            elif key != "metrics":
                yield from walk(inner, (*loc, key))

    return walk(document.data, ())


def warnings(pack: Pack, document: Document, finding_ids: Collection[str], kinds: Collection[str]) -> Iterator[Fault]:
    """What loads and is likely to be a mistake: causes that nobody has, and legends with labels that no series has.

    `finding_ids` are those of all detectors and resources, `kinds` those of all resources.
    """
    for loc, signal in pack.signals():
        made = frozenset(signal.facts.take) if signal.facts is not None else frozenset[str]()
        yield from _legend_warnings(document, (*loc, "legend"), signal.legend, [signal.alternatives], made)
    for r, resource in enumerate(pack.resources):
        used = [one.use for one in resource.each]
        yield from _legend_warnings(document, ("resources", r, "legend"), resource.legend, used, frozenset())
        for d, demand in enumerate(resource.demands):
            if r"\d" in demand.log:
                at = ("resources", r, "demand", d, "log")
                yield document.fault(at, r"numbers of a line are <num> where this is looked for: write \S+ for \d+")
        for c, cause in enumerate(resource.causes):
            known = kinds if cause.startswith("kind:") else finding_ids
            if cause.removeprefix("kind:") not in known:
                yield document.fault(("resources", r, "causes", c), f"no detector and no resource has {cause!r}")


def _legend_warnings(
    document: Document, loc: Sequence[str | int], legend: str, used: Sequence[Sequence[str]], more: frozenset[str]
) -> Iterator[Fault]:
    made = [labels_made(any_tree_of(text)) for texts in used for text in texts]
    if any(one is None for one in made):
        return
    known = more.union(*(one for one in made if one is not None))
    for name in dict.fromkeys(LABEL.findall(legend)):
        if name not in known:
            has = ", ".join(sorted(known)) or "none"
            yield document.fault(loc, f"no series has the label {name!r} of the legend; the expression keeps {has}")


def never_sent(pack: Pack, document: Document, seen: Collection[str]) -> Iterator[Fault]:
    """Signals and resources none of whose alternatives can have samples, by the names of metrics that were seen."""
    if not set(pack.there_when) & set(seen):
        yield document.fault(("there_when",), "none of these metrics was seen: the pack is not shown")
        return
    places = [((*loc, "expr"), signal.alternatives) for loc, signal in pack.signals()]
    for r, resource in enumerate(pack.resources):
        places += [(("resources", r), [text for one in resource.each for text in one.use])]
    for loc, alternatives in places:
        missing = [sorted(metrics_in(text) - set(seen)) for text in alternatives]
        if all(missing):
            yield document.fault(
                loc, f"never seen: {', '.join(dict.fromkeys(one for each in missing for one in each))}"
            )


def metrics_in(text: str) -> set[str]:
    return {
        one.value
        for selector in selectors_of(any_tree_of(text))
        for one in selector.matchers
        if one.label == "__name__" and one.operator is MatchOperator.EQUAL
    }


def labels_made(node: Expression) -> frozenset[str] | None:
    """Labels that series of an expression may have; None where that depends on the data."""
    match node:
        case Aggregation(operator="count_values"):
            return None
        case Aggregation(operator=operator, labels=labels, without=without) if operator not in _SAME_SERIES:
            kept = labels_made(node.expression)
            if without:
                return None if kept is None else kept - set(labels)
            return frozenset(labels) if kept is None else kept & set(labels)
        case Binary(operator="or"):
            left, right = labels_made(node.left), labels_made(node.right)
            return None if left is None or right is None else left | right
        case Binary(matching=matching):
            many, one = (node.left, node.right)
            if matching.cardinality is Cardinality.ONE_TO_MANY or not _is_vector(many):
                many, one = one, many
            kept = labels_made(many)
            if matching.cardinality is Cardinality.ONE_TO_ONE and _is_vector(one) and kept is not None:
                kept = kept & set(matching.labels) if matching.on else kept - set(matching.labels)
            return None if kept is None else kept | set(matching.include)
        case Call(function="label_replace" | "label_join" | "absent" | "absent_over_time" | "info"):
            return None
        case Call(function="histogram_quantile", arguments=(_, inner)):
            kept = labels_made(inner)
            return None if kept is None else kept - {"le"}
        case Call(function="vector" | "scalar" | "time"):
            return frozenset()
        case _:
            inner = [one for one in children(node) if _is_vector(one)]
            return labels_made(inner[-1]) if inner else None


def _is_vector(node: Expression) -> bool:
    return value_type(node) in ("vector", "matrix")

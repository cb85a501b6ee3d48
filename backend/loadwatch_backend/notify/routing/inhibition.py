"""Inhibition as Alertmanager's inhibit/inhibit.go: alerts that fire hold others that they explain."""

from collections.abc import Mapping, Sequence

from loadwatch_backend.notify.file.matchers import all_match
from loadwatch_backend.notify.file.model import InhibitRule
from loadwatch_backend.store.port import Labels

MOST_NAMED = 20


class Inhibitor:
    """Rules over the alerts that fire at one moment."""

    def __init__(self, rules: Sequence[InhibitRule], firing: Mapping[str, Labels]) -> None:
        self._rules = [_Sources(rule, firing) for rule in rules]

    def inhibitors(self, key: str, labels: Labels) -> tuple[str, ...]:
        """Keys of alerts that hold this one, at most 20; none when nothing does."""
        found: dict[str, None] = {}
        for rule in self._rules:
            for source in rule.of(key, labels):
                found[source] = None
                if len(found) >= MOST_NAMED:
                    return tuple(found)
        return tuple(found)


class _Sources:
    """One rule's source alerts, by their values of the labels that must agree."""

    def __init__(self, rule: InhibitRule, firing: Mapping[str, Labels]) -> None:
        self._rule = rule
        self._all: dict[tuple[str, ...], list[str]] = {}
        self._one_sided: dict[tuple[str, ...], list[str]] = {}
        for key, labels in firing.items():
            if all_match(rule.source, labels):
                values = self._values(labels)
                self._all.setdefault(values, []).append(key)
                if not all_match(rule.target, labels):
                    self._one_sided.setdefault(values, []).append(key)

    def of(self, key: str, labels: Labels) -> list[str]:
        """Sources for an alert.

        An alert that is itself a source is held only by those that are no target, or two would hold each other.
        """
        if not self._all or not all_match(self._rule.target, labels):
            return []
        sources = self._one_sided if all_match(self._rule.source, labels) else self._all
        return [one for one in sources.get(self._values(labels), ()) if one != key]

    def _values(self, labels: Labels) -> tuple[str, ...]:
        return tuple(labels.get(name, "") for name in self._rule.equal)

"""Inhibition as Alertmanager's inhibit/inhibit.go: alerts that fire hold others that they explain.

By a rule that is built in, only from receivers that they go to themselves: whoever is kept from one gets the other.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from loadwatch_backend.alerting.notify.file.matchers import all_match
from loadwatch_backend.alerting.notify.file.model import InhibitRule
from loadwatch_backend.series.store.port import Labels

MOST_NAMED = 20


class Inhibitor:
    """Rules over the alerts that fire at one moment."""

    def __init__(
        self, rules: Sequence[InhibitRule], firing: Mapping[str, Labels], receivers: Callable[[Labels], Collection[str]]
    ) -> None:
        """`receivers` are those that an alert with these labels goes to."""
        self._rules = [_Sources(rule, firing, receivers) for rule in rules]

    def inhibitors(self, key: str, labels: Labels, receiver: str) -> tuple[str, ...]:
        """Keys of alerts that hold this one back from a receiver, at most 20; none when nothing does."""
        found: dict[str, None] = {}
        for rule in self._rules:
            for source in rule.of(key, labels, receiver):
                found[source] = None
                if len(found) >= MOST_NAMED:
                    return tuple(found)
        return tuple(found)


class _Sources:
    """One rule's source alerts, by their values of the labels that must agree, and their receivers where they count."""

    def __init__(
        self, rule: InhibitRule, firing: Mapping[str, Labels], receivers: Callable[[Labels], Collection[str]]
    ) -> None:
        self._rule = rule
        self._all: dict[tuple[str, ...], list[str]] = {}
        self._one_sided: dict[tuple[str, ...], list[str]] = {}
        for key, labels in firing.items():
            if all_match(rule.source, labels):
                for receiver in receivers(labels) if rule.built_in else ("",):
                    values = self._values(labels, receiver)
                    self._all.setdefault(values, []).append(key)
                    if not all_match(rule.target, labels):
                        self._one_sided.setdefault(values, []).append(key)

    def of(self, key: str, labels: Labels, receiver: str) -> list[str]:
        """Sources for an alert on its way to a receiver.

        An alert that is itself a source is held only by those that are no target, or two would hold each other.
        """
        if not self._all or not all_match(self._rule.target, labels):
            return []
        sources = self._one_sided if all_match(self._rule.source, labels) else self._all
        return [one for one in sources.get(self._values(labels, receiver), ()) if one != key]

    def _values(self, labels: Labels, receiver: str) -> tuple[str, ...]:
        return receiver if self._rule.built_in else "", *(labels.get(name, "") for name in self._rule.equal)

"""Alerts that follow from a cause of which somebody has been told already: they are held back. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from loadwatch_backend.alerting.notify.causes.explained import RAISED, Explain
from loadwatch_backend.alerting.notify.causes.fitting import causes_of, tells_of
from loadwatch_backend.findings.snapshot import ActiveFinding, FindingsSnapshot
from loadwatch_backend.series.store.port import Labels

WORST, BEST = 0, 2
RANKS: Mapping[str, int] = {"critical": WORST, "warning": 1, "info": BEST}
"""A severity that is not among them is held back by the worst only, and holds the best only."""
Notified = Callable[[Sequence[str]], Mapping[str, set[str]]]
"""From keys of alerts to the receivers that have been told that they fire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why an alert is held back: a finding, and the key of the alert by which somebody was told of it."""

    finding: ActiveFinding
    alert: str


class Consequences:
    """What follows from what, among the alerts that fire at one moment.

    An alert is held back from a receiver only if that receiver has been told of the cause's alert, and that one fires
    still and is at least as severe. So whoever is kept from a consequence knows of its cause.
    """

    def __init__(
        self, snapshot: FindingsSnapshot | None, firing: Mapping[str, Labels], told: Notified, explained: Explain
    ) -> None:
        self._moment = snapshot
        self._explained = explained
        self._firing = firing
        self._read = told
        self._told: dict[str, set[str]] | None = None
        self._tellers: dict[str, list[str]] = {}
        for one in () if snapshot is None else snapshot.findings:
            if snapshot is not None and one.accuses and snapshot.stands(one):
                tellers = [key for key, labels in firing.items() if tells_of(labels, one, explained)]
                if tellers:
                    self._tellers[one.key] = tellers

    @cached_property
    def order(self) -> Mapping[str, int]:
        """Keys of the alerts that tell of a standing finding, with their turns: causes are told of first."""
        turns: dict[str, int] = {}
        for turn, keys in enumerate(self._tellers.values()):
            for key in keys:
                turns.setdefault(key, turn)
        return turns

    def note(self, keys: Sequence[str], receiver: str) -> None:
        """A receiver is being told of alerts."""
        if self._tellers:
            told = self._notified_of()
            for key in keys:
                if key in self._firing:
                    told.setdefault(key, set()).add(receiver)

    def cause_of(self, key: str, labels: Labels, receiver: str) -> Cause | None:
        """Why an alert is held back from a receiver; None where nothing holds it."""
        if self._moment is None or not self._tellers:
            return None
        raised = labels.get("alertname") == RAISED
        for one in causes_of(labels, self._moment, self._explained):
            for teller in self._tellers.get(one.key, ()):
                given = self._firing[teller]
                if (
                    teller != key
                    and not (raised and given.get("alertname") == RAISED and one.id == labels.get("id"))
                    and RANKS.get(given.get("severity", ""), BEST) <= RANKS.get(labels.get("severity", ""), WORST)
                    and receiver in self._notified_of().get(teller, ())
                ):
                    return Cause(finding=one, alert=teller)
        return None

    def _notified_of(self) -> dict[str, set[str]]:
        if self._told is None:
            self._told = {key: set(receivers) for key, receivers in self._read(sorted(self.order)).items()}
        return self._told

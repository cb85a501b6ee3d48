"""What findings have to do with alerts: which one an alert is about, and which alerts follow from another's.

`loadwatch_finding: a, b?` reports `a` whenever it is active, and `b`, which may be active without the alert; `none`
says that no finding is about it. Findings of `loadwatch_cause` explain an alert, beside what its own follow from.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from loadwatch_backend.core.language import Language, translation_key
from loadwatch_backend.findings.model import Certainty
from loadwatch_backend.findings.snapshot import ActiveFinding, FindingsSnapshot
from loadwatch_backend.series.store.port import Labels

RAISED = "FindingRaised"
"""The rule for findings that no other rule reports."""
_LABEL = re.compile(r"\{\{ \$labels\.(\w+) \}\}")


class Explained(NamedTuple):
    """Ids of findings that an alert reports, and of those that it follows from."""

    about: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()


Said = Mapping[str, tuple[str, str]]
"""The two annotations of each rule, on its findings and on their causes, by the rule's name."""
Explain = Callable[[Labels], Explained | None]
"""From an alert's labels to what its rule says of findings; None for a rule that says nothing."""


def explained_by(said_now: Callable[[], Said]) -> Explain:
    def explained(labels: Labels) -> Explained | None:
        said = said_now().get(labels.get("alertname", ""))
        return said and _read(*(_LABEL.sub(lambda found: labels.get(found[1], ""), text) for text in said))

    return explained


@lru_cache(maxsize=4_096)
def _read(finding: str, cause: str) -> Explained:
    return Explained(tuple(one.removesuffix("?") for one in _ids(finding)), tuple(_ids(cause)))


def rules_by_finding(said: Said) -> Mapping[str, str]:
    """The rule that reports a finding whenever it is active, by the finding's id."""
    found: dict[str, str] = {}
    for name, (finding, _) in said.items():
        for id in _ids(finding):
            if not id.endswith("?"):
                found.setdefault(id, name)
    return found


def _ids(text: str) -> list[str]:
    return [one for part in text.split(",") if (one := part.strip()) and one != "none"]


EARLIER_MS = 15_000
"""A finding that ended at most this long before an alert's condition began may still have caused it."""
FINDING = "finding"
FINDING_ID = "finding_id"
FINDING_CERTAINTY = "finding_certainty"
FINDING_ANNOTATIONS = (FINDING, translation_key(FINDING, Language.JA), FINDING_ID, FINDING_CERTAINTY)
FINDING_FAMILY = "loadwatch_finding_family"
"""Annotation of our own: keys of an alert's finding and of all that follows from it, one a line. It is not sent on."""
FINDING_SAID = "loadwatch_finding_said_ms"
"""Annotation of our own: when the sentence was said, which speaks of what was some seconds ago. It is not sent on."""
FINDING_OWN = (FINDING_FAMILY, FINDING_SAID)
MOST_FAMILY = 50


def annotations_of(one: ActiveFinding, snapshot: FindingsSnapshot) -> dict[str, str]:
    notified = zip(FINDING_ANNOTATIONS, (one.sentence.en, one.sentence.ja, one.id, one.certainty.value), strict=True)
    follow = [other.key for other in snapshot.findings if one.key in {cause.key for cause in snapshot.causes_of(other)}]
    family = "\n".join([one.key, *follow][:MOST_FAMILY])
    return {**dict(notified), FINDING_FAMILY: family, FINDING_SAID: str(snapshot.at_ms)}


def finding_of(labels: Labels, active_ms: int, snapshot: FindingsSnapshot, explained: Explain) -> ActiveFinding | None:
    """The finding that an alert is about, or the cause of that one; the first of several.

    Only what accuses something, and what was there at some time since the alert's condition began to hold.
    """
    direct = [
        one
        for one in snapshot.findings
        if one.accuses and one.to_ms >= active_ms - EARLIER_MS and _concerns(labels, explained(labels), one)
    ]
    wanted = {one.key for one in direct}
    wanted |= {cause.key for one in direct for cause in snapshot.causes_of(one) if cause.accuses}
    return next((one for one in snapshot.findings if one.key in wanted), None)


def causes_of(labels: Labels, snapshot: FindingsSnapshot, explained: Explain) -> list[ActiveFinding]:
    """The active findings that an alert is a consequence of, without those that it reports itself."""
    known = explained(labels)
    if known is None:
        return []
    own = [one for one in snapshot.findings if one.accuses and one.id in known.about and is_near(labels, one)]
    foreign = set(known.follows) - set(known.about)
    found = {one.key for one in snapshot.findings if one.id in foreign and _explains(labels, one)}
    for one in own:
        for cause in snapshot.causes_of(one):
            # Two that are said to follow from each other hold nothing back.
            if all(other.key != one.key for other in snapshot.causes_of(cause)):
                found.add(cause.key)
    if labels.get("alertname") == RAISED:
        # It is superfluous where another alert reports the same finding.
        found |= {one.key for one in own}
    else:
        found -= {one.key for one in own}
    return [one for one in snapshot.findings if one.key in found and one.accuses and snapshot.stands(one)]


def reports(labels: Labels, one: ActiveFinding, explained: Explain) -> bool:
    known = explained(labels)
    return known is not None and one.id in known.about and is_near(labels, one)


def is_near(labels: Labels, one: ActiveFinding) -> bool:
    """Whether an alert and a finding are about the same place, as far as both say where."""
    place = _where(one.labels_for(labels.get("instance")))
    return all(labels.get(name, text) == text for name, text in place.items())


def _concerns(labels: Labels, known: Explained | None, one: ActiveFinding) -> bool:
    if known is not None:
        return (one.id in known.about and is_near(labels, one)) or (one.id in known.follows and _explains(labels, one))
    # A rule of the user's: what happens at the same instance of the same job.
    place = _where(one.labels_for(labels.get("instance")))
    return "instance" in place and all(labels.get(name) == text for name, text in place.items())


def _explains(labels: Labels, one: ActiveFinding) -> bool:
    """Whether a finding can be the cause of an alert, by their places.

    As in the engine: another instance of the same job is another matter. An alert that names no place, as those of a
    load, is explained only by what is known to have been felt.
    """
    if not labels.get("instance"):
        return one.certainty is Certainty.CERTAIN
    same_job = labels.get("job") == one.labels.get("job")
    there = one.labels_for(labels["instance"]).get("instance")
    return not (same_job and there is not None and there != labels["instance"])


def _where(labels: Mapping[str, str]) -> dict[str, str]:
    return {name: labels[name] for name in _PLACE if labels.get(name)}


_PLACE: Iterable[str] = ("job", "instance", "db_name")


WORST, BEST = 0, 2
RANKS: Mapping[str, int] = {"critical": WORST, "warning": 1, "info": BEST}
"""Unknown severities are held back by the worst only, and hold back the best only."""
Notified = Callable[[Sequence[str]], Mapping[str, set[str]]]
"""From keys of alerts to the receivers that have been notified that they fire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why an alert is held back: a finding, and the key of the alert by which somebody was notified of it."""

    finding: ActiveFinding
    alert: str


class Consequences:
    """What follows from what, among the alerts that fire at one moment.

    An alert is held back from a receiver only if that receiver has been notified of the cause's alert, and that one
    fires still and is at least as severe. So whoever is kept from a consequence knows of its cause.
    """

    def __init__(
        self, snapshot: FindingsSnapshot | None, firing: Mapping[str, Labels], notified: Notified, explained: Explain
    ) -> None:
        self._moment = snapshot
        self._explained = explained
        self._firing = firing
        self._read = notified
        self._receivers: dict[str, set[str]] | None = None
        self._reporters: dict[str, list[str]] = {}
        for one in () if snapshot is None else snapshot.findings:
            if snapshot is not None and one.accuses and snapshot.stands(one):
                reporters = [key for key, labels in firing.items() if reports(labels, one, explained)]
                if reporters:
                    self._reporters[one.key] = reporters

    @cached_property
    def order(self) -> Mapping[str, int]:
        """Keys of the alerts that report an active finding, with their turns: causes are sent first."""
        turns: dict[str, int] = {}
        for turn, keys in enumerate(self._reporters.values()):
            for key in keys:
                turns.setdefault(key, turn)
        return turns

    def note(self, keys: Sequence[str], receiver: str) -> None:
        if self._reporters:
            notified = self._notified_of()
            for key in keys:
                if key in self._firing:
                    notified.setdefault(key, set()).add(receiver)

    def cause_of(self, key: str, labels: Labels, receiver: str) -> Cause | None:
        if self._moment is None or not self._reporters:
            return None
        raised = labels.get("alertname") == RAISED
        for one in causes_of(labels, self._moment, self._explained):
            for reporter in self._reporters.get(one.key, ()):
                given = self._firing[reporter]
                if (
                    reporter != key
                    and not (raised and given.get("alertname") == RAISED and one.id == labels.get("id"))
                    and RANKS.get(given.get("severity", ""), BEST) <= RANKS.get(labels.get("severity", ""), WORST)
                    and receiver in self._notified_of().get(reporter, ())
                ):
                    return Cause(finding=one, alert=reporter)
        return None

    def _notified_of(self) -> dict[str, set[str]]:
        if self._receivers is None:
            self._receivers = {key: set(receivers) for key, receivers in self._read(sorted(self.order)).items()}
        return self._receivers

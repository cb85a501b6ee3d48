"""Which finding of a moment an alert is about, or follows from. Pure."""

from collections.abc import Iterable, Mapping

from loadwatch_backend.alerting.notify.causes.explained import RAISED, Explain, Explained
from loadwatch_backend.core.language import Language, translation_key
from loadwatch_backend.findings.model import Certainty
from loadwatch_backend.findings.snapshot import ActiveFinding, FindingsSnapshot
from loadwatch_backend.series.store.port import Labels

EARLIER_MS = 15_000
"""What ended so long before an alert's condition began may still have brought it about."""
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
    """A finding of a moment as annotations of an alert."""
    told = zip(FINDING_ANNOTATIONS, (one.sentence.en, one.sentence.ja, one.id, one.certainty.value), strict=True)
    follow = [other.key for other in snapshot.findings if one.key in {cause.key for cause in snapshot.causes_of(other)}]
    family = "\n".join([one.key, *follow][:MOST_FAMILY])
    return {**dict(told), FINDING_FAMILY: family, FINDING_SAID: str(snapshot.at_ms)}


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
    """The standing findings that an alert is a consequence of, without those that it tells of itself."""
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
        # It is superfluous where another alert tells of the same finding.
        found |= {one.key for one in own}
    else:
        found -= {one.key for one in own}
    return [one for one in snapshot.findings if one.key in found and one.accuses and snapshot.stands(one)]


def tells_of(labels: Labels, one: ActiveFinding, explained: Explain) -> bool:
    """Whether who is told of an alert with these labels is told of a finding."""
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

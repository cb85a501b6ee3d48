"""What is said now against what was said before. Pure."""

from loadwatch_backend.findings.schemas import Change, ChangeOut, FindingOut, FindingsOut


def compare_findings(said: FindingsOut | None, now: FindingsOut) -> list[ChangeOut]:
    """The differences, those of findings that are there now first, in their order."""
    before = {} if said is None else {finding.key: finding for finding in said.findings}
    after = {finding.key: finding for finding in now.findings}
    places = {key: place for place, key in enumerate(key for key in before if key in after)}
    kept = [finding for finding in now.findings if finding.key in before]
    changes: list[tuple[FindingOut, Change | None]] = [
        (finding, "added" if finding.key not in before else _difference(before[finding.key], finding))
        for finding in now.findings
    ]
    moved = {finding.key for place, finding in enumerate(kept) if places[finding.key] != place}
    return [
        *(_change(finding, change) for finding, change in changes if change is not None),
        *(_change(after[key], "other-place") for key in after if key in moved),
        *(_change(finding, "gone") for key, finding in before.items() if key not in after),
    ]


def _difference(before: FindingOut, now: FindingOut) -> Change | None:
    if (before.certainty, before.severity) != (now.certainty, now.severity):
        return "other-certainty"
    return "other-figures" if before.sentence != now.sentence else None


def _change(finding: FindingOut, change: Change) -> ChangeOut:
    return ChangeOut(key=finding.key, title=finding.title, change=change)

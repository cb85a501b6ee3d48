"""What is expected of an action: a threshold, or that a finding is gone. Pure.

p95<300ms
ok_rate > 160/s
pool-exhausted gone
"""

import re
from collections.abc import Callable, Sequence

from loadwatch_backend.findings.registry import DETECTORS
from loadwatch_backend.kit.errors import ProblemError
from loadwatch_backend.texts.thresholds import UNREADABLE
from loadwatch_backend.texts.words import SILENT, Words

FINDINGS = frozenset(detector.kind.id for detector in DETECTORS)
_GONE = re.compile(r"\s*(?:finding\s+)?([a-z][a-z0-9-]*)\s+(?:is\s+)?gone\s*")


def finding_of(text: str) -> str | None:
    """The finding that is to be gone; None of a threshold."""
    found = _GONE.fullmatch(text)
    return None if found is None else found[1]


def problem_of(text: str, check_thresholds: Callable[[Sequence[str]], None]) -> Words:
    """What is wrong with an expectation; empty where it can be scored, and where nothing is expected."""
    finding = finding_of(text)
    if finding in FINDINGS or not text.strip():
        return SILENT
    if finding is not None:
        return UNREADABLE["no-finding"].fill(finding=repr(finding[:100]))
    try:
        check_thresholds([text])
    except ProblemError as error:
        return Words(error.detail, error.detail_ja or error.detail)
    return SILENT

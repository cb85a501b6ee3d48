"""What hey prints at its end, read into counts by outcome."""

import re
from dataclasses import dataclass

OUTCOMES = ("ok", "timeout", "reset", "refused", "dns", "http_4xx", "http_5xx", "other")
"""The values of the label `outcome` that the demo gives, in the order in which they are listed."""

_STATUS = re.compile(r"^\s+\[(\d{3})\]\s+(\d+) responses\s*$", re.MULTILINE)
_ERROR = re.compile(r"^\s+\[(\d+)\]\s+(\S.*)$")

# Texts of Go's net/http and of the system behind it. A connection that the other side has closed while a request was
# on its way reads as EOF: for the client it is the same event as a reset.
_ERROR_TEXTS = (
    ("timeout", ("Client.Timeout", "i/o timeout", "deadline exceeded", "connection timed out")),
    ("reset", ("connection reset by peer", "EOF", "broken pipe", "server closed idle connection")),
    ("refused", ("connection refused",)),
    ("dns", ("no such host", "server misbehaving")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Requests by outcome; only outcomes that occurred are listed."""

    outcomes: dict[str, int]

    @property
    def total(self) -> int:
        """All requests that came to an end."""
        return sum(self.outcomes.values())


def parse_summary(text: str) -> Summary:
    """Counts from the sections "Status code distribution" and "Error distribution" of hey 0.1's summary.

    Raises:
        ValueError: the text is not such a summary.
    """
    if "Status code distribution" not in text:
        raise ValueError("not the summary of hey: it has no section 'Status code distribution'")
    outcomes: dict[str, int] = {}
    for status, count in _STATUS.findall(text):
        _add(outcomes, _outcome_of_status(int(status)), int(count))
    _, _, errors = text.partition("Error distribution:")
    for line in errors.splitlines():
        match = _ERROR.match(line)
        if match:
            _add(outcomes, _outcome_of_error(match[2]), int(match[1]))
    return Summary(outcomes=outcomes)


def _add(outcomes: dict[str, int], outcome: str, count: int) -> None:
    outcomes[outcome] = outcomes.get(outcome, 0) + count


def _outcome_of_status(status: int) -> str:
    if status < 400:
        return "ok"
    return "http_4xx" if status < 500 else "http_5xx"


def _outcome_of_error(text: str) -> str:
    for outcome, words in _ERROR_TEXTS:
        if any(word in text for word in words):
            return outcome
    return "other"

"""Sorts a request's end into one outcome by its status or the tool's words.

These are the server's tables and rules (importers/outcomes.py and those of each tool; a test holds them together), so
that figures do not move from one kind to another when the import takes the place of the live view.
"""

import re
from collections.abc import Mapping

PATTERNS: tuple[tuple[str, str], ...] = (
    (
        "dns",
        r"no such host|name or service not known|temporary failure in name resolution|server misbehaving|"
        r"unknownhost|nodename nor servname|getaddrinfo|enotfound|eai_again|name resolution|nameresolutionerror|"
        r"failed to lookup address|failed to resolve|dns error|lookup \S+( on \S+)?: |\bno address associated",
    ),
    (
        "refused",
        r"connection refused|econnrefused|actively refused|newconnectionerror|httphostconnectexception",
    ),
    (
        "timeout",
        r"deadline exceeded|timed? ?-?out|timeout|etimedout|esockettimedout|deadline has elapsed",
    ),
    (
        "reset",
        r"connection reset|econnreset|reset by peer|broken pipe|epipe|forcibly closed|premature(ly)? close|"
        r"connectionreset|remotedisconnected|remote end closed|connection aborted|socket hang up|nohttpresponse|"
        r"failed to respond|server closed (idle )?connection|connection closed|channel closed|closed channel|"
        r"stream (was )?reset|goaway|unexpected end of file|unexpected eof|\beof\b|incompletemessage|"
        r"connection closed before message completed|software caused connection abort|incompleteread",
    ),
    (
        "assertion",
        r"status\.find|jsonpath|regex\(|substring\(|bodystring|xpath|\bcheck\b.*(failed|find)|assert|"
        r"test failed:|responsetimeinmillis|expected to contain|catch_?response|captur",
    ),
)
STATUS = r"(?i)^\s*(?:http/[\d.]+\s+)?([1-5]\d\d)\b|\b(?:httperror|status(?: code)?)\W{0,3}([1-5]\d\d)\b"
FOUND_STATUS = r"\bstatus\.\w+.*found (\d{3})\b"
GATLING_STATUS = r"^status\.find\..*found ([1-5]\d\d)$"
GATLING_CHECK = r"^[\w.]+(\(.*\))?(\.\w+)*\.(find|findAll|findRandom|count|transform|validate)\b|\.find\b.*, (but |)"
K6_KINDS: Mapping[str, str] = {
    "1050": "timeout",
    "1211": "timeout",
    "1100": "dns",
    "1101": "dns",
    "1201": "reset",
    "1212": "refused",
    "1220": "reset",
}

_LONGEST_READ = 10_000
_KINDS = tuple((outcome, re.compile(pattern, re.IGNORECASE)) for outcome, pattern in PATTERNS)
_STATUS, _FOUND_STATUS = re.compile(STATUS), re.compile(FOUND_STATUS)
_GATLING_STATUS, _GATLING_CHECK = re.compile(GATLING_STATUS), re.compile(GATLING_CHECK)
_NOT_HTTP = "Non HTTP response code: "


def outcome_of_status(status: int) -> str:
    """`ok` for 1xx to 3xx, `http_4xx`, `http_5xx`, otherwise `other`."""
    if 100 <= status < 400:
        return "ok"
    if 400 <= status < 500:
        return "http_4xx"
    return "http_5xx" if 500 <= status < 600 else "other"


def outcome_of_error(text: str) -> str:
    """How a request ended that got no answer, by the tool's words."""
    text = text[:_LONGEST_READ]
    if match := _FOUND_STATUS.search(text):
        return _failed(int(match[1]))
    for outcome, pattern in _KINDS:
        if pattern.search(text):
            return outcome
    match = _STATUS.search(text)
    return outcome_of_status(int(match[1] or match[2])) if match else "other"


def outcome_of_ko(message: str) -> str:
    """Of a request that Gatling calls KO, by its message."""
    message = message.strip()
    if match := _GATLING_STATUS.match(message):
        return _failed(int(match[1]))
    return "assertion" if _GATLING_CHECK.search(message[:_LONGEST_READ]) else outcome_of_error(message)


def outcome_of_sample(code: str, message: str, failure: str, *, success: bool) -> str:
    """Of a sample of JMeter's, whose word counts for success."""
    if success:
        return "ok"
    found = code.strip()
    if len(found) == 3 and found.isascii() and found.isdigit() and found[0] in "12345":
        return _failed(int(found))
    if code.startswith(_NOT_HTTP) or not failure:
        kind = outcome_of_error(f"{code} {message}")
        return kind if kind not in ("assertion", "ok") else "other"
    return "assertion"


def outcome_of_point(status: int, error_code: str, error: str, expected: str) -> str:
    """Of a request of k6's, by the tags of its point."""
    if error_code in K6_KINDS:
        return K6_KINDS[error_code]
    if len(error_code) == 4 and "1610" <= error_code <= "1665":
        return "reset"
    if status >= 400:
        return outcome_of_status(status)
    if error:
        return outcome_of_error(error)
    if status:
        return "assertion" if expected == "false" else outcome_of_status(status)
    return "other" if error_code or expected == "false" else "ok"


def _failed(status: int) -> str:
    """A good answer that the tool calls failed broke a rule of the script's."""
    kind = outcome_of_status(status)
    return "assertion" if kind == "ok" else kind

"""Sorts a request's end into one outcome by its status or the tool's error text.

The words are those of the server's importers (a test holds the two together), so that figures do not move from one
kind to another when the import takes the place of the live view.
"""

import re

_KINDS: tuple[tuple[str, "re.Pattern[str]"], ...] = tuple(
    (outcome, re.compile(pattern, re.IGNORECASE))
    for outcome, pattern in (
        (
            "dns",
            r"no such host|name or service not known|temporary failure in name resolution|server misbehaving|"
            r"unknownhost|nodename nor servname|getaddrinfo|enotfound|eai_again|name resolution|nameresolutionerror|"
            r"failed to lookup address|failed to resolve|dns error|lookup \S+( on \S+)?: |\bno address associated",
        ),
        ("refused", r"connection refused|econnrefused|actively refused|newconnectionerror|httphostconnectexception"),
        ("timeout", r"deadline exceeded|timed? ?-?out|timeout|etimedout|esockettimedout|deadline has elapsed"),
        (
            "reset",
            r"connection reset|econnreset|reset by peer|broken pipe|epipe|forcibly closed|prematurely closed|"
            r"connectionreset|remotedisconnected|remote end closed|connection aborted|socket hang up|nohttpresponse|"
            r"failed to respond|server closed (idle )?connection|connection closed|channel closed|closed channel|"
            r"stream (was )?reset|goaway|unexpected end of file|unexpected eof|\beof\b|incompletemessage|"
            r"software caused connection abort|incompleteread",
        ),
        (
            "assertion",
            r"status\.find|jsonpath|regex\(|substring\(|bodystring|xpath|\bcheck\b.*(failed|find)|assert|"
            r"test failed:|responsetimeinmillis|expected to contain|catch_response|captur",
        ),
    )
)
_STATUS = re.compile(r"(?:found|actually|status(?: code)?:?) (\d{3})\b", re.IGNORECASE)


def outcome_of_status(status: int) -> str:
    """`ok` for 1xx to 3xx, `http_4xx`, `http_5xx`, otherwise `other`."""
    if 100 <= status < 400:
        return "ok"
    if 400 <= status < 500:
        return "http_4xx"
    return "http_5xx" if 500 <= status < 600 else "other"


def outcome_of_error(text: str) -> str:
    """How a request ended that got no answer, by the tool's words."""
    for outcome, pattern in _KINDS:
        if pattern.search(text):
            return outcome
    return "other"


def outcome_of_message(text: str) -> str:
    """As `outcome_of_error`, for tools that tell an answer's status only in a message such as `found 503`."""
    found = _STATUS.search(text)
    if found:
        outcome = outcome_of_status(int(found[1]))
        return "assertion" if outcome in ("ok", "other") else outcome
    return outcome_of_error(text)

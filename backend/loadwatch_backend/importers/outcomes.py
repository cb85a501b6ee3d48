"""From a status and a tool's error text to an outcome, for the texts of Go, Java, Python, Rust, JavaScript and C.

The first pattern that matches decides, so what is specific stands first. The texts are those of: Go's net and net/http,
the JDK's and Netty's exceptions (Gatling, JMeter with HttpClient), Python's requests and geventhttpclient (Locust),
hyper (oha), Node's error codes (Artillery), k6's error codes (https://grafana.com/docs/k6 "Error codes").
"""

import re

import numpy as np
import numpy.typing as npt

from loadwatch_backend.importers.reading.patterns import Linear
from loadwatch_backend.records.model import OUTCOME_CODES, IntArray, Outcome

PATTERNS: tuple[tuple[Outcome, str], ...] = (
    (
        Outcome.DNS,
        r"no such host|name or service not known|temporary failure in name resolution|server misbehaving|"
        r"unknownhost|nodename nor servname|getaddrinfo|enotfound|eai_again|name resolution|nameresolutionerror|"
        r"failed to lookup address|failed to resolve|dns error|lookup \S+( on \S+)?: |\bno address associated",
    ),
    (
        Outcome.REFUSED,
        r"connection refused|econnrefused|actively refused|newconnectionerror|httphostconnectexception",
    ),
    (
        Outcome.TIMEOUT,
        r"deadline exceeded|timed? ?-?out|timeout|etimedout|esockettimedout|deadline has elapsed",
    ),
    (
        Outcome.RESET,
        r"connection reset|econnreset|reset by peer|broken pipe|epipe|forcibly closed|premature(ly)? close|"
        r"connectionreset|remotedisconnected|remote end closed|connection aborted|socket hang up|nohttpresponse|"
        r"failed to respond|server closed (idle )?connection|connection closed|channel closed|closed channel|"
        r"stream (was )?reset|goaway|unexpected end of file|unexpected eof|\beof\b|incompletemessage|"
        r"connection closed before message completed|software caused connection abort|incompleteread",
    ),
    (
        Outcome.ASSERTION,
        r"status\.find|jsonpath|regex\(|substring\(|bodystring|xpath|\bcheck\b.*(failed|find)|assert|"
        r"test failed:|responsetimeinmillis|expected to contain|catch_?response|captur",
    ),
)
_COMPILED = tuple((outcome, Linear(f"(?i){pattern}")) for outcome, pattern in PATTERNS)
STATUS = r"(?i)^\s*(?:http/[\d.]+\s+)?([1-5]\d\d)\b|\b(?:httperror|status(?: code)?)\W{0,3}([1-5]\d\d)\b"
FOUND_STATUS = r"\bstatus\.\w+.*found (\d{3})\b"
"""Gatling's check of the status, which stands in every request: a 503 is a 503, not a failed assertion."""
_STATUS, _FOUND_STATUS = Linear(STATUS), Linear(FOUND_STATUS)
_SOURCE_PORT = Linear(r"(\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.%\w]*\]):\d+->")
_QUERY = Linear(r"((?:https?://|\bfor url: /)[^\s\"'?#]*)[?#][^\s\"']*")
_OBJECT = re.compile(r"0x[0-9a-fA-F]{6,}")
_LONGEST = 300
_LONGEST_READ = 10_000
"""Of a text, before its beginning is looked at; stack traces tell their cause in the first lines."""


def outcome_of_error(text: str) -> Outcome:
    """What an error text of a request without a status means; `other` when nothing tells."""
    text = text[:_LONGEST_READ]
    if match := _FOUND_STATUS.search(text):
        found = outcome_of_status(int(match[1]))
        return Outcome.ASSERTION if found is Outcome.OK else found
    for outcome, pattern in _COMPILED:
        if pattern.search(text):
            return outcome
    if match := _STATUS.search(text):
        return outcome_of_status(int(match[1] or match[2]))
    return Outcome.OTHER


def outcome_of_status(status: int) -> Outcome:
    """Of an answer without a failed assertion; 0 and what is no HTTP status are `other`."""
    if 100 <= status < 400:
        return Outcome.OK
    if 400 <= status < 500:
        return Outcome.HTTP_4XX
    return Outcome.HTTP_5XX if 500 <= status < 600 else Outcome.OTHER


def outcome_of(status: int, error: str | None) -> Outcome:
    """Of one request: the status where there is one, else the text."""
    if status:
        return outcome_of_status(status)
    return outcome_of_error(error) if error else Outcome.OTHER


def outcomes_of(status: IntArray, error_codes: npt.NDArray[np.int32] | None, texts: list[str]) -> npt.NDArray[np.uint8]:
    """As `outcome_of` for columns; `error_codes` are indices into `texts`, -1 for none."""
    by_class = np.array([OUTCOME_CODES[outcome_of_status(klass * 100)] for klass in range(7)], dtype=np.uint8)
    by_class[0] = by_class[6] = OUTCOME_CODES[Outcome.OTHER]
    found = by_class[np.clip(status // 100, 0, 6)]
    if error_codes is not None:
        silent = status == 0
        if silent.any():
            by_text = np.array([OUTCOME_CODES[outcome_of_error(text)] for text in texts] + [0], dtype=np.uint8)
            by_text[-1] = OUTCOME_CODES[Outcome.OTHER]
            found[silent] = by_text[error_codes[silent]]
    return found


def plain_error(text: str) -> str:
    """The text without what differs from request to request: source ports, query strings, addresses of objects.

    A query string leaves `?...` behind, so that nobody takes the address for the one that was asked for.
    """
    text = text[:_LONGEST_READ].strip()
    if "->" in text:
        text = _SOURCE_PORT.sub(r"\1->", text)
    if "?" in text or "#" in text:
        text = _QUERY.sub(r"\1?...", text)
    if "0x" in text:
        text = _OBJECT.sub("0x…", text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

"""How a request ended: by its status, or by the words of the tool that sent it.

The live view of the agent and the importers of the server sort by this one table, so that figures do not move from one
kind to another when the import takes the place of the live view. Its texts are those of: Go's net and net/http, the
JDK's and Netty's exceptions (Gatling, JMeter with HttpClient), Python's requests and geventhttpclient (Locust), hyper
(oha), Node's error codes (Artillery), k6's error codes (lib/netext/httpext/error_codes.go).
"""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Protocol


class Outcome(StrEnum):
    """How a request ended; the order is that of the codes in the records."""

    OK = "ok"
    TIMEOUT = "timeout"
    RESET = "reset"
    REFUSED = "refused"
    DNS = "dns"
    HTTP_4XX = "http_4xx"
    HTTP_5XX = "http_5xx"
    ASSERTION = "assertion"
    OTHER = "other"


OUTCOMES: tuple[Outcome, ...] = tuple(Outcome)

# The first pattern that matches decides, so what is specific stands first: what a script of Locust's says of a failed
# check is its own words, whatever they are.
_WORDS: tuple[tuple[Outcome, str], ...] = (
    (Outcome.ASSERTION, r"^\s*catch_?response_?error\b"),
    (
        Outcome.DNS,
        r"no such host|name or service not known|temporary failure in name resolution|server misbehaving|"
        r"unknownhost|nodename nor servname|getaddrinfo|enotfound|eai_again|name resolution|nameresolutionerror|"
        r"failed to lookup address|failed to resolve|dns error|lookup \S+( on \S+)?: |\bno address associated",
    ),
    (Outcome.REFUSED, r"connection refused|econnrefused|actively refused|newconnectionerror|httphostconnectexception"),
    (Outcome.TIMEOUT, r"deadline exceeded|timed? ?-?out|timeout|etimedout|esockettimedout|deadline has elapsed"),
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
# Gatling's check of the status, which stands in every request, and Locust's error of one: a 503 is a 503, not a failed
# assertion, and a 504 no timeout of ours.
_TOLD_STATUS = r"\bstatus\.\w+.*found (\d{3})\b|^\s*HTTPError\W{1,3}([1-5]\d\d)\b"
_STATUS = r"(?i)^\s*(?:http/[\d.]+\s+)?([1-5]\d\d)\b|\b(?:httperror|status(?: code)?)\W{0,3}([1-5]\d\d)\b"
_GATLING_STATUS = r"^status\.find\..*found ([1-5]\d\d)$"
_GATLING_CHECK = r"^[\w.]+(\(.*\))?(\.\w+)*\.(find|findAll|findRandom|count|transform|validate)\b|\.find\b.*, (but |)"
_K6_CODES: Mapping[str, Outcome] = {
    "1050": Outcome.TIMEOUT,
    "1211": Outcome.TIMEOUT,
    "1100": Outcome.DNS,
    "1101": Outcome.DNS,
    "1201": Outcome.RESET,
    "1212": Outcome.REFUSED,
    "1220": Outcome.RESET,
}
_JMETER_NOT_HTTP = "Non HTTP response code: "
_LONGEST_READ = 10_000
"""Characters of an error text that are read: a stack trace tells its cause in its first lines."""


class Pattern(Protocol):
    def search(self, string: str, /) -> re.Match[str] | None: ...


def outcome_of_status(status: int) -> Outcome:
    """Of an answer without a failed assertion; 0 and what is no HTTP status are `other`."""
    if 100 <= status < 400:
        return Outcome.OK
    if 400 <= status < 500:
        return Outcome.HTTP_4XX
    return Outcome.HTTP_5XX if 500 <= status < 600 else Outcome.OTHER


def outcome_of_k6_code(code: str) -> Outcome | None:
    """Of k6's tag `error_code`; None where it alone does not tell. 1610 to 1665 are HTTP/2's, which are resets."""
    if len(code) == 4 and "1610" <= code <= "1665":
        return Outcome.RESET
    return _K6_CODES.get(code)


def jmeter_status(code: str) -> int:
    """The HTTP status, 0 for a code that is a text, such as `Non HTTP response code: java.net.SocketException`."""
    code = code.strip()
    return int(code) if len(code) == 3 and code.isascii() and code.isdigit() and code[0] in "12345" else 0


def _failed(status: int) -> Outcome:
    """Outcome of a request that the tool calls failed: with a good status, an assertion failed."""
    kind = outcome_of_status(status)
    return Outcome.ASSERTION if kind is Outcome.OK else kind


class Sorter:
    """Sorts by the table's patterns as `compile` makes them: the server has an engine for what strangers wrote."""

    def __init__(self, compile: Callable[[str], Pattern]) -> None:
        self._words = tuple((outcome, compile(f"(?i){pattern}")) for outcome, pattern in _WORDS)
        self._told_status, self._status = compile(_TOLD_STATUS), compile(_STATUS)
        self._gatling_status, self._gatling_check = compile(_GATLING_STATUS), compile(_GATLING_CHECK)

    def of_error(self, text: str) -> Outcome:
        """What an error text of a request without a status means; `other` when nothing tells."""
        text = text[:_LONGEST_READ]
        if found := self._told_status.search(text):
            return _failed(int(found[1] or found[2]))
        for outcome, pattern in self._words:
            if pattern.search(text):
                return outcome
        found = self._status.search(text)
        return outcome_of_status(int(found[1] or found[2])) if found else Outcome.OTHER

    def gatling_status(self, message: str) -> int:
        """The HTTP status that a failed status check tells; 0 where nothing tells, as for every request that was OK."""
        found = self._gatling_status.search(message.strip()[:_LONGEST_READ])
        return int(found[1]) if found else 0

    def of_gatling(self, message: str) -> Outcome:
        message = message.strip()[:_LONGEST_READ]
        if status := self.gatling_status(message):
            return _failed(status)
        return Outcome.ASSERTION if self._gatling_check.search(message) else self.of_error(message)

    def of_jmeter(self, code: str, message: str, failure: str, *, success: bool) -> Outcome:
        """JMeter's word counts for success; a failure is told by status, then exception, then it was an assertion."""
        if success:
            return Outcome.OK
        if status := jmeter_status(code):
            return _failed(status)
        if code.startswith(_JMETER_NOT_HTTP) or not failure:
            kind = self.of_error(f"{code} {message}")
            return kind if kind not in (Outcome.ASSERTION, Outcome.OK) else Outcome.OTHER
        return Outcome.ASSERTION

    def of_k6(self, status: int, error_code: str, error: str, expected: str) -> Outcome:
        """Of a request of k6's, by its point's tags. `expected` is "true", "false", or empty when the tag is off."""
        if (kind := outcome_of_k6_code(error_code)) is not None:
            return kind
        if status >= 400:
            return outcome_of_status(status)
        if error:
            return self.of_error(error)
        if status:
            return Outcome.ASSERTION if expected == "false" else outcome_of_status(status)
        return Outcome.OTHER if error_code or expected == "false" else Outcome.OK

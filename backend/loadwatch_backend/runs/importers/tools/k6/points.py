"""What k6's JSON and CSV have in common: points of metrics with tags, and how they become requests.

A request is eight points of the same time and tags. `http_req_duration` (sending, waiting and receiving, in
milliseconds, without DNS, connecting and TLS) is the one that is read; its time is the end of the request. k6 gives
points no id of their request: bytes belong to none in particular, and failed checks only where vu and iter tell.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from loadwatch_formats.outcomes import Outcome
from loadwatch_formats.times import parse_rfc3339

from loadwatch_backend.evidence.records.model import RampFacts, RemarkKind
from loadwatch_backend.runs.importers.endpoints import endpoint_of_url, looks_like_url, plain_label
from loadwatch_backend.runs.importers.outcomes import SORTER, UNNAMED
from loadwatch_backend.runs.importers.reading.documents import STATUS_MOST, integer, nanoseconds
from loadwatch_backend.runs.importers.sink import Sink

DURATION = "http_req_duration"
OTHER_PROTOCOLS = ("grpc_req_duration", "ws_connecting", "ws_session_duration", "browser_http_req_duration")
Answer = tuple[str, str, str, str]
"""The tags status, error_code, error and expected_response; empty where there is none."""
User = tuple[str, str]
"""The metadata vu and iter, which `--system-tags` with both of them adds."""
_HALF_SECOND = 500_000_000
_CACHED = 100_000


def time_ns(text: str) -> tuple[int, bool]:
    """Nanoseconds since the epoch, and whether the text is in whole seconds.

    Takes RFC 3339 with or without a fraction, and Unix time in seconds, milli-, micro- or nanoseconds by its length.

    Raises:
        ValueError: it is no such time.
    """
    if text[10:11] != "T":
        digits = len(text)
        scale = 1_000_000_000 if digits <= 11 else 1_000_000 if digits <= 14 else 1_000 if digits <= 17 else 1
        return integer(text) * scale, digits <= 11
    return parse_rfc3339(text), "." not in text


@dataclass(slots=True)
class _Held:
    """A request that may yet fail a check."""

    start: int
    took: int
    status: int
    endpoint: str
    error: str | None
    outcome: Outcome
    iteration: str


class Points:
    """Takes points in the order of the file and hands requests to the sink."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._rows = sink.rows()
        self._endpoints: dict[tuple[str, str], str] = {}
        self._answers: dict[Answer, tuple[int, Outcome, str | None]] = {}
        self._user_times: list[int] = []
        self._user_counts: list[float] = []
        self._held: dict[str, _Held] = {}
        self._attributed = 0
        self._whole_seconds = False
        self._untold = self._expected = 0
        self._dropped = 0.0
        self._bytes: Counter[str] = Counter()
        self.requests = 0
        self.counted = 0
        """Points of `http_reqs`: as many as there are requests, if the file is whole."""
        self.failed_checks: Counter[str] = Counter()

    def request(
        self, at: str, value: str | float, answer: Answer, name: str, method: str, user: User | None = None
    ) -> None:
        """A point of `http_req_duration`; `name` is its tag of that name, or else its URL.

        Raises:
            ValueError: time, value or status is no such thing.
        """
        end, coarse = time_ns(at)
        took = nanoseconds(value, 1e6)
        known = self._answers.get(answer)
        if known is None:
            known = self._answer(answer)
        status, outcome, error = known
        endpoint = self._endpoints.get((name, method)) or self._endpoint(name, method)
        if coarse:
            self._whole_seconds = True
            end += _HALF_SECOND
        if user is None:
            self._rows.append(end - took, took, status, endpoint, error=error, outcome=outcome)
        else:
            self._hold(user, _Held(end - took, took, status, endpoint, error, outcome, user[1]))
        self.requests += 1
        if not status and not any(answer):
            self._untold += 1
        if status >= 400 and answer[3] == "true":
            self._expected += 1

    def _answer(self, answer: Answer) -> tuple[int, Outcome, str | None]:
        status = integer(answer[0], STATUS_MOST) if answer[0] else 0
        known = (status, SORTER.of_k6(status, *answer[1:]), answer[2] or None)
        if len(self._answers) < _CACHED:
            self._answers[answer] = known
        return known

    def _endpoint(self, name: str, method: str) -> str:
        if looks_like_url(name):
            endpoint = endpoint_of_url(method, name)
        else:
            endpoint = plain_label(name) or UNNAMED
        if len(self._endpoints) < _CACHED:
            self._endpoints[(name, method)] = endpoint
        return endpoint

    def _hold(self, user: User, request: "_Held") -> None:
        """Keeps the last request of each user, for the checks that come behind it."""
        before = self._held.pop(user[0], None)
        if before is not None:
            self._release(before)
        self._held[user[0]] = request

    def _release(self, held: "_Held") -> None:
        self._rows.append(held.start, held.took, held.status, held.endpoint, error=held.error, outcome=held.outcome)

    def _check_failed(self, check: str, user: User | None) -> None:
        held = self._held.get(user[0]) if user is not None else None
        if held is not None and user is not None and held.iteration == user[1]:
            self._attributed += 1
            if held.outcome is Outcome.OK:
                held.outcome = Outcome.ASSERTION
                held.error = f"check failed: {check}"
        elif len(self.failed_checks) < 1_000 or check in self.failed_checks:
            self.failed_checks[check] += 1

    def other(self, metric: str, at: str, value: str | float, check: str, user: User | None = None) -> None:
        """A point of `vus`, `dropped_iterations`, `checks` (with its name), `data_sent` or `data_received`.

        Raises:
            ValueError: time or value is no such thing.
        """
        number = float(value)
        if not abs(number) < 2**53:
            raise ValueError("a value is out of range")
        if metric == "vus":
            self._user_times.append(time_ns(at)[0] // 1_000_000)
            self._user_counts.append(number)
        elif metric == "dropped_iterations":
            self._dropped += number
        elif metric == "checks":
            if number == 0:
                self._check_failed(check, user)
        else:
            self._bytes[metric] += int(number)

    def flush_users(self) -> None:
        """Hands over the users so far, so that no list grows with the file."""
        if self._user_times:
            self._sink.users(np.array(self._user_times, dtype=np.int64), np.array(self._user_counts))
            self._user_times, self._user_counts = [], []

    def release_all(self) -> None:
        """At the end of a file: the users of the next one are others."""
        for held in self._held.values():
            self._release(held)
        self._held.clear()

    def close(self, *, damaged: bool) -> None:
        """The remarks on the whole file."""
        self.flush_users()
        self.release_all()
        self._rows.flush()
        if self._dropped:
            self._sink.describe(facts=RampFacts(dropped_iterations=int(self._dropped)))
        if self.counted != self.requests and not damaged:
            self._sink.damage(
                f"There are {self.counted} points of http_reqs and {self.requests} of http_req_duration, which are as "
                "many in a whole file; requests without a duration are not counted.",
                place="end of file",
                code="k6-points-missing",
                figures={"http_reqs": self.counted, "http_req_duration": self.requests},
            )
        self._remark_outcomes()
        if self._bytes:
            self._sink.remark(
                RemarkKind.MISSING,
                "k6-bytes",
                f"k6 counts bytes by iteration and not by request: {self._bytes['data_received']} received and "
                f"{self._bytes['data_sent']} sent in the whole test, headers included.",
                figures={"bytes_in": self._bytes["data_received"], "bytes_out": self._bytes["data_sent"]},
            )
        if self._whole_seconds:
            self._sink.remark(
                RemarkKind.MISSING,
                "k6-whole-seconds",
                "The times are in whole seconds, so requests may be shown one second off. K6_CSV_TIME_FORMAT=unix_nano "
                "writes exact ones.",
            )

    def _remark_outcomes(self) -> None:
        if self.failed_checks:
            failed = sum(self.failed_checks.values())
            most = "; ".join(f"{name} ({n})" for name, n in self.failed_checks.most_common(5))
            self._sink.remark(
                RemarkKind.MISSING,
                "k6-checks",
                f"{failed} checks failed: {most}. k6 does not tell of which request, so no request counts as failed by "
                "them. `--system-tags` with vu and iter makes it possible to tell.",
                figures={"failed_checks": failed},
            )
        if self._expected:
            self._sink.remark(
                RemarkKind.DISTORTION,
                "k6-expected-statuses",
                f"k6 counts {self._expected} answers of 400 or more as successes, because the script expects them "
                "(setResponseCallback); they are failures here.",
                figures={"requests": self._expected},
            )
        if self._attributed:
            self._sink.remark(
                RemarkKind.DISTORTION,
                "k6-checks-attributed",
                f"{self._attributed} failed checks are counted as failures of the last request before them of the same "
                "user and iteration; k6 itself counts such a request as a success. After http.batch() it may have been "
                "another request of the batch.",
                figures={"failed_checks": self._attributed},
            )
        if self._untold:
            self._sink.remark(
                RemarkKind.MISSING,
                "k6-no-outcome",
                f"{self._untold} requests have none of the tags status, error, error_code and expected_response "
                "(--system-tags); they are counted as answered.",
                figures={"requests": self._untold},
            )

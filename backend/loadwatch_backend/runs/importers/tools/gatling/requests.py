"""What Gatling's text and binary logs have in common: names of requests in groups, what a KO means, users, errors.

Sources: Gatling 3.12.0 and 3.15.1, LogFileDataWriter and the parsers of gatling-charts.
"""

from collections import Counter

import numpy as np
import numpy.typing as npt
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.evidence.records.model import OUTCOME_CODES, IntArray, RemarkKind
from loadwatch_backend.runs.importers.outcomes import SORTER
from loadwatch_backend.runs.importers.sink import Sink

GROUP_SEPARATOR = " / "
"""Between a request and the groups it is in, as in Gatling's report."""
_OTHER_ERRORS = 5
_DISTINCT_ERRORS = 1_000


def endpoint_name(groups: tuple[str, ...], name: str) -> str:
    """`basket / pay`: the request's name after those of its groups."""
    return GROUP_SEPARATOR.join((*groups, name))


def endings(
    ok: npt.NDArray[np.bool_], codes: npt.NDArray[np.int32], messages: list[str]
) -> tuple[IntArray, npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """Status, outcome and error code (-1 for none) of each request; messages are indexed by `codes`."""
    known = [message.strip() for message in messages]
    status = np.array([SORTER.gatling_status(message) for message in known], dtype=np.int64)[codes]
    kinds = np.array([OUTCOME_CODES[SORTER.of_gatling(message)] for message in known], dtype=np.uint8)[codes]
    fine = np.uint8(OUTCOME_CODES[Outcome.OK])
    return np.where(ok, 0, status), np.where(ok, fine, kinds), np.where(ok, np.int32(-1), codes)


class Extras:
    """What a log tells beside its requests: users, errors outside of requests, events without an answer."""

    def __init__(self) -> None:
        self._users: dict[int, int] = {}
        self._errors: Counter[str] = Counter()
        self.errors = 0
        self.incoming = 0

    def users(self, at_ms: IntArray, started: npt.NDArray[np.bool_]) -> None:
        """Users that began or ended; kept as the change of each second."""
        if not len(at_ms):
            return
        second = at_ms // 1000
        first, last = int(second.min()), int(second.max())
        if last - first > 10_000_000:
            return  # Damage; the accumulator says so of the requests around it.
        changes = np.bincount(second - first, weights=np.where(started, 1.0, -1.0))
        for place in np.flatnonzero(changes):
            at = first + int(place)
            self._users[at] = self._users.get(at, 0) + int(changes[place])

    def error(self, message: str) -> None:
        """An error outside of a request, such as an attribute that a session lacks."""
        self.errors += 1
        if message in self._errors or len(self._errors) < _DISTINCT_ERRORS:
            self._errors[message.strip()] += 1

    def finish(self, sink: Sink) -> None:
        """Hands over the users of each second, and the remarks."""
        if self._users:
            at = np.array(sorted(self._users), dtype=np.int64)
            active = np.cumsum([self._users[second] for second in at.tolist()])
            sink.users(at * 1000, active.astype(np.float64))
        sink.remark(
            RemarkKind.MISSING,
            "gatling-no-status",
            "Gatling's log has no HTTP status, but that of failed status checks, and no bytes.",
        )
        if self.errors:
            texts = "; ".join(f"{text} ({count})" for text, count in self._errors.most_common(_OTHER_ERRORS))
            sink.remark(
                RemarkKind.MISSING,
                "gatling-errors",
                f"{self.errors} errors happened outside of requests and count as no requests: {texts}.",
                figures={"errors": self.errors},
            )
        if self.incoming:
            sink.remark(
                RemarkKind.MISSING,
                "gatling-incoming",
                f"{self.incoming} incoming events (WebSocket, SSE) that no request waited for have no latency and are "
                "not counted.",
                figures={"events": self.incoming},
            )

"""Follows Gatling's simulation.log since 3.13, which is binary."""

from collections.abc import Sequence

from loadwatch_formats.gatling import CutOffError, GatlingError, GatlingRecords, RequestRecord, UserEvent
from loadwatch_formats.outcomes import Outcome

from loadwatch_collectors.runs.streams.event import SORTER, RequestEvent, StreamError, UsersEvent


class GatlingBinaryReader:
    """Requests and users from a growing binary log."""

    def __init__(self) -> None:
        self._log = GatlingRecords()
        self._rest = b""
        self._done = 0
        self._users = 0

    def feed(self, data: bytes) -> Sequence[RequestEvent | UsersEvent]:
        """See StreamReader."""
        log, data = self._log, self._rest + data
        events: list[RequestEvent | UsersEvent] = []
        at = 0
        while at < len(data):
            try:
                record = log.read(data, at)
            except CutOffError:
                break
            except GatlingError as error:
                raise StreamError(
                    f"byte {self._done + at}: {error}; this is no log of Gatling 3.13 or later"
                ) from error
            at = log.end
            if isinstance(record, RequestRecord):
                if record.end != log.sentinel:
                    outcome = Outcome.OK if record.ok else SORTER.of_gatling(log.strings[record.message])
                    seconds = max(record.end - record.start, 0) / 1000
                    events.append(RequestEvent(log.start_ms + record.start, seconds, outcome))
            elif isinstance(record, UserEvent):
                self._users += 1 if record.started else -1
                events.append(UsersEvent(log.start_ms + record.at, self._users))
        self._rest = data[at:]
        self._done += at
        return events

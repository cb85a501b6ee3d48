"""Measures ingest-to-database lag from outside: sends a marked request and waits until its row can be read.

One marker is in flight at a time. When its row is not there within one reading, the flight goes on over the following
ticks and its age is reported as the lag, so that a backlog of minutes is seen while it grows.
"""

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_formats.own_traffic import MARKER

from loadwatch_collectors.collector import Borrow, Collector, MissingPrivilege, Sample, Source, kept
from loadwatch_collectors.errors import CollectorError, PrivilegeError
from loadwatch_collectors.settings import Seconds, option
from loadwatch_collectors.sources.freshness import quote_name
from loadwatch_collectors.sources.mysql.iam import open_iam_password
from loadwatch_collectors.transport.http_page import HttpPage, HttpSettings, request_target
from loadwatch_collectors.transport.mysql_session import SERVER_KEYS, MySQLLogin, MySQLSession

DEFAULT_REQUEST = "/?name={marker}&value=probe"
SELECT_ROW = "SELECT 1 FROM {table} WHERE {column} = {{marker}} LIMIT 1"
DELETE_ROW = "DELETE FROM {table} WHERE {column} = {{marker}}"
CLEANUP_LOST = "the rows of marked requests stay in the table"
ALLOW_DELETE = "GRANT DELETE ON `DATABASE`.`TABLE` TO 'loadwatch'@'HOST';"
_ERROR_TEXT_LIMIT = 200
_FIRST_PAUSE_SECONDS = 0.005
_LONGEST_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSettings(HttpSettings):
    url: str = option(
        help="Application to probe. {marker} stands for the mark; without it, /?name={marker}&value=probe is added.",
        metavar="http://127.0.0.1:8080",
    )
    mysql: MySQLLogin = option(
        help="Database in which the row arrives; without host, port and unix_socket that of the target's own `mysql`."
    )
    table: str = option(help="Table in which the row arrives.", default="hits")
    column: str = option(help="Column that holds the mark; it should have an index.", default="name")
    query: str = option(
        help="Statement that returns a row once the mark is there, instead of table and column; {marker} is the mark "
        "as a quoted literal.",
        default="",
    )
    cleanup: bool = option(help="Delete the row after it was seen; needs DELETE on the table.", default=False)
    delete: str = option(help="Statement that deletes the row, when `query` is given.", default="")
    every: Seconds = option(help="Least time between two marked requests; 0 is one at each tick.", default=0.0)
    wait: Seconds = option(help="How long one reading looks for the row; then the next one goes on.", default=0.8)
    give_up: Seconds = option(help="A row that has not come after this time is taken as lost.", default=900.0)

    def __post_init__(self) -> None:
        HttpSettings.__post_init__(self)
        if self.query and "{marker}" not in self.query:
            raise ValueError("query must contain {marker}")
        if self.delete and "{marker}" not in self.delete:
            raise ValueError("delete must contain {marker}, or it would delete every row")
        if self.wait >= self.mysql.deadline:
            raise ValueError("wait must be less than mysql.deadline")
        if self.cleanup and self.query and not self.delete:
            raise ValueError("cleanup with a query of your own needs `delete`, the statement that deletes the row")


@dataclass(slots=True, kw_only=True)
class _InFlight:
    marker: str
    sent_at: float
    http_seconds: float


class ProbeCollector(Collector):
    """Keeps one marked request in flight."""

    def __init__(self, settings: ProbeSettings) -> None:
        """Read the password; nothing is dialled yet."""
        self._settings = settings
        self._page = HttpPage(settings)
        self._session = MySQLSession(settings.mysql, password=open_iam_password(settings.mysql))
        url = settings.url if "{marker}" in settings.url else settings.url.rstrip("/") + DEFAULT_REQUEST
        self._target = request_target(url)
        table, column = quote_name(settings.table), quote_name(settings.column)
        self._select = settings.query or SELECT_ROW.format(table=table, column=column)
        self._delete = settings.delete or DELETE_ROW.format(table=table, column=column)
        self._flight: _InFlight | None = None
        self._sent_at = float("-inf")
        self._error = ""
        self._requests = 0
        self._failures = {"request": 0, "lost": 0}
        self._last: list[Sample] = []
        self._missing: list[MissingPrivilege] = []

    def collect(self) -> Sequence[Sample]:
        # Looking first also opens the session, so that a request is only sent when its row could be seen.
        self._session.run(lambda: None)
        if self._flight is None:
            if time.monotonic() < self._sent_at + self._settings.every:
                return [*self._last, *self._counts()]
            self._flight = self._send()
        if self._flight is None:
            samples = [Sample("probe_success", 0.0), Sample("probe_error_info", 1.0, (("error", self._error),))]
        else:
            samples = self._watch(self._flight)
        self._last = kept(samples)
        return [*samples, *self._counts()]

    def missing_privileges(self) -> Sequence[MissingPrivilege]:
        return tuple(self._missing)

    def explain(self) -> list[str]:
        return [f"reads MySQL at {self._session.where}"]

    def close(self) -> None:
        self._page.close()
        self._session.close()

    def _send(self) -> _InFlight | None:
        """Send a request; None when the application did not take it, which is a result and no error of ours."""
        marker = MARKER + uuid.uuid4().hex
        self._sent_at = time.monotonic()
        self._requests += 1
        try:
            self._page.get(accept="*/*", target=self._target.replace("{marker}", marker))
        except CollectorError as error:
            self._failures["request"] += 1
            self._error = str(error)[:_ERROR_TEXT_LIMIT]
            return None
        return _InFlight(marker=marker, sent_at=self._sent_at, http_seconds=time.monotonic() - self._sent_at)

    def _watch(self, flight: _InFlight) -> list[Sample]:
        seen = self._session.run(lambda: self._look_for(flight.marker))
        lag = time.monotonic() - flight.sent_at
        success = 1.0
        if seen:
            self._flight = None
            if self._settings.cleanup and not self._missing:
                self._clean_up(flight.marker)
        elif lag > self._settings.give_up:
            self._flight = None
            self._failures["lost"] += 1
            success = 0.0
        return [
            Sample("probe_success", success),
            Sample("probe_ingest_lag_seconds", lag),
            Sample("probe_http_duration_seconds", flight.http_seconds),
        ]

    def _look_for(self, marker: str) -> bool:
        statement = self._with_marker(self._select, marker)
        until = time.monotonic() + self._settings.wait
        pause = _FIRST_PAUSE_SECONDS
        while not self._session.query(statement):
            if time.monotonic() + pause > until:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE_SECONDS)
        return True

    def _clean_up(self, marker: str) -> None:
        try:
            self._session.run(lambda: self._session.execute(self._with_marker(self._delete, marker)))
        except PrivilegeError as error:
            # The measurement stands without it, so this is no failure of the reading.
            lost = f"{CLEANUP_LOST} ({error})"
            self._missing = [MissingPrivilege(permission="DELETE", lost=lost, remedy=ALLOW_DELETE)]

    def _with_marker(self, statement: str, marker: str) -> str:
        return statement.replace("{marker}", self._session.quote(marker))

    def _counts(self) -> list[Sample]:
        return [
            Sample("probe_requests_total", float(self._requests)),
            *(
                Sample("probe_failures_total", float(count), (("reason", reason),))
                for reason, count in self._failures.items()
            ),
        ]


PROBE = Source(
    name="probe",
    help="Ingest-to-database lag measured from outside, by marked requests.",
    settings=ProbeSettings,
    build=ProbeCollector,
    packs=("ingest",),
    borrow=Borrow(block="mysql", into="mysql", groups=SERVER_KEYS, unknown_with="discover"),
    timeout_seconds=10.0,
    privileges=(
        MissingPrivilege(
            permission="SELECT",
            lost="the row of a marked request",
            remedy="GRANT SELECT ON `DATABASE`.`TABLE` TO 'loadwatch'@'HOST';",
        ),
        MissingPrivilege(permission="DELETE (with cleanup)", lost=CLEANUP_LOST, remedy=ALLOW_DELETE),
    ),
)

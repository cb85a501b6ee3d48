"""Slow logs of MySQL, MariaDB, Percona Server and RDS, read line by line.

What a server adds beyond times and rows (verbosity, `log_slow_extra`) is taken where it is there. A statement ends
where the next heading begins, behind its `;`; a comment or a text that only resembles one stays within it. Whatever
else the file holds is counted and left out; nothing here fails on a damaged one.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

LONGEST_TEXT = 65_536
"""Characters of a statement that are kept; the rest of a longer one is read past."""
LONGEST_LINE = 1 << 20
"""Bytes of a line beyond which a caller that splits a file should keep no more of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowStatement:
    """One execution.

    Attributes:
        text: as it was sent, with its values; an administrative command as `administrator command: Quit`.
        schema: the database it ran in; empty where the log does not say.
        at: when it ended (older servers: to the second), seconds since the epoch; None where the log does not say.
        seconds, lock_seconds: its time, and the part in which it waited for table locks.
        rows_affected, tmp_tables, tmp_disk_tables: 0 where the server does not write them.
        no_index: a table was read as a whole, where the server says so.
        failed: it ended with an error, where the server says so.
        one_in: the server wrote one of so many (`log_slow_rate_limit` of Percona Server).
    """

    text: str
    schema: str
    at: float | None
    seconds: float
    lock_seconds: float
    rows_sent: int
    rows_examined: int
    rows_affected: int = 0
    tmp_tables: int = 0
    tmp_disk_tables: int = 0
    no_index: bool = False
    failed: bool = False
    one_in: int = 1


_FIELD = re.compile(r"([A-Z]\w*):\s++(?![A-Z]\w*+:)(\S++)")  # a field may be empty: `Schema:   QC_hit: No`
_SCHEMA = re.compile(r"(?:^#|  ) ?Schema: (.{0,300}?)(?=  [A-Z]\w*+: |\s*\Z)")  # a name may hold spaces
# With `log_short_format` there is neither time nor user.
_SHORT = (
    r"Query_time: \d++(?:\.\d++)?+ ++Lock_time: \d|Thread_id: \d++ ++Schema: "
    r"|Schema: [^\n]{0,300}? Last_errno: \d++ ++Killed: \d"
)
_HEADING = re.compile(rf"# (?:Time: |User@Host: |{_SHORT})")
_SURE = re.compile(
    r"# (?:Time: \d[\d-]{5,9}[ T]++\d?\d:\d\d:\d\d|User@Host: [^\[\n]{0,300}\[[^\]\n]{0,300}\] @ "
    rf"|{_SHORT})"
)
_USE = re.compile(r"use `?([^`;]{1,64})`?;\s*\Z", re.IGNORECASE)
_TIMESTAMP = re.compile(
    r"SET (?:(?:last_)?insert_id=\d{1,20},){0,2}timestamp=(\d{1,12})(?:\.(\d{1,6}))?;\s*\Z", re.IGNORECASE
)
_STARTED = re.compile(r"\S.*, Version: .* started with:|Tcp port: |Time +Id +Command|Time\t\t")
_YES = frozenset(("yes", "1"))


class SlowLogReader:
    """Takes lines, gives statements.

    Attributes:
        statements: how many were read.
        unreadable: lines outside of any statement, and statements whose heading tells no time.
        cut: statements of which only the beginning was kept.
    """

    def __init__(self) -> None:
        self.statements = 0
        self.unreadable = 0
        self.cut = 0
        self._schema = ""
        self._at: float | None = None
        self._fields: dict[str, str] | None = None
        self._own_schema = ""
        self._stamped = False
        self._text: list[str] = []
        self._length = 0
        self._is_cut = False
        self._ended = True
        self._unsure = False

    def feed(self, line: str) -> Iterator[SlowStatement]:
        """The statement that the line shows to be over, if any; `line` without its end."""
        if self._unsure:
            self.unreadable += 1
            self._unsure = not _ends(line)
            return
        if line.startswith("#") and (_SURE if self._text else _HEADING).match(line):
            if self._text:
                self._unsure = self._may_be_in_literal()
                yield from self.flush()
                if self._unsure:
                    self.unreadable += 1
                    return
            self._stamped = False
            self._heading(line)
            return
        if self._fields is None:
            if line.strip() and not _STARTED.match(line):
                self.unreadable += 1
            return
        if not self._text:
            if line.startswith("# administrator command: "):
                line = line.removeprefix("# ")
            elif line.startswith("#"):
                self._heading(line)
                return
            elif (use := _USE.match(line)) is not None and not self._stamped:
                # Before the time: the server's own, for whoever plays the log. Behind it, it is the statement.
                self._schema = use[1]
                return
            elif (stamp := _TIMESTAMP.match(line)) is not None:
                self._stamped = True
                self._at = int(stamp[1]) + (int(stamp[2].ljust(6, "0")) / 1e6 if stamp[2] else 0.0)
                return
            elif not line.strip() or _STARTED.match(line):
                return
        elif self._ended and _STARTED.match(line):
            return
        self._add(line)

    def flush(self) -> Iterator[SlowStatement]:
        """The statement that is under way; what follows has to begin with a heading."""
        fields, text, schema = self._fields, "\n".join(self._text), self._own_schema or self._schema
        self.cut += self._is_cut
        self._fields, self._text, self._own_schema = None, [], ""
        self._length, self._is_cut, self._ended = 0, False, True
        if fields is None or not text:
            return
        seconds = _number(fields.get("Query_time"))
        if seconds is None:
            self.unreadable += 1
            return
        self.statements += 1
        yield SlowStatement(
            text=text.rstrip().removesuffix(";"),
            schema=schema,
            at=self._at,
            seconds=seconds,
            lock_seconds=_number(fields.get("Lock_time")) or 0.0,
            rows_sent=_count(fields, "Rows_sent"),
            rows_examined=_count(fields, "Rows_examined"),
            rows_affected=_count(fields, "Rows_affected"),
            tmp_tables=_count(fields, "Tmp_tables", "Created_tmp_tables"),
            tmp_disk_tables=_count(fields, "Tmp_disk_tables", "Created_tmp_disk_tables"),
            no_index=fields.get("Full_scan", "").lower() in _YES,
            failed=(fields.get("Last_errno") or fields.get("Errno") or "0") != "0",
            one_in=max(_count(fields, "Log_slow_rate_limit", "Rate_limit"), 1),
        )

    def skip(self) -> None:
        """What comes next begins anywhere: what is under way is dropped, and the next statement begins behind a `;`."""
        self._fields, self._text, self._own_schema, self._schema, self._at = None, [], "", "", None
        self._length, self._is_cut, self._ended, self._unsure = 0, False, True, True

    @property
    def is_whole(self) -> bool:
        """Whether what is under way ends as a statement does: nothing may be missing if no line follows."""
        return bool(self._text) and self._ended

    def _may_be_in_literal(self) -> bool:
        """Whether a heading may be part of a text that somebody stored, and not behind what a crash cut off.

        Masking would take values for words in what follows, so it is left out up to the next end of a statement.
        """
        return not self._ended and (self._is_cut or any(quote in line for line in self._text for quote in "'\""))

    def _heading(self, line: str) -> None:
        if self._fields is None:
            self._fields = {}
        if line.startswith("# Time: "):
            self._at = _parse_time(line[8:].strip())
            return
        if line.startswith("# User@Host:"):
            line = line.partition("]  ")[2]
        if (schema := _SCHEMA.search(line[:4_096])) is not None and schema[1]:
            self._own_schema = schema[1]
        for name, value in _FIELD.findall(line[:4_096]):
            if len(self._fields) < 64:
                self._fields[name] = value

    def _add(self, line: str) -> None:
        self._ended = _ends(line) or line.startswith("administrator command: ")
        room = LONGEST_TEXT - self._length
        if len(line) > room:
            self._is_cut = True
            line = line[: max(room, 0)]
            if not line:
                return
        self._text.append(line)
        self._length += len(line) + 1


def _ends(line: str) -> bool:
    """Whether a statement may be over: servers write `;` behind each. The end of a line that was cut is not known."""
    return line.rstrip().endswith(";") or len(line) >= LONGEST_LINE


def _parse_time(text: str) -> float | None:
    """`2024-05-01T12:00:00.123456Z` of MySQL 5.7 and later, or `240501 12:00:00`, which is taken for UTC."""
    try:
        if "T" in text:
            moment = datetime.fromisoformat(text)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        return datetime.strptime(text, "%y%m%d %H:%M:%S").replace(tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else -1.0
    except ValueError:
        return None
    return value if 0 <= value < 3.2e7 else None


def _count(fields: dict[str, str], *names: str) -> int:
    for name in names:
        text = fields.get(name, "")
        if text.isascii() and text.isdigit() and len(text) < 19:
            return int(text)
    return 0


# Reads a slow log as a file: its bytes go in, its executions come out.

MOST_LINES_BEFORE = 200_000
"""Lines without a statement among them, after which a file is no slow log; the end of a bulk insert may come first."""
NO_SLOW_LOG = (
    "no slow log of MySQL or MariaDB: no statement below a line such as "
    "'# Query_time: 0.25  Lock_time: 0.00 Rows_sent: 1  Rows_examined: 9'"
)


def read_log(data: Iterable[bytes], add: Callable[[SlowStatement], None]) -> SlowLogReader:
    """Give each execution to `add`; the reader tells what became of the lines, without statements of no slow log."""
    reader = SlowLogReader()
    for number, line in enumerate(lines_of(data)):
        for one in reader.feed(line):
            add(one)
        if number >= MOST_LINES_BEFORE and not reader.statements:
            break
    for one in reader.flush():
        add(one)
    return reader


def lines_of(data: Iterable[bytes]) -> Iterator[str]:
    """Lines without their ends, and of each at most `LONGEST_LINE` bytes: the rest of a longer one is read past."""
    begun = bytearray()
    for piece in data:
        *ended, rest = piece.split(b"\n")
        for line in ended:
            begun += line[: LONGEST_LINE - len(begun)]
            yield _text(begun)
            begun.clear()
        begun += rest[: LONGEST_LINE - len(begun)]
    if begun:
        yield _text(begun)


def _text(line: bytearray) -> str:
    return line.decode("utf-8", "replace").removesuffix("\r")

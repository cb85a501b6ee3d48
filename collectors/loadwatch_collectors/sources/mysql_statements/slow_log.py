"""Follows a slow log: what each statement did since the last look.

A log is read in bounded rounds, so one that grows faster than that is read on at the next looks. Only when it is too
far ahead is a part of it left out, which is counted and said.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from loadwatch_formats.own_traffic import COMMENT
from loadwatch_formats.statements.fingerprint import digest_of, first_word, mask
from loadwatch_formats.statements.slow_log import SlowLogReader, SlowStatement

from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.aws.client.client import AwsClient, Document
from loadwatch_collectors.sources.log_tail import LogTail
from loadwatch_collectors.sources.statements import NOTHING, Counts, Key, add

# Follows the slow log of an instance of RDS over AWS's API: whole lines, each once, through its rotation.
#
# AWS tells no place in a file but its own marker, and at each full hour the file goes on under another name and begins
# anew. So lines are given out once a later look shows that the file was not turned meanwhile; where it was, they are
# dropped, and the place is found again in the file that was put aside, by the last lines that were given out.
#
# Source: docs.aws.amazon.com, API reference of RDS, DescribeDBLogFiles and DownloadDBLogFilePortion.

EVERY_SECONDS = 5.0
"""Between two looks while there is nothing more to read: AWS bounds how often an account may ask."""
LOOK_SECONDS = 2.0
"""How long one look may take; what it did not reach is left to the next one."""
MOST_LINES, FEWEST_LINES = 2_000, 1
"""Lines asked for at once; fewer where they exceed the megabyte that AWS gives in one answer."""
ANCHOR_LINES = 32
MOST_LOOK_LINES = 32_000
LOG_ACTIONS = frozenset({"rds:DescribeDBLogFiles", "rds:DownloadDBLogFilePortion"})
CURRENT = "slowquery/mysql-slowquery.log"
TRUNCATED = "[Your log message was truncated]"
NO_LOG = (
    "RDS instance {instance} has no slow log: set slow_query_log=1, long_query_time=0 and log_output=FILE in its "
    "parameter group"
)


class _File(NamedTuple):
    size: int
    written_ms: int


class RdsLog:
    """What was added to an instance's slow log since the last call.

    Attributes:
        lost_files: times that the log was turned and our place in it was not found again.
        cut_lines: lines that were too long for one answer and were left out.
    """

    def __init__(self, client: AwsClient, instance: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Nothing is asked yet; the first call begins at the end of the log."""
        self._client, self._instance, self._clock = client, instance, clock
        self._due = 0.0
        self._marker: str | None = None
        self._known: dict[str, _File] = {}
        self._anchor: deque[str] = deque(maxlen=ANCHOR_LINES)
        self._held: list[str] = []
        """Lines of the last look, not given out yet."""
        self._partial = ""
        self._lines = MOST_LINES
        self.lost_files = 0
        self.cut_lines = 0

    def read_lines(self) -> list[str]:
        """New whole lines, oldest first; mostly none.

        Raises:
            CollectorError: AWS was not asked, or refused; the text says what to do.
        """
        now = self._clock()
        if now < self._due:
            return []
        self._due = now + EVERY_SECONDS
        until = time.monotonic() + LOOK_SECONDS
        files = self._list(until)
        if self._marker is None:
            self._begin(files, until)
            return []
        fresh = sorted(
            (name for name, file in files.items() if name != CURRENT and self._known.get(name) != file),
            key=lambda name: files[name].written_ms,
        )
        if fresh or files[CURRENT].size < self._known[CURRENT].size:
            found = self._turn(fresh, until)
        else:
            found, self._held = self._held, []
            self._anchor.extend(found)
        self._known = files
        self._read_on(until)
        return found

    def close(self) -> None:
        """Nothing is open."""

    def _list(self, until: float) -> dict[str, _File]:
        found: dict[str, _File] = {}
        parameters = {"DBInstanceIdentifier": self._instance, "FilenameContains": "mysql-slowquery"}
        for page in self._client.pages("rds", "describe_db_log_files", parameters, deadline=until):
            for entry in page.get("DescribeDBLogFiles", ()):
                found[str(entry["LogFileName"])] = _File(int(entry.get("Size", 0)), int(entry.get("LastWritten", 0)))
        if not found:
            raise CollectorError(NO_LOG.format(instance=self._instance))
        # Right after it was turned it may not be there yet.
        found.setdefault(CURRENT, _File(0, 0))
        return found

    def _begin(self, files: dict[str, _File], until: float) -> None:
        if files[CURRENT].size:
            answer = self._portion(CURRENT, None, ANCHOR_LINES, until)
            *lines, self._partial = str(answer.get("LogFileData") or "").split("\n")
            self._anchor.extend(lines)
            self._marker = str(answer.get("Marker") or "0")
        else:
            self._marker = "0"
        self._known = files

    def _turn(self, fresh: list[str], until: float) -> list[str]:
        """Return the rest of rotated files; held lines may be of either file, and are read again."""
        found: list[str] = []
        for place, name in enumerate(fresh):
            rest, lost = self._after_anchor(name, until) if not place else self._tail(name, MOST_LOOK_LINES, until)
            self.lost_files += lost
            found += rest
        self.lost_files += not fresh
        self._held, self._partial, self._marker = [], "", "0"
        self._anchor.clear()
        return found

    def _after_anchor(self, name: str, until: float) -> tuple[list[str], bool]:
        """Lines behind the last ones that were given out, and whether those were not found near the end."""
        anchor = list(self._anchor)
        count = MOST_LINES // 4
        while True:
            lines, is_cut = self._tail(name, count, until)
            for start in range(len(lines) - len(anchor), -1, -1):
                if anchor and lines[start : start + len(anchor)] == anchor:
                    return lines[start + len(anchor) :], False
            if len(lines) < count and not is_cut:
                return ([], True) if anchor else (lines, False)
            if is_cut or count >= MOST_LOOK_LINES:
                return [], True
            count *= 4

    def _tail(self, name: str, count: int, until: float) -> tuple[list[str], bool]:
        """The last lines of a file that was put aside, and whether AWS left out lines that were asked for."""
        text = str(self._portion(name, None, count, until).get("LogFileData") or "")
        if TRUNCATED in text:
            # The first line may be a part of one.
            return text.replace(TRUNCATED, "").removesuffix("\n").split("\n")[1:], True
        return text.removesuffix("\n").split("\n") if text else [], False

    def _read_on(self, until: float) -> None:
        more = True
        while more and time.monotonic() < until:
            answer = self._portion(CURRENT, self._marker, self._lines, until)
            text = str(answer.get("LogFileData") or "")
            if TRUNCATED in text and self._lines > FEWEST_LINES:
                self._lines = max(self._lines // 4, FEWEST_LINES)
                continue
            if TRUNCATED in text:
                self.cut_lines += 1
                text, self._partial = "", ""
            *lines, self._partial = (self._partial + text).split("\n")
            self._held += lines
            self._marker = str(answer.get("Marker") or self._marker)
            self._lines = min(self._lines * 2, MOST_LINES)
            more = bool(answer.get("AdditionalDataPending"))
        if more:
            self._due = 0.0

    def _portion(self, name: str, marker: str | None, lines: int, until: float) -> Document:
        parameters: dict[str, str | int] = {
            "DBInstanceIdentifier": self._instance,
            "LogFileName": name,
            "NumberOfLines": lines,
        }
        if marker is not None:
            parameters["Marker"] = marker
        return self._client.call("rds", "download_db_log_file_portion", parameters, deadline=until)


MOST_BYTES, MOST_SECONDS = 8 << 20, 0.4
"""Most that one look reads: bytes of log, seconds of CPU time; a block begun is read to its end."""
FARTHEST_BYTES = 64 << 20
"""Backlog in bytes beyond which reading skips ahead, to the last half as many bytes of the log."""
_BLOCK = 1 << 18
_ADMINISTRATOR = "administrator command"


class SlowLogFollower:
    """Reads what is new; texts leave it masked only.

    Attributes:
        read, unreadable: lines, and those that were not understood, since it began.
        sampled: the server writes one of so many statements; each counts for all that it stands for.
        skipped_bytes: of the log that were left out since it began. `is_skipping`: some were at the last call.
        examples: the slowest execution of each statement with its values, of the last call; for EXPLAIN alone.
    """

    def __init__(self, path: str, rds: RdsLog | None = None) -> None:
        self._path = path
        self._tail = LogTail(path, first_read=0) if rds is None else rds
        self.skipped_bytes = 0
        self.is_skipping = False
        self._reader = SlowLogReader()
        self.read = 0
        self.sampled = 1
        self.texts: dict[Key, str] = {}
        self.words: dict[Key, str] = {}
        self.examples: dict[Key, str] = {}
        self._slowest: dict[Key, float] = {}

    @property
    def lost(self) -> int:
        """Times that the log was turned and its rest was not found."""
        return self._tail.lost_files

    @property
    def behind(self) -> int:
        """Bytes of the log that are still to be read, as far as is known."""
        return self._tail.behind() if isinstance(self._tail, LogTail) else 0

    @property
    def unreadable(self) -> int:
        return self._reader.unreadable

    def collect(self) -> dict[Key, Counts]:
        """What each statement did since the last call; `texts` and `words` are of these statements.

        Raises:
            CollectorError: the file cannot be read.
        """
        grown: dict[Key, Counts] = {}
        self.texts, self.words, self.examples, self._slowest = {}, {}, {}, {}
        before = self.read
        try:
            if isinstance(self._tail, LogTail):
                self._read_file(self._tail, grown)
            else:
                self._feed(self._tail.read_lines(), grown)
        except OSError as error:
            raise CollectorError(
                f"the slow log {self._path} cannot be read: {error.strerror}; the agent's user needs to read it, and "
                "the server must have slow_query_log=ON"
            ) from error
        if self.read == before and self._reader.is_whole:
            for one in self._reader.flush():
                self._count(one, grown)
        return grown

    def close(self) -> None:
        self._tail.close()

    def _read_file(self, tail: LogTail, grown: dict[Key, Counts]) -> None:
        skipped = tail.skip_to_last(FARTHEST_BYTES // 2) if tail.behind() > FARTHEST_BYTES else 0
        self.is_skipping = skipped > 0
        if skipped:
            self.skipped_bytes += skipped
            self._reader.skip()
        until, size = time.thread_time() + MOST_SECONDS, 0
        while size < MOST_BYTES and (block := tail.read_block(_BLOCK)) is not None:
            size += len(block)
            *lines, _ = block.split(b"\n")
            self._feed([line.decode("utf-8", "replace").rstrip("\r") for line in lines], grown)
            if time.thread_time() > until:
                break

    def _feed(self, lines: Sequence[str], grown: dict[Key, Counts]) -> None:
        self.read += len(lines)
        for line in lines:
            for one in self._reader.feed(line):
                self._count(one, grown)

    def _count(self, one: SlowStatement, grown: dict[Key, Counts]) -> None:
        if one.text.startswith(_ADMINISTRATOR):
            return  # preparing and closing: no statement was executed
        self.sampled = one.one_in
        digest = digest_of(one.text)
        key = Key(one.schema, digest)
        if key not in self.texts:
            own = COMMENT in one.text
            self.texts[key], self.words[key] = COMMENT if own else mask(one.text), first_word(one.text)
        if one.seconds >= self._slowest.get(key, 0.0):
            self._slowest[key], self.examples[key] = one.seconds, one.text
        counts = (
            1.0,
            one.seconds,
            one.lock_seconds,
            float(one.failed),
            float(one.rows_affected),
            float(one.rows_sent),
            float(one.rows_examined),
            float(one.tmp_tables),
            float(one.tmp_disk_tables),
            float(one.no_index),
        )
        if one.one_in > 1:
            counts = tuple(count * one.one_in for count in counts)
        grown[key] = add(grown.get(key, NOTHING), counts)

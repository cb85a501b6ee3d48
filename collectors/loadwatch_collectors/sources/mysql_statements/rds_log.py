"""Follows the slow log of an instance of RDS over AWS's API: whole lines, each once, through its rotation.

AWS tells no place in a file but its own marker, and at each full hour the file goes on under another name and begins
anew. So lines are given out once a later look shows that the file was not turned meanwhile; where it was, they are
dropped, and the place is found again in the file that was put aside, by the last lines that were given out.

Source: docs.aws.amazon.com, API reference of RDS, DescribeDBLogFiles and DownloadDBLogFilePortion.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import NamedTuple

from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.aws.client.client import AwsClient, Document

EVERY_SECONDS = 5.0
"""Between two looks while there is nothing more to read: AWS bounds how often an account may ask."""
LOOK_SECONDS = 2.0
"""How long one look may take; what it did not reach is left to the next one."""
MOST_LINES, FEWEST_LINES = 2_000, 1
"""Asked for at once; fewer where they have more than AWS gives in one answer, a megabyte."""
ANCHOR_LINES = 32
MOST_LOOK_LINES = 32_000
LOG_ACTIONS = frozenset({"rds:DescribeDBLogFiles", "rds:DownloadDBLogFilePortion"})
"""What it needs in a policy."""
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
            found = self._release()
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
        """Take the end of the log as the beginning."""
        if files[CURRENT].size:
            answer = self._portion(CURRENT, None, ANCHOR_LINES, until)
            *lines, self._partial = str(answer.get("LogFileData") or "").split("\n")
            self._anchor.extend(lines)
            self._marker = str(answer.get("Marker") or "0")
        else:
            self._marker = "0"
        self._known = files

    def _release(self) -> list[str]:
        found, self._held = self._held, []
        self._anchor.extend(found)
        return found

    def _turn(self, fresh: list[str], until: float) -> list[str]:
        """The rest of what was put aside; what was held may be of either file, and is read again."""
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
        """Hold what is new in the present file."""
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
        answer: Mapping[str, object] = self._client.call(
            "rds", "download_db_log_file_portion", parameters, deadline=until
        )
        return answer

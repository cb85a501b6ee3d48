"""Follows a slow log: what each statement did since the last look.

A log is read in bounded rounds, so one that grows faster than that is read on at the next looks. Only when it is too
far ahead is a part of it left out, which is counted and said.
"""

import time
from collections import Counter
from collections.abc import Sequence

from loadwatch_formats.own_traffic import COMMENT
from loadwatch_formats.statements.fingerprint import digest_of, first_word
from loadwatch_formats.statements.masking import mask
from loadwatch_formats.statements.slow_log import SlowLogReader, SlowStatement

from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.log_tail import LogTail
from loadwatch_collectors.sources.mysql_statements.rds_log import RdsLog
from loadwatch_collectors.sources.statements import NOTHING, Counts, Key, add

MOST_BYTES, MOST_SECONDS = 8 << 20, 0.4
"""Of one look, of the log and of the processor's time; the block that is under way is read to its end."""
FARTHEST_BYTES = 64 << 20
"""A log that is ahead by more is read on from its last bytes, half as many."""
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
        """`rds` reads the log in place of the file."""
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
        """Lines that were not understood."""
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
        """Close the file."""
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


def line_counts(follower: SlowLogFollower) -> Counter[str]:
    """Lines by what became of them."""
    return Counter({"read": follower.read - follower.unreadable, "unreadable": follower.unreadable})

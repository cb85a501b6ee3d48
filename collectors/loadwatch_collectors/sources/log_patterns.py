"""Lines of an application's log counted by their pattern: `accept4: too many open files`, 84 times.

Only patterns leave this host: what varies, and what may be a secret, is left out of each line before it is compared
(`loadwatch_formats.log_patterns`). Counting begins with the first line after the agent's start, from zero.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_formats.log_patterns import MOST_TEMPLATES, OTHER, LogPatterns, read_line

from loadwatch_collectors.collector import KEPT, Collector, Sample, Source
from loadwatch_collectors.settings import option
from loadwatch_collectors.sources.log_tail import LogTail, reading_log

MOST_BYTES_A_TICK = 8 << 20
"""Bytes of the log read at one tick; what a faster log has beyond them is read at the next ticks."""
_REPEAT_SECONDS = 15.0
"""A number that did not change is sent again after this time only."""
_LONGEST_LINE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPatternsSettings:
    path: str = option(help="The log file.", metavar="/var/log/app/app.log")
    patterns: int = option(
        help="So many patterns are told apart; the lines of all others are counted as other.", default=200
    )

    def __post_init__(self) -> None:
        if not self.path:
            raise ValueError("path is empty; name the log file")
        if not 1 <= self.patterns <= MOST_TEMPLATES:
            raise ValueError(f"patterns must be between 1 and {MOST_TEMPLATES}")


class LogPatternsCollector(Collector):
    def __init__(self, settings: LogPatternsSettings) -> None:
        """Prepare; the file is opened by the first `collect`."""
        self._settings = settings
        self._tail = LogTail(settings.path, first_read=0)
        self._patterns = LogPatterns(settings.patterns)
        self._counted = self._continued = 0
        self._sent: dict[tuple[str, str], tuple[float, str]] = {}
        self._repeat_at = 0.0
        self._repeats = True

    def collect(self) -> Sequence[Sample]:
        with reading_log(self._settings.path):
            self._read()
        now = time.monotonic()
        self._repeats = now >= self._repeat_at
        if self._repeats:
            self._repeat_at = now + _REPEAT_SECONDS
        return self._samples()

    def explain(self) -> list[str]:
        found = sorted(self._patterns.templates.values(), key=lambda one: -one.count)
        return [
            f"follows {self._settings.path}; counts lines from now on",
            *(f"{one.count} × {one.text[:100]}" for one in found[:3]),
        ]

    def close(self) -> None:
        self._tail.close()

    def _read(self) -> None:
        size = 0
        while size < MOST_BYTES_A_TICK and (block := self._tail.read_block()) is not None:
            size += len(block)
            for raw in block.splitlines():
                message = read_line(raw[:_LONGEST_LINE].decode("utf-8", "replace"))
                if message is None:
                    self._continued += 1
                else:
                    self._counted += 1
                    self._patterns.add(message)

    def _samples(self) -> list[Sample]:
        samples = [
            Sample("log_lines_total", float(value), (("result", result),))
            for result, value in (
                ("counted", self._counted),
                ("continued", self._continued),
                ("too_long", self._tail.cut_lines),
            )
        ]
        for one in self._patterns.templates.values():
            samples += self._of_pattern(one.id, one.level, one.count, one.text)
        for level, count in self._patterns.others.items():
            samples += self._of_pattern(OTHER, level, count, "")
        return samples

    def _of_pattern(self, pattern_id: str, level: str, count: int, text: str) -> list[Sample]:
        """Return the pattern's count and text, marked `KEPT` if neither changed since last sent."""
        changed = self._sent.get((pattern_id, level)) != (count, text) or self._repeats
        self._sent[(pattern_id, level)] = (count, text)
        at = None if changed else KEPT
        number = Sample("log_messages_total", float(count), (("pattern_id", pattern_id), ("level", level)), at)
        if not text:
            return [number]
        return [number, Sample("log_pattern_info", 1.0, (("pattern_id", pattern_id), ("pattern", text)), at)]


LOG_PATTERNS = Source(
    name="log_patterns",
    help="Lines of an application's log, counted by their pattern.",
    settings=LogPatternsSettings,
    build=LogPatternsCollector,
    packs=("process",),
)

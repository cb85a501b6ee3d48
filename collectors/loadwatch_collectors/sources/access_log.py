"""Requests by route, from the access log of any web server or load balancer.

Lines are counted when they are read. What the server holds back (nginx with `buffer=`) is counted that much later, and
`access_log_delay_seconds` says by how much. Only routes, methods, statuses and sums leave the agent: no query but what
`keep` names, no user, no address.

So they go on where they stopped: whoever keeps them together with the place in the log counts each line once, however
often it is started anew. No I/O here.
"""

import json
import os
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any, Self, cast

from loadwatch_formats.access_logs.blocks import SAMPLE_BYTES
from loadwatch_formats.access_logs.figures import instant_of
from loadwatch_formats.access_logs.groups import GroupError, MatchingGroups
from loadwatch_formats.access_logs.lines.line import (
    AT,
    NO_ANSWER,
    REST,
    AccessLogError,
    LineOptions,
    LineReader,
    Texts,
    status_of,
)
from loadwatch_formats.access_logs.lines.registry import FORMATS, recognise
from loadwatch_formats.access_logs.routes import MOST_ROUTES, OTHER, RouteNames
from loadwatch_formats.access_logs.tally import NOT_FOUND, Naming, method_label

from loadwatch_collectors.collector import KEPT, Collector, Labels, MissingPrivilege, Sample, Source
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.settings import option
from loadwatch_collectors.sources.log_tail import LogPosition, LogTail, reading_log

BOUNDS: Sequence[float] = tuple(round(0.0005 * 2 ** (step / 4), 9) for step in range(69))
"""Upper bounds of durations in seconds: from 0.5 ms to 65.5 s, each 2^(1/4) times the one before."""
_SETTLE_AT = 2_000
_MOST_DURATIONS = 20_000
_SHOWN = 120
_VERSION = 1

Key = tuple[str, str]
"""Method and route."""


@dataclass(slots=True)
class RouteCounts:
    """What was counted of one method and route; durations by the place of the first bound that is not less."""

    statuses: Counter[str] = field(default_factory=Counter[str])
    bytes: int = 0
    seconds: float = 0.0
    timed: int = 0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))

    @property
    def requests(self) -> int:
        return self.statuses.total()

    def to_json(self) -> list[Any]:
        return [dict(self.statuses), self.bytes, self.seconds, self.timed, self.buckets]

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """What `to_json` gave.

        Raises:
            ValueError, TypeError: it is nothing of the kind.
        """
        statuses, size, seconds, timed, buckets = document
        if len(buckets) != len(BOUNDS) + 1:
            raise ValueError("other bounds than now")
        counts = Counter({str(status): int(count) for status, count in statuses.items()})
        return cls(counts, int(size), float(seconds), int(timed), [int(count) for count in buckets])


class LogCounts:
    """Counts lines. Not for several threads.

    Attributes:
        routes: what was counted of each.
        counted, unreadable: lines.
        example: an unreadable line of which only the form is left.
    """

    def __init__(self, naming: Naming) -> None:
        self.routes: dict[Key, RouteCounts] = {}
        self.counted = 0
        self.unreadable = 0
        self.example = ""
        self._naming = naming
        self._seconds: dict[str, tuple[float, int] | None] = {}

    @property
    def other(self) -> int:
        return sum(counts.requests for (_, route), counts in self.routes.items() if route == OTHER)

    @property
    def named(self) -> int:
        return len({route for _, route in self.routes if route != OTHER})

    def learn(self, reader: LineReader, text: str) -> None:
        """Learn names from lines that are not counted, so that the first that are counted have their final ones."""
        lines: dict[Key, _Lines] = {}
        for texts in reader.read(text):
            self._take(lines, texts, reader)
        self._settle(lines)
        self._naming.forget_counts()

    def add(self, reader: LineReader, text: str) -> None:
        lines: dict[Key, _Lines] = {}
        for texts in reader.read(text):
            if not self._take(lines, texts, reader):
                self.unreadable += 1
                self.example = masked(texts[-1])
            elif len(lines) >= _SETTLE_AT:
                self._count(lines, reader)
                lines = {}
        self._count(lines, reader)

    def forget_counts(self) -> None:
        """Begin to count anew, under the names that were learnt: the same route keeps its name."""
        self.routes.clear()
        self.counted = self.unreadable = 0
        self.example = ""
        self._naming.forget_counts()

    def to_json(self) -> dict[str, Any]:
        return {
            "version": _VERSION,
            "naming": self._naming.to_json(),
            "counted": self.counted,
            "unreadable": self.unreadable,
            "routes": [[*key, counts.to_json()] for key, counts in self.routes.items()],
        }

    @classmethod
    def from_json(cls, document: Any, groups: MatchingGroups, limit: int) -> Self:
        """What `to_json` gave.

        Raises:
            ValueError: it is nothing of the kind.
        """
        try:
            if document["version"] != _VERSION:
                raise ValueError("another version")
            counts = cls(Naming.from_json(document["naming"], groups, limit))
            counts.counted, counts.unreadable = int(document["counted"]), int(document["unreadable"])
            counts.routes = {
                (str(method), str(route)): RouteCounts.from_json(one) for method, route, one in document["routes"]
            }
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no counts of an access log: {error}") from error
        return counts

    def _take(self, lines: "dict[Key, _Lines]", texts: Texts, reader: LineReader) -> bool:
        _, method, path, status, size, took, rest = texts
        if rest:
            again = reader.again(rest)
            if again is None:
                return False
            _, method, path, status, size, took, _ = again
        key = (method, self._naming.name(path))
        if (line := lines.get(key)) is None:
            line = lines[key] = _Lines()
        line.statuses[status] += 1
        line.sizes[size] += 1
        line.tooks[took] += 1
        return True

    def _settle(self, lines: "dict[Key, _Lines]") -> dict[str, str]:
        for (_, name), line in lines.items():
            self._naming.note(name, line.statuses.total(), found=not NOT_FOUND.issuperset(line.statuses))
        return self._naming.settle()

    def _count(self, lines: "dict[Key, _Lines]", reader: LineReader) -> None:
        """Add what was read under the names that it settles to; routes that are called otherwise now begin anew."""
        renamed = self._settle(lines)
        for key in [key for key in self.routes if key[1] in renamed]:
            del self.routes[key]
        for (method, name), line in lines.items():
            key = (method_label(method), renamed.get(name, name))
            counts = self.routes.get(key)
            if counts is None:
                counts = self.routes[key] = RouteCounts()
            for status, times in line.statuses.items():
                counts.statuses[status_of(status) or NO_ANSWER] += times
            counts.bytes += sum(int(text) * times for text, times in line.sizes.items() if _is_size(text))
            for text, times in line.tooks.items():
                timed = self._duration(text, reader)
                if timed is not None:
                    seconds, place = timed
                    counts.seconds += seconds * times
                    counts.timed += times
                    counts.buckets[place] += times
            self.counted += line.statuses.total()

    def _duration(self, text: str, reader: LineReader) -> tuple[float, int] | None:
        if text in self._seconds:
            return self._seconds[text]
        seconds = reader.seconds(text) if text else None
        found = None if seconds is None else (seconds, bisect_left(BOUNDS, seconds))
        if len(self._seconds) >= _MOST_DURATIONS:
            self._seconds.clear()
        self._seconds[text] = found
        return found


class _Lines:
    __slots__ = ("sizes", "statuses", "tooks")

    def __init__(self) -> None:
        self.statuses: Counter[str] = Counter()
        self.sizes: Counter[str] = Counter()
        self.tooks: Counter[str] = Counter()


def masked(line: str) -> str:
    """The form of a line: letters as `a`, digits as `0`, what is not printable ASCII as `?`."""
    form = "".join(
        "0" if "0" <= one <= "9" else "a" if one.isascii() and one.isalpha() else one if " " <= one <= "~" else "?"
        for one in line[:_SHOWN]
    )
    return form + ("…" if len(line) > _SHOWN else "")


def _is_size(text: str) -> bool:
    return len(text) <= 15 and text.isdecimal() and text.isascii()


BUCKETS_SECONDS = 5.0
"""How often buckets are sent: they are most of what there is, and nobody reads a quantile of a second."""
_LE = (*(f"{bound:.9g}" for bound in BOUNDS), "+Inf")
_SUM, _COUNT, _BUCKET = (f"http_request_duration_seconds_{part}" for part in ("sum", "count", "bucket"))


class _Shown:
    __slots__ = ("buckets", "codes", "kept", "labels")

    def __init__(self, key: Key) -> None:
        method, route = key
        self.labels: Labels = (("route", route), ("method", method))
        self.codes: dict[str, Labels] = {}
        self.buckets: list[Labels] = []
        self.kept: list[Sample] = []


class RouteSamples:
    """Remembers what has been shown, from one tick to the next.

    Attributes:
        has_new: the last tick began a series. One that is forgotten would begin with 0 again, and so count twice.
    """

    def __init__(self) -> None:
        self.has_new = False
        self._shown: dict[Key, _Shown] = {}

    def known(self) -> list[list[str]]:
        """What has been shown, as JSON: method, route, `timed` or nothing, and each status."""
        return [[*key, "timed" if one.buckets else "", *one.codes] for key, one in self._shown.items()]

    def restore(self, known: object) -> None:
        for entry in cast("list[list[object]]", known) if isinstance(known, list) else []:
            method, route, timed, *codes = [str(part) for part in entry]
            shown = self._add((method, route))
            for code in codes:
                shown.codes[code] = (*shown.labels, ("code", code))
            if timed:
                self._add_buckets(shown)

    def samples(self, routes: Mapping[Key, RouteCounts], *, with_buckets: bool) -> list[Sample]:
        """Samples of a tick; buckets that are not read again stand as they were."""
        for key in [key for key in self._shown if key not in routes]:
            del self._shown[key]
        self.has_new = False
        found: list[Sample] = []
        for key, counts in routes.items():
            first = key not in self._shown
            shown = self._add(key) if first else self._shown[key]
            for code, count in counts.statuses.items():
                labels = shown.codes.get(code)
                if labels is None:
                    labels = shown.codes[code] = (*shown.labels, ("code", code))
                    count, self.has_new = 0, True
                found.append(Sample("http_requests_total", float(count), labels))
            found.append(Sample("http_response_bytes_total", 0.0 if first else float(counts.bytes), shown.labels))
            if counts.timed:
                found += self._durations(shown, counts, with_buckets=with_buckets)
        return found

    def _durations(self, shown: _Shown, counts: RouteCounts, *, with_buckets: bool) -> list[Sample]:
        if not shown.buckets:
            self._add_buckets(shown)
            self.has_new = True
            zeros = [Sample(_BUCKET, 0.0, labels) for labels in shown.buckets]
            return [Sample(_SUM, 0.0, shown.labels), Sample(_COUNT, 0.0, shown.labels), *zeros]
        totals = [Sample(_SUM, counts.seconds, shown.labels), Sample(_COUNT, float(counts.timed), shown.labels)]
        if not with_buckets:
            return totals + shown.kept
        reached = accumulate(counts.buckets)
        return totals + [
            Sample(_BUCKET, float(count), labels) for count, labels in zip(reached, shown.buckets, strict=True)
        ]

    def _add(self, key: Key) -> _Shown:
        shown = self._shown[key] = _Shown(key)
        return shown

    def _add_buckets(self, shown: _Shown) -> None:
        shown.buckets = [(*shown.labels, ("le", le)) for le in _LE]
        shown.kept = [Sample(_BUCKET, 0.0, labels, KEPT) for labels in shown.buckets]


SAVE_SECONDS = 5.0
STATE_AGE_SECONDS = 86_400.0
"""What was read before that is not gone on from: who starts an agent after days does not want their lines as of now.
Names of routes are kept however old they are."""
LOOKED_BACK = 262_144
"""Bytes at the end of the log that a check reads."""
_SHARE_OF_INTERVAL = 0.4
_RECOGNISE_AGAIN_SECONDS = 10.0
_FEW_LINES = 20
_FIRST_LINES = 200
_SHOWN_ROUTES = 5
_UNITS = ("s", "ms", "us", "ns")
_READ_LOG = MissingPrivilege(
    permission="read access to the log",
    lost="requests, latency and failures by route",
    remedy="let the agent's user read it, for example by its group: `usermod -a -G adm loadwatch`",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessLogSettings:
    path: str = option(help="The log.", metavar="/var/log/nginx/access.log")
    format: str = option(
        help=f"How its lines are written: auto, {', '.join(one.name for one in FORMATS)}.", default="auto"
    )
    keys: dict[str, str] = option(
        help="For LTSV and JSON: which key holds `time`, `method`, `path`, `request`, `status`, `bytes` and `seconds`, "
        "where they are called otherwise than usual.",
        default_factory=dict,
    )
    unit: str | None = option(help="Of durations, where neither format nor key tells: s, ms, us or ns.", default=None)
    match: tuple[str, ...] = option(
        help="Regular expressions that name routes before anything else does; the first that matches is the name.",
        default=(),
    )
    keep: tuple[str, ...] = option(
        help="Parameters of queries whose words may leave the host, as part of the route: `action` makes "
        "`/index.php?action=login` one; numbers and what may be a secret become placeholders.",
        default=(),
    )
    routes: int = option(help="Routes with a name of their own; all others are the route `other`.", default=MOST_ROUTES)

    def __post_init__(self) -> None:
        if not self.path:
            raise ValueError("path is empty")
        if self.format not in ("auto", *(one.name for one in FORMATS)):
            raise ValueError(f"format: there is no {self.format!r}; {', '.join(one.name for one in FORMATS)} or auto")
        if self.unit is not None and self.unit not in _UNITS:
            raise ValueError(f"unit must be one of {', '.join(_UNITS)}, not {self.unit!r}")
        if not 1 <= self.routes <= 5_000:
            raise ValueError("routes must be between 1 and 5000")
        for name, given in (("match", (self.match, ())), ("keep", ((), self.keep))):
            try:
                MatchingGroups(*given)
            except GroupError as error:
                raise ValueError(f"{name}: {error}") from error


class AccessLogCollector(Collector):
    def __init__(self, settings: AccessLogSettings) -> None:
        self._settings = settings
        self._options = LineOptions(
            format=settings.format, keys=settings.keys, unit=settings.unit, queries=bool(settings.keep)
        )
        self._tail = LogTail(settings.path, first_read=LOOKED_BACK)
        groups = MatchingGroups(settings.match, settings.keep)
        self._counts = LogCounts(Naming(RouteNames(groups, settings.routes)))
        self._shown = RouteSamples()
        self._reader: LineReader | None = None
        self._state_file: Path | None = None
        self._interval = 1.0
        self._ticks = 0
        self._saved = 0.0
        self._recognised = 0.0
        self._cut_before = 0
        self._delay: float | None = None
        self._lock = threading.Lock()
        self._closed = False

    def set_pace(self, interval_seconds: float, timeout_seconds: float) -> None:
        """How often, and so how long a tick may read: a backlog is caught up with over several of them."""
        self._interval = min(interval_seconds, timeout_seconds)

    def set_state_file(self, path: Path) -> None:
        """Go on where the file says, else at the end of the log."""
        self._state_file = path
        state = _load(path)
        if state is None or state.get("options") != self._identity():
            self._tail = LogTail(self._settings.path, first_read=0)
            return
        with suppress(ValueError, KeyError, TypeError):
            positions = [LogPosition.from_json(one) for one in state["positions"]]
            groups = MatchingGroups(self._settings.match, self._settings.keep)
            counts = LogCounts.from_json(state["counts"], groups, self._settings.routes)
            if not 0 <= time.time() - float(state["saved_s"]) < STATE_AGE_SECONDS:
                counts.forget_counts()
                self._counts = counts
                self._tail = LogTail(self._settings.path, first_read=0)
                return
            self._shown.restore(state["shown"])
            self._cut_before = int(state["cut"])
            self._counts = counts
            self._tail = LogTail(self._settings.path, first_read=0, positions=positions)
            return
        self._shown = RouteSamples()
        self._tail = LogTail(self._settings.path, first_read=0)

    def collect(self) -> Sequence[Sample]:
        with self._lock:
            if self._closed:
                raise CollectorError(f"{self._settings.path}: closed")
            try:
                with reading_log(self._settings.path, _READ_LOG.remedy):
                    self._read()
            except AccessLogError as error:
                raise CollectorError(f"{self._settings.path}: {error}") from error
            samples = self._samples()
            if self._shown.has_new or time.monotonic() - self._saved >= SAVE_SECONDS:
                self._save()
            return samples

    def explain(self) -> Sequence[str]:
        reader, counts = self._reader, self._counts
        if reader is None:
            return [f"{self._settings.path} has no lines yet; its format is recognised from the first ones"]
        durations = f"durations: {reader.durations}" if reader.durations else f"no durations: {reader.without}"
        lines = [f"format {reader.format}; {durations}"]
        routes = sorted(counts.routes.items(), key=lambda item: -item[1].requests)[:_SHOWN_ROUTES]
        if routes:
            named = ", ".join(f"{method} {route} ({one.requests})" for (method, route), one in routes)
            lines.append(f"read {counts.counted} lines, {counts.named} routes: {named}")
        if counts.unreadable:
            lines.append(f"{counts.unreadable} lines unreadable, such as {counts.example}")
        if self._delay is not None:
            lines.append(f"the newest line is {self._delay:.1f} s old; lines are counted when they are read")
        return lines

    def close(self) -> None:
        """Remember how far it is, and close the log; a tick that hangs is not waited for, and remembers nothing."""
        free = self._lock.acquire(blocking=False)
        self._closed = True
        if free:
            try:
                self._save()
                self._tail.close()
            finally:
                self._lock.release()

    # Reading ----------------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        if self._reader is None:
            self._recognise(_text(self._tail.read_last(SAMPLE_BYTES)))
        until = time.thread_time() + self._interval * _SHARE_OF_INTERVAL
        until_wall = time.monotonic() + self._interval * 2 * _SHARE_OF_INTERVAL
        self._delay = None
        newest = ""
        while (block := self._tail.read_block()) is not None:
            if block:
                text = _text(block)
                self._count(text)
                newest = text
            if time.thread_time() > until or time.monotonic() > until_wall:
                break
        self._note_delay(newest)

    def _count(self, text: str) -> None:
        if self._reader is None:
            self._recognise(text)
        if self._reader is None:
            return
        if self._reader.durations is None and self._counts.counted < _FIRST_LINES:
            # As of the first requests of a day, which nobody upstream answered.
            with suppress(AccessLogError):
                self._reader = recognise(text, self._options)
        counted, unreadable = self._counts.counted, self._counts.unreadable
        self._counts.add(self._reader, text)
        wrong = self._counts.unreadable - unreadable
        if wrong >= _FEW_LINES and wrong > self._counts.counted - counted:
            # Somebody has changed the log's format; the lines of this block are lost to it.
            now = time.monotonic()
            if now - self._recognised > _RECOGNISE_AGAIN_SECONDS:
                with suppress(AccessLogError):
                    self._recognised = now
                    self._reader = recognise(text, self._options)

    def _recognise(self, sample: str) -> None:
        if sample.strip():
            self._recognised = time.monotonic()
            self._reader = recognise(sample, self._options)
            if not self._counts.counted:
                self._counts.learn(self._reader, sample)

    def _note_delay(self, text: str) -> None:
        if self._reader is None or not text:
            return
        last = text.rstrip("\n").rpartition("\n")[2]
        for texts in self._reader.read(last):
            found = self._reader.again(texts[REST]) if texts[REST] else texts
            at_ms = None if found is None else instant_of(found[AT])
            if at_ms is not None:
                self._delay = max(time.time() - at_ms / 1000, 0.0)

    # Telling ----------------------------------------------------------------------------------------------------------

    def _samples(self) -> list[Sample]:
        counts = self._counts
        each = max(round(BUCKETS_SECONDS / self._interval), 1)
        samples = self._shown.samples(counts.routes, with_buckets=self._ticks % each == 0)
        self._ticks += 1
        for result, number in (
            ("counted", counts.counted),
            ("unreadable", counts.unreadable),
            ("too_long", self._cut_before + self._tail.cut_lines),
        ):
            samples.append(Sample("access_log_lines_total", float(number), (("result", result),)))
        samples.append(Sample("access_log_other_routes_requests_total", float(counts.other)))
        samples.append(Sample("access_log_routes", float(counts.named)))
        samples.append(Sample("access_log_lost_files_total", float(self._tail.lost_files)))
        if self._delay is not None:
            samples.append(Sample("access_log_delay_seconds", self._delay))
        return samples

    def _identity(self) -> str:
        """What must be unchanged for saved counts to be continued."""
        settings = self._settings
        kept = (settings.keep,) if settings.keep else ()
        return repr((os.path.abspath(settings.path), settings.match, settings.routes, *kept))

    def _save(self) -> None:
        """Save the counts together with the position in the log that they belong to."""
        if self._state_file is None:
            return
        self._saved = time.monotonic()
        state = {
            "options": self._identity(),
            "saved_s": time.time(),
            "positions": [position.to_json() for position in self._tail.positions()],
            "counts": self._counts.to_json(),
            "shown": self._shown.known(),
            "cut": self._cut_before + self._tail.cut_lines,
        }
        with suppress(OSError):  # A full disk: after a restart some lines are then counted again.
            self._state_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            work = self._state_file.with_suffix(".new")
            work.write_text(json.dumps(state, separators=(",", ":")), "utf-8")
            work.replace(self._state_file)


def _load(path: Path) -> dict[str, Any] | None:
    """The state in a file; None without one, and of one that is broken."""
    try:
        state = json.loads(path.read_text("utf-8"))
        float(state["saved_s"])
        return state
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _text(block: bytes) -> str:
    # As all that reads access logs does: nothing is ever no text.
    return block.decode("latin-1")


ACCESS_LOG = Source(
    name="access_log",
    help="Requests by route, status and duration from the access log of a web server: nginx, Apache, Envoy, Caddy, "
    "ALB, LTSV, JSON.",
    settings=AccessLogSettings,
    build=AccessLogCollector,
    packs=("http",),
    privileges=(_READ_LOG,),
)

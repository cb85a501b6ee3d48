"""What an importer is. To add one: a file with `IMPORTER`, a line in `registry.py`, a test, a fixture of the real tool.

An importer reads `Part`s and calls a `Sink`. A tool with single requests calls `sink.add(RequestRows)` (columns) or
`sink.rows()` (one request at a time); a tool that only sums up calls `sink.aggregate` once. It raises
`UnreadableFileError` if nothing at all can be used; everything less is a remark.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.core.texts.words import read_entries
from loadwatch_backend.evidence.records.accumulator import Accumulator
from loadwatch_backend.evidence.records.columns import Columns
from loadwatch_backend.evidence.records.model import (
    OUTCOME_CODES,
    Endpoint,
    Figures,
    FloatArray,
    IntArray,
    RampFacts,
    Remark,
    RemarkKind,
    Seconds,
)
from loadwatch_backend.runs.importers.outcomes import outcomes_of, plain_error, plain_label
from loadwatch_backend.runs.importers.reading.unpacked import Unpacked

HEAD_BYTES = 64 * 1024


class Part(NamedTuple):
    """One file as the tool wrote it: already decompressed and taken out of its archive.

    Attributes:
        name: its name without directories; never a path to open, and it tells no format.
        head: the first `HEAD_BYTES` bytes.
        open: a new binary stream from the beginning, readable once; `read(n)` gives n bytes or, at the end, fewer.
        account: of what the import unpacks; whoever copies the part to disk asks it.
    """

    name: str
    head: bytes
    open: Callable[[], BinaryIO]
    account: Unpacked


ROWS = 65_536
_REMARKS = 200
_DAMAGES = 20
"""Places of damage that are named; the rest is counted."""


class Labels(NamedTuple):
    """A column of text: `codes` (int32) are indices into `names`, -1 for none. The names are of this batch alone."""

    codes: npt.NDArray[np.int32]
    names: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRows:
    """Single requests as columns of equal length.

    Attributes:
        time_ns: starts, nanoseconds since the epoch (or since the start of the test after `sink.no_wall_clock()`).
        status: 0 where there was no answer.
        error: the tool's texts; they are cleaned of what differs per request.
        outcome: codes of `OUTCOMES`; None to derive them from status and error.
        bytes_in, bytes_out: None where the tool does not tell.
    """

    time_ns: IntArray
    latency_ns: IntArray
    status: IntArray
    endpoint: Labels
    error: Labels | None = None
    outcome: npt.NDArray[np.uint8] | None = None
    bytes_in: IntArray | None = None
    bytes_out: IntArray | None = None


class Aggregate(NamedTuple):
    """A result of which only sums exist."""

    figures: Figures
    endpoints: Sequence[Endpoint]
    errors: Sequence[tuple[str, int]]
    seconds: Seconds | None
    start_ms: int | None
    end_ms: int | None


_LARGEST = 2**62
"""Of a number that a damaged file gives, so that sums of two still fit."""


def ns_of_ms(values: IntArray) -> IntArray:
    """Nanoseconds; what would not fit into 64 bits is absurd, and counted as such by who takes it."""
    return np.clip(values, -_LARGEST // 1_000_000, _LARGEST // 1_000_000) * 1_000_000


class Rows:
    """Takes one request at a time; for formats that are decoded in Python."""

    def __init__(self, sink: "Sink") -> None:
        self._sink = sink
        self._endpoints: dict[str, int] = {}
        self._errors: dict[str, int] = {}
        self._rows: list[tuple[int, int, int, int, int, int, int, int]] = []

    def append(
        self,
        time_ns: int,
        latency_ns: int,
        status: int,
        endpoint: str,
        *,
        error: str | None = None,
        outcome: Outcome | None = None,
        bytes_in: int = -1,
        bytes_out: int = -1,
    ) -> None:
        """One request; an empty `error` is none, `outcome` None is derived from status and error, -1 bytes unknown."""
        code = self._endpoints.setdefault(endpoint, len(self._endpoints))
        wrong = self._errors.setdefault(error, len(self._errors)) if error else -1
        kind = OUTCOME_CODES[outcome] if outcome is not None else -1
        self._rows.append((time_ns, latency_ns, status, code, wrong, kind, bytes_in, bytes_out))
        if len(self._rows) >= ROWS:
            self.flush()

    def flush(self) -> None:
        """Hands over what is held; the pipeline does it at the end, too."""
        if not self._rows:
            return
        try:
            table = np.array(self._rows, dtype=np.int64)
        except OverflowError:
            # What does not fit is absurd, and counted as such by who takes it.
            table = np.array(
                [[max(min(one, _LARGEST), -_LARGEST) for one in row] for row in self._rows], dtype=np.int64
            )
        names, texts = list(self._endpoints), list(self._errors)
        self._rows, self._endpoints, self._errors = [], {}, {}
        errors = table[:, 4].astype(np.int32)
        given = table[:, 5]
        derived = outcomes_of(table[:, 2], errors, texts)
        self._sink.add(
            RequestRows(
                time_ns=table[:, 0].copy(),
                latency_ns=table[:, 1].copy(),
                status=table[:, 2].copy(),
                endpoint=Labels(table[:, 3].astype(np.int32), names),
                error=Labels(errors, texts),
                outcome=np.where(given >= 0, given, derived).astype(np.uint8),
                bytes_in=table[:, 6].copy(),
                bytes_out=table[:, 7].copy(),
            )
        )


class Sink:
    """Takes requests or one aggregate, remarks and facts, in any order."""

    def __init__(self, accumulator: Accumulator, started_ms: int | None = None) -> None:
        self._accumulator = accumulator
        self.started_ms = started_ms
        self._shift_ms = 0
        self._rows: list[Rows] = []
        self._damages: Counter[str] = Counter()
        self.name: str | None = None
        self.tool_version: str | None = None
        self.facts = RampFacts()
        self.has_wall_clock = True
        self.remarks: list[Remark] = []
        self.aggregated: Aggregate | None = None

    @property
    def records(self) -> int:
        """Requests taken so far."""
        return self._accumulator.records

    @property
    def received(self) -> int:
        """Requests that came, those included that cannot be true."""
        return self._accumulator.received

    def add(self, batch: RequestRows) -> None:
        """Takes single requests as columns."""
        error = batch.error
        outcome = batch.outcome
        if outcome is None:
            codes = error.codes if error is not None else None
            outcome = outcomes_of(batch.status, codes, list(error.names) if error is not None else [])
        accumulator = self._accumulator
        errors = None
        if error is not None:
            errors = accumulator.errors.encode(error.codes, [plain_error(text) for text in error.names])
        accumulator.add(
            Columns(
                time_ns=batch.time_ns + self._shift_ms * 1_000_000 if self._shift_ms else batch.time_ns,
                latency_ns=batch.latency_ns,
                status=batch.status.astype(np.int32),
                outcome=outcome,
                endpoint=self._endpoints(batch.endpoint),
                bytes_in=batch.bytes_in,
                bytes_out=batch.bytes_out,
                error=errors,
            )
        )

    def _endpoints(self, labels: Labels) -> npt.NDArray[np.int32]:
        codes, names = labels.codes, [plain_label(name) for name in labels.names]
        if len(codes) and int(codes.min()) < 0:
            codes, names = np.where(codes < 0, len(names), codes).astype(np.int32), [*names, ""]
        return self._accumulator.endpoints.encode(codes, names)

    def rows(self) -> Rows:
        """For formats that are decoded one request at a time."""
        rows = Rows(self)
        self._rows.append(rows)
        return rows

    def flush(self) -> None:
        """Takes what the row-wise appenders still hold."""
        for rows in self._rows:
            rows.flush()

    def users(self, at_ms: IntArray, users: FloatArray) -> None:
        """Active users at instants; each holds until the next one. Of several in a second the last counts."""
        self._accumulator.users(at_ms + self._shift_ms, users)

    def aggregate(
        self,
        figures: Figures,
        endpoints: Sequence[Endpoint] = (),
        errors: Sequence[tuple[str, int]] = (),
        seconds: Seconds | None = None,
        span: tuple[int | None, int | None] | None = None,
    ) -> None:
        """Instead of requests, once: for formats that hold only sums, as wrk's text and k6's summary.

        `span` is start and end in milliseconds; None for a result without a date, which begins when its sender said.
        """
        if span is None and self.started_ms is not None:
            span = self.started_ms, self.started_ms + round(figures.duration_seconds * 1000)
        self.aggregated = Aggregate(figures, endpoints, errors, seconds, *(span or (None, None)))

    def describe(
        self, *, tool_version: str | None = None, name: str | None = None, facts: RampFacts | None = None
    ) -> None:
        """What the file tells of the test itself; later calls add to earlier ones."""
        self.tool_version = tool_version or self.tool_version
        self.name = name or self.name
        self.facts = facts or self.facts

    def no_wall_clock(self) -> None:
        """The file tells no date: the times given, from now on, are since the start of the test.

        They are moved to the start that the sender named, if there is one.
        """
        self.has_wall_clock = False
        self._shift_ms = self.started_ms or 0

    def remark(
        self, key: str, /, *, place: str | None = None, figures: Mapping[str, float] | None = None, **values: object
    ) -> None:
        """Something that the reader of the figures must know, as `remarks.yml` has it.

        Args:
            key: a code that is stable, such as `vegeta-estimates`; after a slash which of its texts.
            place: where a damaged part is: `line 17`, `byte 4096`, `record 12`.
            figures: what is kept with it; the text may name them.
            values: what else the text names.
        """
        kind, text = _texts()[key]
        code = key.partition("/")[0]
        if kind is RemarkKind.DAMAGE:
            self._damages[code] += 1
            if self._damages[code] > _DAMAGES:
                return
        if len(self.remarks) < _REMARKS:
            kept = dict(figures or {})
            self.remarks.append(
                Remark(kind=kind, code=code, text=text.format(**kept, **values), place=place, figures=kept)
            )

    def close_damage(self) -> None:
        """Says how much more damage there was than the places named."""
        for code, count in self._damages.items():
            if count > _DAMAGES and len(self.remarks) < _REMARKS:
                more = count - _DAMAGES
                text = f"{more} further places are damaged in the same way."
                self.remarks.append(
                    Remark(kind=RemarkKind.DAMAGE, code=f"{code}-more", text=text, figures={"places": more})
                )
        self._damages.clear()


@cache
def _texts() -> Mapping[str, tuple[RemarkKind, str]]:
    groups = read_entries(Path(__file__).with_name("remarks.yml"))
    return {key: (RemarkKind(kind), text) for kind, texts in groups.items() for key, text in texts.items()}


class Importer(NamedTuple):
    """One format.

    Attributes:
        name: the tool's and the format's, stable, such as `vegeta-csv`; `ImportOptions.format` names it.
        title: what a person calls the format, such as "vegeta CSV (`vegeta encode --to csv`)".
        recognise: from the head of a part to a confidence, 0 (no) to 100 (a magic number).
        read: reads the parts of one upload that this importer recognised: one, or several files of one test.
    """

    name: str
    title: str
    recognise: Callable[[bytes], int]
    read: Callable[[Sequence[Part], "Sink"], None]

    @property
    def tool(self) -> str:
        """Such as `vegeta`."""
        return self.name.partition("-")[0]


def by_header(header: bytes) -> Callable[[bytes], int]:
    """Recognises files whose first line tells all."""
    return lambda head: 100 if head.startswith(header) else 0

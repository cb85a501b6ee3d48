"""Where importers put what they read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from loadwatch_formats.outcomes import Outcome

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
from loadwatch_backend.runs.importers.endpoints import plain_label
from loadwatch_backend.runs.importers.outcomes import outcomes_of, plain_error

ROWS = 65_536
_REMARKS = 200
_DAMAGES = 20
"""Places of damage that are named; the rest is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """A result of which only sums exist: wrk's text, oha's JSON, k6's summary, Locust's CSV files."""

    figures: Figures
    endpoints: Sequence[Endpoint] = ()
    errors: Sequence[tuple[str, int]] = ()
    seconds: Seconds | None = None
    start_ms: int | None = None
    end_ms: int | None = None


@dataclass(slots=True)
class Description:
    """What a file tells beside its requests."""

    tool_version: str | None = None
    name: str | None = None
    facts: RampFacts = field(default_factory=RampFacts)
    wall_clock: bool = True


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
                endpoint=Labels(codes=table[:, 3].astype(np.int32), names=names),
                error=Labels(codes=errors, names=texts),
                outcome=np.where(given >= 0, given, derived).astype(np.uint8),
                bytes_in=table[:, 6].copy(),
                bytes_out=table[:, 7].copy(),
            )
        )


class Sink:
    """Takes requests or one aggregate, remarks and facts, in any order."""

    def __init__(self, accumulator: Accumulator, started_ms: int | None = None) -> None:
        self._accumulator = accumulator
        self._started_ms = started_ms
        self._shift_ms = 0
        self._rows: list[Rows] = []
        self._damages: Counter[str] = Counter()
        self.description = Description()
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

    def aggregate(self, aggregate: Aggregate) -> None:
        """Instead of requests, once: for formats that hold only sums."""
        self.aggregated = aggregate

    def describe(
        self, *, tool_version: str | None = None, name: str | None = None, facts: RampFacts | None = None
    ) -> None:
        """What the file tells of the test itself; later calls add to earlier ones."""
        known = self.description
        known.tool_version = tool_version or known.tool_version
        known.name = name or known.name
        known.facts = facts or known.facts

    def no_wall_clock(self) -> None:
        """The file tells no date: the times given, from now on, are since the start of the test.

        They are moved to the start that the sender named, if there is one.
        """
        self.description.wall_clock = False
        self._shift_ms = self._started_ms or 0

    def remark(
        self,
        kind: RemarkKind,
        code: str,
        text: str,
        *,
        place: str | None = None,
        figures: Mapping[str, float] | None = None,
    ) -> None:
        """Something that the reader of the figures must know; `code` is stable, such as `vegeta-estimates`."""
        if len(self.remarks) < _REMARKS:
            self.remarks.append(Remark(kind=kind, code=code, text=text, place=place, figures=dict(figures or {})))

    def damage(
        self, text: str, *, place: str, code: str = "damaged", figures: Mapping[str, float] | None = None
    ) -> None:
        """A part that could not be read, and where it is: `line 17`, `byte 4096`, `record 12`."""
        self._damages[code] += 1
        if self._damages[code] <= _DAMAGES:
            self.remark(RemarkKind.DAMAGE, code, text, place=place, figures=figures)

    def close_damage(self) -> None:
        """Says how much more damage there was than the places named."""
        for code, count in self._damages.items():
            if count > _DAMAGES:
                more = count - _DAMAGES
                text = f"{more} further places are damaged in the same way."
                self.remark(RemarkKind.DAMAGE, f"{code}-more", text, figures={"places": more})
        self._damages.clear()

"""Some requests as arrays: what the accumulator takes and what is read back."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from loadwatch_backend.evidence.records.model import OTHER_ENDPOINTS, IntArray

CodeArray = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Requests as columns of equal length, in the meaning of `parquet.record_schema`.

    Attributes:
        endpoint: codes of the run's endpoint names.
        bytes_in, bytes_out: None where the tool does not tell.
        error: codes of the run's error texts, -1 for none; None when no request has one.
    """

    time_ns: IntArray
    latency_ns: IntArray
    status: CodeArray
    outcome: npt.NDArray[np.uint8]
    endpoint: CodeArray
    bytes_in: IntArray | None = None
    bytes_out: IntArray | None = None
    error: CodeArray | None = None

    def where(self, keep: npt.NDArray[np.bool_]) -> "Columns":
        columns = {one.name: getattr(self, one.name) for one in fields(self)}
        return replace(self, **{name: values[keep] for name, values in columns.items() if values is not None})


class Names:
    """Distinct texts of a run, by code in order of first sight; those after the limit share one name.

    A million distinct URLs must cost neither a million names in memory nor a row each on a page.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._codes: dict[str, int] = {}
        self._other: int | None = None
        self.names: list[str] = []

    @property
    def overflowed(self) -> bool:
        return self._other is not None

    def encode(self, codes: CodeArray, names: Sequence[str]) -> CodeArray:
        """From codes into `names` to codes of the run; -1 stays."""
        table = np.full(len(names) + 1, -1, dtype=np.int32)
        known = self._codes
        for at, name in enumerate(names):
            code = known.get(name)
            table[at] = self._add(name) if code is None else code
        return table[codes]

    def _add(self, name: str) -> int:
        if len(self._codes) < self._limit:
            code = self._codes[name] = len(self.names)
            self.names.append(name)
            return code
        if self._other is None:
            self._other = len(self.names)
            self.names.append(OTHER_ENDPOINTS)
        return self._other

"""One profile, whatever wrote it: stacks with values, in columns."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from loadwatch_backend.core.errors import InvalidError, LimitError


class UnknownProfileError(InvalidError, code="unknown-profile-format", title="Not a profile that can be read"):
    """No reader knows the content."""


class UnreadableProfileError(InvalidError, code="unreadable-profile", title="Profile cannot be read"):
    """The content was recognised, and it contradicts itself or is cut off."""


class ProfileLimitError(LimitError, code="profile-limit", title="Profile is too large"):
    """The profile would pass one of the limits that keep its reading small."""


class ProfilesDifferError(InvalidError, code="profiles-differ", title="Profiles of different kinds"):
    """Two profiles measure different things, and cannot be added or subtracted."""


Ints = npt.NDArray[np.int64]

_STATES = ("inuse_", "goroutine", "threadcreate", "live_", "space", "objects")
"""Types of samples that say how much there is at one moment. What is in use now does not belong to a request."""


class Kind(StrEnum):
    CPU = "cpu"
    HEAP = "heap"
    ALLOCS = "allocs"
    BLOCK = "block"
    MUTEX = "mutex"
    GOROUTINE = "goroutine"
    THREADS = "threads"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleType:
    """What one column of values counts.

    Attributes:
        name: as pprof says it: `cpu`, `delay`, `inuse_space`.
        unit: in lower case: `nanoseconds`, `bytes`, `count`.
    """

    name: str
    unit: str

    @property
    def accumulates(self) -> bool:
        """Whether it grows with the work done, so that a value per request means something."""
        return not self.name.startswith(_STATES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    name: str
    file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """What was mapped into memory where a location lies."""

    start: int = 0
    limit: int = 0
    offset: int = 0
    file: str = ""
    build_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What the application said of a sample: a text, or a number with its unit."""

    key: str
    text: str = ""
    number: int = 0
    unit: str = ""


LabelSet = tuple[Label, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Locations:
    """Places in the code: each is one frame, or several where functions were inlined (the innermost first).

    Attributes:
        offsets: location i has the frames `offsets[i]` up to `offsets[i + 1]`; at least one.
        function: of each frame, its place in `Profile.functions`.
        line: of each frame; 0 where it is not known.
        address: of each location; 0 where it is not known.
        binary: of each location, its place in `Profile.binaries`, or -1.
    """

    offsets: Ints
    function: Ints
    line: Ints
    address: Ints
    binary: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Samples: a stack, a value for each type, and labels.

    Attributes:
        format: what it was written as: `pprof`, `collapsed`.
        types: of the columns of `values`; at least one.
        default: the column that is meant when none is named, as pprof chooses it.
        values: (samples, types).
        offsets: sample i has the locations `stack[offsets[i]:offsets[i + 1]]`, the leaf first; perhaps none.
        stack: places in `locations`.
        labels: of each sample, its place in `label_sets`, whose first is empty.
        started_ns: since 1970; 0 where it is not known.
        duration_ns: 0 where it is not known.
        period: values between two samples, 0 where it is not known: 10,000,000 ns of CPU, 524,288 bytes.
        notes: what was cut or left out while it was read, in words.
    """

    format: str
    types: tuple[SampleType, ...]
    default: int
    functions: tuple[Function, ...]
    binaries: tuple[Binary, ...] = ()
    locations: Locations
    values: Ints
    offsets: Ints
    stack: Ints
    labels: Ints
    label_sets: tuple[LabelSet, ...] = ((),)
    started_ns: int = 0
    duration_ns: int = 0
    period: int = 0
    notes: Sequence[str] = field(default=())

    def __len__(self) -> int:
        return len(self.values)

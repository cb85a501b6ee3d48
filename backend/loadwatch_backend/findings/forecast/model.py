"""What a forecast is made of, and what it says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from loadwatch_backend.texts.words import Words

FloatArray = npt.NDArray[np.float64]

ENGINE = "1"
"""Version of the method; kept with every forecast."""
CONFIDENCE = 0.9
"""Of every interval."""


class Reason(StrEnum):
    """Why a part of a run is in no point."""

    WARM_UP = "warm-up"
    RAMP_DOWN = "ramp-down"
    FAILURES = "failures"
    """Requests that fail use more or less than those that do not."""
    TRANSIENT = "transient"
    """The rate has just changed; what is in use follows later."""
    OTHERS = "others"
    """The host was full of programs that are not watched: its CPU says nothing of the load."""
    NO_DATA = "no-data"


class Refusal(StrEnum):
    """Why there is no number."""

    FEW_STEPS = "few-steps"
    NARROW = "narrow"
    UNDERLOADED = "underloaded"
    FLAT = "flat"
    DRIFTS = "drifts"
    STOCK = "stock"
    """No service that a request takes, but what is kept."""
    NOT_CONSTANT = "not-constant"
    FEW_USERS = "few-users"
    GROWING = "growing"
    BEFORE_THE_BEND = "before-the-bend"
    BEND_UNSURE = "bend-unsure"
    NO_USERS = "no-users"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """No number, and why; `figures` fill the text's places."""

    refusal: Refusal
    figures: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Seconds of a run that are in no point."""

    run: str
    reason: Reason
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A time in which the rate stood still, in blocks of equal length.

    Attributes:
        run: its id.
        from_ms, to_ms: where it begins and ends, gaps included.
        block_seconds: length of a block.
        rates: good answers per second, [block].
        uses: of the resource, in its unit, [block].
    """

    run: str
    from_ms: int
    to_ms: int
    block_seconds: float
    rates: FloatArray
    uses: FloatArray

    @property
    def rate(self) -> float:
        """Mean of the blocks."""
        return float(self.rates.mean())

    @property
    def use(self) -> float:
        """Mean of the blocks."""
        return float(self.uses.mean())

    @property
    def seconds(self) -> float:
        """What is in the blocks; the weight of the point."""
        return self.block_seconds * len(self.rates)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A figure and the interval that holds it with `CONFIDENCE`."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """The utilisation law of a resource: use = idle + rate * demand.

    Attributes:
        full: good answers per second at which it is full.
        demand: use for each request per second.
        idle: use without load.
        curved: what a request needs changes with the load, and the interval is as wide as that makes it.
        points: steps that it rests on.
        top_rate, top_use: of the step with the highest rate.
        reached: rate at which it was full already; None where it was not.
    """

    full: Interval
    demand: float
    idle: float
    curved: bool
    points: int
    top_rate: float
    top_use: float
    reached: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """The Universal Scalability Law: the highest rate, and the users that bring it."""

    rate: Interval
    users: float
    contention: float
    coherency: float
    points: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A resource with all that is known of its use; `limit` in the resource's unit, above zero.

    `name` tells it from others of its kind, such as an instance. A `stock` is what is kept, such as memory: time and
    data fill it, whatever the rate is, and a load that rises with time makes it look otherwise.
    """

    id: str
    title: Words
    name: str
    limit: float
    steps: Sequence[Step]
    left_out: Sequence[LeftOut] = ()
    stock: bool = False

    @property
    def key(self) -> str:
        """What it is known by in later forecasts."""
        return f"{self.id} {self.name}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceForecast:
    """What is said of one resource."""

    resource: Measured
    outcome: Law | Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Resources by the rate at which they are full, those without a number behind them."""

    resources: Sequence[ResourceForecast]
    peak: Peak | Refused

    @property
    def laws(self) -> Sequence[tuple[Measured, Law]]:
        """Resources with a number, the first to be full first."""
        return [(one.resource, one.outcome) for one in self.resources if isinstance(one.outcome, Law)]

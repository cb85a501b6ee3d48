"""The services of a run, put together."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RunServices:
    """What the endpoints call; each has a file of its own."""

    registry: Any
    imports: Any
    configuration: Any
    reviews: Any
    shares: Any
    archives: Any

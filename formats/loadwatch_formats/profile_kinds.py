"""The kinds of profiles that agents take of Go processes, and what each of them is asked for with.

Source: net/http/pprof. `profile` records for a time; since Go 1.16 the others answer `seconds` with what came in that
time. Heap and goroutines are levels: of them the present is taken, not a difference.
"""

from collections.abc import Mapping
from typing import NamedTuple


class ProfileKind(NamedTuple):
    """One kind: the last part of its address, and whether it is recorded for a time or is of one moment."""

    name: str
    path: str
    lasts: bool


PROFILE_KINDS: Mapping[str, ProfileKind] = {
    kind.name: kind
    for kind in (
        ProfileKind(name="cpu", path="profile", lasts=True),
        ProfileKind(name="mutex", path="mutex", lasts=True),
        ProfileKind(name="block", path="block", lasts=True),
        ProfileKind(name="heap", path="heap", lasts=False),
        ProfileKind(name="goroutine", path="goroutine", lasts=False),
        ProfileKind(name="allocs", path="allocs", lasts=True),
    )
}
"""By name, in the order in which they are taken: what a run would miss most comes first."""

MOST_SECONDS = 60
MOST_BYTES = 64_000_000
"""One profile is no larger, as it is sent."""


def target_of(kind: ProfileKind, seconds: int) -> str:
    return f"{kind.path}?seconds={seconds}" if kind.lasts else kind.path

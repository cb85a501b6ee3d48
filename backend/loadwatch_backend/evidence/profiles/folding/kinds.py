"""What a profile is of, and which of its values is meant."""

import numpy as np

from loadwatch_backend.evidence.profiles.errors import ProfilesDifferError
from loadwatch_backend.evidence.profiles.folding.stacks import stacks_of
from loadwatch_backend.evidence.profiles.model import Kind, Profile

_UNLOCKS = ("sync.(*Mutex).Unlock", "sync.(*RWMutex).Unlock", "sync.(*RWMutex).RUnlock", "runtime.unlock")
"""Where Go's mutex profile books a wait: where the lock is given back. Its block profile books it where one waits."""
_BY_DEFAULT = {
    "inuse_space": Kind.HEAP,
    "alloc_space": Kind.ALLOCS,
    "goroutine": Kind.GOROUTINE,
    "cpu": Kind.CPU,
    "threadcreate": Kind.THREADS,
}


def kind_of(profile: Profile) -> Kind:
    """What the profile is of. Go's block and mutex profiles have the same types and are told apart by their leaves."""
    name = profile.types[profile.default].name
    if name == "delay" and profile.types[0].name == "contentions":
        stacks = stacks_of(profile, [profile.default])
        deep = np.flatnonzero(np.diff(stacks.offsets) > 0)
        leaves = stacks.frames[stacks.offsets[deep]]
        unlock = np.array([one.name.startswith(_UNLOCKS) for one in stacks.functions], bool)
        return Kind.MUTEX if len(leaves) and int(unlock[leaves].sum()) * 2 > len(leaves) else Kind.BLOCK
    return _BY_DEFAULT.get(name, Kind.OTHER)


def column_of(profile: Profile, name: str | None) -> int:
    """The column that a name means, as pprof's `-sample_index`: a name, a number, or none for the default.

    Raises:
        ProfilesDifferError: there is none; says which there are.
    """
    if not name:
        return profile.default
    if name.isdecimal() and len(name) < 4 and int(name) < len(profile.types):
        return int(name)
    # Heap profiles of before have the types `space` and `objects`.
    wanted = (name, name.removeprefix("inuse_"))
    for place, one in enumerate(profile.types):
        if one.name in wanted:
            return place
    have = ", ".join(one.name for one in profile.types)
    raise ProfilesDifferError(f"The profile has no sample type {name!r}; it has {have}.")

"""Frames that a profile says are of no interest: `drop_frames` and `keep_frames`, as pprof's Prune reads them.

Tools for C++ use them for the insides of an allocator; Go sets neither.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from loadwatch_backend.evidence.profiles.errors import UnreadableProfileError
from loadwatch_backend.evidence.profiles.model import Function, Ints, Locations
from loadwatch_backend.store.errors import PatternError
from loadwatch_backend.store.patterns import compile_pattern

_RESERVED = ("(anonymous namespace)", "operator()")
"""Parentheses in a name that do not begin its arguments."""


class Pruning:
    """Which functions are dropped with all that they call.

    Raises:
        UnreadableProfileError: a pattern that is none in RE2's syntax, or too large.
    """

    def __init__(self, drop: str, keep: str) -> None:
        try:
            self._drop = compile_pattern(drop)
            self._keep = compile_pattern(keep) if keep else None
        except PatternError as error:
            raise UnreadableProfileError(f"The profile's pattern of frames to drop cannot be used: {error}") from error

    def drops(self, name: str) -> bool:
        """Whether a function is of no interest."""
        simple = _simplified(name)
        return self._drop.fullmatch(simple) is not None and (self._keep is None or self._keep.fullmatch(simple) is None)

    def prune(
        self, functions: Sequence[Function], locations: Locations, offsets: Ints, stack: Ints
    ) -> tuple[Locations, Ints, Ints]:
        """The locations and stacks without them. Frames before the first of interest stay: a stack is never emptied."""
        dropped = np.array([self.drops(function.name) for function in functions], bool)
        # Of each location, how many of its frames go: up to and with the outermost that is dropped.
        gone = np.zeros(len(locations), np.int64)
        for place in range(len(locations)):
            frames = dropped[locations.function[locations.offsets[place] : locations.offsets[place + 1]]]
            where = np.flatnonzero(frames)
            gone[place] = where[-1] + 1 if len(where) else 0
        lengths = np.diff(locations.offsets)
        whole = gone == lengths
        kept: list[Ints] = []
        for sample in range(len(offsets) - 1):
            kept.append(_pruned(stack[offsets[sample] : offsets[sample + 1]], gone > 0, whole))
        cut = np.where(whole, 0, gone)
        inside = np.arange(len(locations.function)) - np.repeat(locations.offsets[:-1], lengths)
        stays = inside >= np.repeat(cut, lengths)
        return (
            replace(
                locations,
                offsets=np.concatenate([[0], np.cumsum(lengths - cut)]).astype(np.int64),
                function=locations.function[stays],
                line=locations.line[stays],
            ),
            np.concatenate([[0], np.cumsum([len(one) for one in kept])]).astype(np.int64),
            np.concatenate(kept).astype(np.int64) if kept else stack,
        )


def _pruned(stack: Ints, touched: "np.typing.NDArray[np.bool_]", whole: "np.typing.NDArray[np.bool_]") -> Ints:
    seen = False
    for place in range(len(stack) - 1, -1, -1):
        location = stack[place]
        if not touched[location]:
            seen = True
        elif seen:
            return stack[place + 1 :] if whole[location] else stack[place:]
    return stack


def _simplified(name: str) -> str:
    """Without the list of arguments, and without the leading point of some binaries."""
    name = name.removeprefix(".")
    position = 0
    while (bracket := name.find("(", position)) >= 0:
        reserved = next((word for word in _RESERVED if name.startswith(word, bracket - word.index("("))), None)
        if reserved is None:
            return name[:bracket]
        position = bracket + len(reserved) - reserved.index("(")
    return name

"""Which functions are the application's own, and which of them called a function of a library.

By the files they come from: Go's standard library lies where its runtime lies, modules of others have a version in
their path.
"""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from loadwatch_backend.evidence.profiles.folding.stacks import Stacks, add_up
from loadwatch_backend.evidence.profiles.model import Function

_OTHERS = re.compile(
    r"@v\d|/pkg/mod/|/vendor/|/site-packages/|/dist-packages/|/node_modules/|^node:|^internal/|^<|/lib/python3|/usr/lib"
)
_STANDARD = re.compile(
    r"(?:archive|arena|bufio|builtin|bytes|cmp|compress|container|context|crypto|database|debug|embed|encoding|errors"
    r"|expvar|flag|fmt|go|hash|html|image|index|internal|io|iter|log|maps|math|mime|net|os|path|plugin|reflect|regexp"
    r"|runtime|slices|sort|strconv|strings|structs|sync|syscall|testing|text|time|unicode|unique|unsafe|vendor|weak)"
    r"[./]"
)
_GO_FILE = re.compile(r"\.(?:go|s)$")


def own_functions(functions: Sequence[Function]) -> npt.NDArray[np.bool_]:
    """Of each function whether it is the application's own; without a file nothing is."""
    root = _root(functions)
    return np.array([_is_own(one, root) for one in functions], bool)


class Callers:
    """The application's own functions in some stacks, and what lies below them."""

    def __init__(self, stacks: Stacks) -> None:
        self._stacks = stacks
        self.own = own_functions(stacks.functions)
        self._mine = np.flatnonzero(self.own[stacks.frames])

    def of(self, function: int) -> str | None:
        """The application's function below which most of a function lies; None where it is one itself, or several are.

        In each stack it is the one nearest to the function, on the way to the root. Of several columns of values the
        first is asked in which the function has any.
        """
        if self.own[function]:
            return None
        stacks = self._stacks
        place = np.flatnonzero(stacks.frames == function)
        samples, first = np.unique(np.searchsorted(stacks.offsets, place, side="right") - 1, return_index=True)
        sizes = np.abs(stacks.values[samples])
        columns = np.flatnonzero(sizes.any(axis=0))
        if not len(columns) or not len(self._mine):
            return None
        size = sizes[:, columns[0]]
        after = np.minimum(np.searchsorted(self._mine, place[first], side="right"), len(self._mine) - 1)
        frame = self._mine[after]
        below = (frame > place[first]) & (frame < stacks.offsets[samples + 1])
        sums = add_up(stacks.frames[frame[below]], size[below, None], len(stacks.functions))[:, 0]
        caller = int(np.argmax(sums))
        return stacks.functions[caller].name if 2 * int(sums[caller]) > int(size.sum()) else None


def _root(functions: Sequence[Function]) -> str:
    """Where Go's standard library lies, by a function of its runtime; empty with `-trimpath`."""
    for one in functions:
        if one.name.startswith("runtime.") and (cut := one.file.find("/src/runtime/")) >= 0:
            return one.file[: cut + len("/src/")]
    return ""


def _is_own(one: Function, root: str) -> bool:
    if not one.file or _OTHERS.search(one.file):
        return False
    if not _GO_FILE.search(one.file) or one.name.startswith("main."):
        return True
    if root:
        return not one.file.startswith(root)
    return _STANDARD.match(one.name) is None

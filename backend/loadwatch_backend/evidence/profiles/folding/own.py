"""Which functions are the application's own, and which of them called a function of a library.

By the files they come from: Go's standard library lies where its runtime lies, modules of others have a version in
their path.
"""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from loadwatch_backend.evidence.profiles.folding.stacks import Stacks
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


def nearest_own(stacks: Stacks, own: npt.NDArray[np.bool_], function: int, column: int) -> tuple[str, int] | None:
    """The application's function below which a function lies with the most of its value, and that value.

    In each stack it is the one nearest to the function, on the way to the root.
    """
    place = np.flatnonzero(stacks.frames == function)
    if not len(place):
        return None
    samples = np.searchsorted(stacks.offsets, place, side="right") - 1
    samples, first = np.unique(samples, return_index=True)
    sums: dict[int, int] = {}
    mine = np.flatnonzero(own[stacks.frames])
    after = np.searchsorted(mine, place[first], side="right")
    for sample, start in zip(samples, after, strict=True):
        if start < len(mine) and mine[start] < stacks.offsets[sample + 1]:
            caller = int(stacks.frames[mine[start]])
            sums[caller] = sums.get(caller, 0) + int(stacks.values[sample, column])
    if not sums:
        return None
    caller = max(sums, key=lambda one: (abs(sums[one]), -one))
    return stacks.functions[caller].name, sums[caller]


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

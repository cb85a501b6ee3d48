"""Strings of Gatling's binary log: each comes once, with a number, and is then told by the number alone."""

from collections.abc import Sequence

import numpy as np

from loadwatch_backend.evidence.records.model import IntArray
from loadwatch_backend.runs.importers.sink import Labels
from loadwatch_backend.runs.importers.tools.gatling.requests import endpoint_name


class Strings:
    """The strings of one log, which grow while it is read, and the endpoints that are made of them."""

    def __init__(self, strings: Sequence[str]) -> None:
        self._strings = strings
        self._codes: dict[tuple[int, ...], int] = {}
        self._endpoints: list[str] = []

    def endpoint(self, path: tuple[int, ...]) -> int:
        """The code of the request under its groups, all given by the numbers of their strings."""
        code = self._codes.get(path)
        if code is None:
            code = self._codes[path] = len(self._endpoints)
            texts = tuple(self._strings[index] for index in path)
            self._endpoints.append(endpoint_name(texts[:-1], texts[-1]))
        return code

    def endpoints(self, paths: IntArray) -> IntArray:
        """Codes for rows of string numbers, [row, groups + 1]."""
        key = paths[:, 0]
        for column in range(1, paths.shape[1]):
            if int(key.max(initial=0)) > 2**31:
                key = np.unique(key, return_inverse=True)[1]
            key = key * len(self._strings) + paths[:, column]
        if paths.shape[1] == 1:
            used = np.flatnonzero(np.bincount(key))
            codes = np.zeros(int(used[-1]) + 1, dtype=np.int64)
            codes[used] = [self.endpoint((int(index),)) for index in used]
            return codes[key]
        _, rows, inverse = np.unique(key, return_index=True, return_inverse=True)
        found = [self.endpoint(tuple(int(index) for index in paths[row])) for row in rows]
        return np.array(found, dtype=np.int64)[inverse]

    def endpoint_labels(self, codes: IntArray) -> Labels:
        """Codes as labels that name only what occurs."""
        return _occurring(codes, self._endpoints)

    def string_labels(self, numbers: IntArray) -> Labels:
        """Numbers of strings as labels that name only what occurs."""
        return _occurring(numbers, self._strings)


def _occurring(numbers: IntArray, names: Sequence[str]) -> Labels:
    used = np.flatnonzero(np.bincount(numbers))
    codes = np.zeros(int(used[-1]) + 1, dtype=np.int32)
    codes[used] = np.arange(len(used), dtype=np.int32)
    return Labels(codes=codes[numbers], names=[names[number] for number in used.tolist()])

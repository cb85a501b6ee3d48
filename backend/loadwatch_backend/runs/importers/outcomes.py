"""Outcomes and texts of errors for columns of requests."""

import re

import numpy as np
import numpy.typing as npt
from loadwatch_formats.outcomes import Outcome, Sorter, outcome_of_status

from loadwatch_backend.evidence.records.model import OUTCOME_CODES, IntArray
from loadwatch_backend.runs.importers.reading.patterns import Linear

SORTER = Sorter(Linear)
_SOURCE_PORT = Linear(r"(\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.%\w]*\]):\d+->")
_QUERY = Linear(r"((?:https?://|\bfor url: /)[^\s\"'?#]*)[?#][^\s\"']*")
_OBJECT = re.compile(r"0x[0-9a-fA-F]{6,}")
_LONGEST = 300
_LONGEST_READ = 10_000
"""Of a text, before its beginning is looked at."""


def outcome_of(status: int, error: str | None) -> Outcome:
    """Of one request: the status where there is one, else the text."""
    if status:
        return outcome_of_status(status)
    return SORTER.of_error(error) if error else Outcome.OTHER


def outcomes_of(status: IntArray, error_codes: npt.NDArray[np.int32] | None, texts: list[str]) -> npt.NDArray[np.uint8]:
    """As `outcome_of` for columns; `error_codes` are indices into `texts`, -1 for none."""
    by_class = np.array([OUTCOME_CODES[outcome_of_status(klass * 100)] for klass in range(7)], dtype=np.uint8)
    by_class[0] = by_class[6] = OUTCOME_CODES[Outcome.OTHER]
    found = by_class[np.clip(status // 100, 0, 6)]
    if error_codes is not None:
        silent = status == 0
        if silent.any():
            by_text = np.array([OUTCOME_CODES[SORTER.of_error(text)] for text in texts] + [0], dtype=np.uint8)
            by_text[-1] = OUTCOME_CODES[Outcome.OTHER]
            found[silent] = by_text[error_codes[silent]]
    return found


def plain_error(text: str) -> str:
    """The text without what differs from request to request: source ports, query strings, addresses of objects.

    A query string leaves `?...` behind, so that nobody takes the address for the one that was asked for.
    """
    text = text[:_LONGEST_READ].strip()
    if "->" in text:
        text = _SOURCE_PORT.sub(r"\1->", text)
    if "?" in text or "#" in text:
        text = _QUERY.sub(r"\1?...", text)
    if "0x" in text:
        text = _OBJECT.sub("0x…", text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

"""Tables that fit the terminal: the columns that may be cut give way first."""

import shutil
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

_GAP = 2
_LEAST = 6


class Column(NamedTuple):
    """A column: its title, whether numbers stand to the right, whether its cells may be cut."""

    title: str
    right: bool = False
    elastic: bool = False


def width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def cut(text: str, columns: int) -> str:
    if width(text) <= columns:
        return text
    kept = ""
    for character in text:
        if width(kept + character) > columns - 1:
            break
        kept += character
    return kept + "…"


def draw_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, available: int | None = None) -> str:
    """Lines of the table, without one at the end and without columns that are empty.

    `available` is the width that it may take, the terminal's by default; only elastic columns are cut to fit.
    """
    available = available or shutil.get_terminal_size((120, 24)).columns
    cells = [
        [" ".join(cell.split(None if column.elastic else "\n")) for column, cell in zip(columns, row, strict=True)]
        for row in rows
    ]
    widths = [max([width(column.title), *(width(row[index]) for row in cells)]) for index, column in enumerate(columns)]
    over = sum(widths) + _GAP * (len(columns) - 1) - available
    while over > 0:
        candidates = [index for index, column in enumerate(columns) if column.elastic and widths[index] > _LEAST]
        if not candidates:
            break
        widest = max(candidates, key=lambda index: widths[index])
        widths[widest] -= 1
        over -= 1
    lines: list[str] = []
    for row in [[column.title for column in columns], *cells]:
        parts: list[str] = []
        for column, cell, size in zip(columns, row, widths, strict=True):
            shown = cut(cell, size)
            padding = " " * (size - width(shown))
            if size:
                parts.append(padding + shown if column.right else shown + padding)
        lines.append((" " * _GAP).join(parts).rstrip())
    return "\n".join(lines)

"""The terminal of `loadwatch run`: the command's output above, the status on the last line.

The last line is taken out of the scrolling region (DECSTBM), and the command's terminal is told that it is one line
shorter. So whatever the command draws, progress bars and tables included, stays its own. The cursor is saved before
the status is drawn and restored after it, and nothing is drawn inside an escape sequence or a character of the command.
"""

import os
import re
import select
import time
import unicodedata
from collections.abc import Mapping

from loadwatch_collectors.runs.delivery import Report

PLAIN_SECONDS = 10.0
"""Between two lines where there is no terminal."""

_TAIL = 64
_INSIDE_SEQUENCE = re.compile(rb"\x1b(?:[\[(\]P][^\x40-\x7e\x07]*)?\Z")
_LEAST_ROWS = 5


def terminal_works(environment: Mapping[str, str]) -> bool:
    return os.isatty(2) and environment.get("TERM", "dumb") != "dumb"


def inside_sequence(data: bytes) -> bool:
    """Whether output ends in the middle of an escape sequence or of a UTF-8 character."""
    tail = data[-_TAIL:]
    if _INSIDE_SEQUENCE.search(tail):
        return True
    for back, byte in enumerate(reversed(tail[-4:]), start=1):
        if byte < 0x80:
            return False
        if byte >= 0xC0:
            return back < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4)
    return False


def fit(text: str, columns: int) -> str:
    """The text cut to so many columns; wide characters take two."""
    used = 0
    for index, character in enumerate(text):
        used += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if used > columns:
            return text[: max(index - 1, 0)] + "…"
    return text


class StatusLine:
    """Shows the state of a run; this base class shows notes only."""

    takes_a_row = False
    """Whether the command's terminal is one line shorter than ours."""

    def show(self, text: str, elapsed: float) -> None:
        """Show the state; called about once a second."""

    def note(self, text: str) -> None:
        """Print a line that later states do not overwrite."""
        write_all(2, f"loadwatch: {text}\n".encode())

    def pass_on(self, descriptor: int, data: bytes) -> None:
        write_all(descriptor, data)

    def resize(self) -> None:
        """The terminal has another size."""

    def close(self) -> None:
        """Leave the terminal as it was."""


class PlainLines(StatusLine):
    def __init__(self) -> None:
        self._next = PLAIN_SECONDS

    def show(self, text: str, elapsed: float) -> None:
        if elapsed >= self._next:
            self._next = (elapsed // PLAIN_SECONDS + 1) * PLAIN_SECONDS
            self.note(text)


class TerminalLine(StatusLine):
    takes_a_row = True

    def __init__(self) -> None:
        self._rows = 0
        self._text = ""
        self._tail = b""
        self._begin()

    def show(self, text: str, elapsed: float) -> None:  # noqa: ARG002 - as StatusLine says
        self._text = text
        self._draw()

    def note(self, text: str) -> None:
        self.close()
        super().note(text)
        self._begin()
        self._draw()

    def pass_on(self, descriptor: int, data: bytes) -> None:
        super().pass_on(descriptor, data)
        if os.isatty(descriptor):
            self._tail = (self._tail + data)[-_TAIL:]

    def resize(self) -> None:
        self.close()
        self._begin()
        self._draw()

    def close(self) -> None:
        if self._rows:
            _control(f"\x1b7\x1b[{self._rows};1H\x1b[2K\x1b[r\x1b8")

    def _begin(self) -> None:
        rows = os.get_terminal_size(2).lines
        if rows < _LEAST_ROWS:
            self._rows = 0
            return
        self._rows = rows
        # A new line and back makes room when the cursor is on the last line.
        _control(f"\n\x1b7\x1b[1;{rows - 1}r\x1b8\x1b[1A")

    def _draw(self) -> None:
        if self._rows and self._text and not inside_sequence(self._tail):
            shown = fit(self._text, os.get_terminal_size(2).columns)
            _control(f"\x1b7\x1b[{self._rows};1H\x1b[2K\x1b[7m{shown}\x1b[0m\x1b8")


def _control(text: str) -> None:
    write_all(2, text.encode())


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            select.select([], [descriptor], [], 1.0)
        except OSError:
            return


# A progress bar on standard error for uploads and imports; nothing where that is no terminal.

_BAR_WIDTH = 30
_EVERY_SECONDS = 0.1


def draw_bar(step: str, done: int, total: int) -> str:
    """`reading  [######........]  42% of 890.0 MB`."""
    share = min(done / total, 1.0) if total else 1.0
    filled = int(share * _BAR_WIDTH)
    size = f"{total / 1e6:.1f} MB" if total >= 1_000_000 else f"{total / 1e3:.1f} kB"
    return f"{step:7} [{'#' * filled}{'.' * (_BAR_WIDTH - filled)}] {share * 100:3.0f}% of {size}"


def make_reporter(*, show: bool) -> Report:
    """Draws each step on one line, a few times a second, and clears the line at the end of the second step."""
    if not show or not os.isatty(2):
        return lambda _step, _done, _total: None
    drawn = 0.0

    def report(step: str, done: int, total: int) -> None:
        nonlocal drawn
        now = time.monotonic()
        if now - drawn >= _EVERY_SECONDS or done >= total:
            drawn = now
            write_all(2, f"\r\x1b[2K{draw_bar(step, done, total)}".encode())

    return report


def clear_bar() -> None:
    if os.isatty(2):
        write_all(2, b"\r\x1b[2K")

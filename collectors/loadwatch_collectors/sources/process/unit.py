"""What systemd's unit of a process allows it in open files: whether `LimitNOFILE` of today is in force.

Source: systemctl(1), `show`; systemd.exec(5), LimitNOFILE: one number for the hard and the soft limit, or soft:hard.
"""

import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from loadwatch_collectors.collector import Sample

_PROPERTIES = {"LimitNOFILESoft": "soft", "LimitNOFILE": "hard"}
_EVERY_SECONDS = 60.0
_DEADLINE_SECONDS = 2.0
_MOST_UNITS = 8
_LONGEST_ANSWER = 4096
_BOOTED = Path("/run/systemd/system")
"""There is this folder where systemd runs: sd_booted(3)."""


def parse_limits(text: str) -> dict[str, float]:
    """`soft` and `hard`, from what `systemctl show` says; infinity is no limit."""
    found: dict[str, float] = {}
    for line in text.splitlines():
        name, _, value = line.partition("=")
        if name in _PROPERTIES and (value == "infinity" or value.isdecimal()):
            found[_PROPERTIES[name]] = float(value)
    return found


def ask_systemd(unit: str) -> str:
    """What systemd says of the unit's limits; empty when there is no systemd, or it does not answer in time."""
    if not _BOOTED.is_dir():
        return ""
    properties = [f"--property={name}" for name in _PROPERTIES]
    try:
        done = subprocess.run(
            ["systemctl", "show", *properties, "--", unit],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_DEADLINE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout[:_LONGEST_ANSWER].decode("utf-8", "replace")


class UnitLimits:
    """Asks about units now and then, and repeats the answers in between."""

    def __init__(self, ask: Callable[[str], str] = ask_systemd, clock: Callable[[], float] = time.monotonic) -> None:
        self._ask = ask
        self._clock = clock
        self._known: dict[str, tuple[float, dict[str, float]]] = {}

    def read(self, units: Iterable[str]) -> Iterator[Sample]:
        """The limits of the units, each once; none of one that systemd does not know."""
        now = self._clock()
        wanted = sorted(set(units) - {""})[:_MOST_UNITS]
        self._known = {unit: known for unit, known in self._known.items() if unit in wanted}
        for unit in wanted:
            asked_at, _ = self._known.get(unit, (float("-inf"), {}))
            if now - asked_at >= _EVERY_SECONDS:
                self._known[unit] = (now, parse_limits(self._ask(unit)))
            for bound, value in self._known[unit][1].items():
                yield Sample("process_unit_max_fds", value, (("unit", unit), ("bound", bound)))

"""Reads the configuration of every target at an instant from the sample store.

Everything comes from series by PromQL, so it works with any exporter and with agents on other hosts, and for runs long
past. What no target reports is not there; nothing is guessed.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Literal

import structlog

from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.catalogue.signals.model import Section, Setting
from loadwatch_backend.runs.snapshots.schemas import SettingOut
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.errors import QueryExecutionError, QueryTimeoutError, QueryTooLargeError
from loadwatch_backend.series.store.port import Labels

logger = structlog.get_logger(__name__)

_PLACE = re.compile(r"\{(\w+)\}")
_SECTIONS = {section.value: place for place, section in enumerate(Section)}
MOST_SETTINGS = 20_000
"""Settings that one snapshot keeps; beyond it, those of the later sections and targets are left out."""
_LONGEST_VALUE = 200
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{6})?")


class Snapshotter:
    """Takes snapshots. Safe to call from any thread."""

    def __init__(self, engine: Engine, library: Library) -> None:
        self._engine = engine
        self._library = library

    def take(self, at_ms: int) -> list[SettingOut]:
        """The settings that were in force at `at_ms`, as far as the store has heard of them by then.

        By section, target and key. One that cannot be read is left out and logged: a snapshot belongs to a run, and
        a run is not to fail for it.
        """
        found: dict[tuple[str, str, str], SettingOut] = {}
        for asked in self._library.current().settings:
            try:
                matrix = self._engine.instant(asked.expression, at_ms)
            except (QueryExecutionError, QueryTooLargeError, QueryTimeoutError) as error:
                logger.warning("a setting is left out of a snapshot", expression=asked.expression, reason=str(error))
                continue
            for labels, row in zip(matrix.labels, matrix.values, strict=True):
                for setting in read_series(asked, labels, float(row[0])):
                    # Of two packs or agents that say the same, the first: the catalogue has the better one first.
                    found.setdefault((setting.section, setting.target, setting.key), setting)
        settings = sorted(found.values(), key=lambda one: (_SECTIONS[one.section], one.target, one.key))
        return settings[:MOST_SETTINGS]


def read_series(asked: Setting, labels: Labels, number: float) -> Iterator[SettingOut]:
    """The setting that a series says; none when it names no job, or is an info metric without its text."""
    job, instance = labels.get("job", ""), labels.get("instance", "")
    if not job:
        return
    # node_sysctl_info has a label `name`; of all other series it is the metric's.
    named = {"name": labels.get("__name__", "").removeprefix(asked.family)}
    named = {**named, **labels} if asked.text else {**labels, **named}
    key = _PLACE.sub(lambda match: named.get(match[1], ""), asked.key).strip()
    if asked.text:
        texts = [labels[label] for label in asked.text if labels.get(label)]
        if not texts:
            return
        value = " ".join(texts)[:_LONGEST_VALUE]
        kept = _number(value)
    else:
        form = "flag" if key in asked.flags and number in (0, 1) else asked.form
        value, kept = format_value(number, form), number if number == number and abs(number) != float("inf") else None
    yield SettingOut(
        target=f"{job} {instance}".strip(),
        section=asked.section.value,
        key=key,
        value=value,
        number=kept,
        unit=asked.unit_of(key),
        deliberate=not asked.has_drift(key),
        important=asked.is_important(key),
    )


def format_value(number: float, form: Literal["number", "flag", "time"] = "number") -> str:
    """A number as people write it: whole ones in full, others with six digits, without exponents where they can."""
    if form == "flag":
        return "on" if number else "off"
    if number in (float("inf"), float("-inf")):
        return "unlimited" if number > 0 else "-unlimited"
    if number != number:
        return "unknown"
    if form == "time":
        return datetime.fromtimestamp(round(number), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if number.is_integer() and abs(number) < 1e20:
        return str(int(number))
    return f"{number:.6g}"


def _number(text: str) -> float | None:
    """Of a variable whose number came as a label; versions and the like are none."""
    return float(text) if _NUMBER.fullmatch(text) else None

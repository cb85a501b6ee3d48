"""Reads the configuration of every target at an instant from the sample store.

Everything comes from series by PromQL, so it works with any exporter and with agents on other hosts, and for runs long
past. What no target reports is not there; nothing is guessed.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import structlog

from loadwatch_backend.promql.engine import Engine
from loadwatch_backend.promql.errors import QueryTimeoutError, QueryTooLargeError
from loadwatch_backend.runs.snapshots.catalogue import FACTS
from loadwatch_backend.runs.snapshots.query import Form, Section, SettingQuery
from loadwatch_backend.runs.snapshots.schemas import SettingOut
from loadwatch_backend.store.port import Labels

logger = structlog.get_logger(__name__)

_PLACE = re.compile(r"\{(\w+)\}")
_SECTIONS = {section.value: place for place, section in enumerate(Section)}
MOST_SETTINGS = 20_000
"""Settings that one snapshot keeps; beyond it, those of the later sections and targets are left out."""
_LONGEST_VALUE = 200
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{6})?")


class Snapshotter:
    """Takes snapshots. Safe to call from any thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def take(self, at_ms: int) -> list[SettingOut]:
        """The settings that were in force at `at_ms`, as far as the store has heard of them by then.

        By section, target and key. A fact that is too large to read is left out and logged: a snapshot belongs to a
        run, and a run is not to fail for it.
        """
        found: dict[tuple[str, str, str], SettingOut] = {}
        for fact in FACTS:
            try:
                matrix = self._engine.instant(fact.expression, at_ms)
            except (QueryTooLargeError, QueryTimeoutError) as error:
                logger.warning("snapshot_fact_left_out", expression=fact.expression, reason=str(error))
                continue
            for labels, row in zip(matrix.labels, matrix.values, strict=True):
                for setting in read_series(fact, labels, float(row[0])):
                    # Of two facts or agents that say the same, the first: the catalogue has the better one first.
                    found.setdefault((setting.section, setting.target, setting.key), setting)
        settings = sorted(found.values(), key=lambda one: (_SECTIONS[one.section], one.target, one.key))
        return settings[:MOST_SETTINGS]


def read_series(fact: SettingQuery, labels: Labels, number: float) -> Iterator[SettingOut]:
    """The setting that a series says; none when it names no job, or is an info metric without its text."""
    job, instance = labels.get("job", ""), labels.get("instance", "")
    if not job:
        return
    name = labels.get("__name__", "").removeprefix(fact.prefix)
    key = _PLACE.sub(lambda match: _label(labels, match[1], name, fact), fact.key).strip()
    if fact.form is Form.TEXT:
        texts = [labels[label] for label in fact.text if labels.get(label)]
        if not texts:
            return
        value = " ".join(texts)[:_LONGEST_VALUE]
        kept = _number(value)
    else:
        form = Form.FLAG if key in fact.flags and number in (0, 1) else fact.form
        value, kept = format_value(number, form), number if number == number and abs(number) != float("inf") else None
    yield SettingOut(
        target=f"{job} {instance}".strip(),
        section=fact.section.value,
        key=key,
        value=value,
        number=kept,
        unit=(fact.units or {}).get(key, fact.unit),
        deliberate=fact.deliberate and key not in fact.drifting,
        important=fact.important and (key in fact.chosen if fact.chosen else True),
    )


def format_value(number: float, form: Form = Form.NUMBER) -> str:
    """A number as people write it: whole ones in full, others with six digits, without exponents where they can."""
    if form is Form.FLAG:
        return "on" if number else "off"
    if number in (float("inf"), float("-inf")):
        return "unlimited" if number > 0 else "-unlimited"
    if number != number:
        return "unknown"
    if form is Form.TIME:
        return datetime.fromtimestamp(round(number), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if number.is_integer() and abs(number) < 1e20:
        return str(int(number))
    return f"{number:.6g}"


def _number(text: str) -> float | None:
    """Of a variable whose number came as a label; versions and the like are none."""
    return float(text) if _NUMBER.fullmatch(text) else None


def _label(labels: Labels, label: str, name: str, fact: SettingQuery) -> str:
    # node_sysctl_info has a label of this name; of all other facts it is the metric's.
    return (
        labels.get("name", name)
        if label == "name" and fact.form is Form.TEXT
        else (name if label == "name" else labels.get(label, ""))
    )

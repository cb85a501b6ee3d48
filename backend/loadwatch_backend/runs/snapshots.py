"""The configuration of all targets at an instant, read from the store, and the difference between two.

Everything comes from series by PromQL, so it works with any exporter and with agents on other hosts, and for runs long
past. What no target reports is not there; nothing is guessed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import structlog
from pydantic import Field

from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.catalogue.signals.model import Section, Setting
from loadwatch_backend.core.schemas import Schema
from loadwatch_backend.runs.schemas import SettingOut, SnapshotOut
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.errors import QueryExecutionError, QueryTimeoutError, QueryTooLargeError
from loadwatch_backend.series.store.port import Labels


class SnapshotList(Schema):
    """Before and after, as far as there are."""

    snapshots: list[SnapshotOut]


class Change(Schema):
    """A fact that differs."""

    target: str
    section: str
    key: str
    before: str | None
    after: str | None
    unit: str
    deliberate: bool
    important: bool


class ConfigurationDifference(Schema):
    """From one run to another; what was changed on purpose comes first."""

    base: str
    run: str
    changes: list[Change]
    missing: str | None = Field(description="Why one side has no snapshot.")


_RATIO_STEP = 0.05
_TIME_STEP = 5.0
_DRIFT_SHARE = 0.1
_LEAST_ROWS = 100.0
_HOST_SHARE = 0.01
_ALL_AT_ONCE = 3
_SECTIONS = {section.value: place for place, section in enumerate(Section)}

_Place = tuple[str, str]
_Settings = Mapping[_Place, SettingOut]


def difference(before: Sequence[SettingOut], after: Sequence[SettingOut]) -> list[Change]:
    """The changes from one snapshot to another.

    Order: set on purpose and important; set on purpose; important by drift; the rest; each by section, target, key.
    Targets are the same when job and instance are. Of a job whose instances differ, those with the same host are
    matched, then the only one left on both sides, or as many on both sides in their order. An instance or a whole
    section that only one side has is one change. A change that all instances of a job share is one change of the job.
    """
    old, new = _by_target(before), _by_target(after)
    pairs = match_targets(tuple(old), tuple(new))
    changes: list[Change] = []
    for first, second in pairs:
        changes += _changes(second, old[first], new[second])
    gone = old.keys() - {first for first, _ in pairs}
    come = new.keys() - {second for _, second in pairs}
    instances = Section.INSTANCES.value
    changes += [_change_of_all(target, instances, "instance", "present", None, True) for target in gone]
    changes += [_change_of_all(target, instances, "instance", None, "present", True) for target in come]
    return sorted(_shared(changes, [second for _, second in pairs]), key=_rank)


def match_targets(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, str]]:
    """Targets that are the same, under the rules of `difference`."""
    pairs = [(target, target) for target in before if target in set(after)]
    same = {target for target, _ in pairs}
    for job in dict.fromkeys(_job(target) for target in before):
        left = sorted(target for target in before if target not in same and _job(target) == job)
        right = sorted(target for target in after if target not in same and _job(target) == job)
        for target in list(left):
            host = _host(target)
            there = [one for one in right if _host(one) == host]
            if len(there) == 1 and [_host(one) for one in left].count(host) == 1:
                pairs.append((target, there[0]))
                left.remove(target)
                right.remove(there[0])
        if len(left) == len(right):
            pairs += zip(left, right, strict=True)
    return pairs


def differs(before: SettingOut, after: SettingOut) -> bool:
    """Whether a setting changed: at all if somebody sets it, by more than drift if nobody does."""
    if before.value == after.value:
        return False
    if before.number is None or after.number is None:
        return True
    step = abs(after.number - before.number)
    largest = max(abs(before.number), abs(after.number))
    if after.deliberate:
        # The kernel takes some memory for itself, and not always the same.
        return step > (_HOST_SHARE if after.section == Section.HOST and after.unit == "bytes" else 1e-9) * largest
    if after.unit == "ratio":
        return step >= _RATIO_STEP
    if after.value.endswith("Z"):
        return step > _TIME_STEP
    if after.unit == "rows" and step < _LEAST_ROWS:
        return False
    return step > _DRIFT_SHARE * largest


def _by_target(settings: Iterable[SettingOut]) -> dict[str, dict[_Place, SettingOut]]:
    found: dict[str, dict[_Place, SettingOut]] = {}
    for setting in settings:
        found.setdefault(setting.target, {})[setting.section, setting.key] = setting
    return found


def _changes(target: str, old: _Settings, new: _Settings) -> list[Change]:
    lost, gained = _lone_sections(old, new), _lone_sections(new, old)
    found = [_change_of_all(target, section, "all", f"{n} settings", None, False) for section, n in lost.items()]
    found += [_change_of_all(target, section, "all", None, f"{n} settings", False) for section, n in gained.items()]
    for place in old.keys() | new.keys():
        if place[0] in lost or place[0] in gained:
            continue
        before, after = old.get(place), new.get(place)
        if before is not None and after is not None and not differs(before, after):
            continue
        known = after or before
        assert known is not None
        same = known.model_dump(include={"section", "key", "unit", "deliberate", "important"})
        old_value, new_value = (None if one is None else one.value for one in (before, after))
        found.append(Change(target=target, before=old_value, after=new_value, **same))
    return found


def _lone_sections(here: _Settings, there: _Settings) -> dict[str, int]:
    """Sections of more than a few settings that the other side has nothing of: a collector came or went."""
    counts = Counter(section for section, _ in here)
    others = {section for section, _ in there}
    return {section: count for section, count in counts.items() if count > _ALL_AT_ONCE and section not in others}


def _change_of_all(target: str, section: str, key: str, before: str | None, after: str | None, said: bool) -> Change:
    """A change of more than one setting; `said`: by somebody, and shown at once."""
    return Change(
        target=target, section=section, key=key, before=before, after=after, unit="", deliberate=said, important=said
    )


def _shared(changes: Sequence[Change], targets: Sequence[str]) -> list[Change]:
    """Changes that every instance of a job has alike become one, whose target is the job with their number."""
    members = Counter(_job(target) for target in targets if _host(target))
    alike: dict[tuple[str, str, str, str | None, str | None], list[Change]] = {}
    for change in changes:
        place = (_job(change.target), change.section, change.key, change.before, change.after)
        alike.setdefault(place, []).append(change)
    found: list[Change] = []
    for (job, *_), group in alike.items():
        if len(group) > 1 and len(group) == members[job]:
            found.append(group[0].model_copy(update={"target": f"{job} ({len(group)} instances)"}))
        else:
            found += group
    return found


def _rank(change: Change) -> tuple[int, int, str, str]:
    order = {(True, True): 0, (True, False): 1, (False, True): 2, (False, False): 3}
    return (order[change.deliberate, change.important], _SECTIONS.get(change.section, 99), change.target, change.key)


def _job(target: str) -> str:
    return target.rpartition(" ")[0] or target


def _host(target: str) -> str:
    instance = target.rpartition(" ")[2] if " " in target else ""
    return instance.rpartition(":")[0] or instance


logger = structlog.get_logger(__name__)

_PLACE = re.compile(r"\{(\w+)\}")
MOST_SETTINGS = 20_000
"""Settings that one snapshot keeps; beyond it, those of the later sections and targets are left out."""
_LONGEST_VALUE = 200
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{6})?")


@dataclass(eq=False)
class Snapshotter:
    """Takes snapshots. Safe to call from any thread."""

    _engine: Engine
    _library: Library

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

"""Reads Prometheus' own test scripts (promql/promqltest/testdata) and runs them on the engine.

The format: https://github.com/prometheus/prometheus/blob/main/promql/promqltest/README.md. Native histograms are not
stored here: what loads them, or expects them, is left out.
"""

import math
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.series.promql.engine import Engine, EngineSettings
from loadwatch_backend.series.promql.notes import Notes
from loadwatch_backend.series.promql.parsing.series_notation import parse_labels, parse_values
from loadwatch_backend.series.promql.value import Matrix, RawMatrix, Scalar, StringValue
from loadwatch_backend.series.store.port import Batch
from loadwatch_formats.durations import parse_duration

from backend.tests.rules.promtool_format.store import MemoryStore

SCRIPTS = Path(__file__).parent / "golden" / "promqltest.zip"
_LOAD = re.compile(r"load(?:_with_nhcb)?\s+(.+?)")
_INSTANT = re.compile(r"eval(?:_(fail|warn|ordered|info))?\s+instant\s+(?:at\s+(.+?))?\s+(.+)")
_RANGE = re.compile(r"eval(?:_(fail|warn|info))?\s+range\s+from\s+(.+)\s+to\s+(.+)\s+step\s+(.+?)\s+(.+)")
_WINDOW = re.compile(r"expect range vector\s+from\s+(.+)\s+to\s+(.+)\s+step\s+(.+)")
_SERIES = re.compile(
    r"(\{(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^}])*\}|[^\s{]+(?:\{(?:\"(?:[^\"\\]|\\.)*\"|[^}])*\})?)\s*(.*)"
)
EPSILON = 1e-6

Labels = dict[str, str]


@dataclass
class Case:
    """One `eval` of a script, with the series that were loaded before it."""

    script: str
    line: int
    text: str
    start_ms: int
    end_ms: int
    step_ms: int
    mode: str
    loads: list[tuple[int, Labels, str]]
    expected: list[tuple[Labels, list[float | None]]] = field(default_factory=list[Any])
    number: float | None = None
    word: str | None = None
    window: tuple[int, int, int] | None = None
    expects: list[tuple[str, str, str]] = field(default_factory=list[Any])
    has_histograms: bool = False
    both: frozenset[str] = frozenset()
    """Names of the classic histograms that were loaded as native ones too."""

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.script}:{self.line}"

    @property
    def fails(self) -> bool:
        """Whether an error is expected."""
        return self.mode == "fail" or any(kind == "fail" for kind, _, _ in self.expects)


def names() -> list[str]:
    """The scripts, without the one that is about native histograms alone."""
    with zipfile.ZipFile(SCRIPTS) as archive:
        return sorted(name for name in archive.namelist() if name.endswith(".test") and "native" not in name)


def cases(name: str) -> list[Case]:
    """The evaluations of one script."""
    with zipfile.ZipFile(SCRIPTS) as archive:
        lines = archive.read(name).decode().split("\n")
    return list(_cases(name, lines))


def _cases(name: str, lines: list[str]) -> Iterator[Case]:
    loads: list[tuple[int, Labels, str]] = []
    both: set[str] = set()
    clean = [line.strip() for line in lines]
    clean = ["" if line.startswith("#") else line for line in clean]
    at = 0
    hidden = [line.strip().startswith("#") for line in lines]
    while at < len(clean):
        line = clean[at]
        number = at + 1
        at += 1
        if line.startswith("clear"):
            loads, both = [], set()
        elif found := _LOAD.fullmatch(line):
            gap = parse_duration(found[1])
            while at < len(clean) and (clean[at] or hidden[at]):
                if clean[at] and not re.match(r"\S*@st", clean[at]):
                    series = _SERIES.fullmatch(clean[at])
                    assert series, clean[at]
                    labels = _labels(series[1])
                    loads = [*loads, (gap, labels, series[2])]
                    if "nhcb" in line:
                        both.add(labels["__name__"])
                at += 1
        elif line.startswith("eval"):
            case = _case(name, number, line, loads)
            case.both = frozenset(both)
            # A number ends it, as an empty line does.
            while (
                at < len(clean)
                and (clean[at] or hidden[at])
                and case.number is None
                and not clean[at].startswith(("eval", "clear", "load"))
            ):
                if clean[at]:
                    _expect(case, clean[at])
                at += 1
            yield case


def _labels(text: str) -> Labels:
    return dict(parse_labels(text))


def _case(name: str, number: int, line: str, loads: list[tuple[int, Labels, str]]) -> Case:
    if found := _INSTANT.fullmatch(line):
        at = _time(found[2])
        return Case(name, number, found[3], at, at, 0, found[1] or "", loads)
    found = _RANGE.fullmatch(line)
    assert found, line
    start, end, step = (_time(found[place]) for place in (2, 3, 4))
    return Case(name, number, found[5], start, end, step, found[1] or "", loads)


def _time(text: str) -> int:
    if re.fullmatch(r"[0-9.]+", text):
        return round(float(text) * 1000)
    return -parse_duration(text[1:]) if text.startswith("-") else parse_duration(text)


def _expect(case: Case, line: str) -> None:
    if found := re.fullmatch(r"expect\s+(ordered|fail|warn|no_warn|info|no_info)(?:\s+(regex|msg):(.+))?", line):
        case.expects.append((found[1], found[2] or "", (found[3] or "").strip()))
    elif found := _WINDOW.fullmatch(line):
        case.window = (_time(found[1]), _time(found[2]), _time(found[3]))
    elif line.startswith("expect string"):
        text = line.removeprefix("expect string").strip()
        case.word = text[1:-1]
        if text[0] != "`":
            case.word = case.word.encode().decode("unicode_escape").encode("latin-1").decode()
    elif line.startswith(("expected_fail_message", "expected_fail_regexp")):
        kind = "msg" if line.startswith("expected_fail_message") else "regex"
        case.expects.append(("fail", kind, line.split(None, 1)[1]))
    elif "{{" in line:
        case.has_histograms = True
    else:
        try:
            case.number = float(line)
            return
        except ValueError:
            pass
        series = _SERIES.fullmatch(line)
        assert series, line
        case.expected.append((_labels(series[1]), parse_values(series[2])))


def load(case: Case) -> Engine:
    """An engine over the series of a case."""
    store = MemoryStore()
    samples: dict[tuple[tuple[str, str], ...], dict[int, float]] = {}
    for gap, labels, text in case.loads:
        if "{{" in text:
            continue
        own = samples.setdefault(tuple(sorted(labels.items())), {})
        for place, value in enumerate(parse_values(text)):
            if value is not None:
                own[place * gap] = value
    for key, values in samples.items():
        times = sorted(values)
        ids = store.resolve([dict(key)])
        store.append(
            Batch(
                series=np.repeat(ids, len(times)),
                timestamps=np.asarray(times, np.int64),
                values=np.asarray([values[time] for time in times], np.float64),
            )
        )
    return Engine(store, EngineSettings())


def uses_histograms(case: Case) -> bool:
    """Whether it is about native histograms: it expects them, or selects series of them."""
    if case.has_histograms:
        return True
    native = {labels.get("__name__", "") for _, labels, text in case.loads if "{{" in text}
    # Classic histograms that are loaded as native ones too, under the name without its ending.
    native |= {name.removesuffix("_bucket") for name in case.both if name.endswith("_bucket")}
    if any(re.search(rf"(?<![\w:]){re.escape(name)}(?![\w:])", case.text) for name in native):
        return True
    return bool(native) and re.search(r"(?<![\w\"])\{|__name__", case.text) is not None


def check(case: Case, engine: Engine | None = None) -> str | None:
    """What is wrong with the answer; None when it is right."""
    engine = engine or load(case)
    notes = Notes()
    try:
        if case.step_ms:
            value: Any = engine.range(case.text, case.start_ms, case.end_ms, case.step_ms, notes=notes)
        else:
            value = engine.answer(case.text, case.start_ms, notes=notes).value
    except ProblemError as error:
        if not case.fails:
            return f"error: {error.detail}"
        return _wrong_message(case, error.detail)
    if case.fails:
        return "should have failed"
    return _compare(case, value) or _wrong_notes(case, notes)


def outcomes(name: str) -> Iterator[tuple[Case, str | None]]:
    """Each case of a script but those of native histograms, and what is wrong with its answer; None for nothing."""
    engine: Engine | None = None
    loaded: object = None
    for case in cases(name):
        if uses_histograms(case):
            continue
        if loaded is not case.loads or engine is None:
            engine, loaded = load(case), case.loads
        yield case, check(case, engine)


def _wrong_notes(case: Case, notes: Notes) -> str | None:
    for kind, found in (("warn", notes.warnings), ("info", notes.infos)):
        wanted = [(how, text) for name, how, text in case.expects if name == kind]
        wanted += [("", "")] if case.mode == kind else []
        if wanted and not found:
            return f"no {kind}, expected {wanted}"
        if found and any(name == f"no_{kind}" for name, _, _ in case.expects):
            return f"{kind} {found}, expected none"
        for how, text in wanted:
            if how == "msg" and not any(one.startswith(text) for one in found):
                return f"{kind} {found} instead of {text!r}"
            if how == "regex" and not any(re.search(text, one) for one in found):
                return f"{kind} {found} instead of {text!r}"
    return None


def _wrong_message(case: Case, detail: str) -> str | None:
    for kind, how, text in case.expects:
        if kind == "fail" and how == "msg" and text not in detail:
            return f"message {detail!r} instead of {text!r}"
        if kind == "fail" and how == "regex" and not re.search(text, detail):
            return f"message {detail!r} instead of {text!r}"
    return None


def _compare(case: Case, value: Any) -> str | None:
    if isinstance(value, StringValue):
        return None if value.text == case.word else f"{value.text!r} instead of {case.word!r}"
    if isinstance(value, Scalar):
        found = float(value.values[0])
        assert case.number is not None
        return None if _near(found, case.number) else f"{found} instead of {case.number}"
    rows = _rows(case, value)
    wanted = [
        (labels, {place: one for place, one in enumerate(values) if one is not None})
        for labels, values in case.expected
    ]
    ordered = case.mode == "ordered" or any(kind == "ordered" for kind, _, _ in case.expects)
    if ordered and [labels for labels, _ in rows] != [labels for labels, _ in wanted]:
        return f"order {rows} instead of {wanted}"
    left = {tuple(sorted(labels.items())): values for labels, values in rows}
    if len(left) != len(rows):
        return f"twice the same labels: {rows}"
    for labels, values in wanted:
        found_values = left.pop(tuple(sorted(labels.items())), None)
        if found_values is None:
            return f"no {labels} in {rows}"
        if sorted(found_values) != sorted(values):
            return f"{labels}: places {found_values} instead of {values}"
        for place, one in values.items():
            if not _near(found_values[place], one):
                return f"{labels}: {found_values[place]} instead of {one} at {place}"
    return f"too much: {left}" if left else None


def _rows(case: Case, value: Matrix | RawMatrix) -> list[tuple[Labels, dict[int, float]]]:
    if isinstance(value, RawMatrix):
        assert case.window
        start, _, step = case.window
        return [
            (
                dict(one.labels),
                {
                    (time - start) // step: float(number)
                    for time, number in zip(one.timestamps, one.values, strict=True)
                },
            )
            for one in value.series
        ]
    return [
        (dict(labels), {int(place): float(values[place]) for place in np.flatnonzero(present)})
        for labels, values, present in zip(value.labels, value.values, value.present, strict=True)
    ]


def _near(found: float, wanted: float) -> bool:
    if math.isnan(found) or math.isnan(wanted):
        return math.isnan(found) and math.isnan(wanted)
    if found == wanted:
        return True
    size = abs(found) + abs(wanted)
    if not math.isfinite(size):
        return False
    return abs(found - wanted) / size < EPSILON

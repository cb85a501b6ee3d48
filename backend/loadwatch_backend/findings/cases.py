"""Finding cases of packs: samples, log lines and a load go in, and what is said of the run is held against a file."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from loadwatch_formats.log_patterns import LogPatterns, read_line
from loadwatch_formats.outcomes import OUTCOMES, Outcome
from pydantic import BeforeValidator, Field, model_validator

from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.catalogue.signals.model import Duration, Form, Id
from loadwatch_backend.evidence.records.model import OUTCOME_CODES, Seconds
from loadwatch_backend.findings.measures.log_lines import LINES, MESSAGES, TEXTS
from loadwatch_backend.findings.model import Certainty, Severity
from loadwatch_backend.findings.read import Span
from loadwatch_backend.findings.schemas import FindingOut
from loadwatch_backend.findings.service import About, Findings, RunLoad
from loadwatch_backend.series.promql.parsing.series_notation import parse_labels, parse_values
from loadwatch_backend.series.store.embedded.engine import open_embedded
from loadwatch_backend.series.store.embedded.settings import MEBIBYTE, EmbeddedSettings
from loadwatch_backend.series.store.port import Batch, Labels

START_MS = 1_700_000_000_000
MOST_MS = 3_600_000
Samples = list[tuple[Labels, Sequence[tuple[int, float]]]]


class InputSeries(Form):
    """A series in promtool's notation, a value each interval from 0 s on."""

    labels: Annotated[dict[str, str], BeforeValidator(lambda text: parse_labels(str(text)))] = Field(alias="series")
    values: Annotated[list[float | None], BeforeValidator(lambda text: parse_values(str(text)))]


class LogLines(Form):
    """A line that a log wrote `at` a time, then each `repeat` until `until`. Without `level` it tells its own."""

    at_ms: Duration = Field(alias="at")
    repeat_ms: Duration = Field(0, alias="repeat")
    until_ms: Duration = Field(0, alias="until")
    job: str = "log"
    instance: str = "log"
    level: str = ""
    text: str


class Load(Form):
    """Requests a second and how many of them failed; 95 of 100 took up to `p95`, and half of them `best`."""

    from_ms: Duration = Field(alias="from")
    to_ms: Duration = Field(alias="to")
    rate: float = Field(100.0, ge=0, le=1e6)
    failed: float = Field(0.0, ge=0)
    p95_ms: Duration = Field(50, alias="p95")
    best_ms: Duration = Field(20, alias="best")


class Expected(Form):
    """A finding that must be said, `times` in all; what is not given may be anything. `from` is met within `within`."""

    finding: Id
    certainty: Certainty | None = None
    first: bool = False
    labels: Mapping[str, str] = {}
    from_ms: Duration | None = Field(None, alias="from")
    within_ms: Duration = Field(3_000, alias="within")
    says: tuple[str, ...] = ()
    times: int | None = None


class Case(Form):
    """A file of `cases/`. `never: ["*"]` is that nothing is said that accuses anybody.

    `cannot_tell` are findings of which the run must say that they cannot be judged.
    """

    name: str = ""
    interval_ms: Duration = Field(1_000, alias="interval", ge=100)
    input_series: tuple[InputSeries, ...]
    log_lines: tuple[LogLines, ...] = ()
    run: Load
    expect: tuple[Expected, ...] = ()
    never: tuple[str, ...] = ()
    cannot_tell: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _judges(self) -> Self:
        if not self.expect and not self.never:
            raise ValueError("a case needs expect, or never")
        if not self.run.from_ms < self.run.to_ms <= MOST_MS:
            raise ValueError("the run must end after its beginning, within an hour")
        return self


def run_case(case: Case, library: Library) -> tuple[Sequence[FindingOut], Sequence[str]]:
    """What was found, in order, and what of that was not expected, each as a sentence."""
    with tempfile.TemporaryDirectory(prefix="loadwatch-case-") as folder:
        small = EmbeddedSettings(
            data_directory=Path(folder), head_bytes=16 * MEBIBYTE, database_bytes=64 * MEBIBYTE, database_threads=1
        )
        now_ms = START_MS + MOST_MS + 100_000
        store = open_embedded(small, lambda: now_ms)
        try:
            series = [*_input_samples(case), *_log_samples(case)]
            if series:
                ids = store.resolve([labels for labels, _ in series])
                counts = [len(samples) for _, samples in series]
                flat = np.array([sample for _, samples in series for sample in samples], np.float64).reshape(-1, 2)
                times = flat[:, 0].astype(np.int64)
                store.append(Batch(series=np.repeat(ids, counts), timestamps=times, values=flat[:, 1].copy())).result(
                    timeout=120
                )
            start_ms, end_ms = START_MS + case.run.from_ms, START_MS + case.run.to_ms
            load = RunLoad(seconds=_seconds(case.run), start_ms=start_ms)
            service = Findings(store, lambda: now_ms, library=library)
            found = service.of_run(Span(from_ms=start_ms, to_ms=end_ms), load, About())
        finally:
            store.close()
    return found.findings, list(_unexpected(case, found.findings, {one.id for one in found.unjudged}))


def _input_samples(case: Case) -> Samples:
    return [
        (
            one.labels,
            [
                (START_MS + place * case.interval_ms, value)
                for place, value in enumerate(one.values)
                if value is not None
            ],
        )
        for one in case.input_series
    ]


def _log_samples(case: Case) -> Samples:
    """As the agent sends them: lines by their pattern, counted each second from the start of the case."""
    found: Samples = []
    for lines in case.log_lines:
        message = read_line(lines.text)
        if message is None:
            continue
        patterns = LogPatterns()
        patterns.add(message)
        (template,) = patterns.templates.values()
        target = {"job": lines.job, "instance": lines.instance}
        end_ms = max(lines.until_ms, lines.at_ms)
        at = np.arange(lines.at_ms, end_ms + 1, lines.repeat_ms or end_ms + 1)[:MOST_MS]
        seconds = range(0, case.run.to_ms + 1, 1_000)
        count = [(START_MS + time, float((at <= time).sum())) for time in seconds]
        ones = [(time, 1.0) for time, _ in count]
        level = lines.level or template.level
        found += [
            ({"__name__": MESSAGES, **target, "pattern_id": template.id, "level": level}, count),
            ({"__name__": TEXTS, **target, "pattern_id": template.id, "pattern": template.text}, ones),
            ({"__name__": LINES, **target}, count),
        ]
    return found


def _seconds(run: Load) -> Seconds:
    length = max((run.to_ms - run.from_ms) // 1_000, 1)
    outcomes = np.zeros((length, len(OUTCOMES)), np.int64)
    # Fractions come up at some seconds: 0.5 a second is one each other second.
    sent, failed = (np.diff(np.floor(np.arange(length + 1) * each)).astype(np.int64) for each in (run.rate, run.failed))
    failed = np.minimum(failed, sent)
    outcomes[:, OUTCOME_CODES[Outcome.OK]], outcomes[:, OUTCOME_CODES[Outcome.HTTP_5XX]] = sent - failed, failed
    best, p95 = run.best_ms / 1_000, run.p95_ms / 1_000
    return Seconds(
        start_ms=0,
        outcomes=outcomes,
        latency=np.tile([best, p95, p95, p95, p95], (length, 1)),
        bytes_in=None,
        bytes_out=None,
        users=None,
        exact=False,
    )


def _unexpected(case: Case, found: Sequence[FindingOut], unjudged: set[str]) -> Iterator[str]:
    yield from (f"{id} could be judged" for id in case.cannot_tell if id not in unjudged)
    for wanted in case.expect:
        named = [one for one in found if one.id == wanted.finding]
        if not named:
            yield f"{wanted.finding} was not found"
            continue
        reasons = [list(_differences(wanted, one, found)) for one in named]
        if all(reasons):
            yield min(reasons, key=len)[0]
        if wanted.times not in (None, len(named)):
            yield f"{wanted.finding} was found {len(named)} times and not {wanted.times}"
    for one in found:
        if one.id in case.never or ("*" in case.never and one.severity is not Severity.INFO):
            yield f"{one.id} was found and must not be: {one.sentence.en}"


def _differences(wanted: Expected, one: FindingOut, found: Sequence[FindingOut]) -> Iterator[str]:
    name = f"{wanted.finding} was found, but"
    if wanted.certainty is not None and one.certainty is not wanted.certainty:
        yield f"{name} is {one.certainty.value} and not {wanted.certainty.value}"
    if wanted.first and found[0].id != one.id:
        yield f"{name} after {found[0].id}"
    for label, value in wanted.labels.items():
        if one.labels.get(label) != value:
            yield f"{name} {label} is {one.labels.get(label)!r} and not {value!r}"
    if wanted.from_ms is not None and abs(one.from_ms - START_MS - wanted.from_ms) > wanted.within_ms:
        yield f"{name} from {(one.from_ms - START_MS) / 1_000:g} s and not from {wanted.from_ms / 1_000:g} s"
    told = " ".join([one.sentence.en, *(each.text.en for each in one.evidence)])
    for text in wanted.says:
        if text not in told:
            yield f"{name} does not say {text!r}: {told}"

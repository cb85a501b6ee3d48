"""What a report says of a run's findings, in one language. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from loadwatch_formats.numbers import NONE, format_value

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.findings.model import Link
from loadwatch_backend.findings.schemas import EvidenceOut, FindingOut, HeadlineOut, TextOut
from loadwatch_backend.runs.analysis.schemas import GeneratorCheck
from loadwatch_backend.runs.schemas import RunOut

_TIME_STEPS: Sequence[int] = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200)
DAY_SECONDS = 86_400


def value_ticks(largest: float, count: int = 4) -> list[float]:
    """From zero to the first round number at or above the largest, in about `count` steps of 1, 2, 2.5 or 5."""
    if not math.isfinite(largest) or largest <= 0:
        return [0.0, 1.0]
    rough = largest / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * (1 - 1e-9)), 10 * power)
    steps = max(math.ceil(largest / step - 1e-9), 1)
    return [place * step for place in range(steps + 1)]


def elapsed_ticks(seconds: float, count: int = 8) -> list[float]:
    """Elapsed times from zero up to the end, in steps that a clock has."""
    rough = max(seconds, 1) / count
    step = next((step for step in _TIME_STEPS if step >= rough), math.ceil(rough / DAY_SECONDS) * DAY_SECONDS)
    return [float(place * step) for place in range(math.floor(seconds / step) + 1)]


def elapsed_text(seconds: float) -> str:
    """`0:30`, `12:00`, `1:05:00`."""
    whole = round(seconds)
    hours, minutes, rest = whole // 3_600, whole % 3_600 // 60, whole % 60
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def format_setting(text: str | None, unit: str) -> str:
    """A setting's value with its unit where it is a size, a time or a share; as it stands otherwise."""
    if text is None:
        return NONE
    try:
        number = float(text)
    except ValueError:
        return text
    if unit == "milliseconds":
        return format_value(number / 1_000, "seconds")
    return format_value(number, unit) if unit in ("bytes", "seconds", "ratio") else text


def verdict_reasons(run: RunOut, language: Language) -> list[str]:
    """Each reason of the verdict as a phrase; texts of thresholds, and codes of a later version, as they are."""
    texts, given = Texts("reasons", language), _values(run.generator)
    if run.generator is not None:
        given["generator"] = _listed(run.generator.reasons, given, texts)
    return [texts.known(reason, reason, **given) for reason in run.verdict_reasons]


def generator_text(check: GeneratorCheck, language: Language) -> str:
    texts, given = Texts("reasons", language), _values(check)
    said = texts.known(f"state_{check.state}", check.state)
    # The rate that was sent, whatever the opinion: who reads it can judge for himself.
    codes = [*check.reasons, *check.remarks]
    told = _listed(codes, given, texts)
    rate = (
        "" if check.target_rate is None or check.reached_rate is None else f" {given['reached']} / {given['target']}."
    )
    return f"{said}{rate}" + (f" ({told})" if told else "")


def _listed(codes: Sequence[str], given: Mapping[str, str], texts: Texts) -> str:
    return texts("between").join(texts.known(code, code, **given) for code in codes)


def _values(check: GeneratorCheck | None) -> dict[str, str]:
    return {
        "generator": "",
        "reached": format_value(None if check is None else check.reached_rate, "per_second"),
        "target": format_value(None if check is None else check.target_rate, "per_second"),
        "dropped": format_value(None if check is None else check.dropped_iterations, "count"),
        "host": format_value(None if check is None else check.cpu_max, "ratio"),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedFinding:
    """A finding as a report shows it.

    Attributes:
        facts: certainty, span on the run's clock, labels, causes, what people said of it.
        evidence: link, text and the measured thing.
    """

    severity: str
    title: str
    sentence: str
    facts: Sequence[str]
    evidence: Sequence[tuple[str, str, EvidenceOut]]
    steps: Sequence[tuple[str, str]]
    explanation: str
    rule: str
    source: str
    refuted_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """All that a report says of what ran out.

    Attributes:
        tone: severity of the headline, or the diagnosis' state.
        checked: title and figure of each thing that was not it.
        unchecked: title, what it needs, and the lines that switch it on.
    """

    headline: str
    tone: str
    findings: Sequence[ReportedFinding]
    observations: Sequence[str] = field(default=())
    checked: Sequence[tuple[str, str]] = field(default=())
    unchecked: Sequence[tuple[str, str, str]] = field(default=())


def answer_of(run: RunOut, language: Language) -> Answer | None:
    """What is said of a run; None where nobody has looked. What people have muted is left out."""
    diagnosis = run.diagnosis
    if diagnosis is None:
        return None
    texts = Texts("findings", language)
    findings = [one for one in run.findings if not one.muted]
    said = diagnosis.headline
    titles = {one.key: read(one.title, language) for one in findings}
    return Answer(
        headline="" if said is None else headline_text(said, language),
        tone=diagnosis.state.value if said is None else (said.severity or said.kind).value,
        findings=[_reported(one, diagnosis.from_ms, titles, texts) for one in findings],
        observations=[read(one, language) for one in diagnosis.observations],
        checked=[(read(one.title, language), read(one.text, language)) for one in diagnosis.checked],
        unchecked=[
            (read(one.title, language), texts("needs", metrics=", ".join(one.needs)), one.config)
            for one in diagnosis.missing
        ]
        + [(read(one.title, language), read(one.text, language), "") for one in diagnosis.unjudged],
    )


def first_evidence(run: RunOut) -> tuple[FindingOut, EvidenceOut] | None:
    """What stands for the headline as a chart: its limit where that is drawn, else its first evidence that is."""
    said = None if run.diagnosis is None else run.diagnosis.headline
    first = next((one for one in run.findings if said is not None and one.key == said.key), None)
    if first is None:
        return None
    drawn = [one for one in first.evidence if one.chart is not None and any(v is not None for v in one.chart.values)]
    chosen = next((one for one in drawn if one.link is Link.LIMIT), drawn[0] if drawn else None)
    return None if chosen is None else (first, chosen)


def read(text: TextOut, language: Language) -> str:
    return text.ja if language is Language.JA else text.en


def headline_text(said: HeadlineOut, language: Language) -> str:
    texts, title, text = Texts("findings", language), read(said.title, language), read(said.text, language)
    if said.certainty is None:
        return f"{title}: {text}".rstrip(": ")
    more = f" · {texts('more', count=said.more)}" if said.more else ""
    return f"{text} ({texts(said.certainty.value)}){more}"


def _reported(one: FindingOut, origin_ms: int, titles: Mapping[str, str], texts: Texts) -> ReportedFinding:
    language = texts.language
    causes = [titles[key] for key in one.because_of if key in titles]
    facts = [
        texts(one.certainty.value),
        texts("span", start=_elapsed(one.from_ms, origin_ms), end=_elapsed(one.to_ms, origin_ms)),
        " ".join(f"{name}={value}" for name, value in one.labels.items()),
        texts("because", causes=", ".join(causes)) if causes else "",
        "" if one.mark is None else " ".join([texts(one.mark.opinion.value), one.mark.reason]).strip(),
    ]
    return ReportedFinding(
        severity=one.severity.value,
        title=read(one.title, language),
        sentence=read(one.sentence, language),
        facts=[fact for fact in facts if fact],
        evidence=[(texts(piece.link.value), read(piece.text, language), piece) for piece in one.evidence],
        steps=[(read(step.text, language), step.code) for step in one.steps],
        explanation=read(one.explanation, language),
        rule=read(one.rule_of_thumb.text, language),
        source=one.rule_of_thumb.source,
        refuted_by=read(one.refuted_by, language),
    )


def _elapsed(at_ms: int, origin_ms: int) -> str:
    return elapsed_text(max(at_ms - origin_ms, 0) / 1_000)

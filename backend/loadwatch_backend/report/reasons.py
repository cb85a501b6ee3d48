"""Why a run's verdict is what it is, and what is to be said of its load generator, in both languages."""

from collections.abc import Mapping, Sequence

from loadwatch_backend.kit.language import Language
from loadwatch_backend.report.numbers import format_value
from loadwatch_backend.runs.analysis.schemas import GeneratorCheck
from loadwatch_backend.runs.schemas import RunOut
from loadwatch_backend.texts.reasons import REASONS
from loadwatch_backend.texts.words import Texts


def verdict_reasons(run: RunOut, language: Language) -> list[str]:
    """Each reason of the verdict as a phrase; texts of thresholds, and codes of a later version, as they are."""
    texts, given = Texts(REASONS, language), _values(run.generator)
    if run.generator is not None:
        given["generator"] = _listed(run.generator.reasons, given, texts)
    return [texts.known(reason, reason, **given) for reason in run.verdict_reasons]


def generator_text(check: GeneratorCheck, language: Language) -> str:
    """Whether it could send what it was asked to, why not, and what else there is to say."""
    texts, given = Texts(REASONS, language), _values(check)
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

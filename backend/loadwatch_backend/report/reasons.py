"""Why a run's verdict is what it is, and what is to be said of its load generator, in both languages."""

from collections.abc import Mapping, Sequence

from loadwatch_backend.kit.language import Language
from loadwatch_backend.report.numbers import format_value
from loadwatch_backend.runs.analysis.schemas import GeneratorCheck
from loadwatch_backend.runs.schemas import RunOut

_EN: Mapping[str, str] = {
    "aborted": "the run was aborted",
    "no-requests": "no request was sent",
    "generator-saturated": "the load generator was the limit: {generator}",
    "not-measured": "a threshold could not be measured",
    "state_ok": "It sent what it was asked to.",
    "state_suspect": "It may have been the limit itself.",
    "state_saturated": "It was the limit itself: the figures describe the generator.",
    "state_unknown": "Nothing tells whether it could send what it was asked to.",
    "rate-not-reached": "it sent {reached} of the {target} asked for",
    "dropped-iterations": "it dropped {dropped} iterations that it should have begun",
    "cpu": "its own process was at the limit of its CPU",
    "gaps": "in some seconds it sent less than half of its usual rate",
    "late-sends": "its sends were more than a second late",
    "users-capped": "all its users were busy while the rate was short",
    "host-busy": "its host was busy up to {host}, which may be the system under load itself",
}
_JA: Mapping[str, str] = {
    "aborted": "実行が中断された",
    "no-requests": "リクエストが送信されなかった",
    "generator-saturated": "負荷生成側が限界に達していた: {generator}",
    "not-measured": "測定できないしきい値があった",
    "state_ok": "指示どおりに送信できた。",
    "state_suspect": "負荷生成側が限界だった可能性がある。",
    "state_saturated": "負荷生成側が限界に達していた。数値はシステムではなく負荷生成側の限界を示す。",
    "state_unknown": "指示どおりに送信できたか判断できない。",
    "rate-not-reached": "指示された {target} のうち {reached} しか送信できなかった",
    "dropped-iterations": "開始すべき反復を {dropped} 件取りこぼした",
    "cpu": "負荷生成プロセス自身が CPU の限界に達していた",
    "gaps": "送信が普段の半分に満たない秒があった",
    "late-sends": "送信が1秒を超えて遅れた",
    "users-capped": "レートが不足している間、全ユーザーが使用中だった",
    "host-busy": "負荷生成ホストのCPU使用率が最大 {host} に達した(試験対象のシステムによる可能性もある)",
}
REASON_TEXTS: Mapping[Language, Mapping[str, str]] = {Language.EN: _EN, Language.JA: _JA}
_BETWEEN: Mapping[Language, str] = {Language.EN: "; ", Language.JA: "、"}


def verdict_reasons(run: RunOut, language: Language) -> list[str]:
    """Each reason of the verdict as a phrase; texts of thresholds, and codes of a later version, as they are."""
    given = _values(run.generator)
    if run.generator is not None:
        given["generator"] = _listed(run.generator.reasons, given, language)
    return [_phrase(reason, given, language) for reason in run.verdict_reasons]


def generator_text(check: GeneratorCheck, language: Language) -> str:
    """Whether it could send what it was asked to, why not, and what else there is to say."""
    words, given = REASON_TEXTS[language], _values(check)
    said = words.get(f"state_{check.state}", check.state)
    # The rate that was sent, whatever the opinion: who reads it can judge for himself.
    codes = [*check.reasons, *check.remarks]
    told = _listed(codes, given, language)
    rate = (
        "" if check.target_rate is None or check.reached_rate is None else f" {given['reached']} / {given['target']}."
    )
    return f"{said}{rate}" + (f" ({told})" if told else "")


def _listed(codes: Sequence[str], given: Mapping[str, str], language: Language) -> str:
    return _BETWEEN[language].join(_phrase(code, given, language) for code in codes)


def _phrase(code: str, given: Mapping[str, str], language: Language) -> str:
    text = REASON_TEXTS[language].get(code)
    return code if text is None else text.format(**given)


def _values(check: GeneratorCheck | None) -> dict[str, str]:
    return {
        "generator": "",
        "reached": format_value(None if check is None else check.reached_rate, "per_second"),
        "target": format_value(None if check is None else check.target_rate, "per_second"),
        "dropped": format_value(None if check is None else check.dropped_iterations, "count"),
        "host": format_value(None if check is None else check.cpu_max, "ratio"),
    }

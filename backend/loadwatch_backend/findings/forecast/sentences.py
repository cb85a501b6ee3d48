"""What a forecast says, in both languages."""

import math
from collections.abc import Mapping, Sequence

from loadwatch_backend.findings.forecast.model import Forecast, Interval, Law, Measured, Peak, Refused
from loadwatch_backend.texts.forecast import FORECAST
from loadwatch_backend.texts.words import Words

_SHARES = frozenset({"used", "share"})
_RATES = frozenset({"low", "high"})


def say_forecast(forecast: Forecast) -> Words:
    """The sentence that a person can say aloud: what is full first, and what next."""
    laws = forecast.laws
    if not laws:
        return FORECAST["sentence.none" if forecast.resources else "sentence.nothing"]
    resource, law = laws[0]
    if law.reached is not None:
        first = _filled("sentence.reached", what=name_of(resource), rate=_plain(law.reached))
    else:
        low, rate, high = said_interval(law.full)
        first = _filled("sentence.first", what=name_of(resource), rate=rate, low=low, high=high)
    return _joined(first, _next(laws))


def say_peak(peak: Peak | Refused) -> Words:
    """The highest throughput there is, or why nobody can tell."""
    if isinstance(peak, Refused):
        return say_refused(peak)
    low, rate, high = said_interval(peak.rate)
    return _filled("sentence.peak", rate=rate, low=low, high=high, users=_plain(peak.users))


def say_refused(refused: Refused) -> Words:
    """Why there is no number."""
    shares = refused.figures.keys() & (_SHARES | ({"least"} if refused.figures.keys() & _SHARES else frozenset()))
    values = {
        name: f"{value:.0%}" if name in shares else _plain(value) if name in _RATES else f"{value:g}"
        for name, value in refused.figures.items()
    }
    return _filled(f"refused.{refused.refusal}", **values)


def name_of(resource: Measured) -> Words:
    """Its title, with what tells it from others of its kind."""
    return Words(*(f"{title} ({resource.name})" if resource.name else title for title in _both(resource.title)))


def said_interval(interval: Interval) -> tuple[str, str, str]:
    """Low end, value and high end, no finer than the interval or three digits allow: 8,700, 9,400 and 10,300."""
    finest = [10.0 ** (math.floor(math.log10(interval.value)) - 2)] if interval.value > 0 else [1.0]
    width = interval.high - interval.low
    unit = max([*finest, 10.0 ** (math.floor(math.log10(width)) - 1)] if width > 0 else finest)
    low, value, high = (_rounded(one, unit) for one in (interval.low, interval.value, interval.high))
    return low, value, high


def _next(laws: Sequence[tuple[Measured, Law]]) -> Words:
    if len(laws) < 2:
        return Words("", "")
    (_, first), (resource, law) = laws[:2]
    overlaps = first.reached is None and law.full.low <= first.full.high
    _, rate, _ = said_interval(law.full)
    return _filled("sentence.overlaps" if overlaps else "sentence.next", what=name_of(resource), rate=rate)


def _filled(key: str, **values: str | Words) -> Words:
    words = FORECAST[key]
    english, japanese = _read(values)
    return Words(words.en.format(**english), words.ja.format(**japanese))


def _read(values: Mapping[str, str | Words]) -> tuple[dict[str, str], dict[str, str]]:
    english = {name: value.en if isinstance(value, Words) else value for name, value in values.items()}
    return english, {name: value.ja if isinstance(value, Words) else value for name, value in values.items()}


def _joined(first: Words, second: Words) -> Words:
    return Words(first.en + second.en, first.ja + second.ja)


def _both(words: Words) -> tuple[str, str]:
    return words.en, words.ja


def _plain(value: float) -> str:
    """Three digits that count."""
    return _rounded(value, 10.0 ** (math.floor(math.log10(value)) - 2)) if value > 0 else "0"


def _rounded(value: float, unit: float) -> str:
    digits = max(-math.floor(math.log10(unit)), 0)
    return f"{round(value / unit) * unit:,.{digits}f}"

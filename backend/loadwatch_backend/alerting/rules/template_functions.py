"""Prometheus' functions for templates (template/template.go; common/helpers/templates)."""

import ipaddress
import math
import re
from collections.abc import Callable, Mapping
from urllib.parse import quote_plus, urlsplit

from loadwatch_formats.durations import parse_duration

from loadwatch_backend.alerting.rules.gotemplate.builtins import Function
from loadwatch_backend.alerting.rules.gotemplate.errors import TemplateError
from loadwatch_backend.alerting.rules.gotemplate.formatting import MAX_TEXT
from loadwatch_backend.alerting.rules.gotemplate.time_value import SECOND_NS, GoDuration, GoTime
from loadwatch_backend.alerting.rules.gotemplate.values import Record, StringMap, Value, type_name
from loadwatch_backend.series.promql.functions.label_functions import expand_groups
from loadwatch_backend.series.store.errors import PatternError
from loadwatch_backend.series.store.patterns import Found, Pattern, compile_pattern
from loadwatch_backend.series.store.port import Labels

_LARGE = ("k", "M", "G", "T", "P", "E", "Z", "Y")
_SMALL = ("m", "u", "n", "p", "f", "a", "z", "y")
_BINARY = ("ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi")
_GO_FLOAT = re.compile(
    r"[+-]?(?:(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_](?:[\w]|['’.:·](?=[^\W_]))*|_+\w*")
_LONGEST_NS = 2**63 - 1


class Sample(Record):
    """One element of a query's result, with `.Labels` and `.Value`."""

    def __init__(self, labels: Labels, value: float) -> None:
        self.labels = StringMap(labels)
        self.value = value
        super().__init__("*template.sample", {"Labels": self.labels, "Value": value})


def to_float(value: Value) -> float:
    """ConvertToFloat: numbers, and texts that hold one."""
    match value:
        case bool():
            pass
        case float() | int():
            return float(value)
        case str():
            # A hexadecimal float is the only form of Go's that is not read here.
            if _GO_FLOAT.fullmatch(value):
                return float(value.replace("_", ""))
            raise TemplateError(f'strconv.ParseFloat: parsing "{value}": invalid syntax')
        case _:
            pass
    raise TemplateError(f"can't convert {type_name(value)} to float")


def general(value: float) -> str:
    """Go's `%.4g`."""
    if math.isnan(value):
        return "NaN"
    return f"{value:+.0f}".replace("inf", "Inf") if math.isinf(value) else f"{value:.4g}"


def humanize(given: Value) -> str:
    """With SI prefixes: 1.234k, 2.5m."""
    value = to_float(given)
    if value == 0 or not math.isfinite(value):
        return general(value)
    prefix = ""
    if abs(value) >= 1:
        for one in _LARGE:
            if abs(value) < 1000:
                break
            prefix = one
            value /= 1000
        return general(value) + prefix
    return _humanize_small(value)


def _humanize_small(value: float) -> str:
    prefix = ""
    for one in _SMALL:
        if abs(value) >= 1:
            break
        prefix = one
        value *= 1000
    return general(value) + prefix


def humanize_1024(given: Value) -> str:
    """With binary prefixes: 1.5Mi."""
    value = to_float(given)
    if abs(value) <= 1 or not math.isfinite(value):
        return general(value)
    prefix = ""
    for one in _BINARY:
        if abs(value) < 1024:
            break
        prefix = one
        value /= 1024
    return general(value) + prefix


def humanize_duration(given: Value) -> str:
    """Seconds as 1d 2h 3m 4s, or 2.5ms."""
    value = to_float(given)
    if not math.isfinite(value):
        return general(value)
    if value == 0:
        return f"{general(value)}s"
    if abs(value) < 1:
        return f"{_humanize_small(value)}s"
    sign, value = ("-", -value) if value < 0 else ("", value)
    whole = _int64(value)
    minutes, seconds = _split(whole, 60)
    hours, minutes = _split(minutes, 60)
    days, hours = _split(hours, 24)
    if days:
        return f"{sign}{days}d {hours}h {minutes}m {seconds}s"
    if hours:
        return f"{sign}{hours}h {minutes}m {seconds}s"
    return f"{sign}{minutes}m {seconds}s" if minutes else f"{sign}{general(value)}s"


def _int64(value: float) -> int:
    """Go's conversion on amd64: what does not fit is the least number."""
    return int(value) if math.isfinite(value) and -(2.0**63) <= value < 2.0**63 else -(2**63)


def _split(number: int, size: int) -> tuple[int, int]:
    """Quotient and rest as in Go, where both of a negative number are negative."""
    quotient, rest = divmod(abs(number), size)
    return (quotient, rest) if number >= 0 else (-quotient, -rest)


def humanize_percentage(given: Value) -> str:
    """A ratio as 12.34%."""
    return f"{general(to_float(given) * 100)}%"


def humanize_timestamp(given: Value) -> str:
    """Seconds since the epoch as a date."""
    value = to_float(given)
    return to_time(value).go_text() if math.isfinite(value) else general(value)


def to_time(given: Value) -> GoTime:
    """Seconds since the epoch to a time, to the millisecond as in Prometheus."""
    value = to_float(given)
    if not math.isfinite(value):
        raise TemplateError("value is NaN or Inf")
    nanoseconds = value * 1e9
    if abs(nanoseconds) > _LONGEST_NS:
        raise TemplateError(f"{value:g} cannot be represented as a nanoseconds timestamp since it overflows int64")
    return GoTime(math.trunc(int(nanoseconds) / 1_000_000) * 1_000_000)


def to_duration(given: Value) -> GoDuration:
    """Seconds to a duration."""
    return GoDuration(_int64(to_float(given) * SECOND_NS))


def first(samples: list[Sample]) -> Sample:
    """The first of a query's result."""
    if not samples:
        raise TemplateError("first() called on vector with no elements")
    return samples[0]


def replace_all(pattern: str, replacement: str, text: str) -> str:
    """Regexp.ReplaceAllString, with $1 and ${name}."""
    left = MAX_TEXT

    def expanded(found: Found) -> str:
        nonlocal left
        value = expand_groups(replacement, found.group, left)
        if value is None:
            raise TemplateError(f"a text is longer than {MAX_TEXT} characters")
        left -= len(value)
        return value

    return _compiled(pattern).sub(expanded, text)


def _references(*given: str) -> int:
    """Of `replace_all`: each reference to a group, wherever the pattern may fit."""
    return given[1].count("$") * (len(given[2]) + 1) if len(given) == 3 else 0


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found anywhere in the text."""
    return _compiled(pattern).search(text) is not None


def _compiled(pattern: str) -> Pattern:
    try:
        return compile_pattern(pattern, dot_matches_newline=False)
    except PatternError as error:
        raise TemplateError(f"error parsing regexp: {error.detail}") from error


def title(text: str) -> str:
    """The first letter of each word in upper case; the rest stays."""

    def raised(found: re.Match[str]) -> str:
        word = found.group()
        for place, letter in enumerate(word):
            if letter.isalpha():
                return word[:place] + letter.title() + word[place + 1 :]
        return word

    return _WORD.sub(raised, text)


def split_host_port(text: str) -> tuple[str, str] | None:
    """net.SplitHostPort; None where it gives an error."""
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket or not rest.startswith(":") or "[" in host or "]" in rest or "[" in rest or ":" in rest[1:]:
            return None
        return host, rest[1:]
    host, colon, port = text.rpartition(":")
    if not colon or ":" in host or "[" in text or "]" in text:
        return None
    return host, port


def strip_port(text: str) -> str:
    """host:port to host."""
    parts = split_host_port(text)
    return text if parts is None else parts[0]


def strip_domain(text: str) -> str:
    """host.example.org:80 to host:80; addresses stay."""
    parts = split_host_port(text)
    host, port = parts or (text, "")
    try:
        ipaddress.ip_address(host.partition("%")[0] if ":" not in host else host)
        return text
    except ValueError:
        pass
    host = host.split(".")[0]
    return f"{host}:{port}" if port else host


def _duration_seconds(text: str) -> float:
    negative = text.startswith("-")
    try:
        milliseconds = parse_duration(text[1:] if negative else text)
    except ValueError as error:
        raise TemplateError(f"error calling parseDuration: {error}") from error
    return -milliseconds / 1000 if negative else milliseconds / 1000


def _link(tab: int) -> Callable[[str], str]:
    return lambda expression: f"/graph?g0.expr={quote_plus(expression, safe='')}&g0.tab={tab}"


def _label(name: str, sample: Sample) -> str:
    return sample.labels.get(name, "")


def _value(sample: Sample) -> float:
    return sample.value


def _text_value(sample: Sample) -> str:
    return sample.labels.get("__value__", "")


def _sort_by_label(name: str, samples: list[Sample]) -> list[Sample]:
    return sorted(samples, key=lambda one: one.labels.get(name, ""))


def _query_escape(text: str) -> str:
    return quote_plus(text, safe="")


FUNCTIONS: Mapping[str, Function] = {
    "first": Function(call=first, takes=(list,)),
    "label": Function(call=_label, takes=(str, Sample)),
    "value": Function(call=_value, takes=(Sample,)),
    "strvalue": Function(call=_text_value, takes=(Sample,)),
    "sortByLabel": Function(call=_sort_by_label, takes=(str, list)),
    "args": Function(call=lambda *values: {f"arg{place}": one for place, one in enumerate(values)}, rest=object),
    "reReplaceAll": Function(
        call=replace_all,
        takes=(str, str, str),
        work=_references,
    ),
    "match": Function(call=matches, takes=(str, str)),
    "safeHtml": Function(call=str, takes=(str,)),
    "title": Function(call=title, takes=(str,)),
    "toUpper": Function(call=str.upper, takes=(str,)),
    "toLower": Function(call=str.lower, takes=(str,)),
    "graphLink": Function(call=_link(0), takes=(str,)),
    "tableLink": Function(call=_link(1), takes=(str,)),
    "stripPort": Function(call=strip_port, takes=(str,)),
    "stripDomain": Function(call=strip_domain, takes=(str,)),
    "humanize": Function(call=humanize, takes=(object,)),
    "humanize1024": Function(call=humanize_1024, takes=(object,)),
    "humanizeDuration": Function(call=humanize_duration, takes=(object,)),
    "humanizePercentage": Function(call=humanize_percentage, takes=(object,)),
    "humanizeTimestamp": Function(call=humanize_timestamp, takes=(object,)),
    "toTime": Function(call=to_time, takes=(object,)),
    "toDuration": Function(call=to_duration, takes=(object,)),
    "parseDuration": Function(call=_duration_seconds, takes=(str,)),
    "urlQueryEscape": Function(call=_query_escape, takes=(str,)),
}


def context_functions(time_ms: int, external_url: str, query: Callable[[str], list[Sample]]) -> Mapping[str, Function]:
    """Functions that depend on when and where the template is expanded."""
    return {
        "query": Function(call=query, takes=(str,)),
        "now": Function(call=lambda: time_ms / 1000),
        "externalURL": Function(call=lambda: external_url),
        "pathPrefix": Function(call=lambda: urlsplit(external_url).path),
    }

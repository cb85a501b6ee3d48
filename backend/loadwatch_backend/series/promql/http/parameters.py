"""Parameters of Prometheus' HTTP API: from the address and, for POST, from a form."""

import re
from collections.abc import Callable, Mapping
from urllib.parse import parse_qs

from loadwatch_formats.durations import parse_duration
from loadwatch_formats.times import parse_rfc3339
from starlette.requests import Request

from loadwatch_backend.core.errors import BadRequestError, PayloadTooLargeError
from loadwatch_backend.series.promql.errors import QueryParseError
from loadwatch_backend.series.promql.parsing.expression import Selector
from loadwatch_backend.series.promql.parsing.parse import parse_expression
from loadwatch_backend.series.store.port import Matcher

MAX_FORM = 1 << 20
"""Bytes of one form."""
MAX_VALUES = 1_000
"""Parameters of one request, repeated ones too."""
MAX_SELECTORS = 100
"""Of one request; each is parsed and asked of the store."""
OLDEST_MS = 0
NEWEST_MS = 253_402_300_799_999
"""The last millisecond of the year 9999."""
_LONGEST = 64
"""Characters of a time or a duration."""
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_ESCAPE = re.compile(r"__|_([0-9a-fA-F]{1,8})_")
_ESCAPED = re.compile(r"(?:[a-zA-Z0-9:]|__|_[0-9a-fA-F]{1,8}_)+")
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)


class InvalidParameterError(BadRequestError, code="invalid-parameter", title="Invalid parameter"):
    """A parameter is missing or has no meaning."""


class Parameters:
    """The parameters of one request, a form's before the address's."""

    def __init__(self, values: Mapping[str, list[str]]) -> None:
        self._values = values

    def text(self, name: str) -> str:
        """The first value of a parameter; empty when it is not given."""
        return next(iter(self._values.get(name, [])), "")

    def texts(self, name: str) -> list[str]:
        return self._values.get(name, [])

    def time_ms(self, name: str, default: int | None = None) -> int:
        """A time, as seconds since the epoch or after RFC 3339."""
        text = self.text(name)
        if not text:
            if default is None:
                raise InvalidParameterError(f'invalid parameter "{name}": cannot parse "" to a valid timestamp')
            return default
        time_ms = parse_time(text)
        if time_ms is None:
            raise InvalidParameterError(
                f'invalid parameter "{name}": cannot parse "{text[:100]}" to a valid timestamp: give seconds since the'
                " epoch or a time such as 2026-01-31T12:00:00Z"
            )
        return time_ms

    def span_ms(self, first_ms: int | None = OLDEST_MS, last_ms: int | None = NEWEST_MS) -> tuple[int, int]:
        start, end = self.time_ms("start", first_ms), self.time_ms("end", last_ms)
        if end < start:
            raise InvalidParameterError('invalid parameter "end": end timestamp must not be before start time')
        return start, end

    def duration_ms(self, name: str) -> int:
        """A duration, as seconds or as in PromQL (1m30s)."""
        text = self.text(name)
        duration = parse_seconds(text)
        if duration is None:
            raise InvalidParameterError(
                f'invalid parameter "{name}": cannot parse "{text[:100]}" to a valid duration: give seconds or a'
                " duration such as 15s"
            )
        return duration

    def limit(self) -> int | None:
        """A number of results; None and 0 mean all."""
        text = self.text("limit")
        if not text:
            return None
        if not re.fullmatch(r"\d{1,18}", text, re.ASCII):
            raise InvalidParameterError(f'invalid parameter "limit": "{text[:100]}" is not a number of results')
        return int(text) or None

    def number(self, name: str) -> int | None:
        """A number of results of which 0 means none; None where it is negative or not given, which means all."""
        text = self.text(name)
        if not re.fullmatch(r"([+-]?\d{1,18})?", text, re.ASCII):
            raise InvalidParameterError(f"{name} must be a number")
        return int(text) if text and int(text) >= 0 else None

    def matchers(self) -> list[tuple[Matcher, ...]]:
        texts = self.texts("match[]")
        if len(texts) > MAX_SELECTORS:
            raise InvalidParameterError(
                f'invalid parameter "match[]": {len(texts)} selectors; at most {MAX_SELECTORS} are taken'
            )
        return [parse_selector(text) for text in texts]


async def read_parameters(request: Request) -> Parameters:
    values: dict[str, list[str]] = {}
    if request.method == "POST":
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_FORM:
                raise PayloadTooLargeError(f"the form has more than {MAX_FORM} bytes")
        try:
            values = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=MAX_VALUES)
        except ValueError as error:
            raise InvalidParameterError(f"the form cannot be read: {error}") from error
    pairs = request.query_params.multi_items()
    if len(pairs) > MAX_VALUES:
        raise InvalidParameterError(f"the address has {len(pairs)} parameters, and at most {MAX_VALUES} are read")
    for name, value in pairs:
        if value not in (given := values.setdefault(name, [])):
            given.append(value)
    return Parameters(values)


def parse_selector(text: str) -> tuple[Matcher, ...]:
    """The matchers of a series selector without offset or range.

    Raises:
        QueryParseError: it is anything else.
    """
    expression = parse_expression(text)
    if not isinstance(expression, Selector) or expression.offset_ms:
        raise QueryParseError(
            f'invalid parameter "match[]": {text[:200]!r} is not a series selector such as up{{job="a"}}'
        )
    return expression.matchers


def unescape_label(name: str) -> str:
    """The label's name behind Prometheus' escape for addresses: `U__a_2e_b` is `a.b`; any other name is itself.

    Source: model.UnescapeName of prometheus/common. A name that only looks escaped is taken as it is.
    """
    escaped = name.removeprefix("U__")
    if escaped == name or not _ESCAPED.fullmatch(escaped):
        return name
    try:
        return _ESCAPE.sub(lambda found: "_" if found.group() == "__" else chr(int(found.group(1), 16)), escaped)
    except (ValueError, OverflowError):
        return name


def parse_time(text: str) -> int | None:
    """Milliseconds since the epoch of seconds or of an RFC 3339 time; None for anything else."""
    return _seconds_or(text, lambda: parse_rfc3339(text.upper()) // 1_000_000 if _RFC3339.fullmatch(text) else None)


def parse_seconds(text: str) -> int | None:
    """Milliseconds of seconds or of a duration as in PromQL; None for anything else."""
    return _seconds_or(text, lambda: parse_duration(text))


def _seconds_or(text: str, parse: Callable[[], int | None]) -> int | None:
    if len(text) > _LONGEST:
        return None
    if _NUMBER.fullmatch(text):
        seconds = float(text)
        # Rounded as Prometheus does: the fraction to whole milliseconds.
        return round(seconds * 1000) if abs(seconds) < 1e12 else None
    try:
        return parse()
    except ValueError:
        return None

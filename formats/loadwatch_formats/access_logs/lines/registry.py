"""All kinds of access logs, and which one the first lines are."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from loadwatch_formats.access_logs.lines.combined import COMBINED
from loadwatch_formats.access_logs.lines.line import (
    REST,
    AccessLogError,
    LineFormat,
    LineOptions,
    LineReader,
    Texts,
    milliseconds,
    no_seconds,
    one_expression,
    path_of,
    seconds_in,
    split_request,
    status_of,
)
from loadwatch_formats.access_logs.lines.ltsv import LTSV, Chosen, choose, first_texts
from loadwatch_formats.access_logs.sketch import GREATEST
from loadwatch_formats.own_traffic import without_own_requests

# Logs of AWS' Application Load Balancers; a duration is the sum of the three processing times.
#
# A time of -1 says that a part never happened (the target closed the connection, or timed out): such a request has no
# duration.
# Source: docs.aws.amazon.com, "Access logs for your Application Load Balancer".

_ALB_LINE = (
    r"(?:https?|h2|grpcs?|wss?) (?P<at>[^ \n]+) [^ \n]+ [^ \n]+ [^ \n]+ (?P<took>-?[0-9.]+ -?[0-9.]+ -?[0-9.]+) "
    r'(?P<status>[0-9]{3}|-) [^ \n]+ [0-9]+ (?P<size>[0-9]+) "(?P<method>[^ "\n]+) (?:[a-z]+://[^/? "\n]*)?'
    r'(?P<path>[^? "\n]*)[^\n]*'
)


def _alb_seconds(text: str) -> float | None:
    try:
        parts = list(map(float, text.split()))
    except ValueError:
        return None
    if len(parts) != 3 or not min(parts) >= 0:
        return None
    return total if (total := sum(parts)) <= GREATEST else None


ALB = one_expression(
    "alb",
    "AWS Application Load Balancer",
    _ALB_LINE,
    "request, target and response processing time together, in seconds",
    lambda _options: _alb_seconds,
)


# Envoy's default text, and Istio's, which has three fields more; durations are in milliseconds.
#
# Source: envoyproxy.io, "Access logging", default format string; istio.io, "Envoy Access Logs".

_ENVOY_LINE = (
    r'\[(?P<at>[^\]\n]*)\] "(?P<method>[^ "\n]+) (?P<path>[^? "\n]++)[^"\n]*+" (?P<status>[0-9]{1,3}) [^ "\n]+'
    r'(?: [^ "\n]+ [^ "\n]+ "[^"\n]*")? (?:[0-9]+|-) (?P<size>[0-9]+|-) (?P<took>[0-9]+|-) [^\n]*'
)


ENVOY = one_expression("envoy", "Envoy, default text", _ENVOY_LINE, "%DURATION%, in milliseconds", milliseconds)


# HAProxy's logs of HTTP and HTTPS; the last of the five times, %Ta or %Tt, is that of the whole request.
#
# 192.0.2.1:333 [06/Feb/2026:12:14:14.655] web app/a1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "GET / HTTP/1.1"
#
# Its moments have no zone, so nobody knows when they were. `option httplog clf` is a combined log.
# Source: docs.haproxy.org, "HTTP log format" and "HTTPS log format".

_HAPROXY_LINE = (
    # The number of the process stands in brackets before the time.
    r"[^\[\n]*+(?:\[[^\[\n]*+)*?\[(?P<at>[^\[\]\n]*)\] [^ \n]+ [^ \n]+ (?:-?[0-9]+/){4}\+?(?P<took>-?[0-9]+) "
    r"(?:(?P<status>[0-9]{3})|-1) \+?(?P<size>[0-9]+) [^ \n]+ [^ \n]+ [A-Za-z-]{4} "
    r"(?:[0-9]+/){4}\+?[0-9]+ [0-9]+/[0-9]+ "
    # A request that is no HTTP is <BADREQ>; long ones are cut before their quote.
    r'[^"\n]*"(?:(?P<method>[A-Za-z-]+) (?:[a-z]+://[^/? "\n]*)?)?(?P<path>[^? "\n]*+)[^\n]*'
)


_HAPROXY_DURATIONS = "the last of HAProxy's times, %Ta or %Tt, in milliseconds"
HAPROXY = one_expression("haproxy", "HAProxy", _HAPROXY_LINE, _HAPROXY_DURATIONS, milliseconds)


# One JSON object a line, as nginx, Caddy, Envoy, Traefik and applications write it; keys of inner objects by dots.

_DEEPEST = 4
_MOST_KEYS = 1_000
# Numbers stay texts: the same ones come again and again, and are made numbers once.
_decode = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str).decode


def _open_json(lines: Sequence[str], options: LineOptions) -> LineReader | None:
    documents = [document for document in map(_document, lines) if document is not None]
    texts = first_texts([dict(list(_flat(document))[:_MOST_KEYS]) for document in documents])
    chosen = choose(texts.keys(), texts, options) if texts else None
    if chosen is None:
        return None
    getter = _Getter(chosen, queries=options.queries)
    return LineReader(
        format="json",
        durations=chosen.durations,
        without=chosen.without,
        read=getter.read,
        again=lambda _line: None,
        seconds=seconds_in(chosen.unit) if chosen.durations else no_seconds,
    )


def _document(line: str) -> dict[str, Any] | None:
    """The object of a line; what stands before it, as a collector's prefix, is left out."""
    begun = line.find("{")
    if begun < 0:
        return None
    try:
        found: object = _decode(line[begun:])
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, Any], found) if isinstance(found, dict) else None


def _flat(document: Mapping[str, Any], before: str = "", depth: int = 1) -> Iterator[tuple[str, str]]:
    for key, value in document.items():
        if isinstance(value, dict) and depth < _DEEPEST:
            yield from _flat(cast(dict[str, Any], value), f"{before}{key}.", depth + 1)
        elif isinstance(value, str):
            yield f"{before}{key}", value


class _Getter:
    def __init__(self, chosen: Chosen, *, queries: bool) -> None:
        self._queries = queries
        self._keys = {role: (key, key.split(".")) for role, key in chosen.keys.items()}
        self._in_one = "request" in chosen.keys

    def read(self, text: str) -> list[Texts]:
        return [self._line(line) for line in text.split("\n") if line.strip()]

    def _line(self, line: str) -> Texts:
        document = _document(line)
        if document is not None:
            status = status_of(self._text(document, "status"))
            if self._in_one:
                method, path = split_request(self._text(document, "request"), queries=self._queries)
            else:
                method = self._text(document, "method")
                path = path_of(self._text(document, "path"), queries=self._queries)
            if status is not None and path:
                at, size = self._text(document, "time"), self._text(document, "bytes")
                return (at, method, path, status, size, self._text(document, "seconds"), "")
        return ("", "", "", "", "", "", line)

    def _text(self, document: dict[str, Any], role: str) -> str:
        key, path = self._keys.get(role, ("", ()))
        value: Any = document.get(key)
        if value is None and len(path) > 1:
            value = document
            for name in path:
                value = cast(dict[str, Any], value).get(name) if isinstance(value, dict) else None
        return value if isinstance(value, str) else ""


JSON_LINES = LineFormat(name="json", title="JSON lines", open=_open_json)


FORMATS: tuple[LineFormat, ...] = (ALB, ENVOY, HAPROXY, COMBINED, LTSV, JSON_LINES)
"""The stricter first."""
_SAMPLE_LINES = 200
_ENOUGH = 0.5
"""Share of the first lines that must be of a kind for the log to be taken for one."""


def recognise(sample: str, options: LineOptions | None = None, most: int = _SAMPLE_LINES) -> LineReader:
    """The reader of a log by its first lines, no more than `most`.

    Raises:
        AccessLogError: they are nothing that is known, or not what somebody says they are.
    """
    options = options or LineOptions()
    known = {one.name: one for one in FORMATS}
    if options.format not in ("auto", *known):
        raise AccessLogError(f"no format {options.format!r}; there are auto, {', '.join(known)}")
    lines = _some(sample, most)
    if not lines:
        raise AccessLogError("has no lines")
    best, highest = None, 0.0
    for one in FORMATS if options.format == "auto" else (known[options.format],):
        reader = one.open(lines, options)
        share = 0.0 if reader is None else _share(reader, lines)
        if share > highest:
            best, highest = reader, share
    if best is None or (options.format == "auto" and highest < _ENOUGH):
        tried = ", ".join(one.title for one in FORMATS) if options.format == "auto" else known[options.format].title
        raise AccessLogError(
            f"its first {len(lines)} lines are not what is known ({tried}); name the format, or for LTSV and JSON "
            "the keys that hold path, status and seconds"
        )
    found = best

    def read(text: str) -> Iterable[Texts]:
        return found.read(without_own_requests(text))

    return replace(best, read=read)


def recognise_first(samples: Iterable[str], options: LineOptions | None = None) -> tuple[LineReader, str]:
    """The reader of a log by the first of its samples, and the lines that decided, for `recognise`.

    Where those have a field that may be a duration and no value in it, further samples decide.

    Raises:
        AccessLogError: the first is nothing that is known, or there is none.
    """
    following = iter(samples)
    decided = "\n".join(_some(next(following, ""), _SAMPLE_LINES))
    reader = recognise(decided, options)
    while reader.later and (sample := next(following, "")):
        with suppress(AccessLogError):
            other = recognise(sample, options, most=len(sample))
            if other.format == reader.format and not other.later:
                return other, sample
    return reader, decided


def _some(sample: str, most: int) -> list[str]:
    return [line for line in sample.split("\n") if line.strip()][:most]


def _share(reader: LineReader, lines: list[str]) -> float:
    texts = reader.read("\n".join(lines))
    return sum(not one[REST] or reader.again(one[REST]) is not None for one in texts) / len(lines)

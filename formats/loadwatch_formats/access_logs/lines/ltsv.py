"""LTSV (http://ltsv.org): `key:value`, tabs between. The order of keys is learnt from the first line."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from loadwatch_formats.access_logs.lines.line import (
    UNITS,
    AccessLogError,
    LineFormat,
    LineOptions,
    LineReader,
    Texts,
    no_seconds,
    path_of,
    reading,
    seconds_in,
    split_request,
    status_of,
    unit_words,
)

KEYS: Mapping[str, tuple[str, ...]] = {
    "time": (
        *("time", "ts", "timestamp", "@timestamp", "time_iso8601", "time_local", "start_time", "msec", "time_unix"),
        *("StartUTC", "date", "datetime"),
    ),
    "method": (
        *("method", "request_method", "request.method", "req.method", "http_method", "http.request.method", "verb"),
        *("RequestMethod", "httpRequest.requestMethod", "http.method"),
    ),
    "path": (
        *("request_uri", "uri", "path", "request.uri", "request.url", "req.url", "url", "url.path", "url.original"),
        *("RequestPath", "request_path", "httpRequest.requestUrl", "http.url", "http.target"),
    ),
    "request": ("request", "req", "request_line"),
    "status": (
        *("status", "status_code", "response_code", "statusCode", "code", "res.statusCode", "response.status"),
        *("http.response.status_code", "http.status_code", "DownstreamStatus", "httpRequest.status"),
    ),
    "bytes": (
        *("body_bytes_sent", "bytes_sent", "size", "bytes", "bytes_out", "response_size", "response_bytes"),
        *("response.bytes", "DownstreamContentSize", "httpRequest.responseSize", "http.response.body.bytes"),
    ),
}
"""By what they hold, the best first. `request` is method and path in one."""
DURATIONS = (
    *("request_time", "reqtime", "req_time", "rt", "request_duration", "duration", "Duration", "latency", "elapsed"),
    *("elapsed_time", "response_time", "responseTime", "resp_time", "restime", "taken", "took", "time_taken"),
    *("process_time", "processing_time", "total_time", "runtime", "httpRequest.latency", "http.duration", "D", "T"),
    "time",
)
"""What durations of whole requests are called, the best first, with or without a unit behind it."""
UPSTREAM_DURATIONS = ("apptime", "upstream_response_time", "upstream_time", "urt")
"""What an upstream took, which is less."""
_SUFFIX = re.compile(
    r"(?i)_?(?:(?P<s>s|sec|secs|seconds)|(?P<ms>ms|msec|millis|milliseconds|millisec)"
    r"|(?P<us>us|µs|usec|micros|microsec|microseconds)|(?P<ns>ns|nsec|nanos|nanosec|nanoseconds))"
)
_IN_SECONDS = frozenset(
    "request_time reqtime apptime urt restime runtime upstream_response_time httpRequest.latency taken".split()
)
_COMPANIONS: tuple[tuple[str, str, str], ...] = (
    ("duration", "request.uri", "s"),  # Caddy
    ("duration", "response_code", "ms"),  # Envoy
    ("Duration", "RequestPath", "ns"),  # Traefik
    ("latency", "latency_human", "ns"),  # Echo
    ("responseTime", "res.statusCode", "ms"),  # pino-http
)
"""Keys whose unit is known from another key beside them."""


def parse_keys(texts: Iterable[str]) -> dict[str, str]:
    """Keys by what they hold of `seconds=took` and of several with commas between, `path=url,seconds=took`.

    Raises:
        AccessLogError: one is no such pair.
    """
    keys: dict[str, str] = {}
    for text in texts:
        for pair in re.split(r",(?=\s*\w+=)", text):
            what, sign, key = pair.partition("=")
            if not (sign and what.strip() and key.strip()):
                raise AccessLogError(f"{pair!r} is not WHAT=KEY, such as seconds=latency_ms")
            keys[what.strip()] = key.strip()
    return keys


class Chosen(NamedTuple):
    """Which keys hold what.

    Attributes:
        keys: by role, as in `KEYS`, and `seconds`.
        unit: of the durations.
        durations, without: see `LineReader`.
    """

    keys: Mapping[str, str]
    unit: str = "s"
    durations: str | None = None
    without: str = ""


def choose(there: Collection[str], texts: Mapping[str, str], options: LineOptions) -> Chosen | None:
    """Which of the keys that are there hold what; None without a path or a status.

    Args:
        there: keys of the first lines.
        texts: a value of each, as text: one such as `1.5ms` says its unit itself.
        options: what somebody says of it.

    Raises:
        AccessLogError: somebody names something that no key can hold.
    """
    unknown = sorted(options.keys.keys() - KEYS.keys() - {"seconds"})
    if unknown:
        known = ", ".join((*KEYS, "seconds"))
        raise AccessLogError(f"a key can hold {known}; not {', '.join(unknown)}")
    keys = {
        role: found
        for role, names in KEYS.items()
        if (found := options.keys.get(role) or next((name for name in names if name in there), None))
    }
    if "path" in keys and "method" in keys and "request" not in options.keys:
        keys.pop("request", None)
    if not ("path" in keys or "request" in keys) or "status" not in keys:
        return None
    duration = options.keys.get("seconds") or duration_key(set(there) - set(keys.values()))
    if duration is None:
        return Chosen(keys=keys, without="no key holds durations; name one by its key as seconds")
    found = unit_of(duration, (texts.get(duration, ""),), there)
    unit = options.unit or found or ("s" if "seconds" in options.keys else None)
    if unit is None:
        return Chosen(keys=keys, without=f"durations are in {duration}, whose unit nobody says: s, ms, us or ns")
    if unit not in UNITS:
        raise AccessLogError(f"a unit is one of {', '.join(UNITS)}; not {unit}")
    return Chosen(keys=keys | {"seconds": duration}, unit=unit, durations=f"{duration}, in {unit_words(unit)}")


def first_texts(lines: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """A value of each key: the first that says something."""
    texts: dict[str, str] = {}
    for fields in reversed(lines):
        texts |= {key: value for key, value in fields.items() if value not in ("", "-") or key not in texts}
    return texts


def duration_key(there: Collection[str]) -> str | None:
    """The key of durations among those that are there; one of an upstream's only where there is no other."""
    for name in (*DURATIONS, *UPSTREAM_DURATIONS):
        if name in there:
            return name
        # `time_ms` is a moment.
        found = [key for key in sorted(there) if key.startswith(name) and _SUFFIX.fullmatch(key[len(name) :])]
        if found and name != "time":
            return found[0]
    return None


def unit_of(key: str, texts: Collection[str], beside: Collection[str] = ()) -> str | None:
    if key in _IN_SECONDS or (key == "rt" and any("." in text for text in texts)):
        return "s"
    for stem in sorted((*DURATIONS, *UPSTREAM_DURATIONS), key=len, reverse=True):
        if key.startswith(stem) and (found := _SUFFIX.fullmatch(key[len(stem) :])):
            return found.lastgroup
    if found := re.search(r"_(ms|us|ns|msec|usec|nsec|microsec|millisec|nanosec|sec|seconds)$", key):
        suffix = _SUFFIX.fullmatch(found[1])
        return suffix.lastgroup if suffix else None
    if any(re.fullmatch(r"[0-9.]+ ?(ns|us|\xc2?\xb5s|\xce\xbcs|ms|s|m|h)[0-9.a-z\xb5\xc2]*", text) for text in texts):
        return "s"
    return next((unit for name, other, unit in _COMPANIONS if name == key and other in beside), None)


_LABEL = re.compile(r"[0-9A-Za-z_.@-]+")
_MOST_KEYS = 100
_VALUE = r"[^\t\r\n]*"
_PATH = r"(?:[A-Za-z][A-Za-z0-9+.-]*+://[^/?\t\r\n]*+)?+(?P<path>[^?\t\r\n]*+)[^\t\r\n]*+"
_GROUPS = {
    "time": r"(?P<at>[^\t\r\n]*)",
    "method": r"(?P<method>[^\t\r\n]*)",
    "path": _PATH,
    "request": r"(?P<method>[A-Za-z-]+) (?:[A-Za-z][A-Za-z0-9+.-]*://[^/?\s]*)?(?P<path>[^?\s]*+)[^\t\r\n]*+",
    "status": r"(?P<status>[0-9]{3})",
    "bytes": r"(?P<size>[^\t\r\n]*)",
    "seconds": r"(?P<took>[^\t\r\n]*)",
}


def _open(lines: Sequence[str], options: LineOptions) -> LineReader | None:
    split = [fields for fields in map(_split, lines) if fields is not None]
    if not split:
        return None
    texts = first_texts(split)
    chosen = choose(texts.keys(), texts, options)
    if chosen is None:
        return None
    needed = [key for role, key in chosen.keys.items() if role in ("path", "request", "status")]
    usable = [fields for fields in split if all(key in fields for key in needed)]
    if not usable:
        return None
    first = max(usable, key=lambda fields: sum(key in fields for key in chosen.keys.values()))
    return LineReader(
        format="ltsv",
        durations=chosen.durations,
        without=chosen.without,
        read=reading(_pattern(list(first), chosen), queries=options.queries),
        again=lambda line: _again(line, chosen, options.queries),
        seconds=seconds_in(chosen.unit) if chosen.durations else no_seconds,
    )


def _split(line: str) -> dict[str, str] | None:
    fields: dict[str, str] = {}
    for part in line.rstrip("\r").split("\t", _MOST_KEYS):
        key, colon, value = part.partition(":")
        if not colon or not _LABEL.fullmatch(key):
            return None
        fields[key] = value
    return fields


def _pattern(keys: Sequence[str], chosen: Chosen) -> str:
    groups = {key: _GROUPS[role] for role, key in chosen.keys.items()}
    if "request" in chosen.keys:
        # What is in the request already has no group of its own.
        groups |= {chosen.keys[role]: _VALUE for role in ("method", "path") if role in chosen.keys}
    needed = max(at for at, key in enumerate(keys) if key in groups) + 1
    parts = [f"{re.escape(key)}:{groups.get(key, _VALUE)}" for key in keys[:needed]]
    return r"\t".join(parts) + r"(?:\t[^\r\n]*)?"


def _again(line: str, chosen: Chosen, queries: bool) -> Texts | None:
    fields = _split(line)
    if fields is None:
        return None
    texts = {role: fields.get(key, "") for role, key in chosen.keys.items()}
    status = status_of(texts["status"])
    if "request" in texts:
        method, path = split_request(texts["request"], queries=queries)
    else:
        method, path = texts.get("method", ""), path_of(texts["path"], queries=queries)
    if status is None or not path:
        return None
    return (texts.get("time", ""), method, path, status, texts.get("bytes", ""), texts.get("seconds", ""), "")


LTSV = LineFormat(name="ltsv", title="LTSV", open=_open)

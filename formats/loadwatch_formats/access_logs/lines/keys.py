"""Keys that logs of LTSV and JSON use for what we look for, and the units of their durations."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from loadwatch_formats.access_logs.lines.line import UNITS, AccessLogError, LineOptions, unit_words

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
    (
        "request_time",
        "reqtime",
        "apptime",
        "urt",
        "restime",
        "runtime",
        "upstream_response_time",
        "httpRequest.latency",
        "taken",
    )
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
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
    """The unit that the name of a key, its texts or the keys beside it tell."""
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

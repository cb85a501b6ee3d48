"""LTSV (http://ltsv.org): `key:value`, tabs between. The order of keys is learnt from the first line."""

import re
from collections.abc import Sequence

from loadwatch_formats.access_logs.lines.keys import Chosen, choose
from loadwatch_formats.access_logs.lines.line import (
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
)

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
    texts: dict[str, str] = {}
    for fields in reversed(split):
        texts |= {key: value for key, value in fields.items() if value not in ("", "-") or key not in texts}
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
    """One expression for lines with these keys in this order."""
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

"""One JSON object a line, as nginx, Caddy, Envoy, Traefik and applications write it; keys of inner objects by dots."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from loadwatch_formats.access_logs.lines.line import (
    LineFormat,
    LineOptions,
    LineReader,
    Texts,
    no_seconds,
    path_of,
    seconds_in,
    split_request,
    status_of,
)
from loadwatch_formats.access_logs.lines.ltsv import Chosen, choose, first_texts

_DEEPEST = 4
_MOST_KEYS = 1_000
# Numbers stay texts: the same ones come again and again, and are made numbers once.
_decode = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str).decode


def _open(lines: Sequence[str], options: LineOptions) -> LineReader | None:
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
        """The texts of each line."""
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


JSON_LINES = LineFormat(name="json", title="JSON lines", open=_open)

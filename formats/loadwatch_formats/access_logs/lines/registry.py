"""All kinds of access logs, and which one the first lines are."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from loadwatch_formats.access_logs.lines.alb import ALB
from loadwatch_formats.access_logs.lines.combined import COMBINED
from loadwatch_formats.access_logs.lines.envoy import ENVOY
from loadwatch_formats.access_logs.lines.haproxy import HAPROXY
from loadwatch_formats.access_logs.lines.json_lines import JSON_LINES
from loadwatch_formats.access_logs.lines.line import REST, AccessLogError, LineFormat, LineOptions, LineReader, Texts
from loadwatch_formats.access_logs.lines.ltsv import LTSV
from loadwatch_formats.own_traffic import without_own_requests

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

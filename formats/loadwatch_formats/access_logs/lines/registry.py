"""All kinds of access logs, and which one the first lines are."""

from loadwatch_formats.access_logs.lines.alb import ALB
from loadwatch_formats.access_logs.lines.combined import COMBINED
from loadwatch_formats.access_logs.lines.envoy import ENVOY
from loadwatch_formats.access_logs.lines.json_lines import JSON_LINES
from loadwatch_formats.access_logs.lines.line import REST, AccessLogError, LineFormat, LineOptions, LineReader
from loadwatch_formats.access_logs.lines.ltsv import LTSV

FORMATS: tuple[LineFormat, ...] = (ALB, ENVOY, COMBINED, LTSV, JSON_LINES)
"""The stricter first."""
_SAMPLE_LINES = 200
_ENOUGH = 0.5
"""Share of the first lines that must be of a kind for the log to be taken for one."""


def recognise(sample: str, options: LineOptions | None = None) -> LineReader:
    """The reader of a log by its first lines.

    Raises:
        AccessLogError: they are nothing that is known, or not what somebody says they are.
    """
    options = options or LineOptions()
    known = {one.name: one for one in FORMATS}
    if options.format not in ("auto", *known):
        raise AccessLogError(f"no format {options.format!r}; there are auto, {', '.join(known)}")
    lines = [line for line in sample.split("\n") if line.strip()][:_SAMPLE_LINES]
    if not lines:
        raise AccessLogError("has no lines")
    best, most = None, 0.0
    for one in FORMATS if options.format == "auto" else (known[options.format],):
        reader = one.open(lines, options)
        share = 0.0 if reader is None else _share(reader, lines)
        if share > most:
            best, most = reader, share
    if best is None or (options.format == "auto" and most < _ENOUGH):
        tried = ", ".join(one.title for one in FORMATS) if options.format == "auto" else known[options.format].title
        raise AccessLogError(
            f"its first {len(lines)} lines are not what is known ({tried}); name the format, or for LTSV and JSON "
            "the keys that hold path, status and seconds"
        )
    return best


def _share(reader: LineReader, lines: list[str]) -> float:
    texts = reader.read("\n".join(lines))
    return sum(not one[REST] or reader.again(one[REST]) is not None for one in texts) / len(lines)

"""Envoy's default text, and Istio's, which has three fields more; durations are in milliseconds.

Source: envoyproxy.io, "Access logging", default format string; istio.io, "Envoy Access Logs".
"""

import re
from collections.abc import Sequence

from loadwatch_formats.access_logs.lines.line import LineFormat, LineOptions, LineReader, reading, seconds_in, single

_LINE = (
    r'\[(?P<at>[^\]\n]*)\] "(?P<method>[^ "\n]+) (?P<path>[^? "\n]++)[^"\n]*+" (?P<status>[0-9]{1,3}) [^ "\n]+'
    r'(?: [^ "\n]+ [^ "\n]+ "[^"\n]*")? (?:[0-9]+|-) (?P<size>[0-9]+|-) (?P<took>[0-9]+|-) [^\n]*'
)


def _open(lines: Sequence[str], options: LineOptions) -> LineReader | None:
    if not any(re.fullmatch(_LINE, line.rstrip("\r")) for line in lines):
        return None
    return LineReader(
        format="envoy",
        durations="%DURATION%, in milliseconds",
        read=reading(_LINE, queries=options.queries),
        again=single(_LINE, queries=options.queries),
        seconds=seconds_in(options.unit or "ms"),
    )


ENVOY = LineFormat(name="envoy", title="Envoy, default text", open=_open)

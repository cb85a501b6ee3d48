"""Logs of AWS' Application Load Balancers; a duration is the sum of the three processing times.

A time of -1 says that a part never happened (the target closed the connection, or timed out): such a request has no
duration.
Source: docs.aws.amazon.com, "Access logs for your Application Load Balancer".
"""

import re
from collections.abc import Sequence

from loadwatch_formats.access_logs.lines.line import LineFormat, LineOptions, LineReader, reading, single
from loadwatch_formats.access_logs.sketch import GREATEST

_LINE = (
    r"(?:https?|h2|grpcs?|wss?) (?P<at>[^ \n]+) [^ \n]+ [^ \n]+ [^ \n]+ (?P<took>-?[0-9.]+ -?[0-9.]+ -?[0-9.]+) "
    r'(?P<status>[0-9]{3}|-) [^ \n]+ [0-9]+ (?P<size>[0-9]+) "(?P<method>[^ "\n]+) (?:[a-z]+://[^/? "\n]*)?'
    r'(?P<path>[^? "\n]*)[^\n]*'
)


def _seconds(text: str) -> float | None:
    try:
        parts = list(map(float, text.split()))
    except ValueError:
        return None
    if len(parts) != 3 or not min(parts) >= 0:
        return None
    return total if (total := sum(parts)) <= GREATEST else None


def _open(lines: Sequence[str], options: LineOptions) -> LineReader | None:
    if not any(re.fullmatch(_LINE, line.rstrip("\r")) for line in lines):
        return None
    return LineReader(
        format="alb",
        durations="request, target and response processing time together, in seconds",
        read=reading(_LINE, queries=options.queries),
        again=single(_LINE, queries=options.queries),
        seconds=_seconds,
    )


ALB = LineFormat(name="alb", title="AWS Application Load Balancer", open=_open)

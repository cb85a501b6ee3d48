"""Logs of AWS' Application Load Balancers; a duration is the sum of the three processing times.

A time of -1 says that a part never happened (the target closed the connection, or timed out): such a request has no
duration.
Source: docs.aws.amazon.com, "Access logs for your Application Load Balancer".
"""

from loadwatch_formats.access_logs.lines.line import one_expression
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


ALB = one_expression(
    "alb",
    "AWS Application Load Balancer",
    _LINE,
    "request, target and response processing time together, in seconds",
    lambda _options: _seconds,
)

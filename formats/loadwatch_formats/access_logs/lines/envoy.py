"""Envoy's default text, and Istio's, which has three fields more; durations are in milliseconds.

Source: envoyproxy.io, "Access logging", default format string; istio.io, "Envoy Access Logs".
"""

from loadwatch_formats.access_logs.lines.line import milliseconds, one_expression

_LINE = (
    r'\[(?P<at>[^\]\n]*)\] "(?P<method>[^ "\n]+) (?P<path>[^? "\n]++)[^"\n]*+" (?P<status>[0-9]{1,3}) [^ "\n]+'
    r'(?: [^ "\n]+ [^ "\n]+ "[^"\n]*")? (?:[0-9]+|-) (?P<size>[0-9]+|-) (?P<took>[0-9]+|-) [^\n]*'
)


ENVOY = one_expression("envoy", "Envoy, default text", _LINE, "%DURATION%, in milliseconds", milliseconds)

r"""HAProxy's logs of HTTP and HTTPS; the last of the five times, %Ta or %Tt, is that of the whole request.

    192.0.2.1:333 [06/Feb/2026:12:14:14.655] web app/a1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "GET / HTTP/1.1"

Its moments have no zone, so nobody knows when they were. `option httplog clf` is a combined log.
Source: docs.haproxy.org, "HTTP log format" and "HTTPS log format".
"""

from loadwatch_formats.access_logs.lines.line import milliseconds, one_expression

_LINE = (
    # The number of the process stands in brackets before the time.
    r"[^\[\n]*+(?:\[[^\[\n]*+)*?\[(?P<at>[^\[\]\n]*)\] [^ \n]+ [^ \n]+ (?:-?[0-9]+/){4}\+?(?P<took>-?[0-9]+) "
    r"(?:(?P<status>[0-9]{3})|-1) \+?(?P<size>[0-9]+) [^ \n]+ [^ \n]+ [A-Za-z-]{4} "
    r"(?:[0-9]+/){4}\+?[0-9]+ [0-9]+/[0-9]+ "
    # A request that is no HTTP is <BADREQ>; long ones are cut before their quote.
    r'[^"\n]*"(?:(?P<method>[A-Za-z-]+) (?:[a-z]+://[^/? "\n]*)?)?(?P<path>[^? "\n]*+)[^\n]*'
)


_DURATIONS = "the last of HAProxy's times, %Ta or %Tt, in milliseconds"
HAPROXY = one_expression("haproxy", "HAProxy", _LINE, _DURATIONS, milliseconds)

# ruff: noqa: E501 - each case stands on one line
"""Questions for Alertmanager's own packages, as JSON on standard output:

python -m backend.tests.notify.reference.cases | (cd backend/tests/notify/reference && go run . -out ../golden)
"""

import json
import sys
from typing import Any

VALUES = ["", "b", "bar", "a\nb", "b c", "B", "500", "5001", "ü"]

MATCHERS = [
    "", " ", "{}", "{", "}", "{}}", "{{}", ",", "{,}", "a=b", "a!=b", "a=~b", "a!~b", "{a=b}", "{a=b,}", "a=b,", "a=b,,",
    "{a=b,c=d}", "{a=b, c!=d , e=~\"f|g\",h!~i}", "a=b,c=d", "a=b c=d", "a=b}", "{a=b", 'a="b"', 'a="b', 'a=b"', 'a="b"c',
    'a="b c"', "a=b c", 'a="b,c"', 'a="{b}"', "a={b}", "a=(b)", 'a=~"(b"', "a=~(b", 'a=~"b|bar"', 'a=~".+"', 'a=~".*"',
    'a=~"b.*"', 'a=~"a.b"', 'a=~"(?s)a.b"', 'a=~"a\\nb"', 'a="a\\nb"', 'a="a\\\\b"', 'a="\\"b\\""', 'a="\\q"', 'a=\\q',
    "a=b\\", 'a="b\\"', '"a"="b"', '"a b"="c d"', '"a\\"b"=c', "'a'=b", "a='b'", "a=`b`", "ü=b", "a=ü", '"ü"="ü"',
    "a-b=c", "a.b=c", "a:b=c", "0a=b", "_a=b", "a =b", "a= b", " a = b ", "{ a = b }", "a", "=b", "a=", 'a=""', "a!b",
    "a~b", "a==b", "a=~=b", "a!==b", "a=!b", "a=~b|bar", "a!~b|bar", 'a=~"5.."', 'a=~"5..|b"', 'a=~"(?i)b"',
    'a=~"^b$"', 'a=~"b$|x"', 'a=~"\\\\d+"', 'a=~"\\d+"', 'a=~"(?=b)"', 'a=~"b{2,1}"', 'a="\\u00fc"', 'a="\\xfc"',
    'a="\\U0001F600"', 'a="\\ud800"', 'a="\\101"', 'a="\\400"', 'a="\t"', "a=\tb", "a=b\n", 'a="b\nc"', "a=b\\nc",
    "{a=b},c=d", "{a=b}{c=d}", 'a="b",c="d"', 'a="b" , c="d"', 'a="b", , c="d"', '{a="b"', 'a=",",c=d', 'a="\\",c=d"',
    "foo=bar,dings!=bums", 'foo="bar,dings!=bums"', "alertname=Watchdog", 'a=~""', 'a!=""', 'a!~".+"', "a=1", "a=-1",
    "a=b/c", "a=http://x/y?z=1", "a=[b]", 'a=~"[b"', "a=b;c", "a=*", "a=+", "é=é", "a=\u3042", 'a="\\a\\b\\f\\r\\t\\v"',
    'a="x\u0001"', 'a b="c"', '"a"b=c', '"a=b"', 'a="b"="c"', '"="="="', '{"a"="b"}', '"{}"="{}"', "a=\xa0b",
]  # fmt: skip

RECEIVERS = "receivers: [{name: r}, {name: a}, {name: b}, {name: c}]\n"
LABELS: list[dict[str, str]] = [
    {},
    {"alertname": "PoolWaits", "severity": "page", "db": "orders", "instance": "1"},
    {"alertname": "PoolWaits", "severity": "warn", "db": "users"},
    {"alertname": "Lag", "severity": "page", "run": "2026-01-01", "job": "x"},
    {"alertname": 'Quote"d \\ new\nline', "severity": "page", "db": "ü\u200b\x01"},
    {"owner": "team-b", "service": "files", "env": "prod"},
]

TREES: dict[str, str] = {
    "root alone": "route: {receiver: r}",
    "group by two": "route: {receiver: r, group_by: [alertname, db]}",
    "group by all": "route: {receiver: r, group_by: ['...']}",
    "group by none": "route: {receiver: r, group_by: []}",
    "group by all and another": "route: {receiver: r, group_by: ['...', db]}",
    "group by twice": "route: {receiver: r, group_by: [db, db]}",
    "timers": "route: {receiver: r, group_wait: 0s, group_interval: 1m30s, repeat_interval: 1d}",
    "zero interval": "route: {receiver: r, group_interval: 0s}",
    "zero repeat": "route: {receiver: r, repeat_interval: 0s}",
    "bad duration": "route: {receiver: r, group_wait: 3 s}",
    "child": "route: {receiver: r, routes: [{receiver: a, matchers: [severity=page]}]}",
    "children": "route: {receiver: r, routes: [{receiver: a, matchers: [severity=page]}, {receiver: b, matchers: [alertname=~'P.*']}]}",
    "continue": "route: {receiver: r, routes: [{receiver: a, continue: true, matchers: [severity=page]}, {receiver: b, matchers: [alertname=~'P.*']}]}",
    "continue to nobody": "route: {receiver: r, routes: [{receiver: a, continue: true, matchers: [severity=page]}, {receiver: b, matchers: [alertname=none]}]}",
    "continue twice": "route: {receiver: r, routes: [{receiver: a, continue: true}, {receiver: b, continue: true}, {receiver: c}]}",
    "no matchers below": "route: {receiver: r, routes: [{receiver: a}, {receiver: b}]}",
    "inherited receiver": "route: {receiver: r, routes: [{matchers: [severity=page], group_by: [db]}]}",
    "inherited group by": "route: {receiver: r, group_by: [db], routes: [{receiver: a, matchers: [severity=page]}]}",
    "group by all inherited": "route: {receiver: r, group_by: ['...'], routes: [{receiver: a, matchers: [severity=page]}]}",
    "group by all replaced": "route: {receiver: r, group_by: ['...'], routes: [{receiver: a, group_by: [db], matchers: [severity=page]}]}",
    "group by emptied": "route: {receiver: r, group_by: [db], routes: [{receiver: a, group_by: [], matchers: [severity=page]}]}",
    "group by widened": "route: {receiver: r, group_by: [db], routes: [{receiver: a, group_by: ['...'], matchers: [severity=page]}]}",
    "timers inherited": "route: {receiver: r, group_wait: 1s, group_interval: 2s, repeat_interval: 3s, routes: [{receiver: a, group_wait: 5s}]}",
    "depth": "route: {receiver: r, routes: [{receiver: a, matchers: [severity=page], routes: [{receiver: b, matchers: [db=orders]}, {receiver: c, matchers: ['run=~.+']}]}]}",
    "depth and continue": "route: {receiver: r, routes: [{receiver: a, continue: true, matchers: [severity=page], routes: [{receiver: b, matchers: [db=orders]}]}, {receiver: c, matchers: [severity=page]}]}",
    "old match": "route: {receiver: r, routes: [{receiver: a, match: {severity: page, db: orders}}]}",
    "old match_re": "route: {receiver: r, routes: [{receiver: a, match_re: {severity: 'page|warn', db: '.+'}}]}",
    "all kinds of matchers": "route: {receiver: r, routes: [{receiver: a, match: {severity: page}, match_re: {alertname: '.*'}, matchers: ['db!=users', 'run=\"\"']}]}",
    "sorted matchers": "route: {receiver: r, routes: [{receiver: a, matchers: ['severity=page', 'alertname!=x', 'alertname=~\".+\"', 'alertname!=a']}]}",
    "several in one line": "route: {receiver: r, routes: [{receiver: a, matchers: ['{severity=\"page\", db=~\"o.*\"}']}]}",
    "missing label": "route: {receiver: r, routes: [{receiver: a, matchers: ['db=\"\"']}, {receiver: b, matchers: ['owner!=\"\"']}]}",
    "utf-8 names": "route: {receiver: r, routes: [{receiver: a, matchers: ['\"db x\"!=\"ü\"']}]}",
    "quoted values": "route: {receiver: r, group_by: [alertname, db], routes: [{receiver: a, matchers: ['alertname=~\"Quote.*\\\\\\\\.*\"']}]}",
    "newline in a value": "route: {receiver: r, routes: [{receiver: a, matchers: ['alertname=~\"(?s)Quote.*line\"']}, {receiver: b, matchers: ['alertname=~\"Quote.*line\"']}]}",
    "unknown receiver": "route: {receiver: r, routes: [{receiver: nobody}]}",
    "no receiver": "route: {group_by: [db]}",
    "matchers at the root": "route: {receiver: r, matchers: [a=b]}",
    "mute at the root": "route: {receiver: r, mute_time_intervals: [n]}\ntime_intervals: [{name: n}]",
    "unknown interval": "route: {receiver: r, routes: [{receiver: a, mute_time_intervals: [n]}]}",
    "known interval": "route: {receiver: r, routes: [{receiver: a, mute_time_intervals: [n], active_time_intervals: [n]}]}\ntime_intervals: [{name: n}]",
    "interval twice": "route: {receiver: r}\ntime_intervals: [{name: n}, {name: n}]",
    "bad matcher": "route: {receiver: r, routes: [{receiver: a, matchers: ['severity']}]}",
    "bad pattern": "route: {receiver: r, routes: [{receiver: a, match_re: {a: '('}}]}",
    "bad label": "route: {receiver: r, routes: [{receiver: a, match: {'a b': c}}]}",
    "unknown key": "route: {receiver: r, group_waits: 3s}",
    "no route": "inhibit_rules: []",
}  # fmt: skip

INSTANTS = [
    "2026-01-01T00:00:00Z", "2026-01-31T23:59:59Z", "2026-02-01T05:29:00Z", "2026-02-28T12:00:00Z", "2028-02-29T12:00:00Z",
    "2026-03-08T06:59:00Z", "2026-03-08T07:00:00Z", "2026-03-29T00:59:00Z", "2026-03-29T01:00:00Z", "2026-03-31T08:30:00Z",
    "2026-04-30T17:00:00Z", "2026-07-26T15:00:00Z", "2026-07-27T00:00:00Z", "2026-07-31T16:59:59Z", "2026-10-25T00:30:00Z",
    "2026-10-25T01:30:00Z", "2026-11-01T05:30:00Z", "2026-12-31T23:59:59Z", "2027-06-15T12:34:56Z",
]  # fmt: skip

INTERVALS = [
    "{}", "times: [{start_time: '08:30', end_time: '17:00'}]", "times: [{start_time: '00:00', end_time: '24:00'}]",
    "times: [{start_time: '23:00', end_time: '24:00'}, {start_time: '00:00', end_time: '06:00'}]",
    "times: [{start_time: '17:00', end_time: '08:30'}]", "times: [{start_time: '08:30', end_time: '08:30'}]",
    "times: [{start_time: '8:30', end_time: '17:00'}]", "times: [{start_time: '08:60', end_time: '17:00'}]",
    "times: [{start_time: '08:30'}]", "times: []", "times: [{start_time: 08:30, end_time: 17:00}]",
    "weekdays: [monday]", "weekdays: ['monday:friday']", "weekdays: [saturday, sunday]", "weekdays: ['Sunday:Tuesday']",
    "weekdays: ['saturday:sunday']", "weekdays: ['friday:monday']", "weekdays: [funday]", "weekdays: ['1:5']", "weekdays: []",
    "days_of_month: ['1:5']", "days_of_month: ['-1']", "days_of_month: ['-3:-1']", "days_of_month: ['31']",
    "days_of_month: ['29:31']", "days_of_month: ['1:-1']", "days_of_month: ['15:-10']", "days_of_month: ['0']",
    "days_of_month: ['32']", "days_of_month: ['-32']", "days_of_month: ['-5:5']", "days_of_month: ['5:1']",
    "days_of_month: ['-1:-3']", "days_of_month: ['20:-10']", "days_of_month: ['a']", "days_of_month: ['1:2:3']",
    "months: [january]", "months: ['january:march']", "months: ['1:3', december]", "months: ['march:january']",
    "months: ['JULY']", "months: [smarch]", "months: ['february:2']", "years: [2026]", "years: ['2027:2028']",
    "years: ['2028:2027']", "years: [x]", "location: Asia/Tokyo", "location: Nowhere/Land", "location: UTC", "location: ''",
    "{times: [{start_time: '00:00', end_time: '06:00'}], location: Asia/Tokyo}",
    "{weekdays: ['monday:friday'], times: [{start_time: '09:00', end_time: '17:30'}], location: America/New_York}",
    "{times: [{start_time: '01:00', end_time: '02:00'}], location: Europe/Berlin}",
    "{times: [{start_time: '02:00', end_time: '03:00'}], location: Europe/Berlin}",
    "{times: [{start_time: '01:30', end_time: '03:30'}], location: America/New_York}",
    "{days_of_month: ['-1'], location: Asia/Kathmandu}", "{days_of_month: ['1'], months: [january], location: Pacific/Apia}",
    "{years: [2026], location: Asia/Tokyo}", "{weekdays: [monday], days_of_month: ['27'], months: ['7'], years: ['2026']}",
    "hours: [1]",
]  # fmt: skip


def cases() -> dict[str, Any]:
    """All questions."""
    return {
        "matchers": [{"text": text, "values": VALUES} for text in dict.fromkeys(MATCHERS)],
        "routes": [{"name": name, "config": f"{tree}\n{RECEIVERS}", "labels": LABELS} for name, tree in TREES.items()],
        "intervals": [{"text": text, "instants": INSTANTS} for text in INTERVALS],
    }


if __name__ == "__main__":
    json.dump(cases(), sys.stdout)

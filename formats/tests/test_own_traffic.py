"""Own traffic is known by its marks, and only it."""

from loadwatch_formats.access_logs.lines.line import PATH
from loadwatch_formats.access_logs.lines.registry import recognise
from loadwatch_formats.own_traffic import AGENT, COMMENT, MARKER
from loadwatch_formats.statements.slow_log import SlowLogReader
from loadwatch_formats.statements.sums import StatementSums

LINE = '127.0.0.1 - - [28/Nov/2026:10:00:0{second} +0000] "GET {path} HTTP/1.1" 200 12 "-" "{agent}"'
REQUESTS = [
    ("/?name=ann", "hey/0.0.1"),
    ("/debug/dbstats", AGENT),
    (f"/?name={MARKER}8f&value=probe", AGENT),
    (f"/?name={MARKER}90&value=probe", "curl/8"),
    ("/loadwatch", "Mozilla/5.0 (about loadwatch)"),
]


def test_polls_and_probes_are_no_requests_of_an_access_log() -> None:
    text = "\n".join(
        LINE.format(second=second, path=path, agent=agent) for second, (path, agent) in enumerate(REQUESTS)
    )
    assert [one[PATH] for one in recognise(text).read(text)] == ["/", "/loadwatch"]


def test_own_statements_of_a_slow_log_stand_together() -> None:
    reader, sums = SlowLogReader(), StatementSums()
    log = ["# User@Host: app[app] @ localhost []", "# Query_time: 0.1 Lock_time: 0 Rows_sent: 1 Rows_examined: 1"]
    for text in ("SELECT 1 FROM goods", f"SHOW GLOBAL STATUS {COMMENT}", f"SELECT COUNT(*) FROM goods {COMMENT}"):
        for line in (*log, f"{text};"):
            for one in reader.feed(line):
                sums.add(one)
    for one in reader.flush():
        sums.add(one)
    assert {one.fingerprint: one.times.count for one in sums.all()} == {"select ? from goods": 1, "loadwatch": 2}

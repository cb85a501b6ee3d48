"""Texts of databases and logs of applications: what is masked there must never fail, and never let a value out."""

from collections.abc import Callable

from loadwatch_collectors.sources.aws.reading.insights import mask_statement
from loadwatch_formats.log_patterns import LogPatterns, read_line
from loadwatch_formats.statements.fingerprint import (
    LONGEST_FINGERPRINT,
    Dialect,
    canonical,
    digest_of,
    fingerprint,
    first_word,
    mask,
)
from loadwatch_formats.statements.slow_log import LONGEST_LINE, LONGEST_TEXT, SlowLogReader
from loadwatch_formats.statements.sums import StatementSums

from tests.fuzz.target import Run, Target
from tests.fuzz.targets.queries import text_of

_SLOW_LOG = b"""# Time: 2026-11-24T10:00:00.123456Z
# User@Host: app[app] @ web-1 [192.0.2.7]  Id: 8
# Query_time: 0.5  Lock_time: 0.25 Rows_sent: 1  Rows_examined: 9
# Log_slow_rate_type: query  Log_slow_rate_limit: 10
use shop;
SET timestamp=1795395600;
select * from goods where name = '# Time: x
a';
# Time: 261124 10:00:00
# User@Host: app[app] @ localhost []
# Thread_id: 9  Schema: shop  QC_hit: No
# Query_time: 0.000123  Lock_time: 0.000001  Rows_sent: 0  Rows_examined: 0
# administrator command: Prepare;
"""
_STATEMENTS = (
    b"SELECT a.*, 'it''s', \"x\" FROM `t` a WHERE id IN (1, 2, -3.5e7) AND b = 0xFF /* c */ -- d\nLIMIT 1, 2",
    b"insert into t (a, b) values (1, 'x'), (2, _utf8'y'), (NULL, now()) on duplicate key update a = a - 1",
    b"select $1, $$a$$, $t$b$t$, E'\\\\'' from \"T\" where x = ANY('{1,2}') union select 1 union select 1",
    b"call p(1, 'a'); use shop; prepare s from 'select 1'",
)
_LINES = (
    b'2026-11-23T01:00:00Z ERROR login of a@example.com from 192.0.2.7 failed: password=s3cr3t <s3cr3t> "x" 0x1f 3ms\n'
    b'{"level":"error","msg":"token eyJhbGciOiJIUzI1NiJ9.e30.abc refused","user":"alice"}\n'
    b'time=x level=warn msg="cannot \\"charge\\" card" err=`no`\n'
    b"http: Accept error: accept tcp [::1]:80: accept4: too many open files; retrying in 1s\n\tat a.b(c.java:1)\n"
)
_WORDS = (
    *(b"\n", b"'", b'"', b"`", b"\\", b"--", b"/*", b"*/", b"#", b"$$", b"(", b")", b",", b"?", b";", b"\0", b"\xff"),
    *(b"\x1b[2J", b"9" * 40, b"1e999", b"values (", b" in (", b"(" * 50, b"# User@Host: a[a] @ ", b"# Query_time: "),
)


def _slow_log() -> Run:
    def run(data: bytes) -> None:
        reader, sums = SlowLogReader(), StatementSums(most=50)
        lines = text_of(data).split("\n")
        for at, line in enumerate(lines):
            if at == len(lines) // 2:
                reader.skip()
            for one in reader.feed(line[:LONGEST_LINE]):
                assert len(one.text) <= LONGEST_TEXT + 1
                sums.add(one)
        for one in reader.flush():
            sums.add(one)
        assert len(sums.by_key()) <= 51
        sums.document()

    return run


def _statement() -> Run:
    def run(data: bytes) -> None:
        text = text_of(data)
        mask_statement(text)
        for dialect in Dialect:
            masked = mask(text, dialect)
            assert masked.isprintable()
            assert len(masked.encode("utf-8", "replace")) <= 1_024
            assert len(fingerprint(text, dialect)) <= LONGEST_FINGERPRINT + 100
            assert len(digest_of(text, dialect)) == 32
            canonical(text, dialect)
            first_word(text, dialect)

    return run


def _literals() -> Run:
    """What stands in a literal is nowhere in what leaves, whatever stands around it."""

    def run(data: bytes) -> None:
        value = text_of(data).replace("'", "").replace("\\", "").strip()[:2_000]
        text = f"select a from t where b = '{value}s3cret' and c = 's3cret'"
        for dialect in Dialect:
            assert "s3cret" not in mask(text, dialect)
            assert "s3cret" not in fingerprint(text, dialect)

    return run


def _log_patterns() -> Run:
    def run(data: bytes) -> None:
        patterns = LogPatterns(50)
        for line in text_of(data).split("\n")[:2_000]:
            message = read_line(line[:65_536])
            if message is not None:
                patterns.add(message)
        assert len(patterns.templates) <= 50
        for one in patterns.templates.values():
            assert one.text.isprintable()
            assert "s3cr3t" not in one.text

    return run


def _target(name: str, run: Callable[[], Run], corpus: tuple[bytes, ...]) -> Target:
    return Target(
        name=name,
        open=run,
        expected=(),
        corpus=lambda: list(corpus),
        words=_WORDS,
        longest=128 * 1024,
    )


STATEMENTS: tuple[Target, ...] = (
    _target("slow logs", _slow_log, (_SLOW_LOG, _SLOW_LOG * 3)),
    _target("statements, masked and told apart", _statement, _STATEMENTS),
    _target("statements, values within literals", _literals, (*_STATEMENTS, b"\0", b"/* $$ -- #")),
    _target("log lines by pattern", _log_patterns, (_LINES,)),
)

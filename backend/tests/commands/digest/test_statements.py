"""Slow logs: one that a MariaDB 10.11 wrote (log_slow_verbosity=query_plan,innodb), and what is made of it."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from loadwatch_backend.app.commands.digest.group import digest

REAL = Path(__file__).parent / "fixtures" / "mariadb-slow.log"


def heading(seconds: str = "0.5", at: int = 1_795_395_600, examined: int = 9, more: str = "") -> str:
    return (
        "# User@Host: app[app] @ web-1 [192.0.2.7]  Id: 8\n"
        f"# Query_time: {seconds}  Lock_time: 0.25 Rows_sent: 1  Rows_examined: {examined}{more}\n"
        f"SET timestamp={at};\n"
    )


def made(*texts: str, seconds: str = "0.5") -> str:
    return "".join(heading(seconds, 1_795_395_600 + at) + f"{text};\n" for at, text in enumerate(texts))


def run(*arguments: str | Path, text: str | bytes = "", status: int = 0) -> Result:
    result = CliRunner().invoke(digest, ["statements", *map(str, arguments)], input=text)
    assert result.exit_code == status, result.output
    return result


def document(*arguments: str | Path, text: str | bytes = "") -> dict[str, Any]:
    return json.loads(run(*arguments, "--json", text=text).stdout)


def test_a_real_log_gives_each_statement_once() -> None:
    got = document(REAL)
    found = {one["fingerprint"]: one for one in got["statements"]}
    assert {text: one["count"] for text, one in found.items()} == {
        "select sleep(?)": 1,
        "insert into goods (name, stock) values(?+)": 1,
        "update goods set stock = stock - ? where id = ?": 1,
        "select name, stock from goods where id = ?": 4,
        "select * from goods where name like ? order by stock": 3,
        "prepare p from ?": 1,
        "select id from goods where id in(?+)": 2,
        "select stock from goods where id = ?": 1,
        "set session long_query_time=?": 1,
        "use ?": 1,
    }
    assert got["statements"][0]["fingerprint"] == "select sleep(?)"
    reads = found["select name, stock from goods where id = ?"]
    assert reads["sum"] == pytest.approx(0.000364)
    assert (reads["min"], reads["max"], reads["mean"]) == (0.000033, 0.000202, pytest.approx(0.000091))
    assert reads["p50"] == pytest.approx(0.000055, rel=0.005)
    assert (reads["p95"], reads["p99"]) == (0.000202, 0.000202)
    assert reads["lock"] == pytest.approx(0.000125)
    assert (reads["rows_sent"], reads["rows_examined"], reads["schema"]) == (4, 4, "shop")
    assert found["select * from goods where name like ? order by stock"]["no_index"] == 3
    assert found["insert into goods (name, stock) values(?+)"]["rows_affected"] == 2
    assert sum(one["share"] for one in got["statements"]) == pytest.approx(1)
    assert (got["lines"]["read"], got["lines"]["unreadable"], got["lines"]["cut"]) == (16, 0, 0)
    assert got["window"] == {"first_ms": 1_795_483_754_000, "last_ms": 1_795_483_754_000}
    assert "secret" not in json.dumps(got)


def test_the_table_is_what_a_person_reads() -> None:
    result = run("-", text=made("select 1", "select 2", "commit"))
    head, rest = result.stdout.split("\n\n")
    assert head == (
        "3 calls, 2 statements, 1.500 s together; 2026-11-23T01:00:00Z to 01:00:02Z, 2 a second; "
        "percentiles within 0.5 %"
    )
    titles, first, last = rest.splitlines()
    assert titles.split() == "COUNT SHARE SUM MEAN P50 P95 P99 MAX LOCK SENT EXAMINED SCHEMA STATEMENT".split()
    assert first.split() == [*"2 66.7% 1.000".split(), *["0.500000"] * 5, "0.500", "2", "18", "select", "?"]
    assert last.split()[-1] == "commit"
    assert not result.stderr


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (("--sort", "count"), "select name, stock from goods where id = ?"),
        (("--sort", "examined"), "select * from goods where name like ? order by stock"),
        (("--sort", "statement"), "insert into goods (name, stock) values(?+)"),
        (("--sort", "mean", "--ascending"), "use ?"),
        (("--sort", "sum", "--limit", "1"), "select sleep(?)"),
    ],
)
def test_order(arguments: tuple[str, ...], first: str) -> None:
    assert document(REAL, *arguments)["statements"][0]["fingerprint"] == first


def test_columns_are_chosen_and_a_wrong_one_is_named() -> None:
    lines = run(REAL, "-o", "calls,avg,statement", "--limit", "1").stdout.splitlines()
    assert lines[2].split() == ["COUNT", "MEAN", "STATEMENT"]
    assert lines[4] == "… and 9 more; --limit 0 shows all"
    assert "no column 'nothing'" in run(REAL, "--sort", "nothing", status=2).output


def test_statements_are_chosen_and_their_shares_stay_those_of_all(tmp_path: Path) -> None:
    before, now = tmp_path / "before.log", tmp_path / "now.log"
    before.write_text(made("delete from carts where id = 3", "select 1"))
    now.write_text(made("select * from Carts where id = 7", "insert into orders values (1)", "select 9"))
    got = document(now, "--base", before, "--match", r"\bCARTS\b")
    assert [(one["fingerprint"], one["share"]) for one in got["statements"]] == [
        ("select * from carts where id = ?", pytest.approx(1 / 3))
    ]
    assert [(one["fingerprint"], one["share"]) for one in got["gone"]] == [("delete from carts where id = ?", 0.5)]
    assert got["lines"]["read"] == 3
    shown = run(now, "-m", "orders|carts", "--sort", "statement").stdout
    assert shown.startswith("3 calls, 3 statements")
    assert [line.split()[1] for line in shown.splitlines()[3:]] == ["33.3%", "33.3%"]
    assert "No statement has that in its fingerprint." in run(now, "--match", "'7'").stdout


@pytest.mark.parametrize(("pattern", "said"), [("(", "'(' is not valid"), (r"(a)\1", "RE2"), ("(a{900}){900}", "MiB")])
def test_an_expression_that_is_none_is_refused(pattern: str, said: str) -> None:
    assert said in run(REAL, "--match", pattern, status=2).output


def test_two_logs_are_held_against_each_other(tmp_path: Path) -> None:
    before, now = tmp_path / "before.log", tmp_path / "now.log"
    before.write_text(made("select 1", "delete from a where id = 3"))
    now.write_text(made("select 7", "select 8", "insert into a values (1)", seconds="1.5"))
    got = document(now, "--base", before)
    assert {one["fingerprint"]: one["base"] and one["base"]["count"] for one in got["statements"]} == {
        "select ?": 1,
        "insert into a values(?+)": None,
    }
    assert [(one["fingerprint"], one["share"]) for one in got["gone"]] == [("delete from a where id = ?", 0.5)]
    assert got["base"]["lines"]["read"] == 2
    shown = run(now, "--base", before).stdout
    assert "compared with 2 calls, 2 statements, 1.000 s together" in shown
    selects, inserts, deletes = shown.splitlines()[4:]
    assert selects.split()[:5] == ["2", "+1", "66.7%", "3.000", "+2.500"]
    assert "new" in inserts.split()
    assert "gone" in deletes.split()


def test_files_compressed_or_not_are_one_log(tmp_path: Path) -> None:
    whole, torn = tmp_path / "slow.log.1.gz", tmp_path / "slow.log.2.gz"
    whole.write_bytes(gzip.compress(REAL.read_bytes()))
    data = gzip.compress(REAL.read_bytes() + made(*(f"select {one} from t{one}" for one in range(2_000))).encode())
    torn.write_bytes(data[: len(data) - 2_000])
    assert document(REAL, whole)["lines"]["read"] == 32
    result = run(torn)
    assert "slow.log.2.gz: the file is damaged or cut off" in result.stderr


def test_what_is_no_slow_log_is_refused(tmp_path: Path) -> None:
    for text in ("", '192.0.2.1 - - [23/Nov/2026:10:00:00 +0900] "GET / HTTP/1.1" 200 10\n' * 9, "\0\xff\n" * 9):
        assert "no slow log of MySQL or MariaDB" in run("-", text=text, status=1).output
    assert "No such file" in run(tmp_path / "none.log", status=1).output


def test_what_was_not_read_as_it_stands_is_said() -> None:
    sampled = heading(more="\n# Log_slow_rate_type: query  Log_slow_rate_limit: 10") + "select 1;\n"
    long = heading() + "insert into t values " + ",".join(["('x')"] * 300_000) + ";\n"
    result = run("-", text="half a statement;\n" + sampled + long)
    assert "11 calls" in result.stdout
    assert "1 line or heading belongs to no statement" in result.stderr
    assert "1 statement is longer than is read" in result.stderr
    assert "1 that are there stand for those that are not" in result.stderr


def test_more_statements_than_are_told_apart_are_one() -> None:
    result = document("-", text=made(*(f"select a from t{one}" for one in range(5_003))))
    assert len(result["statements"]) == 5_001
    assert result["lines"]["other_statements"] == 3

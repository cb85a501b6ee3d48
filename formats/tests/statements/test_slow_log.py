from pathlib import Path

from loadwatch_formats.statements.fingerprint import fingerprint
from loadwatch_formats.statements.slow_log import LONGEST_TEXT, SlowLogReader, SlowStatement

MYSQL_8 = """\
/usr/sbin/mysqld, Version: 8.0.36 (Source distribution). started with:
Tcp port: 3306  Unix socket: /var/lib/mysql/mysql.sock
Time                 Id Command    Argument
# Time: 2024-05-01T12:00:00.123456Z
# User@Host: app[app] @ web-1 [10.0.0.7]  Id:     8
# Query_time: 0.250000  Lock_time: 0.000002 Rows_sent: 3  Rows_examined: 9000
use shop;
SET timestamp=1714564800;
SELECT *
  FROM orders
 WHERE note = 'a;
# Time: no heading';
# User@Host: app[app] @ web-1 [10.0.0.7]  Id:     9
# Query_time: 1.5  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0 Thread_id: 9 Errno: 1062 Killed: 0 Bytes_sent: 0
SET timestamp=1714564801;
insert into orders values (1);
# Time: 2024-05-01T12:00:02.000000Z
# User@Host: app[app] @ web-1 [10.0.0.7]  Id:     9
# Query_time: 0.000004  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
SET timestamp=1714564802;
# administrator command: Quit;
"""
MARIADB = """\
# Time: 261123 23:56:25
# User@Host: x[x] @ localhost [127.0.0.1]
# Thread_id: 18  Schema: t  QC_hit: No
# Query_time: 0.000139  Lock_time: 0.000033  Rows_sent: 1  Rows_examined: 1
# Rows_affected: 2  Bytes_sent: 0
# Tmp_tables: 1  Tmp_disk_tables: 1  Tmp_table_sizes: 1048544
# Full_scan: Yes  Full_join: No  Tmp_table: Yes  Tmp_table_on_disk: No
SET timestamp=1795478185;
select v from a where id = 1;
"""


def read(text: str) -> tuple[list[SlowStatement], SlowLogReader]:
    reader = SlowLogReader()
    found = [one for line in text.splitlines() for one in reader.feed(line)]
    return found + list(reader.flush()), reader


def test_a_log_of_mysql() -> None:
    (first, second, third), reader = read(MYSQL_8)
    assert first.text == "SELECT *\n  FROM orders\n WHERE note = 'a;\n# Time: no heading'"
    assert (first.schema, first.seconds, first.lock_seconds) == ("shop", 0.25, 0.000002)
    assert (first.rows_sent, first.rows_examined, first.at) == (3, 9000, 1714564800)
    assert (second.schema, second.failed, second.at) == ("shop", True, 1714564801)
    assert third.text == "administrator command: Quit"
    assert (reader.statements, reader.unreadable, reader.cut) == (3, 0, 0)


def test_that_a_stored_text_with_a_heading_makes_no_statement_and_shows_no_value() -> None:
    inserted = MYSQL_8.replace(
        "'a;\n# Time: no heading'",
        "'a\n# Time: 2024-05-01T12:00:00.1Z\n# User@Host: e[e] @ x []\n# Query_time: 99999 Lock_time: 0\nit', 'secret'",
    )
    (first, second, third), reader = read(inserted)
    assert first.text == "SELECT *\n  FROM orders\n WHERE note = 'a"
    assert (first.seconds, second.seconds, third.text) == (0.25, 1.5, "administrator command: Quit")
    assert (reader.statements, reader.unreadable) == (3, 4)


def test_that_a_crash_within_a_statement_loses_the_next_one_at_most() -> None:
    found, _ = read(MYSQL_8.split(";\n# Time: no", 1)[0] + "\n" + MYSQL_8)
    assert [one.seconds for one in found] == [0.25, 1.5, 0.000004]
    assert "User@Host" not in found[0].text


def test_a_log_of_mariadb_with_verbosity() -> None:
    (one,), _ = read(MARIADB)
    assert (one.schema, one.text) == ("t", "select v from a where id = 1")
    assert (one.rows_affected, one.tmp_tables, one.tmp_disk_tables, one.no_index) == (2, 1, 1, True)


def test_that_a_damaged_file_gives_what_is_whole() -> None:
    torn = (
        "half a statement;\n# Query_time: 1\n" + MARIADB[:-8] + "\n" + MARIADB + "# User@Host: a[a] @ b []\nselect 1;\n"
    )
    found, reader = read(torn)
    assert [one.text for one in found] == ["select v from a where", "select v from a where id = 1"]
    assert reader.unreadable == 3  # two lines before the first heading, and a statement without a time


def test_that_a_statement_of_a_megabyte_is_kept_in_part() -> None:
    rows = ",\n".join(f"({number}, 'some text')" for number in range(60_000))
    heading = MARIADB[: MARIADB.index("select v")]
    (one, other), reader = read(f"{heading}INSERT INTO t VALUES {rows};\n{MARIADB}")
    assert len(one.text) <= LONGEST_TEXT
    assert (other.text, reader.cut) == ("select v from a where id = 1", 1)


def test_that_numbers_which_are_none_do_no_harm() -> None:
    wrong = MARIADB.replace("0.000139", "nan").replace("Rows_sent: 1", "Rows_sent: -1")
    found, reader = read(wrong + MARIADB.replace("Rows_sent: 1", "Rows_sent: ٣"))
    assert [one.rows_sent for one in found] == [0]
    assert reader.unreadable == 1


def test_that_the_sampling_of_percona_server_is_said() -> None:
    (one,), _ = read(MARIADB.replace("QC_hit: No", "QC_hit: No\n# Log_slow_rate_type: query  Log_slow_rate_limit: 10"))
    assert one.one_in == 10


def test_that_a_follower_can_tell_whether_a_statement_is_over() -> None:
    reader = SlowLogReader()
    for line in MARIADB.splitlines()[:-1]:
        assert not list(reader.feed(line))
    assert not reader.is_whole
    list(reader.feed("select v from a"))
    assert not reader.is_whole
    list(reader.feed("where id = 1;"))
    assert reader.is_whole


def test_that_what_follows_a_gap_is_in_no_database_of_before() -> None:
    _, reader = read(MYSQL_8)
    reader.skip()
    behind = [*MYSQL_8.splitlines()[3:6], "SELECT 1;"]
    assert [one for line in ["cut off;", *behind] for one in reader.feed(line)] == []
    assert [(one.schema, one.text) for one in reader.flush()] == [("", "SELECT 1")]


def test_that_a_session_without_a_database_has_no_schema() -> None:
    (one,), _ = read(MARIADB.replace("Schema: t  QC_hit: No", "Schema:   QC_hit: No"))
    assert one.schema == ""


def test_that_what_a_server_sets_before_a_statement_is_no_part_of_it() -> None:
    change = "use `t`;\nSET last_insert_id=7,insert_id=8,timestamp=1795478185;"
    (one,), _ = read(MARIADB.replace("SET timestamp=1795478185;", change))
    assert (one.schema, one.text, one.at) == ("t", "select v from a where id = 1", 1795478185)
    (use,), _ = read(
        MARIADB.replace("SET timestamp", "use `t`;\nSET timestamp").replace("select v from a where id = 1", "use t")
    )
    assert use.text == "use t"


def test_records_without_time_and_user() -> None:
    """`log_short_format`: a heading is what remains of it."""
    text = (Path(__file__).with_name("fixtures") / "no-user-host.log").read_text()
    found, reader = read(text)
    assert [(one.seconds, one.schema, one.text[:10]) for one in found] == [
        (1.0, "db1", "SELECT * F"),
        (2.0, "", "SELECT id "),
        (3.0, "", "SELECT COU"),
    ]
    assert (reader.statements, reader.unreadable) == (3, 0)
    mariadb = "# Thread_id: {0}  Schema: s{0}  QC_hit: No\n# Query_time: {0}.5  Lock_time: 0.1\nselect\n 1;\n"
    percona = "# Schema: s{0}  Last_errno: 0  Killed: 0\n# Query_time: {0}.5  Lock_time: 0.1\nselect\n 1;\n"
    oldest = "# Schema: s{0}  Last_errno: 0  Killed: 0\n# Query_time: {0}  Lock_time: 0\nselect\n 1;\n"
    assert [one.seconds for one in read("".join(oldest.format(number) for number in range(1, 4)))[0]] == [1, 2, 3]
    for record in (mariadb, percona):
        found, reader = read("".join(record.format(number) for number in range(1, 4)))
        assert [(one.seconds, one.schema) for one in found] == [(1.5, "s1"), (2.5, "s2"), (3.5, "s3")]
        assert reader.unreadable == 0


def test_that_a_name_of_a_database_may_hold_spaces() -> None:
    for name in ("my shop", "a  b", "Shop: old"):
        (one,), _ = read(MARIADB.replace("Schema: t ", f"Schema: {name} "))
        assert one.schema == name
    (one,), _ = read(MARIADB.replace("Schema: t ", "Schema:  "))
    assert one.schema == ""
    (one, *_), _ = read(MYSQL_8.replace("use shop;", "use my shop;"))
    assert one.schema == "my shop"


def test_that_what_servers_execute_is_no_comment() -> None:
    found, _ = read((Path(__file__).with_name("fixtures") / "executable-comments.log").read_text())
    assert [(one.seconds, fingerprint(one.text)) for one in found] == [
        (9.5, "alter table `orders` enable keys"),
        (4.5, "alter table `items` disable keys"),
        (1.5, "mysqldump"),
        (1.0, "select * from `orders`"),
    ]

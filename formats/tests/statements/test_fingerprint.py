import random
import time

import pytest
from loadwatch_formats.statements.fingerprint import (
    LONGEST_FINGERPRINT,
    Dialect,
    Kind,
    canonical,
    digest_of,
    fingerprint,
    first_word,
    tokens_of,
    without_values,
)

CASES = {
    "SELECT name, password FROM user WHERE id='12823';": "select name, password from user where id=?",
    "select  *\n\tfrom t -- all of it\n where a = 1": "select * from t where a = ?",
    "select /* 7f3a */ a from t # secret": "select a from t",
    "select * from t where id in (1, 2,-3) and b IN ( 'x' )": "select * from t where id in(?+) and b in(?+)",
    "select * from t where (a, b) in ((1,2),(3,4))": "select * from t where (a, b) in(?+)",
    "select 1 from t where i in (select i from u)": "select ? from t where i in (select i from u)",
    "insert into t (a,b) values (1,'x'),(2,'y')": "insert into t (a,b) values(?+)",
    "insert into t values (1, now()), (2, now())": "insert into t values(?, now())",
    "insert t values (1) on duplicate key update a=a+1": "insert t values(?+) on duplicate key update a=a+?",
    "select * from t where a is not null and b = NULL": "select * from t where a is not null and b = ?",
    "select a from t order by a ASC, b desc limit 10, 20": "select a from t order by a, b desc limit ?",
    "select a from t limit 10 offset 20": "select a from t limit ?",
    "select 1 union all select 2 union all select 3": "select ? /*repeat union all*/",
    "update t set a = a - 1, b = -1 where c = 1.5e-3": "update t set a = a - ?, b = ? where c = ?",
    "select catch22 from t_2022 where h = 0xff or b = b'01'": "select catch22 from t_2022 where h = ? or b = ?",
    r"select 'it''s \' x', \"q\", N'n', _utf8mb4'u'": "select ?, ?, ?, ?",
    "call pay(1, 'x')": "call pay",
    "USE shop": "use ?",
    "# administrator command: Quit": "administrator command: Quit",
    "SELECT /*!40001 SQL_NO_CACHE */ * FROM `users`": "mysqldump",
    "/*!40000 ALTER TABLE `a` ENABLE KEYS */": "alter table `a` enable keys",
    "/*!50503 SET character_set_client = utf8mb4 */": "set character_set_client = utf8mb4",
    "/*M!100100 SET a = 'x' */": "set a = ?",
    "/*M! SET a=1*/": "set a=?",
    "CREATE /*!32312 IF NOT EXISTS*/ TABLE a": "create if not exists table a",
    "select a*/*! b */ *2 from t where c = '*/'": "select a* b *? from t where c = ?",
    "/*!999999\\- enable the sandbox mode */ select 1": "select ?",
    "select /*+ hint */ a*/* c */b": "select a* b",
    "select 'no end": "select ?",
    "": "",
}


@pytest.mark.parametrize("text", CASES)
def test_that_values_go_and_structure_stays(text: str) -> None:
    assert fingerprint(text.replace('\\"', '"')) == CASES[text]


def test_the_name_of_a_procedure_is_as_long_as_any_fingerprint() -> None:
    assert len(fingerprint(f"call {'p' * 20_000}(1)")) <= LONGEST_FINGERPRINT


def test_that_postgresql_is_read_by_its_own_rules() -> None:
    text = """SELECT "A", $1, $$x'y$$, $t$ $$ $t$, E'a\\'b', 'a\\' FROM t WHERE a::int = 1 AND j->>'k' = 'v'"""
    assert fingerprint(text, Dialect.POSTGRESQL) == 'select "a", ?, ?, ?, ?, ? from t where a::int = ? and j->>? = ?'
    assert fingerprint("select * from t where id in ($1, $2)", Dialect.POSTGRESQL) == "select * from t where id in(?+)"


@pytest.mark.parametrize(
    ("digest_text", "sent"),
    [
        ("SELECT * FROM `a` WHERE ID IN (...) ", "select * from a where id in (1,2,3)"),
        ("INSERT INTO `a` ( `v` ) VALUES (?) /* , ... */ ", "insert into a (v) values ('x'),('y')"),
        ("INSERT INTO `a` VALUES (...) /* , ... */ ", "INSERT INTO a VALUES (1,2)"),
        ("SELECT `t` . `id` FROM `t` WHERE `x` = ? LIMIT ?, ...", "select t.id from t where x=7 limit 5, 10"),
    ],
)
def test_that_a_servers_digest_text_and_what_was_sent_have_one_canonical_text(digest_text: str, sent: str) -> None:
    assert canonical(digest_text) == canonical(sent)
    assert digest_of(digest_text) == digest_of(sent)
    assert len(digest_of(sent)) == 32


def test_the_kind_of_a_statement() -> None:
    assert first_word("/* x */ (SELECT 1) UNION (SELECT 2)") == "select"
    assert first_word("") == ""


HOSTILE = (
    *("(" * 60_000, "in (" * 20_000, "'" * 65_000, "/*" * 30_000, "values (1)," * 8_000, "values (((((" * 10_000),
    *("-" * 65_000, "$a" * 30_000, "select 1 union " * 5_000, "limit ?," * 8_000, "\\'" * 30_000, "(..." * 16_000),
    *("1" * 65_000 + "a", "1e" * 30_000, "$a$" * 20_000, '"' * 60_000, "_" * 65_000, "0x" * 30_000, "in (?," * 20_000),
)


@pytest.mark.parametrize("dialect", Dialect)
def test_that_time_is_linear_whatever_comes(dialect: Dialect) -> None:
    """Not a figure of speed: what was quadratic took minutes here."""
    began = time.process_time()
    for text in HOSTILE:
        assert len(fingerprint(text, dialect)) <= LONGEST_FINGERPRINT + 30
        canonical(text, dialect)
    assert time.process_time() - began < 120


@pytest.mark.parametrize("dialect", Dialect)
def test_that_both_ways_to_mask_agree_and_nothing_is_lost(dialect: Dialect) -> None:
    chance = random.Random(14)
    pieces = ["'", '"', "\\", "`", "a", "1", "x'", "_u", "-", "--", " ", "/*", "*/", "#", "\n", "$", "$$", "@", "0x"]
    pieces += ["b'", ".", "e", "5", "(", ")", ",", "?", "é", "N'", "::", "E'"]
    for _ in range(5_000):
        text = "".join(chance.choice(pieces) for _ in range(chance.randint(1, 14)))
        tokens = list(tokens_of(text, dialect))
        assert "".join(token.text for token in tokens) == text
        shown = {Kind.LITERAL: "?", Kind.COMMENT: " "}
        assert without_values(text, dialect) == "".join(shown.get(token.kind, token.text) for token in tokens)
        fingerprint(text, dialect)

from dataclasses import replace

from loadwatch_backend.evidence.statements import Counted, StatementSource, Window, lines_of


def counted(text: str, digest: str = "d", schema: str = "shop", **figures: float) -> Counted:
    return replace(Counted(schema=schema, text=text, digests=(digest,), calls=1.0, seconds=1.0), **figures)


def names(*statements: Counted, source: StatementSource = StatementSource.MYSQL) -> list[str]:
    return [line.fingerprint for line in lines_of(Window(source=source, seconds=1, statements=statements))]


def test_that_lists_of_different_lengths_are_one_statement() -> None:
    lines = lines_of(
        Window(
            source=StatementSource.POSTGRESQL,
            seconds=1,
            statements=[
                counted("SELECT a FROM t WHERE b IN ($1)", "1", calls=2, rows_sent=3),
                counted("SELECT a FROM t WHERE b IN ($1, $2)", "2", calls=3),
            ],
        )
    )
    assert [(line.counted.calls, line.counted.rows_sent, line.share) for line in lines] == [(5, 3, 1.0)]


def test_that_texts_which_were_cut_stay_apart() -> None:
    long = "SELECT " + "a" * 1_000 + "..."
    assert len(names(counted(long, "d1"), counted(long, "d2"))) == 2


def test_that_databases_stay_apart() -> None:
    assert len(names(counted("SELECT 1", schema="a"), counted("SELECT 1", schema="b"))) == 2


def test_that_what_stands_for_many_comes_last_or_by_its_name() -> None:
    found = names(
        counted("(all other statements)", "other", "", seconds=9), counted("(gone)", "prepared", ""), counted("COMMIT")
    )
    assert found == ["commit", "prepared", "other"] or found == ["prepared", "commit", "other"]


def test_that_ids_are_short_and_the_same_in_every_run() -> None:
    first, second = (
        lines_of(Window(source=StatementSource.MYSQL, seconds=1, statements=[counted(text)]))[0].id
        for text in ("SELECT * FROM `a`", "select *  from a")
    )
    assert first == second
    assert len(first) == 16

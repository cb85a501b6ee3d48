from pathlib import Path

import pytest
from loadwatch_collectors.collector import Sample
from loadwatch_collectors.sources.mysql.collector import (
    STATUSES,
    other_variable_samples,
    parse_number,
    status_samples,
    variable_samples,
)

FIXTURES = Path(__file__).parents[2] / "fixtures" / "mysql"


def read_rows(name: str) -> list[tuple[str, str]]:
    """A recorded answer: name and value, tabs and line breaks written as escapes."""
    pairs = (line.split("\t", 1) for line in (FIXTURES / name).read_text().splitlines())
    return [(name, value) for name, value in pairs]


def as_text(samples: list[Sample]) -> str:
    lines: list[str] = []
    for sample in samples:
        labels = ",".join(f'{name}="{value}"' for name, value in sample.labels)
        lines.append(f"{sample.name}{{{labels}}} {sample.value!r}" if labels else f"{sample.name} {sample.value!r}")
    return "\n".join(lines) + "\n"


def test_status_of_mariadb_10_11() -> None:
    samples = status_samples(read_rows("mariadb-10.11-status.tsv"))
    assert as_text(samples) == (FIXTURES / "mariadb-10.11-status.golden").read_text()


def test_variables_of_mariadb_10_11() -> None:
    rows = {name.lower(): value for name, value in read_rows("mariadb-10.11-variables.tsv")}
    assert as_text(variable_samples(rows)) == (FIXTURES / "mariadb-10.11-variables.golden").read_text()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12.0),
        ("-1.5", -1.5),
        ("ON", 1.0),
        ("OFF", 0.0),
        ("Yes", 1.0),
        ("Nov 21 10:54:12 2026 GMT", 1795258452.0),
        ("Nov  1 00:00:00 2026 GMT", 1793491200.0),
        ("", None),
        (None, None),
        ("10.11.19-MariaDB", None),
        ("1_000", None),
        ("Foo 99 GMT", None),
        ("REPEATABLE-READ", None),
    ],
)
def test_what_counts_as_a_number(text: str | None, number: float | None) -> None:
    assert parse_number(text) == number


def test_the_names_of_rows_and_pages() -> None:
    rows = [
        ("Innodb_rows_inserted", "5"),
        ("Innodb_buffer_pool_pages_total", "6"),
        ("Innodb_buffer_pool_pages_dirty", "7"),
        ("Innodb_buffer_pool_pages_flushed", "8"),
    ]
    assert status_samples(rows) == [
        Sample("mysql_global_status_innodb_row_ops_total", 5, (("operation", "inserted"),)),
        Sample("mysql_global_status_buffer_pool_dirty_pages", 7),
        Sample("mysql_global_status_buffer_pool_page_changes_total", 8, (("operation", "flushed"),)),
    ]


def test_no_status_is_listed_twice() -> None:
    assert len(STATUSES) == len(set(STATUSES))


def test_other_variables_are_cut_and_secrets_left_out() -> None:
    variables = {
        "sql_mode": "日" * 100,
        "max_connections": "151",
        "join_buffer_size": "262144",
        "report_password": "secret",
        "gtid_executed": "3E11FA47:1-5",
        "tmpdir": "",
    }
    chosen = other_variable_samples(variables, all_numbers=False)
    assert [sample.labels for sample in chosen] == [
        (("value", "日" * 66), ("variable", "sql_mode")),
        (("value", "262144"), ("variable", "join_buffer_size")),
    ]
    assert [dict(one.labels)["variable"] for one in other_variable_samples(variables, all_numbers=True)] == ["sql_mode"]

import pytest
from loadwatch_formats.statements.fingerprint import Dialect, mask


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM users WHERE token = 's3cret'",
        'SELECT * FROM users WHERE token = "s3cret"',
        "SELECT * FROM users WHERE token = 's3cret",
        r"SELECT 'a\' s3cret' FROM users",
        "SELECT 1 /* s3cret */ FROM users -- s3cret",
        "SELECT 1 FROM users # s3cret",
        "CREATE USER 'x' IDENTIFIED BY 's3cret'",
        "INSERT INTO users VALUES (1, 's3cret'), (2, _utf8mb4 's3cret')",
    ],
)
def test_that_no_value_is_left(text: str) -> None:
    masked = mask(text)
    assert "s3cret" not in masked
    assert masked.split()[0] == text.split()[0]


def test_that_structure_and_names_stay() -> None:
    assert (
        mask("SELECT `Id`,\n  Name FROM `Users` WHERE Id=7  LIMIT 3")
        == "SELECT `Id`, Name FROM `Users` WHERE Id=? LIMIT ?"
    )


def test_that_dollar_quotes_of_postgresql_are_texts() -> None:
    assert mask("SELECT $tag$ s3cret $$ s3cret $tag$, $1", Dialect.POSTGRESQL) == "SELECT ?, ?"


def test_that_a_long_text_is_cut_within_its_bytes_and_says_so() -> None:
    masked = mask("SELECT " + "é" * 5_000, longest_bytes=1_024)
    assert masked.endswith("...")
    assert len(masked.encode()) <= 1_024


def test_that_control_characters_do_not_come_through() -> None:
    assert mask("SELECT `\x1b[31mred`") == "SELECT ` [31mred`"

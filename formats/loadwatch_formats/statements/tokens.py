"""Statements of SQL cut into tokens: one pass, linear in their length, whatever they hold.

It knows as much of MySQL, MariaDB and PostgreSQL as is needed to tell literals from names, and never fails: what is
no SQL comes out as words and signs.
"""

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple


class Dialect(Enum):
    """Whose SQL it is: they differ in what quotes and backslashes mean."""

    MYSQL = "mysql"
    """MySQL and MariaDB: "x" is a text, and a backslash keeps a quote within it."""
    POSTGRESQL = "postgresql"
    """PostgreSQL: "x" is a name, $$x$$ a text, a backslash is a letter but in E'...'."""


class Kind(Enum):
    """What a token is."""

    SPACE = "space"
    COMMENT = "comment"
    LITERAL = "literal"
    """A text, a number or a placeholder; also a text whose end is missing."""
    WORD = "word"
    """A name or a keyword, in its quotes where it has some."""
    SIGN = "sign"


class Token(NamedTuple):
    """One piece of a statement."""

    kind: Kind
    text: str


# Quantifiers are possessive or over classes that exclude what follows, so that nothing is ever tried twice; a text
# without an end is taken to the end of the statement: what is cut off may be a secret.
_NUMBER = r"(?:0[xX][0-9a-fA-F]++|0[bB][01]++|(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?\d++)?+)(?![\w$])"
_BODY = r"'(?:[^'\\]++|\\.|'')*+(?:'|\\?\Z)"
_PLAIN = r"'(?:[^']++|'')*+(?:'|\Z)"
_BLOCK = r"/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"
# `/*!40000 … */` and MariaDB's `/*M! … */` are executed: their signs go, the code stays. No server is of version 99.
_EXECUTED = r"/\*M?!(?!99\d{3})"
_MYSQL_GAP = (
    rf"(?P<gap>{_EXECUTED}\d*+ | \*/(?!\*) | (?!{_EXECUTED}){_BLOCK} | \#[^\n]*+ | --(?=[\s\x00-\x1f]|\Z)[^\n]*+)"
)
_MYSQL_LITERAL = rf"""(?P<literal>(?:[xXbBnN]|_[a-zA-Z0-9]++\s*+)?+(?:{_BODY})
    | "(?:[^"\\]++|\\.|"")*+(?:"|\\?\Z) | {_NUMBER} | \?)"""
_MYSQL_WORD = r"(?P<word>`(?:[^`]++|``)*+(?:`|\Z) | @{0,2}[\w$]++)"
_POSTGRESQL_GAP = rf"(?P<gap>{_BLOCK} | --[^\n]*+)"
_POSTGRESQL_LITERAL = rf"""(?P<literal>[eE]{_BODY} | (?:[xXbBnN]|[uU]&)?+(?:{_PLAIN}) | \$\d++ | {_NUMBER} | \?(?![|&])
    | (?P<dollar>\$(?:[^\W\d]\w*+)?+\$))"""
_POSTGRESQL_WORD = r"""(?P<word>"(?:[^"]++|"")*+(?:"|\Z) | [\w$]++)"""


def _compile(*parts: str) -> re.Pattern[str]:
    return re.compile(" | ".join(parts), re.VERBOSE | re.DOTALL)


_TOKENS = {
    Dialect.MYSQL: _compile(r"(?P<space>\s++)", _MYSQL_GAP, _MYSQL_LITERAL, _MYSQL_WORD, r"(?P<sign>.)"),
    Dialect.POSTGRESQL: _compile(
        r"(?P<space>\s++)", _POSTGRESQL_GAP, _POSTGRESQL_LITERAL, _POSTGRESQL_WORD, r"(?P<sign>.)"
    ),
}
_KINDS = {"space": Kind.SPACE, "gap": Kind.COMMENT, "literal": Kind.LITERAL, "word": Kind.WORD, "sign": Kind.SIGN}


def tokens_of(text: str, dialect: Dialect = Dialect.MYSQL) -> Iterator[Token]:
    """The pieces of a statement, in order; joined they are the statement again."""
    pattern, quotes = _TOKENS[dialect], dialect is Dialect.POSTGRESQL
    place, length = 0, len(text)
    while place < length:
        match = pattern.match(text, place)
        assert match is not None  # any character is a sign, if it is nothing else
        end = match.end()
        if quotes and match["dollar"]:
            close = text.find(match["dollar"], end)
            end = length if close < 0 else close + len(match["dollar"])
            yield Token(Kind.LITERAL, text[place:end])
        else:
            yield Token(_KINDS[match.lastgroup or "sign"], text[place:end])
        place = end


def without_values(text: str, dialect: Dialect = Dialect.MYSQL) -> str:
    """The statement with `?` for each literal and one space for each comment; all else as it was."""
    if dialect is Dialect.POSTGRESQL:
        return "".join(_shown(token) for token in tokens_of(text, dialect))
    return _MYSQL_VALUES.sub(_replace, text)


def _shown(token: Token) -> str:
    if token.kind is Kind.LITERAL:
        return "?"
    return " " if token.kind is Kind.COMMENT else token.text


# Words and signs are taken as one run: most of a statement goes by in one step of the expression.
_MYSQL_VALUES = _compile(
    _MYSQL_GAP,
    _MYSQL_LITERAL,
    r"(?P<run>(?:`(?:[^`]++|``)*+(?:`|\Z) | @{0,2}[\w$]++ | .)"
    r"(?:`(?:[^`]++|``)*+(?:`|\Z) | (?![xXbBnN_])[^\W\d][\w$]*+ | [\s,()=<>;!+%|&^~\[\]{}:] | \*(?!/))*+)",
)


def _replace(match: re.Match[str]) -> str:
    group = match.lastgroup
    if group == "literal":
        return "?"
    return " " if group == "gap" else match[0]

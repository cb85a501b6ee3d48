"""What stands in a PromQL text, found before any parser sees it: strings, comments, brackets, operators.

The native parser goes one level deeper for each bracket, operator, escape and comment, and its stack ends the process
when it overflows. So it is given only what this scan has counted, without comments and without what stands in strings.
Source of the rules: promql/parser/lex.go of Prometheus 3 and src/parser/lex.rs of promql-parser.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto

from loadwatch_backend.kit.text.goquote import GoSyntaxError, unquote
from loadwatch_backend.promql.errors import QueryParseError

MAX_TEXT = 16 * 1024
"""Characters in one expression. The longest of public dashboards have some 3,000; a variable of 500 hosts fits."""
MAX_DEPTH = 64
"""Brackets within each other."""
MAX_LEVELS = 200
"""Operators, signs among them, and the deepest brackets together: the tree has no more levels. Bounds the recursion of
the parser and of the evaluator (at most six frames for a bracket and three for an operator, of Python's 1,000)."""

MAX_PATTERNS = 100
"""Regular expressions in one expression; each takes up to 15 ms to compile."""

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\n\r\f]+)
    | (?P<comment>\#[^\r\n]*)
    | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)
    | (?P<number>(?:0[xX][0-9a-fA-F.]*|[0-9][0-9.]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[A-Za-z0-9_.]*)
    | (?P<word>[A-Za-z_:][A-Za-z0-9_:]*)
    | (?P<regex>=~|!~)
    | (?P<compare>==|!=|<=|>=|<|>|=)
    | (?P<sign>[-+*/%^])
    | (?P<open>[(\[{])
    | (?P<close>[)\]}])
    | (?P<other>[,@:])
    """,
    re.VERBOSE | re.DOTALL,
)
_WORD_OPERATORS = frozenset(("and", "or", "unless", "atan2"))
_OPERATOR_KINDS = frozenset(("sign", "compare", "word"))
_NOTHING_KINDS = frozenset(("space", "comment"))
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_NAMES = {
    "(": "left parenthesis",
    "[": "left bracket",
    "{": "left brace",
    ")": "right parenthesis",
    "]": "right bracket",
    "}": "right brace",
}
_QUOTES = "\"'`"


class Piece(Enum):
    """Kinds of pieces that the native parser does not get to see."""

    COMMENT = auto()
    STRING = auto()
    PATTERN = auto()
    """The string behind `=~` or `!~`: a regular expression."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a text, and where it begins."""

    piece: Piece
    text: str
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """A text whose size is known to be within the bounds."""

    text: str
    tokens: tuple[Token, ...]
    """Comments and strings, in their order."""
    depth: int
    """Of the deepest brackets."""
    operators: int
    """Arithmetic, comparison and set operators, and signs; not those within braces, which make no tree."""

    def blanked(self) -> str:
        """The text with nothing in its strings and no comments; every other sign stays in its place."""
        parts: list[str] = []
        position = 0
        for token in self.tokens:
            spaces = " " * len(token.text)
            blank = spaces if token.piece is Piece.COMMENT else f'"{spaces[2:]}"'
            parts += (self.text[position : token.position], blank)
            position = token.position + len(token.text)
        return "".join((*parts, self.text[position:]))


def scan_expression(text: str) -> Scan:
    """The pieces of a text; takes time in proportion to its length.

    Raises:
        QueryParseError: too long or too deep, brackets that do not match, or signs that are not PromQL's.
    """
    if len(text) > MAX_TEXT:
        raise QueryParseError(f"the expression has {len(text)} characters; at most {MAX_TEXT} are taken: split it")
    tokens: list[Token] = []
    opened: list[tuple[str, int]] = []
    deepest = operators = position = patterns = 0
    behind_regex = False
    match = _TOKEN.match
    while position < len(text):
        found = match(text, position)
        if found is None:
            raise _unreadable(text, position)
        kind = found.lastgroup
        if kind == "comment":
            tokens.append(Token(Piece.COMMENT, found.group(), position))
        elif kind == "string":
            tokens.append(Token(Piece.PATTERN if behind_regex else Piece.STRING, found.group(), position))
            patterns += behind_regex
        elif kind == "open":
            opened.append((found.group(), position))
            deepest = max(deepest, len(opened))
        elif kind == "close":
            _close(text, opened, found.group(), position)
        elif kind in _OPERATOR_KINDS and not (opened and opened[-1][0] == "{"):
            operators += kind != "word" or found.group().lower() in _WORD_OPERATORS
        if kind not in _NOTHING_KINDS:
            behind_regex = kind == "regex"
        position = found.end()
    if opened:
        bracket, place = opened[-1]
        raise _invalid(text, place, f"unclosed {_NAMES[bracket]}")
    if deepest > MAX_DEPTH:
        raise QueryParseError(f"the expression is nested deeper than {MAX_DEPTH} brackets: split it into several")
    if operators + deepest > MAX_LEVELS:
        raise QueryParseError(
            f"the expression has {operators} operators and {deepest} levels of brackets; at most {MAX_LEVELS} together"
            " are taken: split it into several"
        )
    if patterns > MAX_PATTERNS:
        raise QueryParseError(f"the expression has {patterns} regular expressions; at most {MAX_PATTERNS} are taken")
    return Scan(text=text, tokens=tuple(tokens), depth=deepest, operators=operators)


def _close(text: str, opened: list[tuple[str, int]], bracket: str, position: int) -> None:
    if not opened:
        raise _invalid(text, position, f"unexpected {_NAMES[bracket]}")
    opening, _ = opened.pop()
    if _CLOSES[opening] != bracket:
        raise _invalid(text, position, f"unexpected {_NAMES[bracket]} within {opening!r}")


def _unreadable(text: str, position: int) -> QueryParseError:
    letter = text[position]
    if letter in _QUOTES:
        return _invalid(text, position, f"unterminated quoted string {letter}")
    return _invalid(text, position, f"unexpected character {letter!r}")


def _invalid(text: str, position: int, message: str) -> QueryParseError:
    return QueryParseError(f"invalid PromQL in {text[:200]!r}: {message} (at character {position + 1})")


def string_value(token: Token, text: str) -> str:
    """The value of a string of a text.

    Raises:
        QueryParseError: an escape that PromQL does not know.
    """
    try:
        return unquote(token.text)
    except GoSyntaxError as error:
        raise _invalid(text, token.position, str(error)) from error

"""Text to tokens (text/template/parse/lex.go)."""

import re
from dataclasses import dataclass
from enum import Enum, auto

from loadwatch_backend.alerting.rules.gotemplate.formatting import TemplateError

_SPACES = " \t\r\n"
_TERMINATORS = frozenset(" \t\r\n.,|:)(")


class Kind(Enum):
    TEXT = auto()
    LEFT = auto()
    RIGHT = auto()
    SPACE = auto()
    ASSIGN = auto()
    DECLARE = auto()
    PIPE = auto()
    OPEN = auto()
    CLOSE = auto()
    STRING = auto()
    RAW_STRING = auto()
    CHARACTER = auto()
    NUMBER = auto()
    VARIABLE = auto()
    FIELD = auto()
    DOT = auto()
    IDENTIFIER = auto()
    BOOLEAN = auto()
    NIL = auto()
    KEYWORD = auto()
    SIGN = auto()
    END = auto()


KEYWORDS = frozenset(("block", "break", "continue", "define", "else", "end", "if", "range", "template", "with"))


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str
    position: int


_TOKEN = re.compile(
    r"(?P<SPACE>(?:[ \t\r\n](?!-\}\}))+)"  # The last one may belong to " -}}".
    r"|(?P<DECLARE>:=)|(?P<ASSIGN>=)|(?P<PIPE>\|)|(?P<OPEN>\()|(?P<CLOSE>\))"
    r'|(?P<STRING>"(?:\\[^\n]|[^"\\\n])*")'
    r"|(?P<RAW_STRING>`[^`]*`)|(?P<CHARACTER>'(?:\\[^\n]|[^'\\\n])*')"
    r"|(?P<VARIABLE>\$\w*)|(?P<FIELD>\.(?![0-9])\w+)|(?P<DOT>\.(?![0-9]))"
    r"|(?P<NUMBER>(?=[-+.0-9])[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*|0[bB][01_]*"
    r"|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?))"
    r"""|(?P<IDENTIFIER>\w+)|(?P<SIGN>[!-~](?<![:"'`]))"""
)
_WORDS = {"true": Kind.BOOLEAN, "false": Kind.BOOLEAN, "nil": Kind.NIL, **dict.fromkeys(KEYWORDS, Kind.KEYWORD)}
_ENDED = (Kind.VARIABLE, Kind.FIELD, Kind.DOT, *set(_WORDS.values()), Kind.IDENTIFIER)
_UNFINISHED = {
    ":": "expected :=",
    '"': "unterminated quoted string",
    "`": "unterminated raw quoted string",
    "'": "unterminated character constant",
}


def place_of(text: str, position: int) -> str:
    before = text[:position]
    return f"line {before.count(chr(10)) + 1}, character {position - (before.rfind(chr(10)) + 1) + 1}"


def tokenize(text: str) -> list[Token]:
    """All tokens; the last is `Kind.END`.

    Raises:
        TemplateError: an action is not closed, or holds what is no token.
    """
    return _Lexer(text).tokens()


class _Lexer:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._tokens: list[Token] = []

    def tokens(self) -> list[Token]:
        trim_next = False
        while True:
            start = self._position
            found = self._text.find("{{", start)
            end = len(self._text) if found < 0 else found
            literal = self._text[start:end]
            if trim_next:
                literal = literal.lstrip(_SPACES)
            trims = found >= 0 and self._left_trim(found + 2)
            if trims:
                literal = literal.rstrip(_SPACES)
            if literal:
                self._add(Kind.TEXT, literal, start)
            if found < 0:
                self._add(Kind.END, "", len(self._text))
                return self._tokens
            trim_next = self._action(found, found + (4 if trims else 2))

    def _add(self, kind: Kind, text: str, position: int) -> None:
        self._tokens.append(Token(kind, text, position))

    def _left_trim(self, position: int) -> bool:
        return self._text[position : position + 1] == "-" and self._text[position + 1 : position + 2] in tuple(_SPACES)

    def _right(self, position: int) -> tuple[int, bool] | None:
        """Where the action ends and whether it trims, when its end is at the position."""
        text = self._text
        if text[position : position + 1] in tuple(_SPACES) and text.startswith("-}}", position + 1):
            return position + 4, True
        return (position + 2, False) if text.startswith("}}", position) else None

    def _action(self, left: int, position: int) -> bool:
        """Read the tokens of one action; whether the text that follows is trimmed."""
        if self._text.startswith("/*", position):
            end = self._text.find("*/", position + 2)
            if end < 0:
                raise self._error("unclosed comment", left)
            right = self._right(end + 2)
            if right is None:
                raise self._error("comment ends before closing delimiter", end)
            self._position = right[0]
            return right[1]
        self._add(Kind.LEFT, "{{", left)
        depth = 0
        while True:
            right = self._right(position)
            if right is not None:
                if depth:
                    raise self._error("unclosed left paren", position)
                self._add(Kind.RIGHT, "}}", position)
                self._position = right[0]
                return right[1]
            if position >= len(self._text):
                raise self._error("unclosed action", left)
            letter = self._text[position]
            depth += {"(": 1, ")": -1}.get(letter, 0)
            if depth < 0:
                raise self._error("unexpected right paren", position)
            position = self._token(position, letter)

    def _token(self, position: int, letter: str) -> int:
        found = _TOKEN.match(self._text, position)
        if found is None or found.lastgroup is None:
            reason = _UNFINISHED.get(letter, f"unrecognized character in action: {letter!r}")
            raise self._error(reason, position)
        kind, end = Kind[found.lastgroup], found.end()
        if kind is Kind.IDENTIFIER:
            kind = _WORDS.get(found.group(), kind)
        following = self._text[end : end + 1]
        if kind is Kind.NUMBER and (end == position or following == "_" or following.isalnum()):
            raise self._error(f"bad number syntax: {self._text[position : end + 1]!r}", position)
        if kind in _ENDED and following and following not in _TERMINATORS and not self._text.startswith("}}", end):
            raise self._error(f"bad character {following!r}", end)
        self._add(kind, found.group(), position)
        return end

    def _error(self, message: str, position: int) -> TemplateError:
        return TemplateError(f"{message} ({place_of(self._text, position)})")

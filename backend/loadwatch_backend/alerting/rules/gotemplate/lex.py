"""Text to tokens (text/template/parse/lex.go)."""

import re
from dataclasses import dataclass
from enum import Enum, auto

from loadwatch_backend.alerting.rules.gotemplate.formatting import TemplateError

_SPACES = " \t\r\n"
_TERMINATORS = frozenset(" \t\r\n.,|:)(")


class Kind(Enum):
    """Kinds of tokens."""

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
    """A piece of the text with the place where it begins."""

    kind: Kind
    text: str
    position: int


_NUMBER = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*|0[bB][01_]*"
    r"|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)"
)
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r'"(?:\\[^\n]|[^"\\\n])*"')
_RAW = re.compile(r"`[^`]*`")
_CHARACTER = re.compile(r"'(?:\\[^\n]|[^'\\\n])*'")
_SIMPLE = {"=": Kind.ASSIGN, "|": Kind.PIPE}


def place_of(text: str, position: int) -> str:
    """Line and column of a position, for messages."""
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
        """The tokens of one action; whether what follows is trimmed."""
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
        """One token within an action; the position after it."""
        text = self._text
        if letter in _SPACES:
            return self._space(position)
        if letter == ":":
            if not text.startswith(":=", position):
                raise self._error("expected :=", position)
            return self._take(Kind.DECLARE, position, position + 2)
        if letter in _SIMPLE:
            return self._take(_SIMPLE[letter], position, position + 1)
        if letter in "()":
            return self._take(Kind.OPEN if letter == "(" else Kind.CLOSE, position, position + 1)
        if letter in "\"`'":
            return self._quoted(position, letter)
        following = text[position + 1 : position + 2]
        if letter == "$" or (letter == "." and not ("0" <= following <= "9")):
            return self._field(position, letter)
        if letter in "+-." or "0" <= letter <= "9":
            return self._number(position)
        if letter == "_" or letter.isalnum():
            return self._identifier(position)
        if letter.isascii() and letter.isprintable():
            return self._take(Kind.SIGN, position, position + 1)
        raise self._error(f"unrecognized character in action: {letter!r}", position)

    def _take(self, kind: Kind, start: int, end: int) -> int:
        self._add(kind, self._text[start:end], start)
        return end

    def _space(self, position: int) -> int:
        end = position
        while end < len(self._text) and self._text[end] in _SPACES and self._right(end) is None:
            end += 1
        # The last space may belong to " -}}"; when it is the only one, there is no token.
        return self._take(Kind.SPACE, position, end) if end > position else position

    def _quoted(self, position: int, quote: str) -> int:
        pattern, kind, what = {
            '"': (_QUOTED, Kind.STRING, "quoted string"),
            "`": (_RAW, Kind.RAW_STRING, "raw quoted string"),
            "'": (_CHARACTER, Kind.CHARACTER, "character constant"),
        }[quote]
        found = pattern.match(self._text, position)
        if found is None:
            raise self._error(f"unterminated {what}", position)
        return self._take(kind, position, found.end())

    def _field(self, position: int, letter: str) -> int:
        found = _WORD.match(self._text, position + 1)
        end = found.end() if found and not self._terminates(position + 1) else position + 1
        self._check_end(end)
        if letter == "$":
            return self._take(Kind.VARIABLE, position, end)
        return self._take(Kind.FIELD if end > position + 1 else Kind.DOT, position, end)

    def _number(self, position: int) -> int:
        found = _NUMBER.match(self._text, position)
        end = found.end() if found else position
        if end == position or _WORD.match(self._text, end):
            raise self._error(f"bad number syntax: {self._text[position : end + 1]!r}", position)
        return self._take(Kind.NUMBER, position, end)

    def _identifier(self, position: int) -> int:
        found = _WORD.match(self._text, position)
        assert found is not None
        word = found.group()
        self._check_end(found.end())
        if word in KEYWORDS:
            kind = Kind.KEYWORD
        elif word in ("true", "false"):
            kind = Kind.BOOLEAN
        else:
            kind = Kind.NIL if word == "nil" else Kind.IDENTIFIER
        return self._take(kind, position, found.end())

    def _terminates(self, position: int) -> bool:
        letter = self._text[position : position + 1]
        return not letter or letter in _TERMINATORS or self._text.startswith("}}", position)

    def _check_end(self, position: int) -> None:
        if not self._terminates(position):
            raise self._error(f"bad character {self._text[position]!r}", position)

    def _error(self, message: str, position: int) -> TemplateError:
        return TemplateError(f"{message} ({place_of(self._text, position)})")

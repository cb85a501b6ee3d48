"""The tokens of a PromQL text, in time proportional to its length, and the bounds of its size.

Source of the rules: promql/parser/lex.go of Prometheus 3. Positions are characters, where Prometheus counts bytes.
"""

import re
from enum import Enum, auto
from typing import NamedTuple

from loadwatch_backend.series.promql.errors import QueryParseError
from loadwatch_backend.series.promql.parsing import catalogue

MAX_TEXT = 16 * 1024
"""Characters in one expression. The longest of public dashboards have some 3,000; a variable of 500 hosts fits."""
MAX_DEPTH = 64
"""Brackets within each other."""
MAX_LEVELS = 200
"""Operators, signs among them, ranges, and the deepest brackets together: the tree has no more levels. Bounds the
recursion of the parser and of the evaluator (at most eight frames for a bracket with a range, six for one without and
three for an operator, of Python's 1,000)."""
MAX_PATTERNS = 100
"""Regular expressions in one expression; each takes up to 15 ms to compile."""

AGGREGATORS = frozenset(catalogue.AGGREGATORS)
WORD_OPERATORS = frozenset(("and", "or", "unless", "atan2"))
PRECEDENCE = {
    "or": 1,
    **dict.fromkeys(("and", "unless"), 2),
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "</", ">/"), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%", "atan2"), 5),
    "^": 6,
}
"""Of operators between expressions; the higher, the closer they bind."""
PREPROCESSORS = frozenset(("start", "end", "step", "range", "max_of", "min_of"))
_FILLS = frozenset(("fill", "fill_left", "fill_right"))
KEYWORDS = frozenset("offset smoothed anchored by without on ignoring group_left group_right bool".split()) | _FILLS
_NUMBERS = frozenset(("inf", "nan"))


class Kind(Enum):
    NUMBER = auto()
    DURATION = auto()
    STRING = auto()
    WORD = auto()
    """A name, as it is written; also any keyword within braces."""
    KEYWORD = auto()
    """Keywords, aggregations and preprocessors, in lower case."""
    OPERATOR = auto()
    """Signs and words that stand between two expressions, in lower case; matching operators, and `@`."""
    MARK = auto()
    """Brackets, comma, colon and the single `=`."""
    END = auto()


class Token(NamedTuple):
    kind: Kind
    text: str
    start: int
    raw: str = ""

    @property
    def end(self) -> int:
        return self.start + len(self.raw)


_SPACE = re.compile(r"(?:[ \t\r\n]+|#[^\r\n]*)+")
_NUMBER = re.compile(
    r"(?:0[xX]_?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*"
    r"|(?:[0-9]+(?:_[0-9]+)*(?:\.(?:[0-9]+(?:_[0-9]+)*)?)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+(?:_[0-9]+)*)?)"
    r"(?![A-Za-z0-9_.])"
)
_DURATION = re.compile(r"(?:[0-9]+(?:ms|[smhdwy]))+(?![A-Za-z0-9_])")
_BAD_NUMBER = re.compile(r"[0-9.][0-9A-Za-z_.]*")
_WORD = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*")
_PLAIN_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\[^\n])*\"|'(?:[^'\\\n]|\\[^\n])*'|`[^`]*`")
_SIGN = re.compile(r"==|!=|<=|>=|</|>/|=~|!~|[-+*/%^<>=@]")
_INSIDE_BRACES = frozenset(("=", "!=", "=~", "!~"))
_CALL = re.compile(r"[ \t\r\n]*\(")
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_NAMES = {
    "(": "left parenthesis",
    "[": "left bracket",
    "{": "left brace",
    ")": "right parenthesis",
    "]": "right bracket",
    "}": "right brace",
}


def invalid(text: str, position: int, message: str) -> QueryParseError:
    return QueryParseError(f"invalid PromQL in {text[:200]!r}: {place_of(text, position)}: parse error: {message}")


def place_of(text: str, position: int) -> str:
    """Line and column, from 1 on."""
    line = text.count("\n", 0, position)
    column = position - (text.rfind("\n", 0, position) if line else -1)
    return f"{line + 1}:{column}"


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text that is within the bounds, `END` last.

    Raises:
        QueryParseError: too long or too deep, brackets that do not match, or signs that are not PromQL's.
    """
    if len(text) > MAX_TEXT:
        raise QueryParseError(f"the expression has {len(text)} characters; at most {MAX_TEXT} are taken: split it")
    return _Lexer(text).tokens()


class _Lexer:
    def __init__(self, text: str) -> None:
        self._text = text
        self._opened: list[str] = []
        self._deepest = self._levels = self._patterns = 0

    def tokens(self) -> list[Token]:
        text, position, found = self._text, 0, list[Token]()
        while True:
            space = _SPACE.match(text, position)
            position = space.end() if space else position
            if position == len(text):
                break
            token = self._token(position)
            found.append(token)
            position = token.end
        if self._opened:
            opened = self._opened[-1]
            what = "unexpected end of input inside braces" if opened == "{" else f"unclosed {_NAMES[opened]}"
            raise invalid(text, len(text), what)
        self._check_size()
        return [*found, Token(Kind.END, "", len(text))]

    def _check_size(self) -> None:
        if self._deepest > MAX_DEPTH:
            raise QueryParseError(f"the expression is nested deeper than {MAX_DEPTH} brackets: split it into several")
        if self._levels + self._deepest > MAX_LEVELS:
            raise QueryParseError(
                f"the expression has {self._levels} operators and ranges and {self._deepest} levels of brackets; at"
                f" most {MAX_LEVELS} together are taken: split it into several"
            )
        if self._patterns > MAX_PATTERNS:
            raise QueryParseError(
                f"the expression has {self._patterns} regular expressions; at most {MAX_PATTERNS} are taken"
            )

    def _token(self, position: int) -> Token:
        text, sign = self._text, self._text[position]
        # The kind of range or braces that is open here, whatever parentheses stand in it.
        inside = next((bracket for bracket in reversed(self._opened) if bracket != "("), "")
        if sign in "([{":
            return self._open(sign, position, inside)
        if sign in ")]}":
            if not self._opened or _CLOSES[self._opened.pop()] != sign:
                raise invalid(text, position, f"unexpected {_NAMES[sign]} '{sign}'")
            return Token(Kind.MARK, sign, position, sign)
        if sign in "\"'`":
            return self._string(position)
        if (sign.isdigit() and sign.isascii()) or (sign == "." and text[position + 1 : position + 2].isdigit()):
            return self._number(position)
        word = (_PLAIN_WORD if inside else _WORD).match(text, position)
        if word:
            return self._word(word.group(), position, inside)
        if sign == "," or (sign == ":" and inside == "["):
            return Token(Kind.MARK, sign, position, sign)
        return self._sign(position, inside)

    def _open(self, bracket: str, position: int, inside: str) -> Token:
        if inside and bracket != "(":
            raise invalid(self._text, position, f"unexpected {_NAMES[bracket]} '{bracket}'")
        self._opened.append(bracket)
        self._deepest = max(self._deepest, len(self._opened))
        self._levels += bracket == "["
        return Token(Kind.MARK, bracket, position, bracket)

    def _string(self, position: int) -> Token:
        found = _STRING.match(self._text, position)
        if found is None:
            kind = "raw" if self._text[position] == "`" else "quoted"
            raise invalid(self._text, position, f"unterminated {kind} string")
        return Token(Kind.STRING, found.group(), position, found.group())

    def _number(self, position: int) -> Token:
        for kind, pattern in ((Kind.NUMBER, _NUMBER), (Kind.DURATION, _DURATION)):
            found = pattern.match(self._text, position)
            if found:
                return Token(kind, found.group(), position, found.group())
        bad = _BAD_NUMBER.match(self._text, position)
        shown = bad.group()[:100] if bad else ""
        raise invalid(self._text, position, f'bad number or duration syntax: "{shown}"')

    def _word(self, word: str, position: int, inside: str) -> Token:
        low = word.lower()
        if inside == "{":
            return Token(Kind.WORD, word, position, word)
        if inside == "[" and low not in PREPROCESSORS:
            raise invalid(self._text, position, f"unexpected character: {word[0]!r}, expected ':'")
        if low in _NUMBERS:
            return Token(Kind.NUMBER, low, position, word)
        if low in WORD_OPERATORS:
            self._levels += 1
            return Token(Kind.OPERATOR, low, position, word)
        # Names of metrics, unless something in brackets follows.
        is_name = low in _FILLS and not _CALL.match(self._text, position + len(word))
        if not is_name and (low in KEYWORDS or low in AGGREGATORS or low in PREPROCESSORS):
            return Token(Kind.KEYWORD, low, position, word)
        return Token(Kind.WORD, word, position, word)

    def _sign(self, position: int, inside: str) -> Token:
        found = _SIGN.match(self._text, position)
        sign = found.group() if found else self._text[position]
        if inside == "{":
            if sign not in _INSIDE_BRACES:
                raise invalid(self._text, position, f"unexpected character inside braces: {sign!r}")
            self._patterns += sign in ("=~", "!~")
        elif found is None:
            raise invalid(self._text, position, f"unexpected character: {sign!r}")
        elif sign in ("=~", "!~"):
            raise invalid(self._text, position, f"unexpected character after '{sign[0]}': '~'")
        else:
            self._levels += sign not in ("=", "@")
        return Token(Kind.MARK if sign == "=" else Kind.OPERATOR, sign, position, sign)

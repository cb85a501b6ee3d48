"""Matchers of labels, in Alertmanager's two syntaxes.

The text is read by the UTF-8 grammar (`matcher/parse`) and by the classic one (`pkg/labels/parse.go`). As Alertmanager
does by default, what only one of them takes is its; where both take a text and disagree, the classic one wins. Regular
expressions are RE2 and match the whole value; `.` matches no line feed.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from loadwatch_backend.core.text import GoSyntaxError, quote, unquote
from loadwatch_backend.series.store.errors import PatternError
from loadwatch_backend.series.store.patterns import full_matcher

RESERVED = frozenset("{}!=~,\\\"'`")
_SPACE = r"[\t\n\f\r ]*"
"""White space as Go's regular expressions have it."""
_CLASSIC = re.compile(rf"{_SPACE}([a-zA-Z_:][a-zA-Z0-9_:]*){_SPACE}(=~|=|!=|!~){_SPACE}(.*)", re.DOTALL)


class MatcherError(ValueError):
    """The text is no matcher; says where it went wrong."""


class MatchOperatorName(StrEnum):
    """How a matcher compares."""

    EQUAL = "="
    NOT_EQUAL = "!="
    MATCHES = "=~"
    MATCHES_NOT = "!~"


_ORDER = {operator: place for place, operator in enumerate(MatchOperatorName)}
"""As Alertmanager sorts them."""


@dataclass(frozen=True, slots=True)
class LabelMatcher:
    """One condition on a label; a missing label counts as the empty text.

    Raises:
        MatcherError: the regular expression is not valid.
    """

    name: str
    operator: MatchOperatorName
    value: str

    def __post_init__(self) -> None:
        if self.operator in (MatchOperatorName.MATCHES, MatchOperatorName.MATCHES_NOT):
            _pattern(self.value)

    def matches(self, value: str) -> bool:
        match self.operator:
            case MatchOperatorName.EQUAL:
                return value == self.value
            case MatchOperatorName.NOT_EQUAL:
                return value != self.value
            case MatchOperatorName.MATCHES:
                return _pattern(self.value)(value)
            case MatchOperatorName.MATCHES_NOT:
                return not _pattern(self.value)(value)

    def __str__(self) -> str:
        if any(character in RESERVED or character.isspace() for character in self.name):
            return f"{quote(self.name)}{self.operator}{quote(self.value)}"
        escaped = self.value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
        return f'{self.name}{self.operator}"{escaped}"'


def all_match(matchers: Iterable[LabelMatcher], labels: Mapping[str, str]) -> bool:
    for (
        matcher
    ) in matchers:  # A loop, as it is asked for each alert and route; all() of a generator takes twice as long.
        if not matcher.matches(labels.get(matcher.name, "")):
            return False
    return True


def sort_matchers(matchers: Iterable[LabelMatcher]) -> tuple[LabelMatcher, ...]:
    """By name, value and operator, as in Alertmanager's group keys."""
    return tuple(sorted(matchers, key=lambda one: (one.name, one.value, _ORDER[one.operator])))


def format_matchers(matchers: Sequence[LabelMatcher]) -> str:
    """As in Alertmanager's group keys: `{a="b",c=~"d"}`."""
    return "{" + ",".join(map(str, matchers)) + "}"


def _pattern(pattern: str) -> Callable[[str], bool]:
    try:
        return full_matcher(pattern, dot_matches_newline=False)
    except PatternError as error:
        raise MatcherError(error.detail) from error


# Reading --------------------------------------------------------------------------------------------------------------


def parse_matchers(text: str) -> tuple[LabelMatcher, ...]:
    """Matchers of a text such as `{a="b", c=~"d|e"}` or `a=b`, in its order.

    Raises:
        MatcherError: neither grammar takes it; the text is that of the UTF-8 one.
    """
    try:
        found = parse_utf8(text)
    except MatcherError as error:
        try:
            return tuple(parse_classic(text))
        except MatcherError:
            raise error from None
    try:
        classic = parse_classic(text)
    except MatcherError:
        return tuple(found)
    return tuple(found if found == classic else classic)


def parse_classic(text: str) -> list[LabelMatcher]:
    """By the classic grammar alone.

    Raises:
        MatcherError: it is none.
    """
    return [_parse_one_classic(token) for token in _split_classic(text.removeprefix("{").removesuffix("}"))]


def parse_utf8(text: str) -> list[LabelMatcher]:
    """By the UTF-8 grammar alone.

    Raises:
        MatcherError: it is none.
    """
    return _Utf8Parser(text).parse()


def _split_classic(text: str) -> list[str]:
    tokens: list[str] = []
    token = ""
    inside = escaped = False
    for character in text:
        if character == "," and not inside:
            tokens.append(token)
            token = ""
            continue
        if character == '"':
            if not escaped:
                inside = not inside
            escaped = False
        elif character != ",":
            escaped = character == "\\" and not escaped
        token += character
    if token.strip():
        tokens.append(token.strip())
    return tokens


def _parse_one_classic(text: str) -> LabelMatcher:
    found = _CLASSIC.fullmatch(text)
    if found is None:
        raise MatcherError(f"bad matcher format: {text}")
    name, operator, raw = found.groups()
    return LabelMatcher(name, MatchOperatorName(operator), _unescape_classic(raw.rstrip("\t\n\f\r ")))


def _unescape_classic(given: str) -> str:
    raw = given.removeprefix('"')
    waits_for_quote = raw != given
    value = ""
    escaped = False
    for place, character in enumerate(raw):
        last = place == len(raw) - 1
        if escaped:
            escaped = False
            value += {"n": "\n", '"': '"', "\\": "\\"}.get(character, "\\" + character)
        elif character == "\\" and not last:
            escaped = True
        elif character == '"':
            if not waits_for_quote or not last:
                raise MatcherError(f"matcher value contains unescaped double quote: {given}")
            waits_for_quote = False
        else:
            value += character
    if waits_for_quote:
        raise MatcherError(f"matcher value contains unescaped double quote: {given}")
    return value


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    """`{`, `}`, `,`, `operator`, `quoted`, `bare`, or `end`."""
    text: str
    column: int


class _Utf8Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _scan(text)
        self._place = 0

    def parse(self) -> list[LabelMatcher]:
        found: list[LabelMatcher] = []
        brace = self._take_if("{")
        if self._tokens[0].kind == "end":
            return found
        while self._peek().kind != "}":
            if self._peek().kind == "end":
                if brace:
                    raise self._error("expected close brace")
                break
            found.append(self._matcher())
            if self._peek().kind not in (",", "}", "end"):
                raise self._error("expected a comma or close brace")
            if not self._take_if(","):
                if self._peek().kind == "end" and brace:
                    raise self._error("expected close brace")
                break
        if self._peek().kind == "}":
            if not brace:
                raise self._error("expected opening brace")
            self._next()
        elif brace:
            raise self._error("expected close brace")
        if self._peek().kind != "end":
            raise self._error("expected end of input")
        return found

    def _matcher(self) -> LabelMatcher:
        name = self._expect(("quoted", "bare"), "expected label name")
        operator = self._expect(("operator",), "expected an operator such as '=', '!=', '=~' or '!~'")
        value = self._expect(("quoted", "bare"), "expected label value")
        return LabelMatcher(_unquote(name), MatchOperatorName(operator.text), _unquote(value))

    def _peek(self) -> _Token:
        return self._tokens[self._place]

    def _next(self) -> _Token:
        token = self._tokens[self._place]
        self._place += 1
        return token

    def _take_if(self, kind: str) -> bool:
        if self._peek().kind == kind:
            self._place += 1
            return True
        return False

    def _expect(self, kinds: Sequence[str], message: str) -> _Token:
        if self._peek().kind not in kinds:
            raise self._error(message)
        return self._next()

    def _error(self, message: str) -> MatcherError:
        token = self._peek()
        what = "end of input" if token.kind == "end" else repr(token.text)
        return MatcherError(f"{message} at column {token.column + 1} of {self._text!r}, found {what}")


def _is_reserved(character: str) -> bool:
    return character in RESERVED or character.isspace()


def _scan(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    place = 0
    while place < len(text):
        character = text[place]
        start = place
        if character.isspace():
            place += 1
            continue
        if character in "{},":
            place += 1
            tokens.append(_Token(character, character, start))
        elif character in "=!":
            operator = next((one for one in ("=~", "!=", "!~", "=") if text.startswith(one, place)), None)
            if operator is None:
                raise MatcherError(f"expected '=' or '~' after '!' at column {start + 2} of {text!r}")
            place += len(operator)
            tokens.append(_Token("operator", operator, start))
        elif character == '"':
            place = _end_of_quoted(text, place)
            tokens.append(_Token("quoted", text[start:place], start))
        elif _is_reserved(character):
            raise MatcherError(
                f"invalid input {character!r} at column {start + 1} of {text!r}; put it in double quotes"
            )
        else:
            while place < len(text) and not _is_reserved(text[place]):
                place += 1
            tokens.append(_Token("bare", text[start:place], start))
    tokens.append(_Token("end", "", len(text)))
    return tokens


def _end_of_quoted(text: str, start: int) -> int:
    escaped = False
    for place in range(start + 1, len(text)):
        if escaped:
            escaped = False
        elif text[place] == "\\":
            escaped = True
        elif text[place] == '"':
            return place + 1
    raise MatcherError(f"missing end quote of {text[start:]!r}")


def _unquote(token: _Token) -> str:
    """As Go's strconv.Unquote for a string in double quotes."""
    if token.kind == "bare":
        return token.text
    if "\n" in token.text:
        raise MatcherError(f"invalid input {token.text}: a line feed is written \\n")
    try:
        return unquote(token.text, errors="strict")
    except GoSyntaxError as error:
        raise MatcherError(f"invalid input {token.text}: a backslash is written \\\\") from error
    except UnicodeDecodeError as error:
        raise MatcherError(f"invalid input {token.text}: not UTF-8") from error

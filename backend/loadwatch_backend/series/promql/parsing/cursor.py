"""Reads the tokens of a PromQL text one after another, and words what is unexpected as Prometheus does."""

import math

from loadwatch_formats.durations import parse_duration

from loadwatch_backend.series.promql.errors import QueryParseError
from loadwatch_backend.series.promql.parsing.lexer import AGGREGATORS, KEYWORDS, Kind, Token, invalid, tokens_of
from loadwatch_backend.series.promql.parsing.syntax import NumberNode

# Read once: finding a member of an enumeration takes longer than the comparison.
_AT = (Kind.MARK, Kind.OPERATOR, Kind.KEYWORD)
_FOLLOWING = (Kind.MARK, Kind.KEYWORD)


def number_value(text: str) -> float:
    """Of a number as it is written: with underscores, hexadecimal, octal with a leading zero; `inf` and `nan`."""
    plain = text.replace("_", "")
    if plain[:2].lower() == "0x":
        return float(int(plain, 16))
    if len(plain) > 1 and plain[0] == "0" and plain.isdigit() and not set(plain) & {"8", "9"}:
        return float(int(plain, 8)) if len(plain) < 22 else float(plain)
    return float(plain)


class Cursor:
    """The tokens of a text, and how far they were read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens_of(text)
        self.place = 0

    @property
    def next(self) -> Token:
        """The token that comes."""
        return self.tokens[self.place]

    def take(self) -> Token:
        """The next token, which is read with that."""
        token = self.tokens[self.place]
        self.place += 1
        return token

    def at(self, *texts: str) -> bool:
        """Whether one of these marks, operators or keywords comes."""
        token = self.next
        return token.text in texts and token.kind in _AT

    def accept(self, *texts: str) -> Token | None:
        """Reads it, if one of these comes."""
        return self.take() if self.at(*texts) else None

    def follows(self, *texts: str) -> bool:
        """Whether the token after the next one is one of these."""
        token = self.tokens[min(self.place + 1, len(self.tokens) - 1)]
        return token.text in texts and token.kind in _FOLLOWING

    def last_end(self) -> int:
        """Where the last token ended that was read."""
        return self.tokens[self.place - 1].end

    def error(self, start: int, message: str) -> QueryParseError:
        """An error at a place."""
        return invalid(self.text, start, message)

    def unexpected(self, context: str = "", expected: str = "") -> QueryParseError:
        """The error for the token that comes."""
        token = self.next
        message = f"unexpected {_describe(token)}"
        if context:
            message += f" in {context}"
        if expected:
            message += f", expected {expected}"
        return self.error(token.start, message)

    def number(self) -> NumberNode:
        """A number or a duration, which comes."""
        token = self.take()
        if token.kind is Kind.NUMBER:
            try:
                value = number_value(token.text)
            except OverflowError:
                value = math.inf
            if math.isinf(value) and token.text != "inf":
                raise self.error(token.start, f'error parsing number: "{token.text[:100]}": value out of range')
            return NumberNode(start=token.start, end=token.end, value=value)
        try:
            value = parse_duration(token.text) / 1000
        except ValueError as error:
            raise self.error(token.start, str(error)) from error
        return NumberNode(start=token.start, end=token.end, value=value, is_duration=True)


def _describe(token: Token) -> str:
    """A token as Prometheus names it in errors."""
    quoted = '"' + token.raw.replace("\\", "\\\\").replace('"', '\\"') + '"'
    match token.kind:
        case Kind.END:
            return "end of input"
        case Kind.NUMBER:
            return f"number {quoted}"
        case Kind.DURATION:
            return f"duration {quoted}"
        case Kind.STRING:
            return f"string {quoted}"
        case Kind.WORD:
            return f"{'metric identifier' if ':' in token.raw else 'identifier'} {quoted}"
        case Kind.OPERATOR:
            return f"<op:{token.raw}>"
        case Kind.KEYWORD if token.text in AGGREGATORS:
            return f"<aggr:{token.raw}>"
        case Kind.KEYWORD if token.text in KEYWORDS:
            return f"<{token.raw}>"
        case _:
            return quoted

"""The grammar of PromQL: tokens to nodes, by precedence climbing.

Source: promql/parser/generated_parser.y and parse.go of Prometheus 3. What is read is bounded by the lexer; recursion
goes with brackets and operators, both counted there. Everything stands that Prometheus has behind feature flags.

Source: the duration expressions of promql/parser/generated_parser.y of Prometheus 3.
"""

import math
from dataclasses import dataclass, field

from loadwatch_formats.durations import parse_duration

from loadwatch_backend.core.text import GoSyntaxError, unquote
from loadwatch_backend.series.promql.errors import QueryParseError
from loadwatch_backend.series.promql.parsing.expression import MOST_SECONDS, Arithmetic
from loadwatch_backend.series.promql.parsing.lexer import (
    AGGREGATORS,
    KEYWORDS,
    PRECEDENCE,
    PREPROCESSORS,
    Kind,
    Token,
    invalid,
    tokens_of,
)
from loadwatch_backend.series.store.port import MatchOperator


@dataclass(slots=True)
class Node:
    start: int


@dataclass(slots=True)
class NumberNode(Node):
    """A number or a duration in seconds."""

    value: float


@dataclass(slots=True)
class StringNode(Node):
    value: str


@dataclass(slots=True)
class ParenthesisNode(Node):
    inner: Node


@dataclass(slots=True)
class SignNode(Node):
    operator: str
    inner: Node


@dataclass(slots=True)
class BinaryNode(Node):
    operator: str
    operator_start: int
    left: Node
    right: Node
    return_bool: bool = False
    on: bool = False
    labels: tuple[str, ...] | None = None
    group: str = ""
    """`left`, `right`, or nothing."""
    include: tuple[str, ...] = ()
    fill_left: float | None = None
    fill_right: float | None = None


@dataclass(slots=True)
class CallNode(Node):
    name: str
    arguments: list[Node]


@dataclass(slots=True)
class AggregationNode(Node):
    operator: str
    arguments: list[Node]
    labels: tuple[str, ...] = ()
    without: bool = False


@dataclass(slots=True)
class MatcherNode(Node):
    """One condition on a label; a name alone stands for the metric's."""

    name: str
    operator: MatchOperator
    value: str


@dataclass(slots=True)
class Shifted(Node):
    """A node that `offset` and `@` may follow."""

    offset: Arithmetic | None = None
    at: "float | str | None" = None
    """Seconds, `start` or `end`."""


@dataclass(slots=True)
class SelectorNode(Shifted):
    name: str = ""
    matchers: list[MatcherNode] = field(default_factory=list[MatcherNode])
    extended: str = ""
    """`anchored`, `smoothed`, or nothing."""


@dataclass(slots=True)
class RangeNode(Node):
    """A range selector; its modifiers are those of the selector."""

    selector: SelectorNode
    range: Arithmetic


@dataclass(slots=True, kw_only=True)
class SubqueryNode(Shifted):
    inner: Node
    range: Arithmetic
    step: Arithmetic | None = None


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
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens_of(text)
        self.place = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.place]

    def take(self) -> Token:
        token = self.tokens[self.place]
        self.place += 1
        return token

    def at(self, *texts: str) -> bool:
        token = self.next
        return token.text in texts and token.kind in _AT

    def accept(self, *texts: str) -> Token | None:
        return self.take() if self.at(*texts) else None

    def expect(self, text: str, context: str = "", expected: str = "") -> None:
        """Take the next token; raises QueryParseError when it is another."""
        if not self.accept(text):
            raise self.unexpected(context, expected)

    def follows(self, *texts: str) -> bool:
        """Whether the token after the next one is one of these."""
        token = self.tokens[min(self.place + 1, len(self.tokens) - 1)]
        return token.text in texts and token.kind in _FOLLOWING

    def error(self, start: int, message: str) -> QueryParseError:
        return invalid(self.text, start, message)

    def unexpected(self, context: str = "", expected: str = "") -> QueryParseError:
        token = self.next
        within, wanted = context and f" in {context}", expected and f", expected {expected}"
        return self.error(token.start, f"unexpected {_describe(token)}{within}{wanted}")

    def number(self) -> NumberNode:
        token = self.take()
        if token.kind is Kind.NUMBER:
            try:
                value = number_value(token.text)
            except OverflowError:
                value = math.inf
            if math.isinf(value) and token.text != "inf":
                raise self.error(token.start, f'error parsing number: "{token.text[:100]}": value out of range')
            return NumberNode(token.start, value)
        try:
            return NumberNode(token.start, parse_duration(token.text) / 1000)
        except ValueError as error:
            raise self.error(token.start, str(error)) from error


def _describe(token: Token) -> str:
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


POWER = PRECEDENCE["^"]
_MOST_AT = 2**62 / 1000
"""Seconds of `@`: with any offset, its milliseconds are still an int64."""
_NO_METRICS = frozenset(("on", "ignoring", "group_left", "group_right", "bool"))


def parse_syntax(text: str) -> Node:
    """The nodes of a text.

    Raises:
        QueryParseError: it is not PromQL, or it is too large.
    """
    return _Grammar(text).whole()


class _Grammar(Cursor):
    def whole(self) -> Node:
        if len(self.tokens) == 1:
            raise self.error(0, "no expression found in input")
        node = self._expression(1)
        if self.place < len(self.tokens) - 1:
            raise self.unexpected()
        return node

    def _expression(self, least: int) -> Node:
        left = self._sign() if self.at("+", "-") else self._with_modifiers(self._primary())
        while self.next.kind is Kind.OPERATOR:
            precedence = PRECEDENCE.get(self.next.text, 0)
            if precedence < least or not precedence:
                break
            operator = self.take()
            binary = BinaryNode(left.start, operator.text, operator.start, left, right=left)
            self._binary_modifiers(binary)
            # Powers group from the right, all others from the left.
            binary.right = self._expression(precedence if precedence == POWER else precedence + 1)
            left = binary
        return left

    def _sign(self) -> Node:
        sign = self.take()
        # A sign binds as a product does: -x^2 is -(x^2).
        inner = self._expression(POWER)
        if isinstance(inner, NumberNode):
            inner.value = -inner.value if sign.text == "-" else inner.value
            inner.start = sign.start
            return inner
        return SignNode(sign.start, sign.text, inner)

    def _primary(self) -> Node:
        token = self.next
        match token.kind:
            case Kind.NUMBER | Kind.DURATION:
                return self.number()
            case Kind.STRING:
                return StringNode(token.start, self._unquoted(self.take()))
            case Kind.MARK if token.text == "(":
                self.take()
                inner = self._expression(1)
                self.expect(")")
                return ParenthesisNode(token.start, inner)
            case Kind.MARK if token.text == "{":
                return self._selector()
            case Kind.KEYWORD if token.text in AGGREGATORS and self.follows("(", "by", "without"):
                return self._aggregation()
            case Kind.WORD | Kind.KEYWORD if (
                (token.kind is Kind.WORD and ":" not in token.text) or token.text in PREPROCESSORS
            ) and self.follows("("):
                self.take()
                return CallNode(token.start, token.text, self._arguments())
            case Kind.WORD | Kind.KEYWORD if token.text not in _NO_METRICS:
                return self._selector()
            case Kind.OPERATOR if token.text in ("and", "or", "unless"):
                # A metric may have such a name.
                return self._selector()
            case _:
                raise self.unexpected()

    def _unquoted(self, token: Token) -> str:
        try:
            return unquote(token.text)
        except GoSyntaxError as error:
            raise self.error(token.start, str(error)) from error

    def _arguments(self) -> list[Node]:
        self.take()
        found: list[Node] = []
        if self.accept(")"):
            return found
        while True:
            found.append(self._expression(1))
            comma = self.accept(",")
            if comma and self.at(")"):
                raise self.error(comma.start, "trailing commas not allowed in function call args")
            if comma:
                continue
            self.expect(")")
            return found

    def _aggregation(self) -> Node:
        operator = self.take()
        labels, without, has_modifier = self._grouping()
        if not self.at("("):
            raise self.unexpected("aggregation")
        arguments = self._arguments()
        if not has_modifier:
            labels, without, _ = self._grouping()
        return AggregationNode(operator.start, operator.text, arguments, labels, without)

    def _grouping(self) -> tuple[tuple[str, ...], bool, bool]:
        found = self.accept("by", "without")
        return (self._label_names(), found.text == "without", True) if found else ((), False, False)

    def _label_names(self) -> tuple[str, ...]:
        self.expect("(", "grouping opts", '"("')
        names: list[str] = []
        while not self.accept(")"):
            if names:
                self.expect(",", "grouping opts", '"," or ")"')
                if self.accept(")"):
                    break
            names.append(self._label_name())
        return tuple(names)

    def _label_name(self) -> str:
        token = self.next
        if token.kind is Kind.STRING:
            name = self._unquoted(token)
        elif token.kind in (Kind.WORD, Kind.KEYWORD) or token.text in ("and", "or", "unless", "atan2"):
            name = token.raw
        else:
            raise self.unexpected("grouping opts", "label")
        if not name:
            raise self.error(token.start, 'invalid label name for grouping: ""')
        self.take()
        return name

    def _binary_modifiers(self, binary: BinaryNode) -> None:
        binary.return_bool = self.accept("bool") is not None
        matching = self.accept("on", "ignoring")
        if matching:
            binary.on = matching.text == "on"
            binary.labels = self._label_names()
            group = self.accept("group_left", "group_right")
            if group:
                binary.group = group.text.removeprefix("group_")
                binary.include = self._label_names() if self.at("(") else ()
        fill = self.accept("fill")
        if fill:
            binary.fill_left = binary.fill_right = self._fill_value()
            return
        for _ in range(2):
            if binary.fill_left is None and self.accept("fill_left"):
                binary.fill_left = self._fill_value()
            elif binary.fill_right is None and self.accept("fill_right"):
                binary.fill_right = self._fill_value()

    def _fill_value(self) -> float:
        self.expect("(")
        value = self._signed_number()
        self.expect(")")
        return value

    def _signed_number(self, context: str = "", expected: str = "") -> float:
        sign = self.accept("+", "-")
        if self.next.kind not in (Kind.NUMBER, Kind.DURATION):
            raise self.unexpected(context, expected)
        value = self.number().value
        return -value if sign and sign.text == "-" else value

    # Selectors -------------------------------------------------------------------------------------------------------

    def _selector(self) -> Node:
        token = self.next
        node = SelectorNode(token.start)
        if token.text != "{":
            node.name = self.take().raw
        if not self.accept("{"):
            return node
        while not self.accept("}"):
            if node.matchers:
                self.expect(",", "label matching", '"," or "}"')
                if self.accept("}"):
                    break
            node.matchers.append(self._matcher())
        return node

    def _matcher(self) -> MatcherNode:
        label = self.next
        if label.kind not in (Kind.WORD, Kind.STRING):
            raise self.unexpected("label matching", 'identifier or "}"')
        self.take()
        name = self._unquoted(label) if label.kind is Kind.STRING else label.text
        operator = self.accept("=", "!=", "=~", "!~")
        if operator is None:
            if label.kind is Kind.WORD:
                raise self.unexpected("label matching", "label matching operator")
            return MatcherNode(label.start, "__name__", MatchOperator.EQUAL, name)
        if self.next.kind is not Kind.STRING:
            raise self.unexpected("label matching", "string")
        return MatcherNode(label.start, name, MatchOperator(operator.text), self._unquoted(self.take()))

    # Modifiers -------------------------------------------------------------------------------------------------------

    def _with_modifiers(self, node: Node) -> Node:
        while True:
            if self.at("["):
                node = self._bracket(node)
            elif self.accept("offset"):
                self._offset(node)
            elif self.accept("@"):
                self._timestamp(node)
            elif self.at("anchored", "smoothed"):
                self._extended(node, self.take().text)
            else:
                return node

    def _bracket(self, node: Node) -> Node:
        opening = self.take()
        length = self._duration(1, "subquery or range selector", "number, duration, step(), or range()", positive=True)
        if self.accept("]"):
            if not isinstance(node, SelectorNode):
                raise self.error(opening.start, "ranges only allowed for vector selectors")
            if node.offset is not None:
                raise self.error(opening.start, "no offset modifiers allowed before range")
            if node.at is not None:
                raise self.error(opening.start, "no @ modifiers allowed before range")
            return RangeNode(node.start, node, length)
        self.expect(":", "subquery or range", '":" or "]"')
        step = None
        if not self.at("]"):
            expected = 'number, duration, step(), range(), or "]"'
            step = self._duration(1, "subquery selector", expected, positive=True)
        self.expect("]", "subquery selector", '"]"')
        return SubqueryNode(node.start, inner=node, range=length, step=step)

    def _shifted(self, node: Node, what: str) -> Shifted:
        target = node.selector if isinstance(node, RangeNode) else node
        if not isinstance(target, Shifted):
            raise self.error(
                node.start,
                f"{what} modifier must be preceded by an instant vector selector or range vector selector or a"
                " subquery",
            )
        return target

    def _offset(self, node: Node) -> None:
        expected = "number, duration, step(), or range()"
        # Arithmetic only in brackets: `x offset 5 ^ 2` is (x offset 5) ^ 2.
        least = 1 if self.at("(") else POWER + 1
        offset = self._duration(least, "offset", expected, positive=False)
        target = self._shifted(node, "offset")
        if target.offset is not None:
            raise self.error(node.start, "offset may not be set multiple times")
        target.offset = offset

    def _timestamp(self, node: Node) -> None:
        edge = self.accept("start", "end")
        at: float | str
        if edge:
            at = edge.text
            self.expect("(", "@", "timestamp")
            self.expect(")", "@", "timestamp")
        else:
            at = self._signed_number("@", "timestamp")
            if not math.isfinite(at) or abs(at) >= _MOST_AT:
                raise self.error(node.start, f"timestamp out of bounds for @ modifier: {at:f}")
        target = self._shifted(node, "@")
        if target.at is not None:
            raise self.error(node.start, "@ <timestamp> may not be set multiple times")
        target.at = at

    def _extended(self, node: Node, kind: str) -> None:
        target = node.selector if isinstance(node, RangeNode) else node
        if isinstance(target, SubqueryNode):
            raise self.error(node.start, f"{kind} modifier is not supported for subqueries")
        if not isinstance(target, SelectorNode):
            raise self.error(node.start, f"{kind} modifier not implemented")
        if target.extended and target.extended != kind:
            raise self.error(node.start, "anchored and smoothed modifiers cannot be used together")
        target.extended = kind

    # Durations -------------------------------------------------------------------------------------------------------

    def _duration(self, least: int, context: str, expected: str, *, positive: bool) -> Arithmetic:
        found = self._duration_arithmetic(least, context, expected)
        if positive and not found.operator and not found.value > 0:
            raise self.error(found.start, "duration must be greater than 0")
        return found

    def _duration_arithmetic(self, least: int, context: str, expected: str) -> Arithmetic:
        left = self._duration_part(context, expected)
        while self.next.kind is Kind.OPERATOR:
            precedence = PRECEDENCE.get(self.next.text, 0)
            if precedence < max(least, 4) or self.next.text == "atan2":
                break
            operator = self.take()
            right = self._duration_arithmetic(precedence + (precedence != POWER), context, expected)
            if operator.text in ("/", "%") and not right.operator and right.value == 0:
                what = "division" if operator.text == "/" else "modulo"
                raise self.error(operator.start, f"{what} by zero")
            left = Arithmetic(operator=operator.text, left=left, right=right, start=left.start)
        return left

    def _duration_part(self, context: str, expected: str) -> Arithmetic:
        token = self.next
        if sign := self.accept("+", "-"):
            # Behind `offset`, a sign is for what follows it alone.
            if context == "offset":
                inner = self._duration_part(context, expected)
            else:
                inner = self._duration_arithmetic(POWER, context, expected)
            if not inner.operator:
                value = -inner.value if sign.text == "-" else inner.value
                return Arithmetic(operator="", value=value, start=sign.start)
            return inner if sign.text == "+" else Arithmetic(operator="-", right=inner, start=sign.start)
        if token.kind in (Kind.NUMBER, Kind.DURATION):
            number = self.number()
            if not abs(number.value) <= MOST_SECONDS:
                raise self.error(number.start, "duration out of range")
            return Arithmetic(operator="", value=number.value, start=number.start)
        if self.accept("("):
            inner = self._duration_arithmetic(1, "duration", expected)
            self.expect(")", context, '")"')
            return inner if inner.operator else Arithmetic(operator="+", right=inner, start=token.start)
        word = self.accept(*PREPROCESSORS - {"start", "end"})
        if word is None:
            raise self.unexpected(context, expected)
        self.expect("(", context, '"("')
        left = right = None
        if word.text in ("min_of", "max_of"):
            left = self._duration_arithmetic(1, "duration", expected)
            self.expect(",", context, '","')
            right = self._duration_arithmetic(1, "duration", expected)
        self.expect(")", context, '")"')
        return Arithmetic(operator=word.text, left=left, right=right, start=token.start)

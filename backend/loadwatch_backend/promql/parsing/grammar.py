"""The grammar of PromQL: tokens to nodes, by precedence climbing.

Source: promql/parser/generated_parser.y and parse.go of Prometheus 3. What is read is bounded by the lexer; recursion
goes with brackets and operators, both counted there. Everything stands that Prometheus has behind feature flags.
"""

import math

from loadwatch_formats.durations import parse_duration

from loadwatch_backend.kit.text.goquote import GoSyntaxError, unquote
from loadwatch_backend.promql.errors import QueryParseError
from loadwatch_backend.promql.parsing.durations import MOST_SECONDS
from loadwatch_backend.promql.parsing.lexer import (
    AGGREGATORS,
    KEYWORDS,
    PREPROCESSORS,
    Kind,
    Token,
    invalid,
    tokens_of,
)
from loadwatch_backend.promql.parsing.syntax import (
    AggregationNode,
    BinaryNode,
    CallNode,
    Duration,
    DurationNode,
    MatcherNode,
    Node,
    NumberNode,
    ParenthesisNode,
    RangeNode,
    SelectorNode,
    Shifted,
    SignNode,
    StringNode,
    SubqueryNode,
)
from loadwatch_backend.store.port import MatchOperator

_PRECEDENCE = {
    "or": 1,
    **dict.fromkeys(("and", "unless"), 2),
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "</", ">/"), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%", "atan2"), 5),
    "^": 6,
}
_POWER = _PRECEDENCE["^"]
_MATCH = {
    "=": MatchOperator.EQUAL,
    "!=": MatchOperator.NOT_EQUAL,
    "=~": MatchOperator.REGEX,
    "!~": MatchOperator.NOT_REGEX,
}
_NO_METRICS = frozenset(("on", "ignoring", "group_left", "group_right", "bool"))


def parse_syntax(text: str) -> Node:
    """The nodes of a text.

    Raises:
        QueryParseError: it is not PromQL, or it is too large.
    """
    return _Grammar(text).whole()


def number_value(text: str) -> float:
    """Of a number as it is written: with underscores, hexadecimal, octal with a leading zero; `inf` and `nan`."""
    plain = text.replace("_", "")
    if plain[:2].lower() == "0x":
        return float(int(plain, 16))
    if len(plain) > 1 and plain[0] == "0" and plain.isdigit() and not set(plain) & {"8", "9"}:
        return float(int(plain, 8)) if len(plain) < 22 else float(plain)
    return float(plain)


class _Grammar:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens_of(text)
        self._place = 0

    # Tokens ----------------------------------------------------------------------------------------------------------

    @property
    def _next(self) -> Token:
        return self._tokens[self._place]

    def _take(self) -> Token:
        token = self._tokens[self._place]
        self._place += 1
        return token

    def _at(self, *texts: str) -> bool:
        token = self._next
        return token.kind in (Kind.MARK, Kind.OPERATOR, Kind.KEYWORD) and token.text in texts

    def _accept(self, *texts: str) -> Token | None:
        return self._take() if self._at(*texts) else None

    def _follows(self, *texts: str) -> bool:
        """Whether the token after the next one is one of these."""
        token = self._tokens[min(self._place + 1, len(self._tokens) - 1)]
        return token.kind in (Kind.MARK, Kind.KEYWORD) and token.text in texts

    def _last_end(self) -> int:
        return self._tokens[self._place - 1].end

    def _error(self, start: int, message: str) -> QueryParseError:
        return invalid(self._text, start, message)

    def _unexpected(self, context: str = "", expected: str = "") -> QueryParseError:
        token = self._next
        message = f"unexpected {_describe(token)}"
        if context:
            message += f" in {context}"
        if expected:
            message += f", expected {expected}"
        return self._error(token.start, message)

    # Expressions -----------------------------------------------------------------------------------------------------

    def whole(self) -> Node:
        """The expression that the text is."""
        if len(self._tokens) == 1:
            raise self._error(0, "no expression found in input")
        node = self._expression(1)
        if self._place < len(self._tokens) - 1:
            raise self._unexpected()
        return node

    def _expression(self, least: int) -> Node:
        left = self._sign() if self._at("+", "-") else self._with_modifiers(self._primary())
        while self._next.kind is Kind.OPERATOR:
            precedence = _PRECEDENCE.get(self._next.text, 0)
            if precedence < least or not precedence:
                break
            operator = self._take()
            binary = BinaryNode(
                start=left.start,
                end=0,
                operator=operator.text,
                operator_start=operator.start,
                left=left,
                right=left,
            )
            self._binary_modifiers(binary)
            # Powers group from the right, all others from the left.
            binary.right = self._expression(precedence if precedence == _POWER else precedence + 1)
            binary.end = binary.right.end
            left = binary
        return left

    def _sign(self) -> Node:
        sign = self._take()
        # A sign binds as a product does: -x^2 is -(x^2).
        inner = self._expression(_POWER)
        if isinstance(inner, NumberNode):
            inner.value = -inner.value if sign.text == "-" else inner.value
            inner.start = sign.start
            return inner
        return SignNode(start=sign.start, end=inner.end, operator=sign.text, inner=inner)

    def _primary(self) -> Node:
        token = self._next
        match token.kind:
            case Kind.NUMBER | Kind.DURATION:
                return self._number()
            case Kind.STRING:
                self._take()
                return StringNode(start=token.start, end=token.end, value=self._unquoted(token), written=token.text)
            case Kind.MARK if token.text == "(":
                return self._parenthesis()
            case Kind.MARK if token.text == "{":
                return self._selector()
            case Kind.KEYWORD if token.text in AGGREGATORS and self._follows("(", "by", "without"):
                return self._aggregation()
            case Kind.WORD | Kind.KEYWORD if self._is_call(token):
                return self._call()
            case Kind.WORD | Kind.KEYWORD if token.text not in _NO_METRICS:
                return self._selector()
            case Kind.OPERATOR if token.text in ("and", "or", "unless"):
                # A metric may have such a name.
                return self._selector()
            case _:
                raise self._unexpected()

    def _is_call(self, token: Token) -> bool:
        is_function = (token.kind is Kind.WORD and ":" not in token.text) or token.text in PREPROCESSORS
        return is_function and self._follows("(")

    def _number(self) -> NumberNode:
        token = self._take()
        if token.kind is Kind.NUMBER:
            return NumberNode(start=token.start, end=token.end, value=number_value(token.text))
        try:
            value = parse_duration(token.text) / 1000
        except ValueError as error:
            raise self._error(token.start, str(error)) from error
        return NumberNode(start=token.start, end=token.end, value=value, is_duration=True)

    def _unquoted(self, token: Token) -> str:
        try:
            return unquote(token.text)
        except GoSyntaxError as error:
            raise self._error(token.start, str(error)) from error

    def _parenthesis(self) -> Node:
        start = self._take().start
        inner = self._expression(1)
        if not self._accept(")"):
            raise self._unexpected()
        return ParenthesisNode(start=start, end=self._last_end(), inner=inner)

    def _arguments(self) -> list[Node]:
        self._take()
        found: list[Node] = []
        if self._accept(")"):
            return found
        while True:
            found.append(self._expression(1))
            comma = self._accept(",")
            if comma and self._at(")"):
                raise self._error(comma.start, "trailing commas not allowed in function call args")
            if comma:
                continue
            if not self._accept(")"):
                raise self._unexpected()
            return found

    def _call(self) -> Node:
        name = self._take()
        return CallNode(start=name.start, name=name.text, arguments=self._arguments(), end=self._last_end())

    def _aggregation(self) -> Node:
        operator = self._take()
        labels, without, has_modifier = self._grouping()
        if not self._at("("):
            raise self._unexpected("aggregation")
        arguments = self._arguments()
        if not has_modifier:
            labels, without, _ = self._grouping()
        return AggregationNode(
            start=operator.start,
            end=self._last_end(),
            operator=operator.text,
            arguments=arguments,
            labels=labels,
            without=without,
        )

    def _grouping(self) -> tuple[tuple[str, ...], bool, bool]:
        found = self._accept("by", "without")
        return (self._label_names(), found.text == "without", True) if found else ((), False, False)

    def _label_names(self) -> tuple[str, ...]:
        if not self._accept("("):
            raise self._unexpected("grouping opts", '"("')
        names: list[str] = []
        while not self._accept(")"):
            if names and not self._accept(","):
                raise self._unexpected("grouping opts", '"," or ")"')
            if names and self._accept(")"):
                break
            names.append(self._label_name())
        return tuple(names)

    def _label_name(self) -> str:
        token = self._next
        if token.kind is Kind.STRING:
            name = self._unquoted(token)
        elif token.kind in (Kind.WORD, Kind.KEYWORD) or token.text in ("and", "or", "unless", "atan2"):
            name = token.raw
        else:
            raise self._unexpected("grouping opts", "label")
        if not name:
            raise self._error(token.start, 'invalid label name for grouping: ""')
        self._take()
        return name

    def _binary_modifiers(self, binary: BinaryNode) -> None:
        binary.return_bool = self._accept("bool") is not None
        matching = self._accept("on", "ignoring")
        if matching:
            binary.on = matching.text == "on"
            binary.labels = self._label_names()
            group = self._accept("group_left", "group_right")
            if group:
                binary.group = group.text.removeprefix("group_")
                binary.include = self._label_names() if self._at("(") else ()
        fill = self._accept("fill")
        if fill:
            binary.fill_left = binary.fill_right = self._fill_value()
            return
        for _ in range(2):
            if binary.fill_left is None and self._accept("fill_left"):
                binary.fill_left = self._fill_value()
            elif binary.fill_right is None and self._accept("fill_right"):
                binary.fill_right = self._fill_value()

    def _fill_value(self) -> float:
        if not self._accept("("):
            raise self._unexpected()
        sign = self._accept("+", "-")
        if self._next.kind not in (Kind.NUMBER, Kind.DURATION):
            raise self._unexpected()
        value = self._number().value
        if not self._accept(")"):
            raise self._unexpected()
        return -value if sign and sign.text == "-" else value

    # Selectors -------------------------------------------------------------------------------------------------------

    def _selector(self) -> Node:
        token = self._next
        node = SelectorNode(start=token.start, end=token.end)
        if token.text != "{":
            node.name = self._take().raw
        if self._accept("{"):
            self._matchers(node)
        node.end = self._last_end()
        return node

    def _matchers(self, node: SelectorNode) -> None:
        while not self._accept("}"):
            if node.matchers and not self._accept(","):
                raise self._unexpected("label matching", '"," or "}"')
            if node.matchers and self._accept("}"):
                break
            node.matchers.append(self._matcher())

    def _matcher(self) -> MatcherNode:
        label = self._next
        if label.kind not in (Kind.WORD, Kind.STRING):
            raise self._unexpected("label matching", 'identifier or "}"')
        self._take()
        name = self._unquoted(label) if label.kind is Kind.STRING else label.text
        operator = self._accept("=", "!=", "=~", "!~")
        if operator is None:
            if label.kind is Kind.WORD:
                raise self._unexpected("label matching", "label matching operator")
            return MatcherNode(
                start=label.start,
                end=label.end,
                name="__name__",
                operator=MatchOperator.EQUAL,
                value=name,
                written=label.text,
            )
        value = self._next
        if value.kind is not Kind.STRING:
            raise self._unexpected("label matching", "string")
        self._take()
        return MatcherNode(
            start=label.start,
            end=value.end,
            name=name,
            operator=_MATCH[operator.text],
            value=self._unquoted(value),
            written=value.text,
        )

    # Modifiers -------------------------------------------------------------------------------------------------------

    def _with_modifiers(self, node: Node) -> Node:
        while True:
            if self._at("["):
                node = self._bracket(node)
            elif self._accept("offset"):
                self._offset(node)
            elif self._accept("@"):
                self._timestamp(node)
            elif self._at("anchored", "smoothed"):
                self._extended(node, self._take().text)
            else:
                return node

    def _bracket(self, node: Node) -> Node:
        opening = self._take()
        length = self._duration(1, "subquery or range selector", "number, duration, step(), or range()", positive=True)
        if self._accept("]"):
            if not isinstance(node, SelectorNode):
                raise self._error(opening.start, "ranges only allowed for vector selectors")
            if node.offset is not None:
                raise self._error(opening.start, "no offset modifiers allowed before range")
            if node.at is not None:
                raise self._error(opening.start, "no @ modifiers allowed before range")
            return RangeNode(start=node.start, end=self._last_end(), selector=node, range=length)
        if not self._accept(":"):
            raise self._unexpected("subquery or range", '":" or "]"')
        step = None
        if not self._at("]"):
            expected = 'number, duration, step(), range(), or "]"'
            step = self._duration(1, "subquery selector", expected, positive=True)
        if not self._accept("]"):
            raise self._unexpected("subquery selector", '"]"')
        return SubqueryNode(start=node.start, end=self._last_end(), inner=node, range=length, step=step)

    def _shifted(self, node: Node, what: str) -> Shifted:
        target = node.selector if isinstance(node, RangeNode) else node
        if not isinstance(target, Shifted):
            raise self._error(
                node.start,
                f"{what} modifier must be preceded by an instant vector selector or range vector selector or a"
                " subquery",
            )
        return target

    def _offset(self, node: Node) -> None:
        expected = "number, duration, step(), or range()"
        # Arithmetic only in brackets: `x offset 5 ^ 2` is (x offset 5) ^ 2.
        least = 1 if self._at("(") else _POWER + 1
        offset = self._duration(least, "offset", expected, positive=False)
        target = self._shifted(node, "offset")
        if target.offset is not None:
            raise self._error(node.start, "offset may not be set multiple times")
        target.offset = offset
        node.end = self._last_end()

    def _timestamp(self, node: Node) -> None:
        edge = self._accept("start", "end")
        at: float | str
        if edge:
            at = edge.text
            if not self._accept("("):
                raise self._unexpected("@", "timestamp")
            if not self._accept(")"):
                raise self._unexpected("@", "timestamp")
        else:
            sign = self._accept("+", "-")
            if self._next.kind not in (Kind.NUMBER, Kind.DURATION):
                raise self._unexpected("@", "timestamp")
            value = self._number().value
            at = -value if sign and sign.text == "-" else value
            if not math.isfinite(at) or abs(at) >= 2**63 / 1000:
                raise self._error(node.start, f"timestamp out of bounds for @ modifier: {at:f}")
        target = self._shifted(node, "@")
        if target.at is not None:
            raise self._error(node.start, "@ <timestamp> may not be set multiple times")
        target.at = at
        node.end = self._last_end()

    def _extended(self, node: Node, kind: str) -> None:
        target = node.selector if isinstance(node, RangeNode) else node
        if isinstance(target, SubqueryNode):
            raise self._error(node.start, f"{kind} modifier is not supported for subqueries")
        if not isinstance(target, SelectorNode):
            raise self._error(node.start, f"{kind} modifier not implemented")
        if target.extended and target.extended != kind:
            raise self._error(node.start, "anchored and smoothed modifiers cannot be used together")
        target.extended = kind
        node.end = self._last_end()

    # Durations -------------------------------------------------------------------------------------------------------

    def _duration(self, least: int, context: str, expected: str, *, positive: bool) -> Duration:
        found = self._duration_arithmetic(least, context, expected)
        if positive and isinstance(found, NumberNode) and not found.value > 0:
            raise self._error(found.start, "duration must be greater than 0")
        return found

    def _duration_arithmetic(self, least: int, context: str, expected: str) -> Duration:
        left = self._duration_part(context, expected)
        while self._next.kind is Kind.OPERATOR:
            precedence = _PRECEDENCE.get(self._next.text, 0)
            if precedence < max(least, 4) or self._next.text == "atan2":
                break
            operator = self._take()
            right = self._duration_arithmetic(precedence + (precedence != _POWER), context, expected)
            if operator.text in ("/", "%") and isinstance(right, NumberNode) and right.value == 0:
                what = "division" if operator.text == "/" else "modulo"
                raise self._error(operator.start, f"{what} by zero")
            left = DurationNode(start=left.start, end=right.end, operator=operator.text, left=left, right=right)
        return left

    def _duration_part(self, context: str, expected: str) -> Duration:
        token = self._next
        if sign := self._accept("+", "-"):
            # Behind `offset`, a sign is for what follows it alone.
            if context == "offset":
                inner = self._duration_part(context, expected)
            else:
                inner = self._duration_arithmetic(_POWER, context, expected)
            if isinstance(inner, NumberNode):
                inner.value = -inner.value if sign.text == "-" else inner.value
                inner.start = sign.start
                return inner
            if sign.text == "+":
                return inner
            return DurationNode(start=sign.start, end=inner.end, operator="-", right=inner)
        if token.kind in (Kind.NUMBER, Kind.DURATION):
            number = self._number()
            if not abs(number.value) <= MOST_SECONDS:
                raise self._error(number.start, "duration out of range")
            return number
        if self._accept("("):
            inner = self._duration_arithmetic(1, "duration", expected)
            self._expect_in_duration(")", context)
            if isinstance(inner, DurationNode):
                inner.in_brackets = True
                return inner
            return DurationNode(start=token.start, end=self._last_end(), operator="+", right=inner, in_brackets=True)
        word = self._accept(*PREPROCESSORS - {"start", "end"})
        if word is None:
            raise self._unexpected(context, expected)
        self._expect_in_duration("(", context)
        node = DurationNode(start=token.start, end=token.end, operator=word.text)
        if word.text in ("min_of", "max_of"):
            node.left = self._duration_arithmetic(1, "duration", expected)
            self._expect_in_duration(",", context)
            node.right = self._duration_arithmetic(1, "duration", expected)
        self._expect_in_duration(")", context)
        node.end = self._last_end()
        return node

    def _expect_in_duration(self, mark: str, context: str) -> None:
        if not self._accept(mark):
            raise self._unexpected(context, f'"{mark}"')


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

"""The grammar of durations: `[5m * 2]`, `offset -(step() + 1m)`.

Source: the duration expressions of promql/parser/generated_parser.y of Prometheus 3.
"""

from loadwatch_backend.series.promql.parsing.cursor import Cursor
from loadwatch_backend.series.promql.parsing.durations import MOST_SECONDS
from loadwatch_backend.series.promql.parsing.lexer import PRECEDENCE, PREPROCESSORS, Kind
from loadwatch_backend.series.promql.parsing.syntax import Duration, DurationNode, NumberNode

POWER = PRECEDENCE["^"]


class DurationCursor(Cursor):
    """Reads durations."""

    def duration(self, least: int, context: str, expected: str, *, positive: bool) -> Duration:
        """A duration that comes; `context` and `expected` are words for errors."""
        found = self._duration_arithmetic(least, context, expected)
        if positive and isinstance(found, NumberNode) and not found.value > 0:
            raise self.error(found.start, "duration must be greater than 0")
        return found

    def _duration_arithmetic(self, least: int, context: str, expected: str) -> Duration:
        left = self._duration_part(context, expected)
        while self.next.kind is Kind.OPERATOR:
            precedence = PRECEDENCE.get(self.next.text, 0)
            if precedence < max(least, 4) or self.next.text == "atan2":
                break
            operator = self.take()
            right = self._duration_arithmetic(precedence + (precedence != POWER), context, expected)
            if operator.text in ("/", "%") and isinstance(right, NumberNode) and right.value == 0:
                what = "division" if operator.text == "/" else "modulo"
                raise self.error(operator.start, f"{what} by zero")
            left = DurationNode(start=left.start, end=right.end, operator=operator.text, left=left, right=right)
        return left

    def _duration_part(self, context: str, expected: str) -> Duration:
        token = self.next
        if sign := self.accept("+", "-"):
            # Behind `offset`, a sign is for what follows it alone.
            if context == "offset":
                inner = self._duration_part(context, expected)
            else:
                inner = self._duration_arithmetic(POWER, context, expected)
            if isinstance(inner, NumberNode):
                inner.value = -inner.value if sign.text == "-" else inner.value
                inner.start = sign.start
                return inner
            if sign.text == "+":
                return inner
            return DurationNode(start=sign.start, end=inner.end, operator="-", right=inner)
        if token.kind in (Kind.NUMBER, Kind.DURATION):
            number = self.number()
            if not abs(number.value) <= MOST_SECONDS:
                raise self.error(number.start, "duration out of range")
            return number
        if self.accept("("):
            inner = self._duration_arithmetic(1, "duration", expected)
            self._expect_in_duration(")", context)
            if isinstance(inner, DurationNode):
                inner.in_brackets = True
                return inner
            return DurationNode(start=token.start, end=self.last_end(), operator="+", right=inner, in_brackets=True)
        word = self.accept(*PREPROCESSORS - {"start", "end"})
        if word is None:
            raise self.unexpected(context, expected)
        self._expect_in_duration("(", context)
        node = DurationNode(start=token.start, end=token.end, operator=word.text)
        if word.text in ("min_of", "max_of"):
            node.left = self._duration_arithmetic(1, "duration", expected)
            self._expect_in_duration(",", context)
            node.right = self._duration_arithmetic(1, "duration", expected)
        self._expect_in_duration(")", context)
        node.end = self.last_end()
        return node

    def _expect_in_duration(self, mark: str, context: str) -> None:
        if not self.accept(mark):
            raise self.unexpected(context, f'"{mark}"')

"""An expression as text over lines, as Prometheus' `format_query` gives it.

Source: promql/parser/printer.go and prettier.go of Prometheus 3. Strings stay as they were written.
"""

import re

from loadwatch_formats.durations import format_duration

from loadwatch_backend.kit.text.goquote import quote
from loadwatch_backend.promql.numbers import format_number
from loadwatch_backend.promql.parsing.catalogue import PARAMETERS
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

_WIDTH = 100
"""Characters of the longest line that is not split."""
_INDENT = "  "
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_METRIC = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*")


def layout(node: Node) -> str:
    """The text of an expression, split where it is longer than a line."""
    return _Layout().pretty(node, 0)


class _Layout:
    def __init__(self) -> None:
        self._flat: dict[int, str] = {}

    def _text(self, node: Node) -> str:
        """On one line; each node once, since every level asks for those below it."""
        found = self._flat.get(id(node))
        if found is None:
            found = self._flat[id(node)] = self._written(node)
        return found

    def pretty(self, node: Node, level: int) -> str:
        """Over lines, from an indentation on."""
        indent, flat = _INDENT * level, self._text(node)
        if isinstance(node, SignNode):
            return f"{indent}{node.operator}{self.pretty(node.inner, level).strip()}"
        if len(flat) <= _WIDTH:
            return indent + flat
        match node:
            case AggregationNode(operator=operator, arguments=arguments):
                inner = ",\n".join(self.pretty(one, level + 1) for one in arguments)
                return f"{indent}{operator}{_grouping(node)}(\n{inner}\n{indent})"
            case BinaryNode(left=left, right=right):
                return f"{self.pretty(left, level + 1)}\n{indent}{_operator(node)}\n{self.pretty(right, level + 1)}"
            case CallNode(name=name, arguments=arguments):
                inner = ",\n".join(self.pretty(one, level + 1) for one in arguments)
                return f"{indent}{name}(\n{inner}\n{indent})"
            case ParenthesisNode(inner=inner):
                return f"{indent}(\n{self.pretty(inner, level + 1)}\n{indent})"
            case SubqueryNode(inner=inner):
                return self.pretty(inner, level) + _subquery_suffix(node)
            case _:
                return indent + flat

    def _written(self, node: Node) -> str:
        match node:
            case NumberNode():
                return _number(node)
            case StringNode(written=written):
                return written
            case ParenthesisNode(inner=inner):
                return f"({self._text(inner)})"
            case SignNode(operator=operator, inner=inner):
                return f"{operator}{self._text(inner)}"
            case BinaryNode(left=left, right=right):
                return f"{self._text(left)} {_operator(node)} {self._text(right)}"
            case CallNode(name=name, arguments=arguments):
                return f"{name}({', '.join(map(self._text, arguments))})"
            case AggregationNode(operator=operator, arguments=arguments):
                assert len(arguments) == 1 + (operator in PARAMETERS)
                return f"{operator}{_grouping(node)}({', '.join(map(self._text, arguments))})"
            case SelectorNode():
                return _selector(node) + _extended(node) + _shift(node)
            case RangeNode(selector=selector, range=length):
                return f"{_selector(selector)}[{_duration(length)}]{_extended(selector)}{_shift(selector)}"
            case SubqueryNode(inner=inner):
                return self._text(inner) + _subquery_suffix(node)
            case _:
                raise TypeError(type(node).__name__)


def _number(node: NumberNode) -> str:
    if not node.is_duration:
        return format_number(node.value)
    sign = "-" if node.value < 0 else ""
    return sign + format_duration(round(abs(node.value) * 1000))


def _labels(names: tuple[str, ...]) -> str:
    return ", ".join(name if _LABEL.fullmatch(name) else quote(name) for name in names)


def _grouping(node: AggregationNode) -> str:
    if node.without:
        return f" without ({_labels(node.labels)}) "
    return f" by ({_labels(node.labels)}) " if node.labels else ""


def _operator(node: BinaryNode) -> str:
    parts = [node.operator]
    if node.return_bool:
        parts.append("bool")
    if node.labels or node.on or node.group:
        parts.append(f"{'on' if node.on else 'ignoring'} ({_labels(node.labels or ())})")
    if node.group:
        parts.append(f"group_{node.group} ({_labels(node.include)})")
    left, right = node.fill_left, node.fill_right
    if left is not None and left == right:
        parts.append(f"fill ({format_number(left)})")
    else:
        sides = (("left", left), ("right", right))
        parts += [f"fill_{side} ({format_number(value)})" for side, value in sides if value is not None]
    return " ".join(parts)


def _selector(node: SelectorNode) -> str:
    written = sorted(_matcher(one) for one in node.matchers)
    return node.name + (f"{{{','.join(written)}}}" if written else "" if node.name else "{}")


def _matcher(node: MatcherNode) -> str:
    name = node.name if _LABEL.fullmatch(node.name) else quote(node.name)
    return f"{name}{node.operator.value}{node.written}"


def _extended(node: SelectorNode) -> str:
    return f" {node.extended}" if node.extended else ""


def _shift(node: Shifted) -> str:
    found = ""
    if isinstance(node.at, str):
        found = f" @ {node.at}()"
    elif node.at is not None:
        found = f" @ {node.at:.3f}"
    if node.offset is not None:
        found += f" offset {_duration(node.offset)}"
    return found


def _subquery_suffix(node: SubqueryNode) -> str:
    step = "" if node.step is None else _duration(node.step)
    return f"[{_duration(node.range)}:{step}]{_shift(node)}"


def _duration(node: Duration) -> str:
    if isinstance(node, NumberNode):
        sign = "-" if node.value < 0 else ""
        return sign + format_duration(round(abs(node.value) * 1000))
    text = _duration_arithmetic(node)
    return f"({text})" if node.in_brackets else text


def _part(node: Duration | None) -> str:
    assert node is not None
    return _number(node) if isinstance(node, NumberNode) else _duration(node)


def _duration_arithmetic(node: DurationNode) -> str:
    if node.operator in ("step", "range"):
        return f"{node.operator}()"
    if node.operator in ("min_of", "max_of"):
        return f"{node.operator}({_part(node.left)}, {_part(node.right)})"
    if node.left is None:
        return ("-" if node.operator == "-" else "") + _part(node.right)
    return f"{_part(node.left)} {node.operator} {_part(node.right)}"

"""The tree of an expression as a document, as Prometheus' `parse_query` gives it.

Source: web/api/v1/translate_ast.go of Prometheus 3; a golden file made by it holds this to the letter.
"""

from typing import Any

from loadwatch_backend.promql.numbers import format_number
from loadwatch_backend.promql.parsing.catalogue import FUNCTIONS_BY_NAME, PARAMETERS, SET_OPERATORS, FunctionEntry
from loadwatch_backend.promql.parsing.expression import Cardinality, ValueType
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

Document = dict[str, Any]

_CARDINALITIES = {"": Cardinality.ONE_TO_ONE, "left": Cardinality.MANY_TO_ONE, "right": Cardinality.ONE_TO_MANY}
_METRIC = "__name__"


def tree_of(node: Node) -> Document:
    """The document of nodes whose types have been checked."""
    match node:
        case NumberNode(value=value):
            return {"type": "numberLiteral", "val": format_number(value)}
        case StringNode(value=text):
            return {"type": "stringLiteral", "val": text}
        case ParenthesisNode(inner=inner):
            return {"type": "parenExpr", "expr": tree_of(inner)}
        case SignNode(operator=operator, inner=inner):
            return {"type": "unaryExpr", "op": operator, "expr": tree_of(inner)}
        case BinaryNode():
            return _binary(node)
        case AggregationNode():
            return _aggregation(node)
        case CallNode(name=name, arguments=arguments):
            return {"type": "call", "func": _function(FUNCTIONS_BY_NAME[name]), "args": [tree_of(a) for a in arguments]}
        case SelectorNode():
            return {"type": "vectorSelector", **_selector(node)}
        case RangeNode(selector=selector, range=length):
            return {"type": "matrixSelector", **_selector(selector), **_length("range", length)}
        case SubqueryNode():
            return {
                "type": "subquery",
                "expr": tree_of(node.inner),
                **_length("range", node.range),
                **_length("step", node.step),
                **_shift(node),
            }
        case _:
            raise TypeError(type(node).__name__)


def _aggregation(node: AggregationNode) -> Document:
    *parameter, inner = node.arguments
    return {
        "type": "aggregation",
        "op": node.operator,
        "expr": tree_of(inner),
        "param": tree_of(parameter[0]) if node.operator in PARAMETERS else None,
        "grouping": list(node.labels),
        "without": node.without,
    }


def _binary(node: BinaryNode) -> Document:
    return {
        "type": "binaryExpr",
        "op": node.operator,
        "lhs": tree_of(node.left),
        "rhs": tree_of(node.right),
        "matching": _matching(node) if _is_vector(node.left) and _is_vector(node.right) else None,
        "bool": node.return_bool,
    }


def _matching(node: BinaryNode) -> Document:
    many = node.operator in SET_OPERATORS
    return {
        "card": (Cardinality.MANY_TO_MANY if many else _CARDINALITIES[node.group]).value,
        "labels": list(node.labels or ()),
        "on": node.on,
        "include": list(node.include),
        "fillValues": {"lhs": node.fill_left, "rhs": node.fill_right},
    }


def _is_vector(node: Node) -> bool:
    match node:
        case ParenthesisNode(inner=inner) | SignNode(inner=inner):
            return _is_vector(inner)
        case BinaryNode(left=left, right=right):
            return _is_vector(left) or _is_vector(right)
        case CallNode(name=name):
            return FUNCTIONS_BY_NAME[name].returns is ValueType.VECTOR
        case _:
            return isinstance(node, AggregationNode | SelectorNode)


def _function(entry: FunctionEntry) -> Document:
    return {
        "name": entry.name,
        "argTypes": [kind.value for kind in entry.types],
        "variadic": _variadic(entry),
        "returnType": entry.returns.value,
    }


def _variadic(entry: FunctionEntry) -> int:
    """Arguments that may be left out or come on top: none, so many, or -1 for any number."""
    if not entry.is_variadic:
        return 0
    return -1 if entry.most is None else entry.most - entry.least


def _selector(node: SelectorNode) -> Document:
    named = [{"name": _METRIC, "value": node.name, "type": "="}] if node.name else []
    return {
        "name": node.name,
        "matchers": [_matcher(one) for one in node.matchers] + named,
        "anchored": node.extended == "anchored",
        "smoothed": node.extended == "smoothed",
        **_shift(node),
    }


def _matcher(node: MatcherNode) -> Document:
    return {"name": node.name, "value": node.value, "type": node.operator.value}


def _shift(node: Shifted) -> Document:
    at = node.at
    return {
        **_length("offset", node.offset),
        "timestamp": None if at is None or isinstance(at, str) else round(at * 1000),
        "startOrEnd": at if isinstance(at, str) else None,
    }


def _length(name: str, node: Duration | None) -> Document:
    """Its milliseconds where it is plain; the arithmetic that makes it where it is not."""
    if isinstance(node, DurationNode):
        return {name: 0, f"{name}Expr": _arithmetic(node)}
    return {name: 0 if node is None else round(node.value * 1000), f"{name}Expr": None}


def _arithmetic(node: Duration | None) -> Document | None:
    match node:
        case None:
            return None
        case NumberNode(value=value, is_duration=is_duration):
            return {"type": "numberLiteral", "val": format_number(value), "duration": is_duration}
        case DurationNode():
            return {
                "type": "durationExpr",
                "op": node.operator,
                "lhs": _arithmetic(node.left),
                "rhs": _arithmetic(node.right),
                "wrapped": node.in_brackets,
            }

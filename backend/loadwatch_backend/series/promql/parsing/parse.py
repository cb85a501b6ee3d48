"""Text to `Expression`: lexer, grammar and checks of types, with bounds and a memory of what was parsed.

Source: checkAST of promql/parser/parse.go. The tree has no parentheses and no places.
"""

from functools import lru_cache

from loadwatch_backend.series.promql.errors import QueryParseError, QueryUnsupportedError
from loadwatch_backend.series.promql.parsing.catalogue import (
    COMPARISON_OPERATORS,
    FUNCTION_TYPES,
    FUNCTIONS_BY_NAME,
    NATIVE_OPERATORS,
    PARAMETERS,
    SET_OPERATORS,
    FunctionEntry,
)
from loadwatch_backend.series.promql.parsing.expression import (
    Aggregation,
    Arithmetic,
    Binary,
    Call,
    Cardinality,
    Edge,
    Expression,
    Matching,
    Negation,
    Number,
    RangeSelector,
    Selector,
    Subquery,
    Text,
    ValueType,
    milliseconds_of,
)
from loadwatch_backend.series.promql.parsing.grammar import (
    AggregationNode,
    BinaryNode,
    CallNode,
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
    parse_syntax,
)
from loadwatch_backend.series.promql.parsing.lexer import invalid, place_of
from loadwatch_backend.series.store.errors import PatternError
from loadwatch_backend.series.store.patterns import full_matcher, value_test
from loadwatch_backend.series.store.port import Matcher, MatchOperator

Typed = tuple[Expression, ValueType]

TYPE_NAMES = {
    ValueType.STRING: "string",
    ValueType.MATRIX: "range vector",
    ValueType.SCALAR: "scalar",
    ValueType.VECTOR: "instant vector",
}
_OPERANDS = (ValueType.SCALAR, ValueType.VECTOR)
_GROUPS = {"": Cardinality.ONE_TO_ONE, "left": Cardinality.MANY_TO_ONE, "right": Cardinality.ONE_TO_MANY}


class _Translation:
    def __init__(self, text: str) -> None:
        self._text = text

    def _error(self, node: Node | Arithmetic, message: str) -> QueryParseError:
        return invalid(self._text, node.start, message)

    def typed(self, node: Node) -> Typed:
        match node:
            case NumberNode():
                return Number(node.value), ValueType.SCALAR
            case StringNode():
                return Text(node.value), ValueType.STRING
            case ParenthesisNode():
                return self.typed(node.inner)
            case SignNode():
                return self._sign(node)
            case SelectorNode():
                return self._selector(node), ValueType.VECTOR
            case RangeNode():
                length_ms, later = self._duration(node.range, positive=True)
                selector = self._selector(node.selector)
                return RangeSelector(selector=selector, range_ms=length_ms, range_later=later), ValueType.MATRIX
            case SubqueryNode():
                return self._subquery(node), ValueType.MATRIX
            case CallNode():
                return self._call(node)
            case AggregationNode():
                return self._aggregation(node), ValueType.VECTOR
            case BinaryNode():
                return self._binary(node)
            case _:
                raise TypeError(type(node).__name__)

    def _sign(self, node: SignNode) -> Typed:
        inner, kind = self.typed(node.inner)
        if kind not in _OPERANDS:
            raise self._error(
                node,
                "unary expression only allowed on expressions of type scalar or instant vector, got"
                f' "{TYPE_NAMES[kind]}"',
            )
        return (Negation(inner) if node.operator == "-" else inner), kind

    def _expect(self, node: Node, wanted: ValueType, context: str) -> Expression:
        found, kind = self.typed(node)
        if kind is not wanted:
            raise self._error(node, f"expected type {TYPE_NAMES[wanted]} in {context}, got {TYPE_NAMES[kind]}")
        return found

    # Selectors -------------------------------------------------------------------------------------------------------

    def _selector(self, node: SelectorNode, *, may_be_empty: bool = False) -> Selector:
        matchers = [self._matcher(one) for one in node.matchers]
        if node.name:
            for one in matchers:
                if one.label == "__name__":
                    raise self._error(
                        node, f'metric name must not be set twice: "{node.name[:200]}" or "{one.value[:200]}"'
                    )
            matchers.insert(0, Matcher("__name__", MatchOperator.EQUAL, node.name))
        elif not may_be_empty and all(value_test(one)("") for one in matchers):
            raise self._error(node, "vector selector must contain at least one non-empty matcher")
        if node.extended:
            raise self._error(node, f"{node.extended} modifier is experimental and not enabled")
        offset_ms, offset_later = self._duration(node.offset)
        at_ms, edge = _at(node)
        return Selector(
            matchers=tuple(matchers), offset_ms=offset_ms, offset_later=offset_later, at_ms=at_ms, at_edge=edge
        )

    def _matcher(self, node: MatcherNode) -> Matcher:
        if node.operator in (MatchOperator.REGEX, MatchOperator.NOT_REGEX):
            try:
                full_matcher(node.value)
            except PatternError as error:
                raise self._error(node, error.detail) from error
        return Matcher(node.name, node.operator, node.value)

    def _subquery(self, node: SubqueryNode) -> Subquery:
        inner, kind = self.typed(node.inner)
        if kind is not ValueType.VECTOR:
            raise self._error(node, f"subquery is only allowed on instant vector, got {kind.value} instead")
        range_ms, range_later = self._duration(node.range, positive=True)
        step_ms, step_later = self._duration(node.step, positive=True)
        offset_ms, offset_later = self._duration(node.offset)
        at_ms, edge = _at(node)
        return Subquery(
            expression=inner,
            range_ms=range_ms,
            range_later=range_later,
            step_ms=step_ms if node.step else None,
            step_later=step_later,
            offset_ms=offset_ms,
            offset_later=offset_later,
            at_ms=at_ms,
            at_edge=edge,
        )

    def _duration(self, node: Arithmetic | None, *, positive: bool = False) -> tuple[int, Arithmetic | None]:
        """Milliseconds, or the arithmetic that needs the query's range and step first."""
        if node is None or not node.is_constant:
            return 0, node
        try:
            return milliseconds_of(node, 0, 0, positive=positive), None
        except ValueError as error:
            raise self._error(node, str(error)) from error

    # Functions and operators -----------------------------------------------------------------------------------------

    def _call(self, node: CallNode) -> Typed:
        entry = FUNCTIONS_BY_NAME.get(node.name)
        if entry is None:
            raise self._error(node, f'unknown function with name "{node.name[:200]}"')
        types, count = entry.types, len(node.arguments)
        if count < entry.least or (entry.most is not None and count > entry.most):
            bound = f"at least {entry.least}" if count < entry.least else f"at most {entry.most}"
            wanted = bound if entry.is_variadic else entry.least
            raise self._error(node, f'expected {wanted} argument(s) in call to "{node.name}", got {count}')
        context = f'call to function "{node.name}"'
        arguments = [
            self._argument(entry, place, one, types[min(place, len(types) - 1)], context)
            for place, one in enumerate(node.arguments)
        ]
        places = tuple(place_of(self._text, one.start) for one in (node, *node.arguments))
        return Call(function=node.name, arguments=tuple(arguments), places=places), entry.returns

    def _argument(self, entry: FunctionEntry, place: int, node: Node, wanted: ValueType, context: str) -> Expression:
        if entry.name == "info" and place == 1:
            if not isinstance(node, SelectorNode):
                raise self._error(node, "expected label selectors only")
            if node.name:
                raise self._error(node, "expected label selectors only, got vector selector instead")
            return self._selector(node, may_be_empty=True)
        return self._expect(node, wanted, context)

    def _aggregation(self, node: AggregationNode) -> Aggregation:
        if not node.arguments:
            raise self._error(node, "no arguments for aggregate expression provided")
        wanted = PARAMETERS.get(node.operator)
        count = 1 if wanted is None else 2
        if len(node.arguments) != count:
            raise self._error(
                node,
                f"wrong number of arguments for aggregate expression provided, expected {count}, got"
                f" {len(node.arguments)}",
            )
        inner = self._expect(node.arguments[-1], ValueType.VECTOR, "aggregation expression")
        parameter = None if wanted is None else self._expect(node.arguments[0], wanted, "aggregation parameter")
        return Aggregation(
            operator=node.operator,
            expression=inner,
            parameter=parameter,
            labels=node.labels,
            without=node.without,
            place=place_of(self._text, node.arguments[0].start),
        )

    def _binary(self, node: BinaryNode) -> Typed:
        (left, left_type), (right, right_type) = self.typed(node.left), self.typed(node.right)
        operator = node.operator
        if operator in NATIVE_OPERATORS:
            raise QueryUnsupportedError(
                f"the operator {operator} is not supported by the embedded engine (at character"
                f" {node.operator_start + 1}): it trims native histograms, which are not stored."
            )
        at_operator = Node(node.operator_start)
        if node.return_bool and operator not in COMPARISON_OPERATORS:
            raise self._error(at_operator, "bool modifier can only be used on comparison operators")
        both_scalar = left_type is right_type is ValueType.SCALAR
        if operator in COMPARISON_OPERATORS and not node.return_bool and both_scalar:
            raise self._error(at_operator, "comparisons between scalars must use BOOL modifier")
        for name in node.labels or ():
            if node.on and name in node.include:
                raise self._error(at_operator, f'label "{name[:200]}" must not occur in ON and GROUP clause at once')
        for kind, side in ((left_type, node.left), (right_type, node.right)):
            if kind not in _OPERANDS:
                raise self._error(side, "binary expression must contain only scalar and instant vector types")
        self._check_matching(node, vectors=left_type is right_type is ValueType.VECTOR)
        matching = Matching(
            cardinality=Cardinality.MANY_TO_MANY if operator in SET_OPERATORS else _GROUPS[node.group],
            on=node.on,
            labels=node.labels or (),
            include=node.include,
            fill_left=node.fill_left,
            fill_right=node.fill_right,
        )
        binary = Binary(operator=operator, left=left, right=right, matching=matching, return_bool=node.return_bool)
        return binary, ValueType.SCALAR if both_scalar else ValueType.VECTOR

    def _check_matching(self, node: BinaryNode, *, vectors: bool) -> None:
        is_set, fills = node.operator in SET_OPERATORS, node.fill_left is not None or node.fill_right is not None
        if not vectors:
            if node.labels:
                raise self._error(node, "vector matching only allowed between instant vectors")
            if fills:
                raise self._error(node, "filling in missing series only allowed between instant vectors")
            if is_set:
                raise self._error(node, f'set operator "{node.operator}" not allowed in binary scalar expression')
        elif is_set:
            if node.group:
                raise self._error(node, f'no grouping allowed for "{node.operator}" operation')
            if fills:
                raise self._error(node, "filling in missing series not allowed for set operators")


def _at(node: Shifted) -> tuple[int | None, Edge | None]:
    if isinstance(node.at, str):
        return None, Edge(node.at)
    return (None if node.at is None else round(node.at * 1000)), None


_CACHED_TEXT = 2_000
"""Characters of the longest text whose tree is kept: all of them together take some 70 MiB at the very most."""


def parse_expression(text: str) -> Expression:
    """The tree of `text`.

    Raises:
        QueryParseError: not PromQL, or its types do not fit, or it is too large.
        QueryUnsupportedError: PromQL, with a construct that is not evaluated here.
    """
    return _kept(text) if len(text) <= _CACHED_TEXT else _parse(text)


def _parse(text: str) -> Expression:
    return _Translation(text).typed(parse_syntax(text))[0]


_kept = lru_cache(maxsize=2048)(_parse)


def value_type(expression: Expression) -> ValueType:
    match expression:
        case Number():
            return ValueType.SCALAR
        case Text():
            return ValueType.STRING
        case RangeSelector() | Subquery():
            return ValueType.MATRIX
        case Call(function=name):
            # The rate that charts draw has no name that a user could write.
            return FUNCTION_TYPES.get(name, ValueType.VECTOR)
        case Negation(expression=inner):
            return value_type(inner)
        case Binary(left=left, right=right):
            both = value_type(left), value_type(right)
            return ValueType.SCALAR if both == (ValueType.SCALAR, ValueType.SCALAR) else ValueType.VECTOR
        case _:
            return ValueType.VECTOR

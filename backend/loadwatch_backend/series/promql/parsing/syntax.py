"""What the grammar makes of a text: nodes with their places, before types are checked.

Made by `grammar`, read by `translate` (which makes the tree that is evaluated) and `layout`.
"""

from dataclasses import dataclass, field

from loadwatch_backend.series.store.port import MatchOperator


@dataclass(slots=True, kw_only=True)
class Node:
    """Something that begins and ends at characters of the text."""

    start: int
    end: int


@dataclass(slots=True, kw_only=True)
class NumberNode(Node):
    """A number or a duration in seconds."""

    value: float
    is_duration: bool = False


@dataclass(slots=True, kw_only=True)
class StringNode(Node):
    """A string, and how it was written."""

    value: str
    written: str


@dataclass(slots=True, kw_only=True)
class ParenthesisNode(Node):
    """An expression in parentheses."""

    inner: Node


@dataclass(slots=True, kw_only=True)
class SignNode(Node):
    """Plus or minus before an expression."""

    operator: str
    inner: Node


@dataclass(slots=True, kw_only=True)
class BinaryNode(Node):
    """Two expressions and what stands between them."""

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


@dataclass(slots=True, kw_only=True)
class CallNode(Node):
    """A function."""

    name: str
    arguments: list[Node]


@dataclass(slots=True, kw_only=True)
class AggregationNode(Node):
    """An aggregation."""

    operator: str
    arguments: list[Node]
    labels: tuple[str, ...] = ()
    without: bool = False


@dataclass(slots=True, kw_only=True)
class DurationNode(Node):
    """Arithmetic of durations: `step`, `range`, `min_of`, `max_of`, a sign (without `left`), or two of them."""

    operator: str
    left: "DurationNode | NumberNode | None" = None
    right: "DurationNode | NumberNode | None" = None
    in_brackets: bool = False


Duration = DurationNode | NumberNode


@dataclass(slots=True, kw_only=True)
class MatcherNode(Node):
    """One condition on a label; a name alone stands for the metric's."""

    name: str
    operator: MatchOperator
    value: str
    written: str


@dataclass(slots=True, kw_only=True)
class Shifted(Node):
    """What modifiers may stand behind."""

    offset: Duration | None = None
    at: "float | str | None" = None
    """Seconds, `start` or `end`."""


@dataclass(slots=True, kw_only=True)
class SelectorNode(Shifted):
    """An instant selector."""

    name: str = ""
    matchers: list[MatcherNode] = field(default_factory=list[MatcherNode])
    extended: str = ""
    """`anchored`, `smoothed`, or nothing."""


@dataclass(slots=True, kw_only=True)
class RangeNode(Node):
    """A range selector; its modifiers are those of the selector."""

    selector: SelectorNode
    range: Duration


@dataclass(slots=True, kw_only=True)
class SubqueryNode(Shifted):
    """A subquery."""

    inner: Node
    range: Duration
    step: Duration | None = None

"""What the grammar makes of a text: nodes with their places, before types are checked.

Made by `grammar`, read by `parse`, which makes the tree that is evaluated.
"""

from dataclasses import dataclass, field

from loadwatch_backend.series.store.port import MatchOperator


@dataclass(slots=True)
class Node:
    """Something that begins at a character of the text."""

    start: int


@dataclass(slots=True)
class NumberNode(Node):
    """A number or a duration in seconds."""

    value: float


@dataclass(slots=True)
class StringNode(Node):
    """A string."""

    value: str


@dataclass(slots=True)
class ParenthesisNode(Node):
    """An expression in parentheses."""

    inner: Node


@dataclass(slots=True)
class SignNode(Node):
    """Plus or minus before an expression."""

    operator: str
    inner: Node


@dataclass(slots=True)
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


@dataclass(slots=True)
class CallNode(Node):
    """A function."""

    name: str
    arguments: list[Node]


@dataclass(slots=True)
class AggregationNode(Node):
    """An aggregation."""

    operator: str
    arguments: list[Node]
    labels: tuple[str, ...] = ()
    without: bool = False


@dataclass(slots=True)
class DurationNode(Node):
    """Arithmetic of durations: `step`, `range`, `min_of`, `max_of`, a sign (without `left`), or two of them."""

    operator: str
    left: "DurationNode | NumberNode | None" = None
    right: "DurationNode | NumberNode | None" = None


Duration = DurationNode | NumberNode


@dataclass(slots=True)
class MatcherNode(Node):
    """One condition on a label; a name alone stands for the metric's."""

    name: str
    operator: MatchOperator
    value: str


@dataclass(slots=True)
class Shifted(Node):
    """What modifiers may stand behind."""

    offset: Duration | None = None
    at: "float | str | None" = None
    """Seconds, `start` or `end`."""


@dataclass(slots=True)
class SelectorNode(Shifted):
    """An instant selector."""

    name: str = ""
    matchers: list[MatcherNode] = field(default_factory=list[MatcherNode])
    extended: str = ""
    """`anchored`, `smoothed`, or nothing."""


@dataclass(slots=True)
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

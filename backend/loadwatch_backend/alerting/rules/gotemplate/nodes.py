"""The tree of a template (text/template/parse/node.go)."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Constant:
    """A string, number, character or boolean."""

    value: str | int | float | bool


@dataclass(frozen=True, slots=True)
class Nil:
    """The word `nil`."""


@dataclass(frozen=True, slots=True)
class Dot:
    """The cursor."""


@dataclass(frozen=True, slots=True)
class Field:
    """`.A.B`: fields of the cursor."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """`$x.A.B`; `name` with its sign."""

    name: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """`(pipeline).A.B`, or fields of a function's result."""

    operand: "Operand"
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Identifier:
    """A function's name."""

    name: str


@dataclass(frozen=True, slots=True)
class Command:
    """An operand with its arguments."""

    operands: tuple["Operand", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """Commands, each with the former one's result as its last argument; variables that take the last result."""

    commands: tuple[Command, ...]
    variables: tuple[str, ...] = ()
    assigns: bool = False
    position: int = 0


Operand = Constant | Nil | Dot | Field | Variable | Chain | Identifier | Pipeline


@dataclass(frozen=True, slots=True)
class Text:
    """Stands in the output as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Action:
    """A pipeline whose value is written."""

    pipeline: Pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """`if`, `with` or `range`."""

    kind: str
    pipeline: Pipeline
    body: "Nodes"
    otherwise: "Nodes" = ()


@dataclass(frozen=True, slots=True)
class Invoke:
    """`{{template "name" pipeline}}`."""

    name: str
    pipeline: Pipeline | None
    position: int


@dataclass(frozen=True, slots=True)
class Jump:
    """`break` or `continue`."""

    kind: str


Node = Text | Action | Branch | Invoke | Jump
Nodes = tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A parsed template with those that it defines."""

    text: str
    root: Nodes
    defined: Mapping[str, Nodes]

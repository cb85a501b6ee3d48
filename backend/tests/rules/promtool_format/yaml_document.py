"""YAML as nodes with their places, so that every error can say line and column.

What is accepted follows yaml.v3 in strict mode, which Prometheus uses: unknown and repeated keys are errors, and a
scalar of any type may stand where a text is expected.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml
from loadwatch_formats.yaml_nodes import TAG, Entry, YamlError, compose, is_null, kind_of, read_mapping

_INT = TAG + "int"
_BINARY = TAG + "binary"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Fault:
    """What is wrong, and where; line and column count from 1."""

    line: int
    column: int
    message: str


@dataclass(frozen=True, slots=True)
class Faults:
    """Collects what is wrong with a document, so that all of it can be told at once."""

    found: list[Fault] = field(default_factory=list[Fault])

    def add(self, node: yaml.Node, message: str) -> None:
        """A fault at the beginning of a node."""
        mark: Any = node.start_mark
        self.found.append(Fault(line=mark.line + 1, column=mark.column + 1, message=message))


def read_document(content: bytes, faults: Faults) -> yaml.Node | None:
    """The root node of the only document; None for an empty one, or with a fault for one that is no YAML."""
    try:
        root = compose(content)
    except YamlError as error:
        faults.found.append(Fault(line=error.line, column=error.column, message=error.text))
        return None
    return None if root is None or is_null(root) else root


def text_of(node: yaml.Node, what: str, faults: Faults) -> str | None:
    """The text of a scalar; None with a fault for anything else. `null` is the empty text."""
    if not isinstance(node, yaml.ScalarNode) or node.tag == _BINARY:
        faults.add(node, f"{what} must be a text, not {kind_of(node)}")
        return None
    return "" if is_null(node) else str(node.value)


def integer_of(node: yaml.Node, what: str, faults: Faults) -> int | None:
    """The value of a whole number; None with a fault for anything else."""
    if isinstance(node, yaml.ScalarNode) and node.tag == _INT:
        try:
            return int(node.value.replace("_", ""), 10)
        except ValueError:
            pass  # octal, hexadecimal and sexagesimal numbers
    faults.add(node, f"{what} must be a whole number such as 100")
    return None


def items_of(node: yaml.Node, what: str, faults: Faults) -> Sequence[yaml.Node]:
    """The entries of a list; empty, with a fault, for anything else."""
    if isinstance(node, yaml.SequenceNode):
        return node.value
    if not is_null(node):
        faults.add(node, f"{what} must be a list (lines that begin with `- `), not {kind_of(node)}")
    return ()


def mapping_of(
    node: yaml.Node, what: str, faults: Faults, allowed: Collection[str] | None = None
) -> Mapping[str, Entry]:
    """Entries of a mapping by key, with `<<` merged in; unknown (see `allowed`) and repeated keys are faults."""
    return read_mapping(node, what, faults.add, known=allowed)

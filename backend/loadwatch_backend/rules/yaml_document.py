"""YAML as nodes with their places, so that every error can say line and column.

What is accepted follows yaml.v3 in strict mode, which Prometheus uses: unknown and repeated keys are errors, and a
scalar of any type may stand where a text is expected.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

MAX_BYTES = 4 * 1024 * 1024
"""Of one file. A thousand rules with long descriptions are under one megabyte."""
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_NODES = 1_000_000
"""Of a document whose aliases are written out; Prometheus' own parser has a like limit."""
_MERGE = "tag:yaml.org,2002:merge"
_NULL = "tag:yaml.org,2002:null"
_INT = "tag:yaml.org,2002:int"
_BINARY = "tag:yaml.org,2002:binary"


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
    if len(content) > MAX_BYTES:
        faults.found.append(Fault(line=1, column=1, message=f"the file has more than {MAX_BYTES // 1024**2} MiB"))
        return None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        column = error.start - (before.rfind(b"\n") + 1) + 1
        faults.found.append(
            Fault(
                line=before.count(b"\n") + 1, column=column, message=f"byte 0x{content[error.start]:02x} is not UTF-8"
            )
        )
        return None
    loader = _LOADER(text)
    try:
        return _only_document(loader, faults)
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark
        context = f"{error.context}: " if error.context else ""
        faults.found.append(
            Fault(
                line=mark.line + 1 if mark else 1,
                column=mark.column + 1 if mark else 1,
                message=f"not YAML: {context}{error.problem}",
            )
        )
    except yaml.YAMLError as error:
        faults.found.append(Fault(line=1, column=1, message=f"not YAML: {error}"))
    except RecursionError:
        faults.found.append(Fault(line=1, column=1, message="the document is nested too deeply"))
    finally:
        loader.dispose()
    return None


def _only_document(loader: Any, faults: Faults) -> yaml.Node | None:
    first: yaml.Node | None = loader.get_node() if loader.check_node() else None
    if first is not None and loader.check_node():
        faults.add(loader.get_node(), "a second document begins here; write one document in a file")
    if first is not None and _size(first, {}) > _MOST_NODES:
        faults.add(first, f"with its aliases written out the document has more than {_MOST_NODES} values")
        return None
    return None if first is None or first.tag == _NULL else first


def _size(node: yaml.Node, known: dict[int, int]) -> int:
    """Nodes of a tree with aliases counted wherever they stand; one that is part of itself has no end."""
    size = known.get(id(node))
    if size is None:
        known[id(node)] = _MOST_NODES + 1
        inner: list[yaml.Node] = []
        if isinstance(node, yaml.SequenceNode):
            inner = node.value
        elif isinstance(node, yaml.MappingNode):
            inner = [part for pair in node.value for part in pair]
        size = known[id(node)] = 1 + sum(_size(part, known) for part in inner)
    return size


def is_null(node: yaml.Node) -> bool:
    """Whether nothing stands there."""
    return isinstance(node, yaml.ScalarNode) and node.tag == _NULL


def text_of(node: yaml.Node, what: str, faults: Faults) -> str | None:
    """The text of a scalar; None with a fault for anything else. `null` is the empty text."""
    if not isinstance(node, yaml.ScalarNode) or node.tag == _BINARY:
        faults.add(node, f"{what} must be a text, and a {_kind(node)} stands here")
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
        faults.add(node, f"{what} must be a list (lines that begin with `- `), and a {_kind(node)} stands here")
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One key of a mapping."""

    key: yaml.ScalarNode
    value: yaml.Node


def mapping_of(node: yaml.Node, what: str, faults: Faults, allowed: Sequence[str] | None = None) -> Mapping[str, Entry]:
    """Entries of a mapping by key, with `<<` merged in; unknown (see `allowed`) and repeated keys are faults."""
    if not isinstance(node, yaml.MappingNode):
        if not is_null(node):
            faults.add(node, f"{what} must be a mapping (`key: value`), and a {_kind(node)} stands here")
        return {}
    found: dict[str, Entry] = {}
    merged: list[yaml.Node] = []
    for key, value in _pairs(node):
        if key.tag == _MERGE:
            merged.append(value)
        elif not isinstance(key, yaml.ScalarNode):
            faults.add(key, f"a key of {what} must be a text")
        elif key.value in found:
            faults.add(key, f"the key {key.value!r} stands twice in {what}")
        elif allowed is not None and key.value not in allowed:
            faults.add(key, f"{what} has no key {key.value!r}; it may have {', '.join(allowed)}")
        else:
            found[key.value] = Entry(key=key, value=value)
    for source in merged:
        for one in source.value if isinstance(source, yaml.SequenceNode) else [source]:
            if one is not node:
                found = {**mapping_of(one, what, faults, allowed), **found}
    return found


def _pairs(node: yaml.MappingNode) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    yield from node.value


def _kind(node: yaml.Node) -> str:
    match node:
        case yaml.MappingNode():
            return "mapping"
        case yaml.SequenceNode():
            return "list"
        case _:
            return "scalar"

"""YAML as nodes that know where they stand, within bounds; what the nodes must be is the business of who reads them."""

import difflib
import io
from collections.abc import Callable, Collection
from typing import Any, NamedTuple, TypeGuard, cast

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

MAX_BYTES = 4 * 1024 * 1024
"""Of one file. A thousand rules with long descriptions are under one megabyte."""
_MOST_NODES = 1_000_000
"""Of a document whose aliases are written out; Prometheus' own parser has a like limit."""
_DEEPEST = 100
TAG = "tag:yaml.org,2002:"
MERGE = TAG + "merge"
Report = Callable[[Node, str], None]
"""Takes what is wrong and where it stands; it may raise."""
_SHOWN = 200


class YamlError(Exception):
    """The text is no document that is read; line and column count from 1.

    `text` shows nothing but a word of the document: it may hold secrets.
    """

    def __init__(self, line: int, column: int, text: str) -> None:
        super().__init__(text)
        self.line = line
        self.column = column
        self.text = text


_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):
    # libyaml composes by recursion in C: a deep document would end the process.
    _depth = 0

    def descend_resolver(self, *around: Any) -> None:
        self._depth += 1
        if self._depth > _DEEPEST + 1:
            raise _error(around[0].start_mark, "the document is nested too deeply")

    def ascend_resolver(self) -> None:
        self._depth -= 1


class Entry(NamedTuple):
    key: ScalarNode
    value: Node


def compose(content: bytes | str, name: str = "") -> Node | None:
    """The root of the only document; None when there is none. `name` is that of all marks.

    Raises:
        YamlError: it is too large, not UTF-8, not YAML, nested too deeply, or more than one document.
    """
    if len(content) > MAX_BYTES:
        raise YamlError(1, 1, f"the file has more than {MAX_BYTES // 1024**2} MiB")
    text = _decoded(content) if isinstance(content, bytes) else content
    try:
        stream: Any = io.StringIO(text)
        stream.name = name
        loader: Any = _Loader(stream)
        if not loader.check_node():
            return None
        root: Node = loader.get_node()
        if loader.check_node():
            raise _error(loader.get_node().start_mark, "a second document begins here; write one document in a file")
        if "&" in text and _size(root, {}) > _MOST_NODES:
            raise _error(
                root.start_mark, f"with its aliases written out the document has more than {_MOST_NODES} values"
            )
        return root
    except yaml.MarkedYAMLError as error:
        context = f"{error.context}: " if error.context else ""
        mark: Any = error.problem_mark or error.context_mark
        # libyaml counts a line behind the last where that has no end.
        line = min(mark.line, text.count("\n")) if mark else 0
        raise YamlError(
            line + 1, mark.column + 1 if mark else 1, f"this is not YAML: {context}{error.problem}"
        ) from None
    except yaml.YAMLError as error:
        raise YamlError(1, 1, f"this is not YAML: {error}") from None


def is_null(node: Node) -> TypeGuard[ScalarNode]:
    return isinstance(node, ScalarNode) and node.tag == TAG + "null"


def pairs(node: MappingNode) -> list[tuple[Node, Node]]:
    return cast("list[tuple[Node, Node]]", node.value)


def kind_of(node: Node) -> str:
    """What a node is, without its words: they may be secret."""
    if isinstance(node, MappingNode):
        return "a mapping"
    return "a list" if isinstance(node, SequenceNode) else "nothing" if is_null(node) else "a text"


def read_mapping(
    node: Node, what: str, report: Report, *, known: Collection[str] | None = None, merge: bool = True
) -> dict[str, Entry]:
    """Entries of a mapping by key, with those of `<<` merged in unless `merge` is false; none of null.

    Told and left out are what is no mapping, keys that are no text or given twice, and those not among `known`.
    """
    if not isinstance(node, MappingNode):
        if not is_null(node):
            report(node, f"{what} must be a mapping of keys, not {kind_of(node)}")
        return {}
    found: dict[str, Entry] = {}
    merged: list[Node] = []
    for key, value in pairs(node):
        if merge and key.tag == MERGE:
            merged += value.value if isinstance(value, SequenceNode) else [value]
        elif not isinstance(key, ScalarNode):
            report(key, f"a key of {what} must be a word, not {kind_of(key)}")
        elif key.value in found:
            first = found[key.value].key.start_mark.line + 1
            report(key, f"{key.value[:_SHOWN]!r} is given twice in {what}; the first is in line {first}")
        elif known is not None and key.value not in known:
            report(key, unknown_key(key.value, what, known))
        else:
            found[key.value] = Entry(key, value)
    for source in merged:
        if source is not node:
            found = read_mapping(source, what, report, known=known) | found
    return found


def unknown_key(key: str, what: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown key {key[:_SHOWN]!r} in {what}; {hint}known keys: {', '.join(sorted(known))}"


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        column = error.start - before.rfind(b"\n")
        raise YamlError(before.count(b"\n") + 1, column, f"byte 0x{content[error.start]:02x} is not UTF-8") from None


def _error(mark: Any, text: str) -> YamlError:
    return YamlError(mark.line + 1, mark.column + 1, text)


def _size(node: Node, known: dict[int, int]) -> int:
    """Nodes of a tree with aliases counted wherever they stand; one that is part of itself has no end."""
    size = known.get(id(node))
    if size is None:
        known[id(node)] = _MOST_NODES + 1
        inner: list[Node] = node.value if isinstance(node, SequenceNode) else []
        if isinstance(node, MappingNode):
            inner = [part for pair in pairs(node) for part in pair]
        size = known[id(node)] = 1 + sum(_size(part, known) for part in inner)
    return size

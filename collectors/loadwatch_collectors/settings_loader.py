"""Turns YAML nodes into settings dataclasses; every mistake is a `ConfigError` that names file and line."""

import dataclasses
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar, Union, cast, get_args, get_origin

from loadwatch_formats import yaml_nodes
from loadwatch_formats.yaml_nodes import TAG, Entry, YamlError, compose, is_null, kind_of, pairs
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from loadwatch_collectors.collector import Borrow
from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.settings import BYTES, DURATION, LIMIT, parse_bytes, parse_duration, parse_limit

_T = TypeVar("_T")
_TEXT_TAGS = {TAG + name for name in ("str", "int", "float", "timestamp")}
_PARSERS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    DURATION: (parse_duration, "a duration"),
    BYTES: (parse_bytes, "a size"),
    LIMIT: (parse_limit, "a limit"),
}
_SECRET_WORDS = ("password", "token", "secret", "passwd")


class Document(NamedTuple):
    """One configuration file: its name for errors, and its root node (None when it is empty)."""

    name: str
    root: Node | None

    def error(self, node: Node | None, text: str) -> ConfigError:
        line = node.start_mark.line + 1 if node is not None else 1
        return ConfigError(f"{self.name}:{line}: {text}")


def parse_document(text: str, name: str) -> Document:
    """Parse YAML into nodes.

    Raises:
        ConfigError: it is not YAML.
    """
    try:
        return Document(name, compose(text))
    except YamlError as error:
        raise ConfigError(f"{name}:{error.line}: {error.text}") from error


def load_text(text: str, name: str, settings: type[_T], what: str) -> _T:
    """Build the settings dataclass from the text of a file that comes with Loadwatch.

    Raises:
        ConfigError: it is wrong; the text names file and line.
    """
    document = parse_document(text, name)
    if document.root is None:
        raise ConfigError(f"{name}:1: the file is empty")
    return load_settings(document, document.root, settings, what)


def read_document(path: Path) -> Document:
    """Read and parse a configuration file.

    Raises:
        ConfigError: it cannot be read, or it is not YAML.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: there is no such file; write one after loadwatch.example.yml") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    return parse_document(text, str(path))


def read_mapping(document: Document, node: Node, what: str) -> dict[str, Entry]:
    """Return the entries of a mapping; a duplicate key or another kind of node is an error."""

    def refuse(at: Node, text: str) -> None:
        raise document.error(at, text)

    if not isinstance(node, MappingNode):
        refuse(node, f"{what} must be a mapping of keys, not {describe(node)}")
    return yaml_nodes.read_mapping(node, what, refuse, merge=False)


def unknown_key(document: Document, node: Node, key: str, what: str, known: Iterable[str]) -> ConfigError:
    names = sorted(known)
    if any(word in key for word in _SECRET_WORDS):
        safe = [name for name in names if name.startswith(key) and name.endswith(("_file", "_env"))]
        if safe:
            return document.error(
                node, f"{key!r}: secrets are not kept in this file; give {' or '.join(safe)} in its place"
            )
    return document.error(node, yaml_nodes.unknown_key(key, what, names))


def load_settings(document: Document, node: Node, settings: type[_T], what: str) -> _T:
    """Build the settings dataclass from a mapping node.

    Raises:
        ConfigError: an unknown, missing or duplicate key, or a value of the wrong type.
    """
    if is_null(node):
        node = MappingNode(TAG + "map", [], node.start_mark, node.end_mark)
    fields = {item.name: item for item in dataclasses.fields(cast(Any, settings)) if item.init}
    hints = typing.get_type_hints(settings, include_extras=True)
    whole = (name for name, item in fields.items() if item.metadata.get("rest"))
    values: dict[str, Any] = {name: load_value(document, node, hints[name], what) for name in whole}
    entries = {} if values else read_mapping(document, node, what)
    for key, (key_node, value_node) in entries.items():
        if key not in fields:
            raise unknown_key(document, key_node, key, what, fields)
        values[key] = load_value(document, value_node, hints[key], f"{what}.{key}")
    for name, item in fields.items():
        required = item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
        if required and name not in values:
            help_text = item.metadata.get("help", "")
            raise document.error(node, f"{what} lacks the key {name!r}. {help_text}".rstrip())
    try:
        return settings(**values)
    except (ValueError, ConfigError) as error:
        raise document.error(node, f"{what}: {error}") from error


def with_borrowed(
    document: Document, blocks: Mapping[str, Node], name: str, borrow: Borrow | None, what: str
) -> tuple[Node, tuple[str, ...]]:
    """The block `name` of a target with the keys that it borrows from another, and what to say of that.

    Raises:
        ConfigError: it needs a value of the other block that is not known beforehand.
    """
    block = blocks[name]
    lender = blocks.get(borrow.block) if borrow is not None else None
    borrower = _below(block, borrow.into) if borrow is not None else None
    if borrow is None or not isinstance(lender, MappingNode) or not isinstance(borrower, MappingNode):
        return block, ()
    given = {str(key.value) for key, _ in pairs(borrower)}
    if given.intersection(borrow.groups[0]):
        return block, ()
    if any(key.value == borrow.unknown_with for key, _ in pairs(lender)):
        raise document.error(
            block,
            f"{what} names no server, and `{borrow.block}` of this target has `{borrow.unknown_with}`, so there is not "
            f"one server to take; give {' or '.join(borrow.groups[0])}",
        )
    wanted = {key for group in borrow.groups if not given.intersection(group) for key in group}
    taken = [(key, value) for key, value in pairs(lender) if key.value in wanted]
    if not taken:
        return block, ()
    whole = MappingNode(borrower.tag, [*borrower.value, *taken], borrower.start_mark, borrower.end_mark)
    names = ", ".join(str(key.value) for key, _ in taken)
    line = lender.start_mark.line + 1
    note = f"takes {names} from `{borrow.block}` of the same target ({document.name}:{line})"
    return (_replaced(block, borrower, whole) if borrow.into else whole), (note,)


def _below(node: Node, key: str) -> Node | None:
    """The value of a key; the node itself for an empty one."""
    if not key or not isinstance(node, MappingNode):
        return node
    return next((value for name, value in pairs(node) if name.value == key), None)


def _replaced(block: Node, old: Node, new: Node) -> MappingNode:
    assert isinstance(block, MappingNode)
    replaced = [(key, new if value is old else value) for key, value in pairs(block)]
    return MappingNode(block.tag, replaced, block.start_mark, block.end_mark)


def load_value(document: Document, node: Node, hint: Any, what: str) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        options = [option for option in get_args(hint) if option is not type(None)]
        if is_null(node) and len(options) < len(get_args(hint)):
            return None
        if len(options) != 1:
            raise TypeError(f"{what}: a setting has one type, or one type and None, not {hint}")
        return load_value(document, node, options[0], what)
    if origin is Annotated:
        return _load_annotated(document, node, hint, what)
    if origin in (list, tuple):
        if not isinstance(node, SequenceNode):
            raise document.error(node, f"{what} must be a list, such as [a, b], not {describe(node)}")
        items = enumerate(cast("list[Node]", node.value))
        make: Any = origin
        return make(load_value(document, item, get_args(hint)[0], f"{what}[{index}]") for index, item in items)
    if origin is dict:
        value_hint = get_args(hint)[1]
        entries = read_mapping(document, node, what)
        return {key: load_value(document, entry[1], value_hint, f"{what}.{key}") for key, entry in entries.items()}
    if dataclasses.is_dataclass(hint):
        return load_settings(document, node, cast("type[Any]", hint), what)
    return _load_scalar(document, node, hint, what)


def describe(node: Node) -> str:
    if not isinstance(node, ScalarNode) or is_null(node):
        return kind_of(node)
    kind = {"int": "the number", "float": "the number", "bool": "the switch"}.get(
        node.tag.removeprefix(TAG), "the text"
    )
    return f"{kind} {node.value!r}"


def _load_annotated(document: Document, node: Node, hint: Any, what: str) -> Any:
    base, *marks = get_args(hint)
    known = next((_PARSERS[mark] for mark in marks if mark in _PARSERS), None)
    if known is None:
        return load_value(document, node, base, what)
    parse, kind = known
    if not isinstance(node, ScalarNode) or node.tag not in _TEXT_TAGS:
        raise document.error(node, f"{what} must be {kind}, not {describe(node)}")
    try:
        return parse(str(node.value))
    except ValueError as error:
        raise document.error(node, f"{what}: {error}") from error


def _load_scalar(document: Document, node: Node, hint: Any, what: str) -> Any:
    if isinstance(node, ScalarNode):
        kind = node.tag.removeprefix(TAG)
        text = str(node.value)
        if hint is str and node.tag in _TEXT_TAGS:
            return text
        if hint is bool and kind == "bool":
            return text.lower() in ("yes", "true", "on")
        try:
            if hint is int and kind == "int":
                return int(text.replace("_", ""), 10)
            if hint is float and kind in ("int", "float"):
                return float(text.replace("_", ""))
        except ValueError:
            pass  # YAML 1.1 takes 0o7, 1:30 and .inf for numbers; settings do not.
    words = {str: "text (put it in quotes)", int: "a whole number", float: "a number", bool: "true or false"}
    wanted = words.get(hint)
    if wanted is None:
        raise TypeError(f"{what}: settings cannot have the type {hint}")
    raise document.error(node, f"{what} must be {wanted}, not {describe(node)}")

"""YAML as a type that pydantic knows, with the place of everything that is wrong."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args

from loadwatch_formats.yaml_nodes import TAG, YamlError, compose, is_null, pairs, read_mapping, unknown_key
from pydantic import BaseModel, TypeAdapter, ValidationError
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

Loc = Sequence[str | int]
_Model = TypeVar("_Model")
_WORDS = {
    "string_type": "must be a text",
    **dict.fromkeys(("list_type", "tuple_type"), "must be a list (lines that begin with `- `)"),
    **dict.fromkeys(("dict_type", "model_type", "dataclass_type"), "must be a mapping of keys"),
    "int_parsing": "must be a whole number such as 100",
}
"""What is said instead of pydantic's words, by its type of error."""
_REFERENCE = re.compile(r"\$\{([a-z][a-z0-9_]*)\}")


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """What is wrong in a file, and where; line and column count from 1."""

    file: str
    line: int
    column: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.text}"


class FaultsError(Exception):
    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(str(one) for one in faults))
        self.faults = faults


class Document:
    """A YAML file, or one merged with a file that changes it: its nodes, and its data."""

    def __init__(self, root: Node | None, file: str, changed_in: str = "", *, texts: bool = False) -> None:
        """`texts`: as in Prometheus' files, each scalar is the text that stands there, and a file may be empty.

        Raises:
            FaultsError: it is no mapping, a key stands there twice, a tag is none of YAML's own.
        """
        if texts and (root is None or is_null(root)):
            root = MappingNode(TAG + "map", [])
        if not isinstance(root, MappingNode):
            raise FaultsError([Fault(file, 1, 1, "the file must be a mapping of keys")])
        self.root = root
        self.file = file
        self.files = {file, changed_in or file}
        constructor = _Constructor(texts=texts)
        self.data: Mapping[str, Any] = constructor.construct_document(root)
        if constructor.faults:
            raise FaultsError(constructor.faults)

    @classmethod
    def read(cls, content: bytes | str, file: str, *, texts: bool = False) -> "Document":
        """Raises: FaultsError: it is no YAML, or not what a document is; `texts` as there."""
        try:
            return cls(compose(content, file), file, texts=texts)
        except YamlError as error:
            raise FaultsError([Fault(file, error.line, error.column, error.text)]) from None

    def changed_by(self, other: "Document") -> "Document":
        """With the keys of another: entries of lists are merged by `id`, other keys replaced, those of null removed."""
        return Document(_merged(self.root, other.root), self.file, other.file)

    def text(self, at: Loc) -> str:
        """The scalar at a place; empty where there is none."""
        node = self._at(at)
        return str(node.value) if isinstance(node, ScalarNode) and not is_null(node) else ""

    def load(self, model: type[_Model], skip: Sequence[str] = ()) -> _Model:
        """The model that it describes, without the keys `skip` of the root; `${name}` is what `define` says.

        Raises:
            FaultsError: all that is wrong.
        """
        return self.typed(model, self.filled(skip))

    def filled(self, skip: Sequence[str] = ()) -> Mapping[str, Any]:
        """The data without `define`, whose values stand in place of `${name}`.

        Raises:
            FaultsError: a name is not defined.
        """
        data = {name: value for name, value in self.data.items() if name not in ("define", *skip)}
        faults: list[Fault] = []
        defined: Mapping[str, object] = self.data.get("define") or {}
        if defined:
            data = _filled(data, defined, (), lambda loc, text: faults.append(self.fault(loc, text)))
        if faults:
            raise FaultsError(sorted(faults))
        return data

    def typed(self, model: type[_Model], data: object, at: Loc = ()) -> _Model:
        """The model that the data of a place describe; paths in it may be taken from the file's `folder`.

        What a validator says that begins with "must" is said of the key.

        Raises:
            FaultsError: all that is wrong.
        """
        try:
            return _adapter(model).validate_python(data, context={"folder": Path(self.file).parent})
        except ValidationError as error:
            faults: list[Fault] = []
            for one in error.errors(include_url=False):
                *around, name = (*at, *one["loc"]) or ("the file",)
                is_unknown = one["type"] == "extra_forbidden"
                text = one["msg"].removeprefix("Value error, ")
                context = one.get("ctx", {})
                if is_unknown:
                    place = next((part for part in reversed(around) if isinstance(part, str)), "the file")
                    if context.get("instead"):
                        text = f"Loadwatch does not support {name} of Alertmanager's {place}: {context['instead']}"
                    else:
                        text = unknown_key(
                            str(name), place, context.get("known") or _known_keys(model, around[len(at) :])
                        )
                        text += "" if str(name).isidentifier() else "; quote a text that has a comma"
                elif text.startswith("must "):
                    text = f"{name if isinstance(name, str) else 'each entry'} {text}"
                elif one["type"] == "missing":
                    text = f"{name} is missing"
                elif one["type"] in _WORDS:
                    text = f"{name if isinstance(name, str) else 'each entry'} {_WORDS[one['type']]}"
                faults.append(self.fault((*at, *one["loc"]), text, key=is_unknown))
        raise FaultsError(sorted(faults))

    def fault(self, loc: Loc, text: str, *, key: bool = False) -> Fault:
        """What is wrong at a place; `key`: at the key itself."""
        return _fault(self._at(loc, key=key).start_mark, text)

    def _at(self, loc: Loc, *, key: bool = False) -> Node:
        """The node at a place, or the nearest one around it."""
        node = self.root
        for depth, part in enumerate(loc):
            if isinstance(node, MappingNode):
                found = next(
                    (one for one in pairs(node) if isinstance(one[0], ScalarNode) and one[0].value == part), None
                )
                if found is None:
                    return node
                node = found[0] if key and depth == len(loc) - 1 else found[1]
            elif isinstance(node, SequenceNode) and isinstance(part, int) and part < len(node.value):
                node = node.value[part]
            else:
                return node
        return node


_SafeConstructor: Any = SafeConstructor


class _Constructor(_SafeConstructor):
    """Keys are texts: YAML 1.1 reads `on` as true. So is `0x20`, which in promtool's notation is 21 zeros."""

    def __init__(self, *, texts: bool) -> None:
        _SafeConstructor.__init__(self)
        self._texts = texts
        self.faults: list[Fault] = []

    def construct_object(self, node: Node, deep: bool = True) -> Any:
        if isinstance(node, ScalarNode) and (self._texts or node.tag == TAG + "str"):
            return None if self._texts and is_null(node) else node.value
        if isinstance(node, SequenceNode) and node.tag == TAG + "seq":
            return [self.construct_object(one) for one in node.value]
        if isinstance(node, MappingNode) and node.tag == TAG + "map":
            entries = read_mapping(node, "this mapping", self._report)
            return {name: self.construct_object(entry.value) for name, entry in entries.items()}
        try:
            return _SafeConstructor.construct_object(self, node, deep)
        except (ConstructorError, ValueError, LookupError, AttributeError) as error:
            self._report(node, getattr(error, "problem", "") or f"this is no {node.tag.removeprefix(TAG)}")

    def _report(self, node: Node, text: str) -> None:
        self.faults.append(_fault(node.start_mark, text))

    def construct_yaml_int(self, node: ScalarNode) -> Any:
        return node.value if "x" in node.value else _SafeConstructor.construct_yaml_int(self, node)


_Constructor.add_constructor(TAG + "int", _Constructor.construct_yaml_int)


def _fault(mark: Any, text: str) -> Fault:
    return Fault(mark.name, mark.line + 1, mark.column + 1, text)


def _merged(base: Node, change: Node) -> Node:
    if isinstance(base, MappingNode) and isinstance(change, MappingNode):
        return MappingNode(base.tag, _merge_pairs(pairs(base), pairs(change)), base.start_mark, base.end_mark)
    if isinstance(base, SequenceNode) and isinstance(change, SequenceNode) and all(_id(one) for one in change.value):
        found = list(base.value)
        for one in change.value:
            place = next((place for place, other in enumerate(found) if _id(other) == _id(one)), None)
            if place is None:
                found.append(one)
            else:
                found[place] = _merged(found[place], one)
        return SequenceNode(base.tag, found, base.start_mark, base.end_mark)
    return change


def _merge_pairs(base: Sequence[tuple[Node, Node]], change: Sequence[tuple[Node, Node]]) -> list[tuple[Node, Node]]:
    found = list(base)
    for key, value in change:
        name: Any = key.value
        place = next((place for place, one in enumerate(found) if one[0].value == name), None)
        if value.tag == TAG + "null":
            found = [one for one in found if one[0].value != name]
        elif place is None:
            found.append((key, value))
        else:
            found[place] = (key, _merged(found[place][1], value))
    return found


def _id(node: Node) -> str:
    if not isinstance(node, MappingNode):
        return ""
    return next((value.value for key, value in pairs(node) if key.value == "id" and isinstance(value, ScalarNode)), "")


def _filled(value: Any, defined: Mapping[str, object], loc: Loc, report: Callable[[Loc, str], object]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(one, defined, (*loc, name), report) for name, one in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - of YAML
    if isinstance(value, list):
        return [_filled(one, defined, (*loc, place), report) for place, one in enumerate(value)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - of YAML
    if not isinstance(value, str):
        return value

    def fill(found: re.Match[str]) -> str:
        if found[1] not in defined:
            report(loc, f"${{{found[1]}}} is not defined; `define` has {', '.join(defined) or 'nothing'}")
        return str(defined.get(found[1], ""))

    return _REFERENCE.sub(fill, value)


@cache
def _adapter(model: type[_Model]) -> TypeAdapter[_Model]:
    return TypeAdapter(model)


def _known_keys(model: Any, loc: Loc) -> list[str]:
    at: type[BaseModel] = model
    for part in loc:
        field = next((one for name, one in at.model_fields.items() if (one.alias or name) == part), None)
        if field is not None:
            at = next(iter(_models_in(field.annotation)), at)
    return [field.alias or name for name, field in at.model_fields.items()]


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for one in get_args(annotation) for found in _models_in(one)]

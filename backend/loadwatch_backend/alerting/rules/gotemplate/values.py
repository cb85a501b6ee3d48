"""The values of templates: Go's types in Python.

| Go | here |
| --- | --- |
| string, bool, int, float64 | str, bool, int, float |
| nil | None |
| map[string]string | a mapping (`StringMap`: what is missing is the empty string) |
| map[string]any | any other mapping (what is missing is nil) |
| slice | a list or tuple |
| struct, or a type with methods | `Structure` |
"""

from collections.abc import Callable, Mapping
from typing import Any


class TemplateError(Exception):
    """The template cannot be read, or cannot be expanded with these values."""


Value = Any


class StringMap(dict[str, str]):
    """Go's map[string]string."""


class Structure:
    """A value with fields and methods; `go_type` is what `%T` prints."""

    go_type = "struct"

    def go_field(self, name: str) -> Value:
        """A field, or a method as a callable; raises TemplateError when there is none."""
        raise TemplateError(f"can't evaluate field {name} in type {self.go_type}")

    def go_text(self) -> str:
        """What `%v` prints."""
        return f"{{{self.go_type}}}"

    def go_truth(self) -> bool:
        """Whether `if` takes it for true."""
        return True


class Record(Structure):
    """A struct with named fields."""

    def __init__(self, go_type: str, fields: Mapping[str, Value]) -> None:
        self.go_type = go_type
        self._fields = fields

    def go_field(self, name: str) -> Value:
        """See `Structure`."""
        if name not in self._fields:
            return super().go_field(name)
        return self._fields[name]


Method = Callable[..., Value]


def type_name(value: Value) -> str:
    """Go's name of a value's type."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float64"
        case str():
            return "string"
        case StringMap():
            return "map[string]string"
        case Mapping():
            return "map[string]interface {}"
        case list() | tuple():
            return "[]interface {}"
        case Structure():
            return value.go_type
        case _:
            return "func"


def truth(value: Value) -> bool:
    """text/template's isTrue: zero numbers and empty texts, maps and lists are false; NaN is true."""
    if isinstance(value, Structure):
        return value.go_truth()
    return bool(value)


def field_of(value: Value, name: str) -> Value:
    """A field of a struct or an entry of a map.

    Raises:
        TemplateError: neither.
    """
    match value:
        case None:
            return None
        case StringMap():
            return value.get(name, "")
        case Mapping():
            return value.get(name)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - any value
        case Structure():
            return value.go_field(name)
        case _:
            raise TemplateError(f"can't evaluate field {name} in type {type_name(value)}")

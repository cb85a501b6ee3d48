"""Functions that every Go template has (text/template/funcs.go)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast
from urllib.parse import quote_plus

from loadwatch_backend.alerting.rules.gotemplate.formatting import (
    StringMap,
    Structure,
    TemplateError,
    Value,
    sprint,
    sprintf,
    sprintln,
    truth,
    type_name,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function and what it takes: one Python type for each argument (`object` is anything)."""

    call: Callable[..., Value]
    takes: tuple[type, ...] = ()
    rest: type | None = None
    """The type of any further arguments; None where there may be none."""
    work: Callable[..., int] | None = None
    """Extra steps that a call with these arguments may cost, beside one for each character."""

    def __call__(self, name: str, arguments: Sequence[Value]) -> Value:
        """Checks and calls; raises TemplateError."""
        least = len(self.takes)
        if len(arguments) < least or (self.rest is None and len(arguments) > least):
            wanted = f"at least {least}" if self.rest is not None else str(least)
            raise TemplateError(f"wrong number of args for {name}: want {wanted} got {len(arguments)}")
        for place, argument in enumerate(arguments):
            kind = self.takes[place] if place < least else self.rest
            assert kind is not None
            if not _fits(argument, kind):
                raise TemplateError(
                    f"error calling {name}: wrong type for value; expected {_GO.get(kind, kind.__name__)};"
                    f" got {type_name(argument)}"
                )
        return self.call(*arguments)


_GO = {str: "string", int: "int", float: "float64", list: "list"}


def _fits(value: Value, kind: type) -> bool:
    if kind is object:
        return True
    return isinstance(value, kind) and not (isinstance(value, bool) and kind is int)


def _kind(value: Value) -> str:
    return {bool: "bool", int: "int", float: "float", str: "string"}.get(value.__class__, "other")


def equal(first: Value, *others: Value) -> bool:
    """Whether the first equals any of the others."""
    if not others:
        raise TemplateError("error calling eq: missing argument for comparison")
    for other in others:
        if _kind(first) != _kind(other) and first is not None and other is not None:
            raise TemplateError("error calling eq: incompatible types for comparison")
        if isinstance(first, (Mapping, list, tuple)) or isinstance(other, (Mapping, list, tuple)):
            raise TemplateError("error calling eq: non-comparable types")
        if first == other:
            return True
    return False


def less(first: Value, other: Value) -> bool:
    kind = _kind(first)
    if kind != _kind(other):
        # A common slip: `gt $value 5` compares a float64 with an int.
        hint = " (write the number with a point, as 5.0)" if {kind, _kind(other)} == {"int", "float"} else ""
        raise TemplateError(f"error calling lt: incompatible types for comparison{hint}")
    if kind in ("bool", "other"):
        raise TemplateError("error calling lt: invalid type for comparison")
    return first < other


def length(value: Value) -> int:
    """Of a text in bytes, a list or a map."""
    match value:
        case str():
            return len(value.encode())
        case list() | tuple() | Mapping():
            return len(cast("Sequence[Value]", value))
        case _:
            raise TemplateError(f"error calling len: len of type {type_name(value)}")


def _index_of(value: Value, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TemplateError(f"error calling index: cannot index slice/array with type {type_name(value)}")
    if not 0 <= value <= most:
        raise TemplateError(f"error calling index: index out of range: {value}")
    return value


def index(item: Value, *keys: Value) -> Value:
    if item is None:
        raise TemplateError("error calling index: index of untyped nil")
    for key in keys:
        match item:
            case Mapping():
                if not isinstance(key, str):
                    raise TemplateError(f"error calling index: value has type {type_name(key)}; should be string")
                missing = "" if isinstance(item, StringMap) else None
                item = cast("Mapping[str, Value]", item).get(key, missing)
            case str() | list() | tuple():
                whole = item.encode() if isinstance(item, str) else cast("Sequence[Value]", item)
                place = _index_of(key, len(whole))
                if place == len(whole):
                    raise TemplateError(f"error calling index: index out of range: {place}")
                item = whole[place]
            case _:
                raise TemplateError(f"error calling index: can't index item of type {type_name(item)}")
    return item


def slice_of(item: Value, *bounds: Value) -> Value:
    """item[a:b]; of a text by bytes."""
    if not isinstance(item, (str, list, tuple)):
        raise TemplateError(f"error calling slice: can't slice item of type {type_name(item)}")
    if len(bounds) > (2 if isinstance(item, str) else 3):
        raise TemplateError("error calling slice: too many slice indexes")
    whole = item.encode() if isinstance(item, str) else cast("Sequence[Value]", item)
    places = [_index_of(bound, len(whole)) for bound in bounds]
    first, end = (*places, len(whole))[:2] if places else (0, len(whole))
    if first > end or (len(places) == 3 and end > places[2]):
        raise TemplateError(f"error calling slice: invalid slice index: {first} > {end}")
    part = whole[first:end]
    return part.decode(errors="replace") if isinstance(part, bytes) else part


def _joined(values: Sequence[Value]) -> str:
    """As `print`, but nil is printed as `<no value>`."""
    return sprint(*("<no value>" if value is None else value for value in values))


_HTML = str.maketrans({"\0": "\ufffd", '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"})
_JS = {"\\": "\\\\", "'": "\\'", '"': '\\"', "<": "\\u003C", ">": "\\u003E", "&": "\\u0026", "=": "\\u003D"}


def escape_html(*values: Value) -> str:
    """template.HTMLEscaper."""
    return _joined(values).translate(_HTML)


def escape_js(*values: Value) -> str:
    """template.JSEscaper."""
    parts: list[str] = []
    for letter in _joined(values):
        if letter in _JS:
            parts.append(_JS[letter])
        elif letter < " ":
            parts.append(f"\\u{ord(letter):04X}")
        else:
            parts.append(letter if letter.isprintable() else f"\\u{ord(letter):04X}")
    return "".join(parts)


def escape_query(*values: Value) -> str:
    """url.QueryEscape."""
    return quote_plus(_joined(values), safe="")


def _call(function: Value, *arguments: Value) -> Value:
    if not callable(function) or isinstance(function, Structure):
        raise TemplateError(f"error calling call: non-function of type {type_name(function)}")
    return function(*arguments)


BUILTINS: Mapping[str, Function] = {
    "and": Function(call=lambda *_: None, takes=(object,), rest=object),
    "or": Function(call=lambda *_: None, takes=(object,), rest=object),
    "not": Function(call=lambda *values: not truth(*values), takes=(object,)),
    "call": Function(call=_call, takes=(object,), rest=object),
    "eq": Function(call=equal, takes=(object,), rest=object),
    "ne": Function(call=lambda *values: not equal(*values), takes=(object, object)),
    "lt": Function(call=less, takes=(object, object)),
    "le": Function(call=lambda *values: less(*values) or equal(*values), takes=(object, object)),
    "gt": Function(call=lambda *values: not (less(*values) or equal(*values)), takes=(object, object)),
    "ge": Function(call=lambda *values: not less(*values), takes=(object, object)),
    "len": Function(call=length, takes=(object,)),
    "index": Function(call=index, takes=(object,), rest=object),
    "slice": Function(call=slice_of, takes=(object,), rest=object),
    "print": Function(call=sprint, rest=object),
    "println": Function(call=sprintln, rest=object),
    "printf": Function(call=sprintf, takes=(str,), rest=object),
    "html": Function(call=escape_html, rest=object),
    "js": Function(call=escape_js, rest=object),
    "urlquery": Function(call=escape_query, rest=object),
}
"""`and` and `or` stand here for their names: the executor evaluates them, because they stop early."""

"""Values of templates, and what `print` and `printf` of Go's package fmt write of them.

| Go | here |
| --- | --- |
| string, bool, int, float64 | str, bool, int, float |
| nil | None |
| map[string]string | a mapping (`StringMap`: what is missing is the empty string) |
| map[string]any | any other mapping (what is missing is nil) |
| slice | a list or tuple |
| struct, or a type with methods | `Structure` |
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from loadwatch_backend.core.text import quote


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
    def __init__(self, go_type: str, fields: Mapping[str, Value]) -> None:
        self.go_type = go_type
        self._fields = fields

    def go_field(self, name: str) -> Value:
        if name not in self._fields:
            return super().go_field(name)
        return self._fields[name]


Method = Callable[..., Value]


_GO_TYPES: Sequence[tuple[type, str]] = (
    (type(None), "<nil>"),
    (bool, "bool"),
    (int, "int"),
    (float, "float64"),
    (str, "string"),
    (StringMap, "map[string]string"),
    (Mapping, "map[string]interface {}"),
    (list, "[]interface {}"),
    (tuple, "[]interface {}"),
)


def type_name(value: Value) -> str:
    """Go's name of a value's type."""
    if isinstance(value, Structure):
        return value.go_type
    return next((name for kind, name in _GO_TYPES if isinstance(value, kind)), "func")


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


MAX_WIDTH = 10_000
MAX_TEXT = 250_000
"""Characters of what one call writes; values may hold each other many times over."""
_DIGITS = 9
"""Digits read of a width, precision or index; Python refuses to convert thousands of them."""
_LARGE_EXPONENT = 6
"""The exponent from which `%v` and `%g` use scientific notation."""
_VERB = re.compile(
    r"%(?P<flags>[-+# 0]*)(?P<width>\*|\d+)?(?:(?P<point>\.)(?P<precision>\*|\d+)?)?"
    r"(?:\[(?P<index>\d+)\])?(?P<verb>.?)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Style:
    flags: str = ""
    width: int | None = None
    precision: int | None = None

    def pad(self, text: str, *, zeros: bool = False) -> str:
        if self.width is None or len(text) >= self.width:
            return text
        if "-" in self.flags:
            return text.ljust(self.width)
        if zeros and "0" in self.flags:
            sign = text[:1] if text[:1] in ("+", "-", " ") else ""
            return sign + text[len(sign) :].rjust(self.width - len(sign), "0")
        return text.rjust(self.width)


_PLAIN = _Style()


class _Room:
    def __init__(self) -> None:
        self._left = MAX_TEXT

    def take(self, text: str) -> str:
        """Counts a text and gives it back; raises TemplateError."""
        # One more, so that what is empty counts too.
        self._left -= len(text) + 1
        if self._left < 0:
            raise TemplateError(f"a text is longer than {MAX_TEXT} characters")
        return text


def sprint(*values: Value) -> str:
    """fmt.Sprint: a space between two operands of which neither is a string."""
    room, parts = _Room(), list[str]()
    for place, value in enumerate(values):
        if place and not isinstance(value, str) and not isinstance(values[place - 1], str):
            parts.append(" ")
        parts.append(_format("v", value, _PLAIN, room))
    return "".join(parts)


def sprintln(*values: Value) -> str:
    """fmt.Sprintln."""
    room = _Room()
    return " ".join([_format("v", value, _PLAIN, room) for value in values]) + "\n"


def format_value(value: Value) -> str:
    """As `%v` prints it; raises TemplateError when that is too long."""
    return _format("v", value, _PLAIN, _Room())


def sprintf(layout: str, *values: Value) -> str:
    """fmt.Sprintf, with its remarks on what does not fit, such as `%!d(string=x)`."""
    room, parts = _Room(), list[str]()
    position = used = 0
    reordered = False
    for found in _VERB.finditer(layout):
        parts.append(layout[position : found.start()])
        position = found.end()
        verb = found["verb"]
        width, precision = found["width"], found["precision"]
        if verb == "%":
            parts.append("%")
            continue
        flags = found["flags"]
        numbers: list[int | None] = []
        for text in (width, precision):
            if text == "*":
                given = values[used] if used < len(values) else None
                used += 1
                is_number = isinstance(given, int) and not isinstance(given, bool) and abs(given) <= MAX_WIDTH
                numbers.append(given if is_number else None)
            else:
                numbers.append(None if text is None else min(int(text[:_DIGITS]), MAX_WIDTH))
        if numbers[0] is not None and numbers[0] < 0:
            flags, numbers[0] = flags + "-", -numbers[0]
        if found["point"] and numbers[1] is None:
            numbers[1] = 0
        if not verb:
            parts.append("%!(NOVERB)")
            continue
        if found["index"]:
            used, reordered = int(found["index"][:_DIGITS]) - 1, True
            if not 0 <= used < len(values):
                parts.append(f"%!{verb}(BADINDEX)")
                continue
        if used >= len(values):
            parts.append(f"%!{verb}(MISSING)")
            continue
        style = _Style(flags=flags, width=numbers[0], precision=numbers[1])
        parts.append(_format(verb, values[used], style, room))
        used += 1
    parts.append(layout[position:])
    if used < len(values) and not reordered:
        extra = ", ".join(
            ["<nil>" if one is None else f"{type_name(one)}={_format('v', one, _PLAIN, room)}" for one in values[used:]]
        )
        parts.append(f"%!(EXTRA {extra})")
    return "".join(parts)


def _format(verb: str, value: Value, style: _Style, room: _Room) -> str:
    if verb == "T":
        return room.take(style.pad(type_name(value)))
    match value:
        case None:
            text = style.pad("<nil>") if verb == "v" else f"%!{verb}(<nil>)"
        case bool():
            text = style.pad("true" if value else "false") if verb in "tv" else None
        case int():
            text = _integer(verb, value, style)
        case float():
            text = _float(verb, value, style)
        case str():
            text = _string(verb, value, style)
        case Mapping():
            entries: list[tuple[str, Value]] = sorted(value.items())  # pyright: ignore[reportUnknownArgumentType] - any value
            inner = " ".join(
                [f"{_format(verb, key, style, room)}:{_format(verb, one, style, room)}" for key, one in entries]
            )
            return f"map[{inner}]"
        case list() | tuple():
            items = cast("Sequence[Value]", value)
            return f"[{' '.join([_format(verb, one, style, room) for one in items])}]"
        case Structure() if verb in "vsq":
            text = _string(verb, value.go_text(), style)
        case _:
            text = None
    if text is None:
        text = f"%!{verb}({type_name(value)}={_format('v', value, _PLAIN, room)})"
    return room.take(text)


def _integer(verb: str, value: int, style: _Style) -> str | None:
    match verb:
        case "d" | "v":
            digits = str(abs(value))
        case "x" | "X" | "o" | "b":
            digits = format(abs(value), verb)
            if "#" in style.flags:
                digits = {"x": "0x", "X": "0X", "o": "0", "b": "0b"}[verb] + digits
        case "O":
            digits = f"0o{abs(value):o}"
        case "c":
            return style.pad(_rune(value))
        case "q":
            return style.pad("'" + _rune(value).replace("\\", "\\\\").replace("'", "\\'") + "'")
        case "U":
            return style.pad(f"U+{value:04X}")
        case _:
            return None
    if style.precision is not None:
        digits = "" if style.precision == 0 and value == 0 else digits.rjust(style.precision, "0")
    text = _sign(value < 0, style) + digits
    return style.pad(text, zeros=style.precision is None)


def _rune(value: int) -> str:
    return chr(value) if 0 <= value <= 0x10FFFF and not 0xD800 <= value < 0xE000 else "\ufffd"


def _sign(negative: bool, style: _Style) -> str:
    if negative:
        return "-"
    return "+" if "+" in style.flags else " " if " " in style.flags else ""


def _float(verb: str, value: float, style: _Style) -> str | None:
    if verb not in "vgGeEfF":
        return None
    if math.isnan(value) or math.isinf(value):
        text = "NaN" if math.isnan(value) else "Inf"
        # Printed with its sign even where numbers are not; never padded with zeros.
        sign = "-" if value < 0 else "+" if math.isinf(value) or "+" in style.flags else ""
        if sign == "" and " " in style.flags:
            sign = " "
        return _Style(flags=style.flags.replace("0", ""), width=style.width).pad(sign + text)
    if verb in "vgG" and style.precision is None:
        digits = _shortest(abs(value))
    else:
        precision = 6 if style.precision is None else style.precision
        kind = {"v": "g", "F": "f", "G": "g", "E": "e"}.get(verb, verb)
        digits = f"{abs(value):{'#' if '#' in style.flags else ''}.{precision}{kind}}"
    if verb in "GE":
        digits = digits.upper()
    return style.pad(_sign(math.copysign(1, value) < 0, style) + digits, zeros=True)


def _shortest(value: float) -> str:
    """strconv.FormatFloat(value, 'g', -1, 64) as fmt uses it: an exponent below -4 and from 6 on."""
    digits, _, exponent_text = f"{value!r}".partition("e")
    whole, _, fraction = digits.partition(".")
    exponent = int(exponent_text or 0)
    mantissa = (whole + fraction).lstrip("0")
    if not mantissa.strip("0"):
        return "0"
    if whole.strip("0"):
        exponent += len(whole) - 1
    else:
        exponent -= len(fraction) - len(fraction.lstrip("0")) + 1
    mantissa = mantissa.rstrip("0") or "0"
    if exponent < -4 or exponent >= _LARGE_EXPONENT:
        rest = f".{mantissa[1:]}" if len(mantissa) > 1 else ""
        return f"{mantissa[0]}{rest}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + mantissa
    padded = mantissa.ljust(exponent + 1, "0")
    rest = padded[exponent + 1 :]
    return padded[: exponent + 1] + (f".{rest}" if rest else "")


def _string(verb: str, value: str, style: _Style) -> str | None:
    if verb in "vsq" and style.precision is not None:
        value = value[: style.precision]
    match verb:
        case "v" | "s":
            return style.pad(value, zeros=True)
        case "q":
            return style.pad(quote(value))
        case "x" | "X":
            text = value.encode().hex()
            return style.pad(text.upper() if verb == "X" else text)
        case _:
            return None

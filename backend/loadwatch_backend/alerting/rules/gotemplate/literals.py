"""Constants as Go's strconv reads them."""

import math
import re

from loadwatch_backend.alerting.rules.gotemplate.errors import TemplateError
from loadwatch_backend.core.text import goquote
from loadwatch_backend.core.text.goquote import GoSyntaxError

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:_[0-9]+)*)")
_FLOAT = re.compile(r"[+-]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?")
_BASES = {"x": 16, "o": 8, "b": 2}
_LARGEST = 2**63 - 1


def unquote(text: str) -> str:
    """The text of a quoted string, raw string or character constant.

    Raises:
        TemplateError: an escape that Go does not know.
    """
    try:
        return goquote.unquote(text)
    except GoSyntaxError as error:
        raise TemplateError(f"invalid syntax in {text}: {error}") from error


def character(text: str) -> int:
    """The number of a character constant.

    Raises:
        TemplateError: not one character.
    """
    value = unquote(text)
    if len(value) != 1:
        raise TemplateError(f"malformed character constant: {text}")
    return ord(value)


def number(text: str) -> int | float:
    """An int, or a float where the text has a point or an exponent.

    Raises:
        TemplateError: not a number.
    """
    sign = -1 if text.startswith("-") else 1
    body = text.lstrip("+-")
    lowered = body.lower()
    try:
        if len(lowered) > 1 and lowered[0] == "0" and lowered[1] in _BASES:
            if lowered[1] == "x" and ("." in lowered or "p" in lowered):
                return sign * float.fromhex(body.replace("_", ""))
            return _integer(sign * int(body.replace("_", "")[2:], _BASES[lowered[1]]), text)
        if _DECIMAL.fullmatch(body):
            digits = body.replace("_", "")
            # As in Go, a leading zero means octal.
            return _integer(sign * int(digits, 8 if len(digits) > 1 and digits[0] == "0" else 10), text)
        if _FLOAT.fullmatch(body) and math.isfinite(value := float(body.replace("_", ""))):
            return sign * value
    except (ValueError, OverflowError):
        pass
    raise TemplateError(f"illegal number syntax: {text!r}")


def _integer(value: int, text: str) -> int:
    if not -_LARGEST - 1 <= value <= _LARGEST:
        raise TemplateError(f"integer overflow: {text!r}")
    return value

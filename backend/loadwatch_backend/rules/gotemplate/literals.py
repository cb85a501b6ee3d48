"""Constants as Go's strconv reads them."""

import re

from loadwatch_backend.rules.gotemplate.errors import TemplateError

_ESCAPE = re.compile(
    r"\\(?:([abfnrtv\\'\"])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.|$))", re.DOTALL
)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:_[0-9]+)*)")
_FLOAT = re.compile(r"[+-]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?")
_BASES = {"x": 16, "o": 8, "b": 2}
_LARGEST = 2**63 - 1


def unquote(text: str) -> str:
    """The text of a quoted string, raw string or character constant.

    Raises:
        TemplateError: an escape that Go does not know.
    """
    quote, inner = text[0], text[1:-1]
    if quote == "`":
        return inner.replace("\r", "")
    # Escapes of single bytes make UTF-8 together, so everything goes through bytes.
    out = bytearray()
    position = 0
    for found in _ESCAPE.finditer(inner):
        out += inner[position : found.start()].encode()
        position = found.end()
        letter, byte, short, long, octal, other = found.groups()
        if other is not None or letter == ("'" if quote == '"' else '"') or (octal and int(octal, 8) > 255):
            raise TemplateError(f"invalid syntax in {text}: the escape {found.group()!r} is not one that Go knows")
        if letter:
            out += _LETTERS.get(letter, letter).encode()
        elif byte or octal:
            out.append(int(byte, 16) if byte else int(octal, 8))
        else:
            out += _rune(int(short or long, 16), text).encode()
    out += inner[position:].encode()
    return out.decode("utf-8", errors="replace")


def _rune(number: int, text: str) -> str:
    if number > 0x10FFFF or 0xD800 <= number < 0xE000:
        raise TemplateError(f"invalid syntax in {text}: there is no such character")
    return chr(number)


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
        if _FLOAT.fullmatch(body):
            return sign * float(body.replace("_", ""))
    except ValueError:
        pass
    raise TemplateError(f"illegal number syntax: {text!r}")


def _integer(value: int, text: str) -> int:
    if not -_LARGEST - 1 <= value <= _LARGEST:
        raise TemplateError(f"integer overflow: {text!r}")
    return value

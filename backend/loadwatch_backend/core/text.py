"""Text that is read as numbers, or written as Go writes it."""

import re
from collections.abc import Sequence

_ESCAPE = re.compile(
    r"\\(?:([abfnrtv\\'\"])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.|$))", re.DOTALL
)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_QUOTED = {'"': '\\"', "\\": "\\\\", **{value: f"\\{letter}" for letter, value in _LETTERS.items()}}


class GoSyntaxError(ValueError):
    """An escape that Go does not know."""


def unquote(text: str, errors: str = "replace") -> str:
    """The text of a quoted string, raw string or character constant, given with its quotes.

    Raises:
        GoSyntaxError: an escape that Go does not know.
        UnicodeDecodeError: escaped bytes are not UTF-8, and `errors` is not "replace".
    """
    quote, inner = text[0], text[1:-1]
    if quote == "`":
        return inner.replace("\r", "")
    if "\\" not in inner:
        return inner
    # Escapes of single bytes make UTF-8 together, so everything goes through bytes.
    out = bytearray()
    position = 0
    for found in _ESCAPE.finditer(inner):
        out += inner[position : found.start()].encode()
        position = found.end()
        letter, byte, short, long, octal, other = found.groups()
        if other is not None or letter == ("'" if quote == '"' else '"') or (octal and int(octal, 8) > 255):
            raise GoSyntaxError(f"unknown escape sequence {found.group()!r}")
        if letter:
            out += _LETTERS.get(letter, letter).encode()
        elif byte or octal:
            out.append(int(byte, 16) if byte else int(octal, 8))
        else:
            out += _rune(int(short or long, 16), found.group()).encode()
    out += inner[position:].encode()
    return out.decode("utf-8", errors)


def _rune(number: int, escape: str) -> str:
    if number > 0x10FFFF or 0xD800 <= number < 0xE000:
        raise GoSyntaxError(f"{escape!r} is no character")
    return chr(number)


def quote(text: str) -> str:
    """Quotes a text as Go's strconv.Quote does."""
    return '"' + "".join(map(_quoted, text)) + '"'


def _quoted(letter: str) -> str:
    if letter in _QUOTED:
        return _QUOTED[letter]
    if letter.isprintable():
        return letter
    code = ord(letter)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def parse_number(text: str) -> float | None:
    """A parameter's value as a number, with or without a unit of time or size; None for words."""
    cleaned = text.strip().replace("_", "").replace(",", "")
    for suffix, factor in _FACTORS:
        if cleaned.endswith(suffix) and cleaned != suffix:
            return _scaled(cleaned[: -len(suffix)], factor)
    return _scaled(cleaned, 1.0)


_FACTORS: Sequence[tuple[str, float]] = (
    ("KiB", 1_024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("ms", 0.001),
    ("us", 0.000_001),
    ("%", 0.01),
    ("s", 1.0),
    ("m", 60.0),
    ("k", 1_000.0),
    ("M", 1_000_000.0),
)


def _scaled(text: str, factor: float) -> float | None:
    try:
        value = float(text) * factor
    except ValueError:
        return None
    return value if abs(value) < 1e300 else None

"""Numbers as text, as Go's strconv and Prometheus' JSON write them."""

import math
from decimal import Decimal


def format_number(value: float) -> str:
    """Shortest decimal text that reads back as `value`, never with an exponent (Go: FormatFloat(v, 'f', -1, 64))."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    text = repr(value)
    if "e" in text:
        text = _expanded(text)
    return text.removesuffix(".0")


def format_json_number(value: float) -> str:
    """As `format_number`, with an exponent below 1e-6 and from 1e21 on (Prometheus: util/jsonutil MarshalFloat)."""
    if value and math.isfinite(value) and not 1e-6 <= abs(value) < 1e21:
        return repr(value)
    return format_number(value)


def format_short_number(value: float) -> str:
    """With an exponent below 1e-4 and from 1e6 on (Go: FormatFloat(v, 'g', -1, 64))."""
    if not value or not math.isfinite(value) or 1e-4 <= abs(value) < 1e6:
        return format_number(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    power = exponent + len(text) - 1
    mantissa = text[0] + ("." + text[1:] if len(text) > 1 else "")
    return f"{'-' if sign else ''}{mantissa}e{'-' if power < 0 else '+'}{abs(power):02}"


def _expanded(text: str) -> str:
    mantissa, exponent = text.split("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    if fraction == "0":
        fraction = ""
    digits, point = whole + fraction, len(whole) + int(exponent)
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if point >= len(digits):
        return sign + digits + "0" * (point - len(digits))
    return f"{sign}{digits[:point]}.{digits[point:]}"

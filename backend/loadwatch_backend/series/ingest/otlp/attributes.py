"""Attributes as label values, and label sets as remote write 1.0 encodes them. Pure."""

import base64
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from loadwatch_backend.series.ingest.decode_v2 import encode_label
from loadwatch_backend.series.ingest.otlp.otlp_pb2 import AnyValue, KeyValue
from loadwatch_backend.series.store.remote_pb2 import TimeSeries


def text_of(value: AnyValue) -> str:
    """A value as a label's; what is built of others as JSON, as OpenTelemetry's Go library writes it."""
    match value.WhichOneof("value"):
        case "string_value":
            return value.string_value
        case "int_value":
            return str(value.int_value)
        case "bool_value":
            return "true" if value.bool_value else "false"
        case "double_value":
            return _number(value.double_value)
        case "bytes_value":
            return base64.b64encode(value.bytes_value).decode()
        case "array_value" | "kvlist_value":
            return _json(value)
        case _:
            return ""


def texts_of(attributes: Iterable[KeyValue]) -> list[tuple[str, str]]:
    """All of them, by name."""
    return sorted((one.key, text_of(one.value)) for one in attributes)


def encode_labels(labels: Mapping[str, str]) -> bytes:
    """A label set, without empty values, as a series of remote write 1.0 begins."""
    return b"".join(encode_label(name.encode(), value.encode()) for name, value in labels.items() if value)


def decode_labels(prefix: bytes) -> list[tuple[bytes, bytes]]:
    """What `encode_labels` made."""
    return [(label.name, label.value) for label in TimeSeries.FromString(prefix).labels]


def plain_number(number: float) -> str:
    """A bound as a label has it: the shortest digits that are this number, without an exponent."""
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    if math.isnan(number):
        return "NaN"
    return format(Decimal(repr(number)), "f").removesuffix(".0")


def _number(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    if number and not 1e-6 <= abs(number) < 1e21:
        digits, _, exponent = repr(number).partition("e")
        return f"{digits.removesuffix('.0')}e{int(exponent):+d}"
    return plain_number(number)


def _json(value: AnyValue) -> str:
    text = json.dumps(_raw(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True, default=str)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _raw(value: AnyValue) -> Any:
    match value.WhichOneof("value"):
        case "array_value":
            return [_raw(one) for one in value.array_value.values]
        case "kvlist_value":
            return {one.key: _raw(one.value) for one in value.kvlist_value.values}
        case "bytes_value":
            return base64.b64encode(value.bytes_value).decode()
        case "double_value":
            number = value.double_value
            return int(number) if number.is_integer() and abs(number) < 1e21 else number
        case None:
            return None
        case which:
            return getattr(value, which)


def merge(texts: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Labels of one name are one, with all values."""
    merged: dict[str, list[str]] = {}
    for name, value in texts:
        before = merged.setdefault(name, [])
        if before == [""]:
            before.clear()
        before.append(value)
    return {name: ";".join(values) for name, values in merged.items()}

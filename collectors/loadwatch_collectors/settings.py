"""How a source declares the keys of its block: a frozen keyword-only dataclass whose fields are made by `option`.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class ProbeSettings:
        url: str = option(help="Where to send the request.")
        every: Seconds = option(help="Time between two requests.", default=1.0)

Allowed types: str, int, float, bool, `Seconds`, `Bytes`, `Limit`, lists and tuples of them, nested settings,
`dict[str, T]` (T any allowed type), and `T | None`. A field without default is a key that must be given.
`__post_init__` may raise `ValueError` for what types cannot say; the loader adds file and line.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from loadwatch_formats.durations import GO_NANOSECONDS, parse_go_duration

from loadwatch_collectors.errors import ConfigError

DURATION = "duration"
BYTES = "bytes"
LIMIT = "limit"

Seconds = Annotated[float, DURATION]
"""Seconds; written in the file as `500ms`, `1s`, `5m`, `2h`, `7d`, or a plain number of seconds."""

Bytes = Annotated[int, BYTES]
"""Bytes; written in the file as `64MB`, `1GiB`, or a plain number of bytes."""


class Amount(NamedTuple):
    value: float
    unit: str


Limit = Annotated[Amount, LIMIT]
"""How much of something there is; written in the file as `100Mbit/s`, `1 core`, `3000 iops` or `500 requests/s`."""

_DURATION_UNITS = {**GO_NANOSECONDS, "d": 24 * GO_NANOSECONDS["h"]}
_BYTE_UNITS = {
    **{"": 1, "B": 1},
    **{f"{prefix}B": 1000**power for power, prefix in enumerate("KMGT", 1)},
    **{f"{prefix}IB": 1024**power for power, prefix in enumerate("KMGT", 1)},
}
_BYTES = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")
# Mb/s and Mbps are read by some as bits and by others as bytes, so neither is taken.
_BIT_RATE = re.compile(r"([kKMGT]?)bit/s")
_BYTE_RATE = re.compile(r"((?:[kKMGT]i?)?B)/s")
_AMOUNT = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*(\S.{0,20})")
_BITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_COUNTS: Mapping[str, str] = {
    **dict.fromkeys(("core", "cores", "vCPU", "vCPUs"), "cores"),
    **dict.fromkeys(("connection", "connections"), "connections"),
    **dict.fromkeys(("request/s", "requests/s"), "requests_per_second"),
    **dict.fromkeys(("query/s", "queries/s"), "queries_per_second"),
    **dict.fromkeys(("operation/s", "operations/s", "iops", "IOPS"), "operations_per_second"),
    **dict.fromkeys(("packet/s", "packets/s"), "packets_per_second"),
}

_MISSING: Any = object()


def option(
    *,
    help: str,
    default: Any = _MISSING,
    default_factory: Callable[[], Any] | None = None,
    metavar: str = "",
    rest: str = "",
) -> Any:
    """A field of a settings dataclass; `help` is its line in the reference, `metavar` an example of its value.

    `rest` is for the only field of a block whose keys are the user's own: the block itself is the field's mapping, and
    `rest` what the reference calls its keys.
    """
    metadata = {"help": help, "metavar": metavar, "rest": rest}
    if default_factory is not None:
        return field(default_factory=default_factory, metadata=metadata)
    if default is _MISSING:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)


def check_pattern(what: str, pattern: str) -> None:
    """Raise ValueError, with what the setting is called, where it is no regular expression."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{what} is not a regular expression: {error}") from error


def parse_duration(text: str) -> float:
    """Seconds from `500ms`, `1s`, `1m30s`, `2h`, `7d`, or a plain number.

    Raises:
        ValueError: the text is not a duration.
    """
    stripped = text.strip()
    try:
        seconds = float(stripped)
    except ValueError:
        try:
            seconds = parse_go_duration(stripped, _DURATION_UNITS)
        except ValueError:
            raise ValueError(f"{text!r} is not a duration; write it like 500ms, 1s, 5m, 2h or 7d") from None
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"{text!r} is not a duration of zero or more")
    return seconds


def parse_bytes(text: str) -> int:
    """Bytes from `64MB` (10^6), `1GiB` (2^30), or a plain number.

    Raises:
        ValueError: the text is not a size.
    """
    match = _BYTES.fullmatch(text.strip())
    factor = _BYTE_UNITS.get(match[2].upper()) if match else None
    if match is None or factor is None:
        raise ValueError(f"{text!r} is not a size; write it like 500KB, 64MB or 2GiB")
    size = float(match[1]) * factor
    if size >= 2**63:
        raise ValueError(f"{text[:40]!r} is more than there is")
    return int(size)


def parse_limit(text: str) -> Amount:
    """An amount in base units from `100Mbit/s`, `12MB/s`, `4GiB`, `1.5 cores`, `3000 iops` or `500 requests/s`.

    Raises:
        ValueError: the text is not a limit.
    """
    match = _AMOUNT.fullmatch(text.strip())
    if match is not None and float(match[1]) > 0:
        number, unit = float(match[1]), match[2]
        if bits := _BIT_RATE.fullmatch(unit):
            return Amount(number * _BITS[bits[1].upper()] / 8, "bytes_per_second")
        if size := _BYTE_RATE.fullmatch(unit):
            return Amount(number * _BYTE_UNITS[size[1].upper()], "bytes_per_second")
        if unit in _COUNTS:
            return Amount(number, _COUNTS[unit])
        if unit.upper() in _BYTE_UNITS:
            return Amount(number * _BYTE_UNITS[unit.upper()], "bytes")
    raise ValueError(
        f"{text[:40]!r} is not a limit; write it like 100Mbit/s, 12MB/s, 4GiB, 1 core, 200 connections, 3000 iops or "
        "500 requests/s"
    )


def read_secret(*, what: str, file: str | None, env: str | None) -> str | None:
    """The secret in `file`, or in the environment variable `env`; None when neither is configured.

    `what` names it in errors, such as "the password of mysql at db:3306". A trailing line break is not part of it.

    Raises:
        ConfigError: both are given, or the configured one holds nothing.
    """
    if file and env:
        raise ConfigError(f"{what} is given by file and by environment; keep one of the two")
    if file:
        try:
            secret = Path(file).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{what} cannot be read from {file}: {error}") from error
        if not secret:
            raise ConfigError(f"{what}: the file {file} is empty")
        return secret
    if env:
        secret = os.environ.get(env, "")
        if not secret:
            raise ConfigError(f"{what}: the environment variable {env} is not set")
        return secret
    return None

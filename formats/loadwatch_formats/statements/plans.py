"""How a database would run a statement: steps without any value of it, as a label holds them. Pure."""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, TypeGuard, cast

from loadwatch_formats.statements.fingerprint import LONGEST_READ, Dialect, Kind, cut, tokens_of

MYSQL_PLAN = "mysql_statement_plan_info"
POSTGRESQL_PLAN = "pg_statement_plan_info"
LONGEST_PLAN = 3_072
"""Bytes of all steps together; further ones are left out, and how many is said."""
LONGEST_NAME = 128
READS = ("select", "with", "values", "table")
"""First words of statements that are explained: of others it takes the right to change rows."""


class NoPlan(StrEnum):
    """Why there is no plan."""

    NOT_PERMITTED = "not-permitted"
    NO_EXAMPLE = "no-example"
    """The server showed no execution with its values, or only the beginning of one."""
    CHANGES_ROWS = "changes-rows"
    REFUSED = "refused"


class Step(NamedTuple):
    """One line of a plan; None where the server does not tell.

    Attributes:
        table: or what stands for one, such as `<derived2>`.
        access: how it is read: `ALL`, `ref`, `Seq Scan`.
        key: the index.
        rows: that are expected to be read.
        extra: what the server adds, such as `Using filesort`.
    """

    table: str | None = None
    access: str | None = None
    key: str | None = None
    rows: float | None = None
    extra: str | None = None


class Plan(NamedTuple):
    """A plan, or why there is none; `left_out` steps had no room."""

    steps: Sequence[Step] = ()
    left_out: int = 0
    reason: NoPlan | None = None


def write_plan(steps: Sequence[Step]) -> str:
    """The steps as JSON of at most `LONGEST_PLAN` bytes; names are cut to `LONGEST_NAME`."""
    shown = [{name: _short(value) for name, value in step._asdict().items() if value is not None} for step in steps]
    for most in range(len(shown), -1, -1):
        left_out = [{"left_out": len(shown) - most}] if most < len(shown) else []
        text = json.dumps([*shown[:most], *left_out], ensure_ascii=False, separators=(",", ":"))
        if len(text.encode("utf-8", "replace")) <= LONGEST_PLAN:
            return text
    return "[]"


def read_plan(plan: str, reason: str) -> Plan | None:
    """What two labels say; None where they say nothing that is understood."""
    if reason:
        return Plan(reason=NoPlan(reason)) if reason in list(NoPlan) else None
    try:
        found: Any = json.loads(plan)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not found:
        return None
    entries = cast("list[Any]", found)
    steps = [_step(entry) for entry in entries if _is_entry(entry) and "left_out" not in entry]
    left_out = sum(
        int(count)
        for entry in entries
        if _is_entry(entry) and isinstance(count := entry.get("left_out"), int) and count > 0
    )
    return Plan(steps=steps, left_out=left_out) if steps else None


def why_not_explained(text: str, dialect: Dialect, *, placeholders: bool) -> NoPlan | None:
    """Why a statement is not given to EXPLAIN; None where it is.

    Only one statement that reads, whole, and without comments that a server would execute.

    Args:
        text: the statement.
        dialect: whose SQL it is.
        placeholders: whether they may stand for values.
    """
    if not text or len(text) >= LONGEST_READ:
        return NoPlan.NO_EXAMPLE
    first, ended = "", False
    for token in tokens_of(text, dialect):
        if token.kind in (Kind.SPACE, Kind.COMMENT):
            if token.text.startswith(("/*!", "/*M!")):
                return NoPlan.REFUSED
            continue
        if ended or "\0" in token.text:
            return NoPlan.REFUSED
        ended = token.text == ";"
        if token.kind is Kind.WORD and not first:
            first = token.text.lower()
        if token.kind is Kind.LITERAL and not placeholders and token.text == "?":
            return NoPlan.NO_EXAMPLE
    return None if first in READS else NoPlan.CHANGES_ROWS


def _short(value: object) -> object:
    if not isinstance(value, str):
        return value
    printable = "".join(character if character.isprintable() else " " for character in value)
    return cut(printable, LONGEST_NAME)


def _is_entry(entry: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(entry, dict)


def _step(entry: Mapping[str, Any]) -> Step:
    rows = entry.get("rows")
    return Step(
        table=_text(entry.get("table")),
        access=_text(entry.get("access")),
        key=_text(entry.get("key")),
        rows=float(rows) if isinstance(rows, int | float) and not isinstance(rows, bool) else None,
        extra=_text(entry.get("extra")),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None

"""The table of `loadwatch digest profile`, in the columns of `pprof -top`."""

from collections.abc import Callable, Mapping, Sequence

from loadwatch_formats.terminal_table import Column, draw_table

from loadwatch_backend.evidence.profiles.digest import FunctionRow, ProfileDigest
from loadwatch_backend.evidence.profiles.folding.difference import StackChanges

_STACKS = 3
_FRAMES = 6
_NAME = 120
_UNITS: Mapping[str, Sequence[tuple[float, str]]] = {
    "nanoseconds": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")),
    "microseconds": ((1e6, "s"), (1e3, "ms"), (1, "µs")),
    "milliseconds": ((1e3, "s"), (1, "ms")),
    "seconds": ((1, "s"),),
    "bytes": ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")),
}

Format = Callable[[float], str]
Show = Callable[[FunctionRow], str]


def profile_table(found: ProfileDigest, rows: Sequence[FunctionRow], words: Sequence[str], duration_ns: int) -> str:
    """The lines: what it is, the columns, and below a difference the stacks that came and went."""
    compared = found.base_total is not None
    each = any(row.cum_per_request is not None for row in rows)
    show = _format(found.type.unit, [value for row in rows for value in (row.flat, row.cum)], compared)
    columns: list[tuple[str, Show]] = [
        ("flat", lambda row: show(row.flat)),
        ("flat%", lambda row: _share(row.flat, found.share_of)),
        ("cum", lambda row: show(row.cum)),
        ("cum%", lambda row: _share(row.cum, found.share_of)),
    ]
    if not compared:
        columns.insert(2, ("sum%", _running(found.share_of)))
    if each:
        per_request = _format(
            found.type.unit,
            [value for row in rows for value in (row.flat_per_request or 0, row.cum_per_request or 0)],
            compared,
        )
        columns.append(("flat/request", lambda row: per_request(row.flat_per_request or 0)))
        columns.append(("cum/request", lambda row: per_request(row.cum_per_request or 0)))
    if compared:
        plain = _format(found.type.unit, [value for row in rows for value in (row.base_cum or 0, row.cum)], False)
        columns.append(("base cum", lambda row: plain(row.base_cum or 0)))
        columns.append(("now cum", lambda row: plain((row.base_cum or 0) + row.cum)))
    lines = [_headline(found, duration_ns)]
    if rows:
        titles = [*(Column(title=title, right=True) for title, _ in columns), Column(title="function")]
        names = [_cut(row.name) + (f"  ({word})" if word else "") for row, word in zip(rows, words, strict=True)]
        cells = [[show(row) for _, show in columns] for row in rows]
        lines.append(draw_table(titles, [[*line, name] for line, name in zip(cells, names, strict=True)]))
    if found.new is not None and found.gone is not None:
        value = _format(found.type.unit, [one.value for one in (*found.new.stacks, *found.gone.stacks)], False)
        lines += _stack_lines("new", found.new, value) + _stack_lines("gone", found.gone, value)
    return "\n".join(lines)


def _running(total: int) -> Show:
    """The share of all rows up to this one, as they are asked for in their order."""
    so_far = 0

    def show(row: FunctionRow) -> str:
        nonlocal so_far
        so_far += row.flat
        return _share(so_far, total)

    return show


def _headline(found: ProfileDigest, duration_ns: int) -> str:
    show = _format(found.type.unit, [found.total, found.base_total or 0], False)
    over = ""
    if duration_ns > 0:
        share = f" ({found.total / duration_ns:.0%})" if found.kind.value == "cpu" and found.type.name == "cpu" else ""
        over = f" in {duration_ns / 1e9:.2f}s{share}"
    less = "" if found.base_total is None else f"; base: total {show(found.base_total)}, and shares are of that"
    return f"{found.kind.value}, {found.type.name} in {found.type.unit}: total {show(found.total)}{over}{less}"


def _stack_lines(what: str, changes: StackChanges, show: Format) -> list[str]:
    if not changes.count:
        return []
    verb = "stack is" if changes.count == 1 else "stacks are"
    smaller = f" ({changes.smaller:,} small ones may be chance)" if changes.smaller else ""
    lines = [f"{changes.count:,} {verb} {what}{smaller}:"]
    for one in changes.stacks[:_STACKS]:
        path = " < ".join(_cut(name) for name in one.functions[:_FRAMES])
        lines.append(f"  {show(one.value)}  {path}" + (" < …" if len(one.functions) > _FRAMES else ""))
    return lines


def _format(unit: str, values: Sequence[float], signed: bool) -> Format:
    """One unit for all of them, by the largest; counts as they are."""
    largest = max((abs(value) for value in values), default=0)
    plus = "+" if signed else ""
    steps = _UNITS.get(unit)
    if steps is None:
        if all(float(value).is_integer() for value in values):
            return lambda value: f"{value:{plus if value else ''},.0f}"
        return lambda value: f"{value:{plus if value else ''},.4g}"
    factor, name = next(((one, text) for one, text in steps if largest >= one), steps[-1])
    return lambda value: f"{value / factor:{plus},.2f}{name}" if value else "0"


def _share(value: float, total: float) -> str:
    return f"{value / total * 100:.1f}%" if total else "-"


def _cut(name: str) -> str:
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"

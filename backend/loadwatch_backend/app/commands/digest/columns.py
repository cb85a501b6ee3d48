"""Tables of `loadwatch digest`: columns by name, what is sorted by, what is shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import click
from loadwatch_formats import terminal_table

from loadwatch_backend.app.commands.digest.files import printable

R = TypeVar("R")
Number = float | int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Generic[R]):
    """One column of rows of a kind.

    Attributes:
        title: above it.
        value: what is sorted by; None sorts last.
        show: what stands in it.
        left: texts stand at the left, numbers at the right.
    """

    title: str
    value: Callable[[R], Number | str]
    show: Callable[[R], str]
    left: bool = False


def _figures(title: str, value: Callable[[R], Number], text: Callable[[float], str]) -> Column[R]:
    def show(row: R) -> str:
        found = value(row)
        return "-" if found is None else text(found)

    return Column(title=title, value=value, show=show)


def seconds(title: str, value: Callable[[R], Number], digits: int = 3) -> Column[R]:
    """Seconds with so many decimals; `-` where there are none."""
    return _figures(title, value, lambda found: f"{found:.{digits}f}")


def counts(title: str, value: Callable[[R], Number]) -> Column[R]:
    """Whole numbers; `-` where there is none."""
    return _figures(title, value, lambda found: str(round(found)))


def shares(title: str, value: Callable[[R], Number]) -> Column[R]:
    """Shares of 0 to 1 in percent; `-` where there is none."""
    return _figures(title, value, lambda found: f"{found * 100:.1f}%")


def texts(title: str, value: Callable[[R], str], most: int = 400) -> Column[R]:
    """Texts from files, as they may stand on a terminal."""
    return Column(title=title, value=value, show=lambda row: printable(value(row), most), left=True)


def differences(title: str, of: Callable[[R], tuple[Number, Number]], digits: int = 0) -> Column[R]:
    """What came or went, of now and base; a row that is new or gone says so in a column of its own."""

    def value(row: R) -> Number:
        now, before = of(row)
        return None if now is None or before is None else now - before

    return _figures(title, value, lambda found: f"{found:+.{digits}f}")


def column_named(
    names: Sequence[str], synonyms: Mapping[str, str]
) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """The callback of an option that takes one of the names."""

    def column(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
        if value is None:
            return None
        name = synonyms.get(value, value)
        if name not in names:
            raise click.BadParameter(f"no column {value!r}; there are {', '.join(names)}")
        return name

    return column


def columns_named(
    names: Sequence[str], synonyms: Mapping[str, str]
) -> Callable[[click.Context, click.Parameter, str | None], list[str] | None]:
    """The callback of an option that takes several of them, commas between."""
    one = column_named(names, synonyms)

    def columns(context: click.Context, option: click.Parameter, value: str | None) -> list[str] | None:
        if value is None:
            return None
        return [name for text in value.split(",") if text.strip() and (name := one(context, option, text.strip()))]

    return columns


def sort_rows(rows: Sequence[R], column: Column[R], ascending: bool, name: Callable[[R], tuple[str, str]]) -> list[R]:
    """The rows by a column, the largest first unless texts are sorted; what has no value comes last.

    Rows of equal value stand by their `name`: in one and the same order, whatever that of the file.
    """
    found = [(value, row) for row in rows if (value := column.value(row)) is not None]
    found.sort(key=lambda pair: name(pair[1]))
    # A column's values are all numbers or all texts, which no type says.
    found.sort(key=lambda pair: pair[0], reverse=not (ascending or column.left))  # type: ignore[arg-type, return-value]
    missing = sorted((row for row in rows if column.value(row) is None), key=name)
    return [row for _, row in found] + missing


def text_table(rows: Sequence[R], columns: Sequence[Column[R]]) -> str:
    """The table as text, with a line of titles."""
    titles = [terminal_table.Column(title=column.title, right=not column.left) for column in columns]
    return terminal_table.draw_table(titles, [[column.show(row) for column in columns] for row in rows])

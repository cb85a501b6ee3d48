"""The option `--match`: RE2 is loaded when a pattern is given, and is not part of an agent's installation."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from loadwatch_backend.series.store.patterns import Pattern


def match_pattern(_context: click.Context, _option: click.Parameter, value: str | None) -> "Pattern | None":
    """The callback of the option: a pattern of texts in which capitals differ from small letters.

    Raises:
        click.BadParameter: it is no expression of RE2's, or too large.
        click.ClickException: RE2 is not installed, as in an agent's installation.
    """
    return None if value is None else _compiled(value)


def match_any_case(_context: click.Context, _option: click.Parameter, value: str | None) -> "Pattern | None":
    """As `match_pattern`, but ignores case: the texts to match are in lower case."""
    if value is None:
        return None
    _compiled(value)  # so that an error shows what was written
    return _compiled(f"(?i){value}")


def _compiled(value: str) -> "Pattern":
    try:
        from loadwatch_backend.core.errors import ProblemError
        from loadwatch_backend.series.store.patterns import compile_pattern
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("loadwatch_"):
            raise
        raise click.ClickException(
            f'--match needs a library that is not installed ({error.name}); pip install "loadwatch[server]"'
        ) from None
    try:
        return compile_pattern(value)
    except ProblemError as error:
        raise click.BadParameter(str(error)) from None

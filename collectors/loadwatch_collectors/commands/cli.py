"""The command `loadwatch`: its subcommands are found by the entry-point group `loadwatch.commands`.

A command is loaded only when it is asked for, so the agent never loads the server's libraries.
"""

import atexit
import gc
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

import click
from loadwatch_formats.build_version import build_version
from loadwatch_formats.terminal import echo, terminal_text

from loadwatch_collectors.umask import keep_private

GROUP = "loadwatch.commands"
_EXTRA_HELP = 'Needs the server: pip install "loadwatch[server]"'


class CommandGroup(click.Group):
    """Commands by the names of their entry points."""

    def entries(self) -> Iterable[EntryPoint]:
        return entry_points(group=GROUP)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *(entry.name for entry in self.entries())})

    def invoke(self, ctx: click.Context) -> Any:
        """As click does, with error messages that are safe for a terminal."""
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            error.message = terminal_text(error.message)  # pyright: ignore[reportAttributeAccessIssue] - to show it
            raise

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command; one whose libraries are not installed says how to install them."""
        found = [entry for entry in self.entries() if entry.name == cmd_name]
        if not found:
            return super().get_command(ctx, cmd_name)
        try:
            return _load(found[0])
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] == "loadwatch_collectors":
                raise
            return _missing_extra(cmd_name, error.name or "")


def _load(entry: EntryPoint) -> click.Command:
    """Load what a command needs, all of which stays: looking for garbage in it took a fifth of a server's start."""
    gc.disable()
    try:
        return cast(click.Command, entry.load())
    finally:
        # Without it the first three collections would go through all of it; at the end, DuckDB's binding wants it back.
        gc.freeze()
        atexit.register(gc.unfreeze)
        gc.enable()


def _missing_extra(name: str, module: str) -> click.Command:
    @click.command(name, help=_EXTRA_HELP, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
    def command(**_: Any) -> None:
        raise click.ClickException(
            f'`loadwatch {name}` needs libraries that are not installed ({module}); pip install "loadwatch[server]"'
        )

    return command


def _show_version(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked:
        echo(f"loadwatch, version {build_version()}")
        context.exit()


@click.command(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
def main() -> None:
    """See which limit a system under load reaches first."""
    keep_private()

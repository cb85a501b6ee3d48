"""The group `loadwatch digest`; its commands are loaded when they are asked for: some need libraries of the server."""

from collections.abc import Mapping
from importlib import import_module
from typing import cast

import click

COMMANDS: Mapping[str, tuple[str, str]] = {
    "access": (
        "loadwatch_backend.app.commands.digest.access:access",
        "Access logs by route: what takes the time, as alp does.",
    ),
    "profile": (
        "loadwatch_backend.app.commands.digest.profile:profile",
        "Profiles by function, as pprof -top does; differences, and known frames in words.",
    ),
    "statements": (
        "loadwatch_backend.app.commands.digest.statements:statements",
        "Slow logs by statement: what takes the database's time, as pt-query-digest does.",
    ),
}


class DigestGroup(click.Group):
    """The commands of `COMMANDS`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one.

        Raises:
            click.ClickException: its libraries are not installed.
        """
        del ctx
        found = COMMANDS.get(cmd_name)
        if found is None:
            return None
        module, _, name = found[0].partition(":")
        try:
            return cast(click.Command, getattr(import_module(module), name))
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("loadwatch_"):
                raise
            raise click.ClickException(
                f"`loadwatch digest {cmd_name}` needs libraries that are not installed ({error.name}); "
                'pip install "loadwatch[server]"'
            ) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=DigestGroup)
def digest() -> None:
    """Put logs and profiles together in one table, without a server."""

"""A command with arguments of its own, beside subcommands that its first argument may name."""

from typing import Any

import click


class FirstWordCommand(click.Command):
    """`loadwatch import FILE…` beside `loadwatch import metrics FILE…`; a file of such a name is `./metrics`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.words: dict[str, click.Command] = {}
        """Filled once, where the commands are defined."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of the subcommand that is named, or of this command."""
        command = self.words.get(args[0]) if args else None
        if command is None:
            return super().make_context(info_name, args, parent, **extra)
        return command.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Options, then what the first word may be."""
        super().format_options(ctx, formatter)
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(100)) for name, command in self.words.items()])

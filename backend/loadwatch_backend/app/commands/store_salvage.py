"""`loadwatch store salvage`: what can be read of a damaged file of samples, in a new one."""

from pathlib import Path
from shlex import quote

import click
from loadwatch_formats.terminal import echo

from loadwatch_backend.core.data_directory import DataDirectoryError
from loadwatch_backend.series.store.embedded.lock import acquire_lock
from loadwatch_backend.series.store.embedded.salvage import salvage as salvage_file
from loadwatch_backend.series.store.losses import loss_text, lost_hours


@click.command()
@click.argument("data", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.argument("new_file", type=click.Path(path_type=Path))
def salvage(data: Path, new_file: Path) -> None:
    """Copy what can be read of a damaged samples.duckdb in DATA into NEW_FILE, and print what could not be read.

    The server is stopped. DATA stays as it is; NEW_FILE is complete or not there. A backup of before is better.
    """
    try:
        # Held until the command ends.
        acquire_lock(data)
        losses, unnamed = salvage_file(data, new_file)
    except DataDirectoryError as error:
        raise click.ClickException(str(error)) from error
    lost = f"Could not be read: {loss_text(losses)} ({len(lost_hours(losses))} hours)." if losses else "All was read."
    echo(lost + (f" {unnamed} series have no labels left: see loadwatch_unnamed_series." if unnamed else ""))
    old, new = quote(str(data)), quote(str(new_file))
    echo(f"To use it: loadwatch server --data {old} --set-aside samples.duckdb && mv {new} {old}/samples.duckdb")

"""`loadwatch store repair`: a whole file of samples from a damaged one."""

import os
from pathlib import Path

import click

from loadwatch_backend.kit.settings import SettingsError, load_settings
from loadwatch_backend.store.embedded.damage.repair import repair as repair_file
from loadwatch_backend.store.embedded.lock import acquire_lock
from loadwatch_backend.store.errors import DataDirectoryError
from loadwatch_backend.store.losses import loss_text


@click.command()
@click.option("--data", type=click.Path(path_type=Path, file_okay=False), help="Instead of LOADWATCH_DATA.")
def repair(data: Path | None) -> None:
    """Make a whole file of samples from a damaged one, of a stopped server, and tell what is lost.

    All that can be read is in the new file, bit for bit. The damaged one is kept under another name. Cut off at any
    time, it leaves the directory as it was or repaired; the disk needs the room of the file once more.

    Exit status: 0 nothing is damaged, or it is repaired; 1 it cannot be repaired, and nothing was changed.
    """
    try:
        settings = load_settings(**({} if data is None else {"data": data}))
        lock = acquire_lock(settings.data)
        try:
            done = repair_file(settings.data, settings.store_database_bytes, lambda text: click.echo(text, err=True))
        finally:
            os.close(lock)
    except (DataDirectoryError, SettingsError) as error:
        raise click.ClickException(str(error)) from error
    if done is None:
        click.echo("No damage found; nothing was changed.")
        return
    if done.mended:
        click.echo(f"{done.mended:,} blocks had one wrong byte, which was put right by their checksums.")
    click.echo(f"Lost: {loss_text(done.losses)}." if done.losses else "Nothing is lost.")
    if done.unnamed_series:
        click.echo(
            f"{done.unnamed_series:,} series lost their labels: their samples are those of loadwatch_unnamed_series, by"
            " the label id."
        )
    for path in done.kept:
        click.echo(f"kept: {path}")
    click.echo("All else was read and is in the new file. Start the server again.")

"""`loadwatch store migrate`: what the embedded store holds, to a second engine."""

import time
from functools import partial
from pathlib import Path

import click
from loadwatch_formats.terminal import echo

from loadwatch_backend.app.commands.start import settings_of
from loadwatch_backend.core.clock import system_clock
from loadwatch_backend.core.data_directory import DataDirectoryError
from loadwatch_backend.series.store.embedded.stored_hours import StoredHours, open_stored_hours
from loadwatch_backend.series.store.errors import EngineSettingsError, StoreReadError
from loadwatch_backend.series.store.prometheus.connection import Connection
from loadwatch_backend.series.store.prometheus.engine import QUEUE_DIRECTORY, KnownMetadata
from loadwatch_backend.series.store.sample_store import remote_settings
from loadwatch_backend.series.store.transfer import (
    Job,
    StateFile,
    Target,
    TransferError,
    count_all,
    hour_text,
    progress_line,
    transfer,
)

SETTLE_SECONDS = 10.0
"""Wait before an engine is asked for the last part: VictoriaMetrics shows new series so late."""
SHOWN_SECONDS = 30.0
"""Wait after which an engine shows what it has just taken, or does not have it."""
DATABASE_BYTES = 192 << 20
DATABASE_THREADS = 2
"""For DuckDB: each part is read once, so that nothing is gained by keeping it."""
_SHOWN_LINES = 200


@click.command()
@click.option("--to", metavar="URL", help="Address of the engine. Instead of LOADWATCH_STORE_URL.")
@click.option("--write-to", metavar="URL", help="Address of its remote write. Instead of LOADWATCH_STORE_WRITE_URL.")
@click.option("--data", type=click.Path(path_type=Path, file_okay=False), help="Instead of LOADWATCH_DATA.")
@click.option("--verify", is_flag=True, help="Send nothing: count only.")
@click.option("--no-verify", is_flag=True, help="Do not count when all is sent.")
@click.option("--missing", is_flag=True, help="Ask the engine before each part, and send only what it does not have.")
@click.option("--skip-refused", is_flag=True, help="Leave out samples that the engine refuses, instead of stopping.")
@click.option("--restart", is_flag=True, help="Forget how far an earlier migration has come; implies --missing.")
@click.option(
    "--patience",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    default=3_600.0,
    show_default=True,
    help="How long to wait for an engine that does not answer, or asks to wait.",
)
def migrate(
    to: str | None,
    write_to: str | None,
    data: Path | None,
    patience: float,
    *,
    verify: bool,
    no_verify: bool,
    missing: bool,
    skip_refused: bool,
    restart: bool,
) -> None:
    """Send all samples of a stopped server's own store to another engine, oldest first, and count what is there then.

    Tenant, login and certificates are those of the LOADWATCH_STORE_ settings. Cut off at any time, it goes on where it
    was when it is run again. The store stays as it is.

    Exit status: 0; 1 samples are missing, or it could not go on; 2 the command was wrong.
    """
    if verify and (no_verify or missing or skip_refused or restart):
        raise click.UsageError("--verify sends nothing: give none of the options about sending.")
    try:
        settings = settings_of(store_url=to, store_write_url=write_to, data=data)
        if not settings.store_url:
            raise click.UsageError("Name the engine with --to URL or LOADWATCH_STORE_URL.")
        with open_stored_hours(settings.data, DATABASE_BYTES, DATABASE_THREADS) as source:
            if restart:
                StateFile(settings.data).path.unlink(missing_ok=True)
            remote = remote_settings(settings)
            target = Target(
                Connection(remote),
                request_samples=remote.request_samples,
                patience_seconds=patience,
                tell=partial(echo, err=True),
                clock=system_clock,
            )
            target.check()
            name = remote.write_url + (f" (tenant {remote.login.tenant})" if remote.login.tenant else "")
            if not verify:
                _send(target, name, settings.data, source, skip_refused=skip_refused, ask_all=missing or restart)
            if not no_verify:
                _count(target, name, source, _left(StateFile(settings.data).path, SHOWN_SECONDS))
    except DataDirectoryError as error:
        raise click.ClickException(f"{error}. The server of these samples must be stopped; nothing was sent") from error
    except (EngineSettingsError, TransferError) as error:
        raise click.ClickException(str(error)) from error
    except StoreReadError as error:
        raise click.ClickException(error.detail) from error
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename}: {error.strerror}") from error


def _send(
    target: Target, name: str, directory: Path, source: StoredHours, *, skip_refused: bool, ask_all: bool
) -> None:
    file = StateFile(directory)
    before = file.read()
    job = Job(
        source=source,
        target=target,
        file=file,
        name=name,
        skip_refused=skip_refused,
        ask_all=ask_all,
        settle=partial(_settle, file.path),
        watch=_Progress("sent").show,
        now_ms=system_clock(),
    )
    _keep_metadata(directory, source)
    begun = time.monotonic()
    state = transfer(job)
    sent, seconds = state.sent - (before.sent if before else 0), time.monotonic() - begun
    already = f"; {state.present:,} were there already" if state.present else ""
    refused = f"; {state.refused:,} were refused and left out" if state.refused else ""
    rate = f", {sent:,} of them now, {sent / seconds:,.0f} a second" if sent else ""
    echo(f"{state.sent:,} samples sent to {job.name}{rate}{already}{refused}", err=True)


def _settle(path: Path) -> None:
    """Wait until the engine shows what went out before the state was written the last time."""
    time.sleep(_left(path, SETTLE_SECONDS))


def _left(path: Path, seconds: float) -> float:
    """What is left of `seconds` since samples last went out: the state file is written with each part."""
    if not path.exists():
        return 0.0
    return min(max(path.stat().st_mtime + seconds - time.time(), 0.0), seconds)


def _keep_metadata(directory: Path, source: StoredHours) -> None:
    """Keep metadata for the server that will use the engine: most engines drop remote write's."""
    queue = directory / QUEUE_DIRECTORY
    queue.mkdir(mode=0o700, exist_ok=True)
    known = KnownMetadata(queue / "metadata.json")
    known.keep({name: entry for name, entry in source.metadata().items() if name not in known.entries})


def _count(target: Target, name: str, source: StoredHours, patience_seconds: float) -> None:
    shown_from = time.monotonic() + patience_seconds
    counts = count_all(source, target, _Progress("counted").show, settled=lambda: time.monotonic() >= shown_from)
    for (hour_ms, metric), count in list(counts.missing.items())[:_SHOWN_LINES]:
        echo(f"{metric} {hour_text(hour_ms)}: {count:,} samples missing")
    if len(counts.missing) > _SHOWN_LINES:
        echo(f"and {len(counts.missing) - _SHOWN_LINES:,} metrics and hours more")
    if counts.nan:
        echo(f"{counts.nan:,} stale markers and other NaN were not counted: engines need not show them", err=True)
    if counts.missing:
        raise click.ClickException(
            f"{counts.missing.total():,} of {counts.samples:,} samples are missing in {name}. Where the oldest"
            " hours are missing, its retention is shorter than theirs (VictoriaMetrics drops such samples without a"
            " word: -retentionPeriod); --missing sends what is not there"
        )
    echo(f"all {counts.samples:,} samples of {counts.hours:,} hours are in {name}")


class _Progress:
    """A line on standard error each ten seconds."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._begun = self._next = time.monotonic()
        self._begun_with: int | None = None

    def show(self, hour_ms: int, done: int, total: int) -> None:
        if self._begun_with is None:
            self._begun_with = done
        now = time.monotonic()
        if now >= self._next:
            self._next = now + 10.0
            seconds, with_ = now - self._begun, self._begun_with
            line = progress_line(hour_ms=hour_ms, done=done, total=total, seconds=seconds, begun_with=with_)
            echo(f"{self._what} {line}", err=True)

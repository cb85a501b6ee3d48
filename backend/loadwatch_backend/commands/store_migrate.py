"""`loadwatch store migrate`: what the embedded store holds, to a second engine."""

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from loadwatch_backend.app.sample_store import make_signer, remote_settings
from loadwatch_backend.kit.clock import system_clock
from loadwatch_backend.kit.errors import ProblemError
from loadwatch_backend.kit.settings import Settings, SettingsError, load_settings
from loadwatch_backend.store.embedded.stored_hours import StoredHours, open_stored_hours
from loadwatch_backend.store.errors import DataDirectoryError, EngineSettingsError, StoreReadError
from loadwatch_backend.store.prometheus.connection import Connection
from loadwatch_backend.store.prometheus.engine import QUEUE_DIRECTORY
from loadwatch_backend.store.prometheus.known_metadata import KnownMetadata
from loadwatch_backend.store.prometheus.reading import choose_read_by
from loadwatch_backend.store.prometheus.settings import ReadBy, RemoteSettings
from loadwatch_backend.store.transfer.errors import TransferError
from loadwatch_backend.store.transfer.progress import progress_line
from loadwatch_backend.store.transfer.state import StateFile
from loadwatch_backend.store.transfer.target import Target
from loadwatch_backend.store.transfer.transfer import Job, transfer
from loadwatch_backend.store.transfer.verification import Findings, compare_all, difference_text

SETTLE_SECONDS = 10.0
"""After which an engine is asked what it took of the last part: VictoriaMetrics shows a new series so late."""
SHOWN_SECONDS = 30.0
"""After which it shows what it has just taken, or does not have it."""
DATABASE_BYTES = 192 << 20
"""For DuckDB: each part is read once, so that nothing is gained by keeping it."""
_SHOWN_LINES = 200


@click.command()
@click.option("--to", metavar="URL", help="Address of the engine. Instead of LOADWATCH_STORE_URL.")
@click.option("--write-to", metavar="URL", help="Address of its remote write. Instead of LOADWATCH_STORE_WRITE_URL.")
@click.option("--data", type=click.Path(path_type=Path, file_okay=False), help="Instead of LOADWATCH_DATA.")
@click.option("--verify", is_flag=True, help="Send nothing: compare only.")
@click.option("--no-verify", is_flag=True, help="Do not compare when all is sent.")
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
    """Send all samples of a stopped server's own store to another engine, oldest first, and compare what is there then.

    Tenant, login and certificates are those of the LOADWATCH_STORE_ settings. Cut off at any time, it goes on where it
    was when it is run again. The store stays as it is.

    Exit status: 0; 1 samples are missing or differ, or it could not go on; 2 the command was wrong.
    """
    if verify and (no_verify or missing or skip_refused or restart):
        raise click.UsageError("--verify sends nothing: give none of the options about sending.")
    try:
        settings = _settings(to, write_to, data)
        memory = min(settings.store_database_bytes, DATABASE_BYTES)
        with open_stored_hours(settings.data, memory, settings.store_database_threads) as source:
            if restart:
                StateFile(settings.data).path.unlink(missing_ok=True)
            engine = _Engine(settings, patience)
            if not verify:
                _send(engine, source, skip_refused=skip_refused, ask_all=missing or restart)
            if not no_verify:
                _compare(engine, source, _left(StateFile(settings.data).path, SHOWN_SECONDS))
    except DataDirectoryError as error:
        raise click.ClickException(f"{error}. The server of these samples must be stopped; nothing was sent") from error
    except (EngineSettingsError, SettingsError, TransferError) as error:
        raise click.ClickException(str(error)) from error
    except StoreReadError as error:
        raise click.ClickException(error.detail) from error
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename}: {error.strerror}") from error


class _Engine:
    """The engine as the settings have it, asked once who it is."""

    def __init__(self, settings: Settings, patience: float) -> None:
        remote = remote_settings(settings)
        region = remote.login.aws_region
        self.settings: RemoteSettings = remote
        connection = Connection(remote, make_signer(region) if region else None)
        self.target = Target(
            connection,
            _read_by(connection, remote.read_by),
            request_samples=remote.request_samples,
            patience_seconds=patience,
            tell=_Screen.tell,
            clock=system_clock,
        )

    @property
    def name(self) -> str:
        tenant = self.settings.login.tenant
        return self.settings.write_url + (f" (tenant {tenant})" if tenant else "")


def _settings(to: str | None, write_to: str | None, data: Path | None) -> Settings:
    overrides: dict[str, Any] = {"store_url": to, "store_write_url": write_to, "data": data}
    settings = load_settings(**{name: value for name, value in overrides.items() if value is not None})
    if not settings.store_url:
        raise click.UsageError("Name the engine with --to URL or LOADWATCH_STORE_URL.")
    return settings


def _read_by(connection: Connection, wanted: ReadBy) -> ReadBy:
    try:
        return choose_read_by(connection) if wanted is ReadBy.AUTO else wanted
    except ProblemError as error:
        raise TransferError(
            f"{error.detail}. Nothing was sent; check --to and the LOADWATCH_STORE_ settings"
        ) from error


def _send(engine: _Engine, source: StoredHours, *, skip_refused: bool, ask_all: bool) -> None:
    """Send what is left."""
    directory = engine.settings.data_directory
    file = StateFile(directory)
    before = file.read()
    job = Job(
        source=source,
        target=engine.target,
        file=file,
        name=engine.name,
        skip_refused=skip_refused,
        ask_all=ask_all,
        settle=partial(_settle, file.path),
        watch=_Screen("sent").show,
        now_ms=system_clock(),
    )
    _keep_metadata(directory, source)
    begun = time.monotonic()
    state = transfer(job)
    sent, seconds = state.sent - (before.sent if before else 0), time.monotonic() - begun
    already = f"; {state.present:,} were there already" if state.present else ""
    refused = f"; {state.refused:,} were refused and left out" if state.refused else ""
    rate = f", {sent:,} of them now, {sent / seconds:,.0f} a second" if sent else ""
    _Screen.tell(f"{state.sent:,} samples sent to {job.name}{rate}{already}{refused}")


def _settle(path: Path) -> None:
    """Wait until the engine shows what went out before the state was written the last time."""
    time.sleep(_left(path, SETTLE_SECONDS))


def _left(path: Path, seconds: float) -> float:
    """Of the seconds since samples went out, in this run or in one before: the state is written with each of them."""
    if not path.exists():
        return 0.0
    return min(max(path.stat().st_mtime + seconds - time.time(), 0.0), seconds)


def _keep_metadata(directory: Path, source: StoredHours) -> None:
    """For the server that will use the engine: most engines forget what remote write says of metrics."""
    queue = directory / QUEUE_DIRECTORY
    queue.mkdir(mode=0o700, exist_ok=True)
    known = KnownMetadata(queue / "metadata.json")
    known.keep({name: entry for name, entry in source.metadata().items() if name not in known.entries})


def _compare(engine: _Engine, source: StoredHours, patience_seconds: float) -> None:
    shown_from = time.monotonic() + patience_seconds
    screen = _Screen("compared")
    found = Findings()
    for one in compare_all(source, engine.target, screen.show, settled=lambda: time.monotonic() >= shown_from):
        found.add(one)
    for one in found.differing[:_SHOWN_LINES]:
        click.echo(difference_text(one))
    if len(found.differing) > _SHOWN_LINES:
        click.echo(f"and {len(found.differing) - _SHOWN_LINES:,} metrics and hours more")
    for note in found.notes():
        _Screen.tell(note)
    sums = found.sums
    if found.differing:
        raise click.ClickException(
            f"{sums['missing']:,} of {sums['samples']:,} samples are missing in {engine.name}, {sums['changed']:,} have"
            " another value. Where the oldest hours are missing, its retention is shorter than theirs (VictoriaMetrics"
            " drops such samples without a word: -retentionPeriod); --missing sends what is not there"
        )
    click.echo(f"all {sums['samples']:,} samples of {found.hours:,} hours are in {engine.name}")


class _Screen:
    """Progress on standard error: one line that is written over on a terminal, else one each ten seconds."""

    def __init__(self, what: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._clock = clock
        self._begun = clock()
        self._begun_with: int | None = None
        self._next = self._begun

    def show(self, hour_ms: int, done: int, total: int) -> None:
        """See `Watch`."""
        if self._begun_with is None:
            self._begun_with = done
        now = self._clock()
        if now < self._next:
            return
        terminal = sys.stderr.isatty()
        self._next = now + (0.5 if terminal else 10.0)
        line = progress_line(
            hour_ms=hour_ms, done=done, total=total, seconds=now - self._begun, begun_with=self._begun_with
        )
        click.echo(f"\r\x1b[K{self._what} {line}" if terminal else f"{self._what} {line}", err=True, nl=not terminal)

    @staticmethod
    def tell(text: str) -> None:
        """A line of its own."""
        click.echo(f"\r\x1b[K{text}" if sys.stderr.isatty() else text, err=True)

"""`loadwatch aws-record` and `loadwatch aws-replay`: a bug report's data, and what the collector makes of it."""

import io
import os
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click

from loadwatch_collectors.errors import AgentError, ConfigError

EXIT_FAILED = 1
EXIT_CONFIG = 2
MAX_POLLS = 1_440


@click.command("aws-record")
@click.option(
    "--config",
    "-c",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="Path of loadwatch.yml; its cloudwatch blocks are read.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The archive to write, such as aws.tar.gz.",
)
@click.option(
    "--polls", type=click.IntRange(1, MAX_POLLS), default=1, show_default=True, help="How many polls, a minute apart."
)
def aws_record(config: Path, output: Path, polls: int) -> None:
    """Read AWS as the agent does and store the answers, redacted, for a bug report. Nothing is sent anywhere.

    Account ids, ARNs, names, addresses and tags are replaced by stand-ins, the same throughout the archive, which
    cannot be reversed. Credentials and signatures are not recorded.

    Exit status: 0 recorded, 1 nothing of AWS could be read (the refusals are recorded), 2 the configuration is wrong.
    """
    from loadwatch_collectors.commands.startup import read_config
    from loadwatch_collectors.runs.logs import silence_logs
    from loadwatch_collectors.sources.aws.recording.session import record_polls

    silence_logs()
    try:
        settings = read_config(config)
        with tempfile.TemporaryDirectory(prefix="loadwatch-aws-") as folder:
            session = record_polls(settings.collectors, Path(folder), polls, tell=_tell, pause=_pause_until_minute)
            _pack(output, session.files)
    except AgentError as error:
        click.echo(f"loadwatch aws-record: {error}", err=True)
        sys.exit(EXIT_CONFIG)
    _tell(f"wrote {output} ({output.stat().st_size / 1000:.0f} kB). Look into it before you send it:")
    _tell(f"  tar xzOf {output} | less")
    _tell(f"  loadwatch aws-replay {output}")
    sys.exit(0 if session.read_any else EXIT_FAILED)


@click.command("aws-replay")
@click.argument("recording", type=click.Path(path_type=Path))
def aws_replay(recording: Path) -> None:
    """Run the collector on a recording and print what it would have sent: series, value, time in ms.

    RECORDING is an archive of `aws-record`, a folder of the key `record`, or one file of it. No request goes to AWS.

    Exit status: 0, or 2 when it cannot be read as a recording.
    """
    from loadwatch_collectors.runs.logs import silence_logs
    from loadwatch_collectors.sources.aws.recording.session import replay_recordings

    silence_logs()
    try:
        for line in replay_recordings(recording):
            click.echo(line)
    except AgentError as error:
        click.echo(f"loadwatch aws-replay: {error}", err=True)
        sys.exit(EXIT_CONFIG)


def _pack(output: Path, files: Sequence[Path]) -> None:
    """Write the archive, readable by its owner only, without the user's name and the files' times."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for file in files:
            info = tarfile.TarInfo(file.name)
            info.size, info.mode = file.stat().st_size, 0o600
            with file.open("rb") as content:
                archive.addfile(info, content)
    try:
        descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(data.getvalue())
    except OSError as error:
        raise ConfigError(f"{output} cannot be written: {error.strerror}") from error


def _pause_until_minute() -> None:
    time.sleep(60 - time.time() % 60)


def _tell(text: str) -> None:
    click.echo(text, err=True)

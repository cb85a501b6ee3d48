"""`loadwatch connect`: what listens on this host, the lines that watch it, and adding them to loadwatch.yml."""

import json
import logging
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click
from loadwatch_formats.terminal import echo

from loadwatch_collectors.commands.iam_policy import BUILTIN_NAME, SERVER_COMMAND, make_builtin_config
from loadwatch_collectors.errors import AgentError, ConfigError

if TYPE_CHECKING:
    from loadwatch_collectors.config import AgentConfig

EXIT_FAILED = 1
EXIT_CONFIG = 2
EXIT_OTHER = 3
_SECRETS = Path("/etc/loadwatch")
_HEADER = "# Begun by `loadwatch connect`. Keys: docs/reference/configuration.md. Secrets are never written here.\n"


class OtherLinesError(AgentError):
    """What listens at the port is not what was shown."""


@click.command()
@click.argument("port", type=click.IntRange(1, 65_535), required=False)
@click.option(
    "--config",
    "-c",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Path of the agent's loadwatch.yml. Without it, and where it is not there yet: this host alone is watched.",
)
@click.option("--write", is_flag=True, help="Add the lines to the file, if all their collectors work.")
@click.option(
    "--server",
    metavar="URL",
    help="Address of Loadwatch's server, written into a file that --write begins. Default: this host.",
)
@click.option("--digest", help="Only lines with this digest, as --json tells it: those that somebody has read.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def connect(
    port: int | None, config: Path | None, write: bool, server: str | None, digest: str | None, as_json: bool
) -> None:
    """Tell what listens on this host, what it seems to be, and the lines of loadwatch.yml that watch it.

    With PORT its lines are checked, as `loadwatch check` does it, and with --write added to the file, of which a copy
    is kept; an agent takes them at its next start. Programs whose name does not tell what they are get GET
    /debug/dbstats and GET /metrics on the loopback interface, once each and without credentials.

    Exit status: 0 all is well, 1 a collector of the lines fails, 2 the configuration is wrong or cannot be written, 3
    nothing like that listens at the port. Nothing is written unless it is 0.
    """
    from loadwatch_collectors.logs import configure_logs

    configure_logs("auto", level=logging.ERROR)
    try:
        if write and (port is None or config is None):
            raise ConfigError("--write needs a port, and with --config the file that the agent reads")
        if port is None:
            _tell_all(config, as_json=as_json)
        elif not _check(port, config, digest, server, write=write, as_json=as_json):
            sys.exit(EXIT_FAILED)
    except OtherLinesError as error:
        _fail(error, EXIT_OTHER, as_json=as_json)
    except AgentError as error:
        _fail(error, EXIT_CONFIG, as_json=as_json)


def _fail(error: AgentError, status: int, *, as_json: bool) -> NoReturn:
    echo(json.dumps({"error": str(error)}) if as_json else f"loadwatch connect: {error}", err=not as_json)
    sys.exit(status)


def _tell_all(config: Path | None, *, as_json: bool) -> None:
    from loadwatch_collectors.connect.config_file import make_offers
    from loadwatch_collectors.connect.find import find_listeners

    settings, folder, host = _ground(config)
    found = find_listeners(_own_pids())
    offers = make_offers(found, settings, folder, host)
    if as_json:
        echo(json.dumps({"host": host, "listeners": [one.document() for one in offers], "more": found.more}))
        return
    for offer in offers:
        echo(offer.render())
    if found.more:
        echo(f"{found.more} more are not shown")
    if not offers:
        echo("nothing listens on this host")


def _check(
    port: int, config: Path | None, digest: str | None, server: str | None, *, write: bool, as_json: bool
) -> bool:
    from loadwatch_collectors.commands.check import check_collectors, render_reports, reports_to_json
    from loadwatch_collectors.connect.config_file import replace_file, with_target

    lines = _lines_of(port, config, digest)
    text, name = _text_of(config)
    if server is not None and name == BUILTIN_NAME:
        text = f"server:\n  url: {json.dumps(server)}\n{text}"
    target = with_target(text, lines, name)
    reports = check_collectors(target.added)
    works = not any(report.error for report in reports)
    written: dict[str, str | None] | None = None
    if write and works and config is not None:
        for one in target.others:
            one.build().close()  # an agent that starts anew must not end at what somebody wrote meanwhile
        new = name == BUILTIN_NAME
        backup = replace_file(config, _HEADER + target.text if new else target.text, None if new else text)
        written = {"path": str(config.resolve()), "backup": str(backup) if backup else None}
    if as_json:
        echo(json.dumps({"collectors": json.loads(reports_to_json(reports))["collectors"], "written": written}))
        return works
    echo(f"{lines}\n{render_reports(reports)}")
    if written is not None:
        echo(f"written to {written['path']}; start the agent again")
    elif write:
        echo("nothing is written")
    return works


def _lines_of(port: int, config: Path | None, digest: str | None) -> str:
    """The lines for a port, as they would be shown now.

    Raises:
        OtherLinesError: there are none, or others than those with the digest.
    """
    from loadwatch_collectors.connect.config_file import make_offers
    from loadwatch_collectors.connect.find import find_listeners

    offers = make_offers(find_listeners(_own_pids(), only_port=port), *_ground(config))
    if not offers:
        raise OtherLinesError(f"nothing listens on port {port} of this host")
    chosen = [offer for offer in offers if offer.lines and digest in (None, offer.digest)]
    if chosen:
        return chosen[0].lines
    if any(offer.lines for offer in offers):
        raise OtherLinesError(f"what listens on port {port} has changed since these lines were shown; look again")
    watched = any(offer.watched for offer in offers)
    why = "it is watched already" if watched else "its process cannot be seen, and it does not say what it is"
    raise OtherLinesError(f"there is nothing to add for port {port}: {why}")


def _ground(config: Path | None) -> "tuple[AgentConfig, Path, str]":
    """What is watched already, the folder of secrets, and the name of this host."""
    from loadwatch_collectors.config import load_config
    from loadwatch_collectors.settings_loader import parse_document
    from loadwatch_collectors.sources.registry import sources_by_name

    text, name = _text_of(config)
    settings = load_config(parse_document(text, name), sources_by_name())
    return settings, _SECRETS if config is None else config.resolve().parent, socket.gethostname()


def _text_of(config: Path | None) -> tuple[str, str]:
    """The configuration as text, and its name; where there is no file, the one that an agent has without."""
    from loadwatch_collectors.connect.config_file import read_text

    if config is None or not config.exists():
        return make_builtin_config(), BUILTIN_NAME
    return read_text(config), str(config)


def _own_pids() -> list[int]:
    from loadwatch_collectors.sources.process.search import ProcessSettings, find_pids

    return find_pids(ProcessSettings(command=SERVER_COMMAND))

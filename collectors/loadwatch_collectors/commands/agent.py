"""The agent's commands: `loadwatch agent` and `loadwatch check`."""

import dataclasses
import logging
import signal
import sys
import threading
from pathlib import Path

import click
from loadwatch_formats.terminal import echo

from loadwatch_collectors.errors import AgentError, OtherAgentError

EXIT_FAILED = 1
EXIT_CONFIG = 2
EXIT_OTHER_AGENT = 4
"""Exit status of `loadwatch agent` if another agent runs; `loadwatch up` then goes on without one."""

_CONFIG = click.option(
    "--config",
    "-c",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Path of loadwatch.yml. Without it this host and Loadwatch itself are watched.",
)
_SERVER = click.option("--server", "server_url", help="Send to this remote-write address instead of the file's.")


@click.command()
@_CONFIG
@_SERVER
@click.option("--token-file", help="File with the agent's token, instead of the file's.")
@click.option("--spool", "spool_directory", help="Folder of the spool, instead of the file's.")
@click.option("--log", "log_format", type=click.Choice(["auto", "json", "console"]), help="Format of the log.")
def agent(
    config: Path | None,
    server_url: str | None,
    token_file: str | None,
    spool_directory: str | None,
    log_format: str | None,
) -> None:
    """Watch targets and send what is seen to the server.

    Exit status: 0 after SIGTERM or Ctrl-C, 2 the configuration or the spool cannot be used, 4 another agent of this
    host sends to the same server already.
    """
    from loadwatch_collectors.commands.iam_policy import read_config
    from loadwatch_collectors.logs import configure_logs
    from loadwatch_collectors.pipeline.agent import run_agent

    try:
        settings = read_config(config)
        server = settings.server
        if server_url is not None:
            server = dataclasses.replace(server, url=server_url)
        if token_file is not None:
            server = dataclasses.replace(server, token_file=token_file, token_env=None)
        spool = settings.spool
        if spool_directory is not None:
            spool = dataclasses.replace(spool, directory=spool_directory)
        settings = dataclasses.replace(settings, server=server, spool=spool)
        configure_logs(log_format or settings.log_format)
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda _number, _frame: stop.set())
        run_agent(settings, stop)
    except OtherAgentError as error:
        echo(f"loadwatch agent: {error}", err=True)
        sys.exit(EXIT_OTHER_AGENT)
    except (AgentError, ValueError) as error:
        echo(f"loadwatch agent: {error}", err=True)
        sys.exit(EXIT_CONFIG)


@click.command()
@_CONFIG
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(config: Path | None, as_json: bool) -> None:
    """Validate the configuration and run every collector twice: what it sees, what it costs, what it may not see.

    Exit status: 0 all collectors work, 1 one fails, 2 the configuration is wrong.
    """
    from loadwatch_collectors.commands.check import check_collectors, render_reports, reports_to_json
    from loadwatch_collectors.commands.iam_policy import read_config
    from loadwatch_collectors.logs import configure_logs
    from loadwatch_collectors.transport.exposure import find_server_exposure

    try:
        settings = read_config(config)
        exposed = find_server_exposure(settings.server.write_url, settings.server.token() is not None)
        # What a source warns of stands in the report.
        configure_logs(settings.log_format, level=logging.ERROR)
        reports = check_collectors(settings.collectors)
    except AgentError as error:
        echo(f"loadwatch check: {error}", err=True)
        sys.exit(EXIT_CONFIG)
    echo(reports_to_json(reports, exposed) if as_json else render_reports(reports, exposed))
    sys.exit(EXIT_FAILED if any(report.error for report in reports) else 0)

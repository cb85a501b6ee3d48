"""Command line of the demo: `make demo`, or `python -m examples.demo` from the root of the repository."""

import itertools
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import click

from examples.demo.stages import MAX_CONNECTIONS, Stage, stages_by_name
from examples.rig.application import build_application, final_counts, running_application
from examples.rig.bi_tool import BiTool
from examples.rig.database import MONITOR_USER, Database, find_mariadb, running_database
from examples.rig.load import AsRun, LoadGenerator
from examples.rig.loadwatch import (
    Loadwatch,
    WatchedApp,
    agent_config,
    choose_listen,
    notification_settings,
    running_agent,
    running_server,
    write_secret,
)
from examples.rig.processes import ManagedProcess, RigError, free_port

SETTLE_SECONDS = 2.5
STAGE_NAMES = tuple(stages_by_name())


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """All that runs through the whole demo."""

    folder: Path
    app_port: int
    database: Database
    loadwatch: Loadwatch | None
    watched: Sequence[ManagedProcess]
    """Processes whose end ends the demo."""


@click.command()
@click.option("--once", is_flag=True, help="Stop after the last stage; otherwise the stages begin again.")
@click.option("--stage-seconds", type=click.IntRange(min=1), default=75, show_default=True, help="Length of a stage.")
@click.option("--stages", default=",".join(STAGE_NAMES), show_default=True, help="Which stages, in which order.")
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for Loadwatch's data, kept at the end; otherwise a temporary one that is removed.",
)
@click.option("--no-loadwatch", is_flag=True, help="Only the system under load, to be watched by your own Loadwatch.")
def main(once: bool, stage_seconds: int, stages: str, data: Path | None, no_loadwatch: bool) -> None:
    """A real Go server and MariaDB under load, stage by stage, and Loadwatch watching. Ctrl-C stops all of it.

    LOADWATCH_NOTIFICATIONS (with LOADWATCH_NOTIFY_NETWORKS and LOADWATCH_EXTERNAL_URL) says who is told of its alerts.
    """
    chosen = _choose_stages(stages)
    # A closed terminal or a plain `kill` must clean up as Ctrl-C does.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        with ExitStack() as stack:
            scene = _set_the_scene(stack, data=data, watch=not no_loadwatch)
            _print_opening(scene)
            _play(scene, chosen if once else itertools.cycle(chosen), stage_seconds)
            click.echo("==> the last stage is over: stopping everything")
    except KeyboardInterrupt:
        click.echo("==> stopped everything that the demo started")
    except RigError as error:
        click.echo(f"demo: {error}", err=True)
        sys.exit(1)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    # Not click.echo: the signal may have come in the middle of one, and Python's buffers are not to be entered twice.
    os.write(1, b"\n==> stopping; the measuring server stores what it still holds\n")
    raise KeyboardInterrupt


def _choose_stages(names: str) -> list[Stage]:
    known = stages_by_name()
    chosen: list[Stage] = []
    for name in names.split(","):
        if name.strip() not in known:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(known)}", param_hint="--stages")
        chosen.append(known[name.strip()])
    return chosen


def _set_the_scene(stack: ExitStack, *, data: Path | None, watch: bool) -> Scene:
    find_mariadb()
    click.echo("==> building the measuring server")
    build_application()
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="loadwatch-demo-")))
    click.echo("==> starting MariaDB with a data directory of its own")
    database = stack.enter_context(running_database(folder, max_connections=MAX_CONNECTIONS))
    app_port = free_port()
    watched, loadwatch = [database.process], None
    if watch:
        click.echo("==> starting Loadwatch")
        loadwatch_folder = folder / "loadwatch" if data is None else data.resolve()
        loadwatch_folder.mkdir(parents=True, exist_ok=True)
        settings = notification_settings(os.environ)
        loadwatch = stack.enter_context(running_server(loadwatch_folder, listen=choose_listen(), settings=settings))
        config = agent_config(
            server_url=loadwatch.url,
            spool=folder / "spool",
            apps=[WatchedApp(instance="demo-app", port=app_port)],
            database=database,
            secret=write_secret(folder / "monitor-password", database.passwords[MONITOR_USER]),
        )
        # Before any load: the agent's connections to the database must be open when there are none left to be had.
        watched.append(stack.enter_context(running_agent(folder, config)))
    stack.enter_context(BiTool(database))
    return Scene(
        folder=folder,
        app_port=app_port,
        database=database,
        loadwatch=loadwatch,
        watched=watched,
    )


def _print_opening(scene: Scene) -> None:
    click.echo("")
    if scene.loadwatch is not None:
        click.echo(f"    Open           {scene.loadwatch.url}")
    click.echo(f"    Go server      http://127.0.0.1:{scene.app_port}/debug/dbstats")
    click.echo(f"    MariaDB        127.0.0.1:{scene.database.port}, max_connections {MAX_CONNECTIONS}")
    click.echo(f"    Logs           {scene.folder}")
    click.echo("    Ctrl-C stops all of it.\n")


def _play(scene: Scene, stages: Iterable[Stage], seconds: int) -> None:
    for stage in stages:
        _play_stage(scene, stage, seconds=seconds)


def _play_stage(scene: Scene, stage: Stage, *, seconds: int) -> None:
    click.echo(f"==> {stage.title}\n    limit:   {stage.limit}\n    look at: {stage.look_at}")
    click.echo(
        f"    measuring-server {' '.join(stage.flags)}; up to {stage.load.target_rate:g} requests/s for {seconds} s"
    )
    url = f"http://127.0.0.1:{scene.app_port}/?name={stage.name}&value=21.5"
    loadwatch = scene.loadwatch
    run = None if loadwatch is None else AsRun(server=loadwatch.url, options=stage.run_options())
    with running_application(
        scene.folder, name=stage.name, flags=stage.flags, port=scene.app_port, database=scene.database
    ) as application:
        if loadwatch is not None and not loadwatch.annotate(stage.note, tags=["demo", stage.name]):
            click.echo("    (Loadwatch did not take the annotation of this stage)")
        if loadwatch is not None:
            # Counters grow from the first time that the agent reads them: that has to be before the load.
            time.sleep(SETTLE_SECONDS)
        load = LoadGenerator(load=stage.load, urls=[url], seconds=seconds, folder=scene.folder, run=run)
        with load:
            while not load.ended():
                time.sleep(0.2)
                _check_processes([*scene.watched, application])
        if loadwatch is not None:
            _print_run(loadwatch, load)
            # The agent reads the server's last counts before it is stopped.
            time.sleep(SETTLE_SECONDS)
    outcomes = ", ".join(f"{outcome} {n}" for outcome, n in load.by_outcome().items())
    click.echo(f"    load tool: {outcomes or 'no answer yet'}")
    click.echo(f"    server:    {final_counts(application.log) or 'stopped without a last line'}\n")


def _print_run(loadwatch: Loadwatch, load: LoadGenerator) -> None:
    run = load.run()
    if run is None:
        click.echo("    (Loadwatch did not take this stage as a run)")
        return
    click.echo(f"    run:       {loadwatch.url}/runs/{run['id']} ({run['verdict'] or 'no verdict yet'})")
    click.echo(f"    alerts:    {', '.join(loadwatch.alerts_of(run['id'])) or 'none'}")


def _check_processes(processes: Iterable[ManagedProcess]) -> None:
    for process in processes:
        if process.ended():
            raise RigError(f"{process.name} ended with status {process.status()}\n{process.last_lines()}")


if __name__ == "__main__":
    main()

"""Plays one case in a network namespace of its own; `python -m scenarios` starts it for each."""

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import click
import urllib3

from examples.rig.database import APP_USER, MONITOR_USER, Database, running_database
from examples.rig.load import AsRun, LoadGenerator
from examples.rig.loadwatch import Loadwatch, WatchedApp, agent_config, running_agent, running_server, write_secret
from examples.rig.processes import ManagedProcess, RigError, wait_until
from scenarios.actions import BurnCpu
from scenarios.case import Case, Earlier
from scenarios.cases import cases_by_name
from scenarios.cases.live import live_by_name
from scenarios.hours import hours_by_name
from scenarios.looking import Looker
from scenarios.namespace import bring_up_loopback, own_namespace, set_sysctls
from scenarios.performing import Instance, Performance, Scene

DATABASE_PORT = 3306
APP_PORT = 8080
"""Of the first instance; the others follow."""
LISTEN = "127.0.0.1:8000"
BURNERS = 2
_ANALYSIS_SECONDS = 120.0
_FILL = "INSERT INTO hits (name, value) SELECT CONCAT('old', seq % 1000), seq FROM seq_1_to_{rows}"


@click.command()
@click.argument("name")
@click.option("--template", type=click.Path(path_type=Path), required=True, help="MariaDB's fresh data directory.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Takes archive.zip and run.json.")
@click.option("--outside", required=True, help="The namespace that must not be this one.")
@click.option("--busy", is_flag=True, help="Two other processes keep the host's CPU busy.")
def main(name: str, template: Path, out: Path, outside: str, busy: bool) -> None:
    """Play one case and leave its run in OUT."""
    if not own_namespace(outside):
        raise click.ClickException("this is the host's network: a case is played in a namespace of its own only")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        with tempfile.TemporaryDirectory(prefix="loadwatch-scenario-") as folder:
            case = (cases_by_name() | hours_by_name() | live_by_name())[name]
            if busy:
                burners = BurnCpu(at=-3, seconds=case.seconds + case.after_seconds, processes=BURNERS)
                case = replace(case, actions=(*case.actions, burners))
            play(case, Path(folder), template=template, out=out)
    except KeyboardInterrupt:
        sys.exit(130)
    except RigError as error:
        click.echo(f"{name}: {error}", err=True)
        sys.exit(1)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def play(case: Case, folder: Path, *, template: Path, out: Path) -> None:
    """Set up the system, load it, and take its run out of Loadwatch.

    Raises:
        RigError: something ended that should not have, or did not answer.
    """
    bring_up_loopback()
    set_sysctls(case.sysctls)
    with ExitStack() as stack:
        database = stack.enter_context(
            running_database(
                folder,
                max_connections=case.max_connections,
                options=case.database_options,
                template=template,
                port=DATABASE_PORT,
            )
        )
        loadwatch = stack.enter_context(running_server(folder / "loadwatch", listen=LISTEN))
        scene = _set_the_scene(stack, case, folder, database, loadwatch)
        out.mkdir(parents=True, exist_ok=True)
        with Looker(loadwatch.url, out / "looks.json"):
            run_id = _load(case, scene, loadwatch, watched=[database.process, scene.agent])
        _take(loadwatch, run_id, out)


def _set_the_scene(stack: ExitStack, case: Case, folder: Path, database: Database, loadwatch: Loadwatch) -> Scene:
    instances = [
        Instance(app, number=number, folder=folder, port=APP_PORT + number, database=database)
        for number, app in enumerate(case.apps)
    ]
    config = agent_config(
        server_url=loadwatch.url,
        spool=folder / "spool",
        apps=[WatchedApp(instance=one.name, port=one.port, probe=one.probe) for one in instances],
        database=database,
        secret=write_secret(folder / "monitor-password", database.passwords[MONITOR_USER]),
        host="host-1",
        database_instance="db-1",
        watched=case.watched,
    )
    for instance in instances:
        stack.enter_context(instance)
    if case.rows_before:
        with database.connect(APP_USER) as connection, connection.cursor() as cursor:
            cursor.execute(_FILL.format(rows=int(case.rows_before)))
    # Before any load: the agent's connections must be open when there are none left to be had.
    agent = stack.enter_context(running_agent(folder, config))
    watched = {"host-1"}
    if "application" in case.watched:
        watched.update(instance.name for instance in instances)
    if "database" in case.watched:
        watched.add("db-1")
    wait_until("the agent's first samples", lambda: _has_samples(loadwatch, watched), seconds=60, process=agent)
    return Scene(folder=folder, database=database, instances=instances, agent=agent)


def _has_samples(loadwatch: Loadwatch, watched: Collection[str]) -> bool:
    up = loadwatch.samples("up == 1")
    return set(watched) <= {json.loads(labels).get("instance") for labels in up}


def _load(case: Case, scene: Scene, loadwatch: Loadwatch, *, watched: Sequence[ManagedProcess]) -> str:
    run = AsRun(server=loadwatch.url, options=_run_options(case))
    if case.earlier is not None:
        _load_earlier(case, case.earlier, scene, loadwatch)
    urls = [
        f"http://127.0.0.1:{instance.port}/?name={case.name}&value=21.5"
        for instance in scene.instances
        if instance.loaded
    ]
    performance = Performance(case.actions, scene, load_at=time.monotonic() + case.settle_seconds)
    with performance:
        time.sleep(case.settle_seconds)
        with LoadGenerator(
            load=case.load,
            urls=urls,
            seconds=case.seconds,
            folder=scene.folder,
            run=run,
            environment=case.load_environment,
        ) as load:
            while not load.ended():
                _check(performance, watched)
                time.sleep(0.1)
        until = time.monotonic() + case.after_seconds
        while time.monotonic() < until:
            _check(performance, watched)
            time.sleep(0.1)
    performance.check()
    document = load.run()
    if document is None:
        raise RigError("Loadwatch did not take the run")
    return str(document["id"])


def _load_earlier(case: Case, earlier: Earlier, scene: Scene, loadwatch: Loadwatch) -> None:
    """The run before the case's own: with other flags, then the instance starts anew with those of the case."""
    instance = scene.instances[0]
    instance.stop()
    instance.start(earlier.app.flags)
    options = _run_options(replace(case, title="Earlier", load=earlier.load, parameters=earlier.parameters))
    with LoadGenerator(
        load=earlier.load,
        urls=[f"http://127.0.0.1:{instance.port}/?name=earlier&value=21.5"],
        seconds=earlier.seconds,
        folder=scene.folder,
        run=AsRun(server=loadwatch.url, options=options),
    ) as load:
        while not load.ended():
            time.sleep(0.1)
    instance.stop()
    instance.start()
    time.sleep(earlier.pause)


def _check(performance: Performance, watched: Iterable[ManagedProcess]) -> None:
    performance.check()
    for process in watched:
        if process.ended():
            raise RigError(f"{process.name} ended with status {process.status()}\n{process.last_lines()}")


def _run_options(case: Case) -> list[str]:
    return [
        f"--name={case.title}",
        f"--scenario={case.name}",
        f"--tool={case.load.tool}",
        "--tag=scenario",
        f"--tag={case.purpose}",
        "--author=make scenarios",
        *([] if case.load.tool == "wrk" else [f"--rate={case.load.target_rate:g}"]),
        *(f"--threshold={threshold}" for threshold in case.thresholds),
        *(f"--param={name}={value}" for name, value in case.parameters.items()),
    ]


def _take(loadwatch: Loadwatch, run_id: str, out: Path) -> None:
    """Leave the run's document and its archive, once it is analysed."""
    document: dict[str, Any] = {}

    def analysed() -> bool:
        document.update(_get(f"{loadwatch.url}/api/runs/{run_id}").json())
        # Rows that are neither stored nor known to be lost are looked at again by the server.
        rows: dict[str, Any] = document.get("reconciliation") or {}
        ended = document.get("analysed_ms") is not None or document.get("state") != "running"
        return ended and rows.get("again_ms") is None

    wait_until("the run's analysis", analysed, seconds=_ANALYSIS_SECONDS)
    out.mkdir(parents=True, exist_ok=True)
    (out / "run.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
    (out / "archive.zip").write_bytes(_get(f"{loadwatch.url}/api/runs/{run_id}/archive").data)


def _get(url: str) -> urllib3.BaseHTTPResponse:
    answer = urllib3.request("GET", url, retries=False, timeout=60)
    if answer.status != 200:
        raise RigError(f"{url} was answered with {answer.status}: {answer.data[:300]!r}")
    return answer


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    main()

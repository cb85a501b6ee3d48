"""Load tools whose clients wait for answers, on a pool that is too small: is the run valid, the pool named first?

Starts MariaDB, Loadwatch with its agent, and the measuring server; plays each tool under `loadwatch run` against a pool
of 8, and a sweep of pools of 2, 4, 8 and 16 with measuring-load. hey, wrk, oha and locust are taken from PATH; those
that are not there are skipped and named. `--lock` holds a file's lock while load is played, for machines that play
other loads, too.
Usage: python -m bench.closed_loop_tools [--rounds 3] [--seconds 20] [--busy 0] [--lock FILE] [--stay SECONDS]
"""

import argparse
import fcntl
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast

import urllib3

from bench.machine import describe_machine, write_result
from examples.demo.stages import MAX_CONNECTIONS, STAGES
from examples.rig.application import LOAD_BINARY, build_application, running_application
from examples.rig.database import MONITOR_USER, Database, running_database
from examples.rig.loadwatch import WatchedApp, agent_config, running_agent, running_server, write_secret
from examples.rig.processes import ManagedProcess, free_port

CLIENTS, EACH = 100, 6
POOL = 8
POOLS = (2, 4, 8, 16)
SWEEP_SECONDS = 15
SETTLE_SECONDS = 3.0
"""The agent reads counters before the load begins and after it has ended."""
VERSIONS: Mapping[str, Sequence[str]] = {
    "hey": ("sh", "-c", "dpkg-query -W -f '${Version}' hey"),
    "wrk": ("sh", "-c", "wrk -v | head -1"),
    "oha": ("oha", "--version"),
    "locust": ("locust", "--version"),
}
_LOCUSTFILE = f"""
from locust import FastHttpUser, constant_throughput, task


class Client(FastHttpUser):
    wait_time = constant_throughput({EACH})

    @task
    def hit(self):
        self.client.get("/?name=locust&value=21.5", name="/")
"""


def commands(folder: Path, seconds: int, base: str) -> dict[str, list[str]]:
    """The command of each tool that is there, as a user would type it."""
    script = folder / "locustfile.py"
    script.write_text(_LOCUSTFILE, encoding="utf-8")
    url = f"{base}/?name=closed-loop&value=21.5"
    known = {
        "hey": ["hey", "-z", f"{seconds}s", "-c", f"{CLIENTS}", "-q", f"{EACH}", url],
        "oha": ["oha", "-z", f"{seconds}s", "-c", f"{CLIENTS}", "-q", f"{CLIENTS * EACH}", "--no-tui", url],
        "wrk": ["wrk", "-t2", f"-c{CLIENTS}", f"-d{seconds}s", "--latency", url],
        "locust": [
            *("locust", "-f", str(script), "--headless", "--only-summary", "--host", base),
            *("-u", f"{CLIENTS}", "-r", f"{CLIENTS}", "-t", f"{seconds}s"),
        ],
    }
    return {name: command for name, command in known.items() if shutil.which(name)} | {
        "measuring-load": _measuring_load(folder, seconds, url, EACH)
    }


def _measuring_load(folder: Path, seconds: int, url: str, each: int) -> list[str]:
    records = folder / "load.csv"
    records.unlink(missing_ok=True)
    return [
        str(LOAD_BINARY),
        f"-clients={CLIENTS}",
        f"-rate={each}",
        f"-duration={seconds}s",
        f"-output={records}",
        url,
    ]


def play(server: str, folder: Path, command: Sequence[str], options: Sequence[str]) -> dict[str, Any]:
    """One run under `loadwatch run`, as the server has it once it has settled."""
    records = [f"--result={folder / 'load.csv'}"] if command[0] == str(LOAD_BINARY) else []
    told = subprocess.run(
        [
            *(str(Path(sys.executable).with_name("loadwatch")), "run", f"--server={server}", "--no-gate", "--quiet"),
            *(f"--state-directory={folder / 'runs'}", "--json", "--no-patch", *records, *options, "--", *command),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    documents = re.findall(r"^\{$.*?^\}$", told.stdout, re.MULTILINE | re.DOTALL)
    if not documents:
        raise RuntimeError(f"{command[0]}: no run\n{told.stdout[-2000:]}\n{told.stderr[-2000:]}")
    run = json.loads(documents[-1])["id"]
    time.sleep(SETTLE_SECONDS)
    return _get(server, f"/api/runs/{run}")


def summary(tool: str, run: Mapping[str, Any]) -> dict[str, Any]:
    """What is judged of a run."""
    check = run["generator"]
    findings = [str(one["id"]) for one in cast("list[dict[str, Any]]", run["findings"] or [])]
    return {
        "tool": tool,
        "verdict": run["verdict"],
        "generator": check["state"],
        "target": check["target_rate"],
        "reached": check["reached_rate"],
        "clients": check["clients"],
        "ceiling": check["ceiling_rate"],
        "cores": check["process_cores"],
        "detail": check["detail"],
        "findings": findings,
        "valid": run["verdict"] in ("passed", "failed"),
        "pool_first": findings[:1] == ["pool-exhausted"],
    }


def play_tools(scene: "Scene", rounds: int, seconds: int) -> list[dict[str, Any]]:
    """Each tool on a pool of 8, `rounds` times."""
    told: list[dict[str, Any]] = []
    base = f"http://127.0.0.1:{scene.port}"
    options = ["--scenario=closed-loop", f"--rate={CLIENTS * EACH}", "--threshold=p90<3s", "--threshold=error_rate<1%"]
    with scene.application(POOL):
        for _ in range(rounds):
            for tool in commands(scene.folder, seconds, base):
                with scene.load():
                    command = commands(scene.folder, seconds, base)[tool]
                    told.append(summary(tool, play(scene.server, scene.folder, command, options)))
                print(json.dumps(told[-1]), flush=True)
    return told


def play_sweep(scene: "Scene", name: str) -> dict[str, Any]:
    """The sweep over the size of the pool, as the API has it."""
    for pool in POOLS:
        with scene.load(), scene.application(pool):
            url = f"http://127.0.0.1:{scene.port}/?name=sweep&value=21.5"
            command = _measuring_load(scene.folder, SWEEP_SECONDS, url, 8)
            options = [f"--scenario={name}", f"--param=pool={pool}", "--threshold=p95<300ms", f"--rate={CLIENTS * 8}"]
            run = play(scene.server, scene.folder, command, options)
            print(json.dumps({"pool": pool} | summary("measuring-load", run)), flush=True)
    found = _get(scene.server, "/api/sweep", scenario=name, parameter="pool", first="ok_rate", second="p95")
    points = [(point["value"], point["x"], point["y"], point["verdict"]) for point in found["points"]]
    return {"name": name, "points": points, "best": found["best"], "remarks": found["remarks"], "next": found["next"]}


class Scene:
    """What runs all the time: MariaDB, Loadwatch and its agent; and what is started for a part of it."""

    def __init__(self, stack: ExitStack, lock: Path | None) -> None:
        """All of it ends with `stack`."""
        build_application()
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="loadwatch-closed-loop-")))
        self.database: Database = stack.enter_context(running_database(self.folder, max_connections=MAX_CONNECTIONS))
        self.port = free_port()
        loadwatch = stack.enter_context(running_server(self.folder, listen=f"127.0.0.1:{free_port()}"))
        self.server = loadwatch.url
        self._lock = lock
        config = agent_config(
            server_url=loadwatch.url,
            spool=self.folder / "spool",
            apps=[WatchedApp(instance="closed-loop-app", port=self.port)],
            database=self.database,
            secret=write_secret(self.folder / "secret", self.database.passwords[MONITOR_USER]),
        )
        stack.enter_context(running_agent(self.folder, config))

    @contextmanager
    def application(self, pool: int) -> Generator[ManagedProcess]:
        """The measuring server of the demo's stage "bounded", with a pool of this size."""
        stage = next(stage for stage in STAGES if stage.name == "bounded")
        flags = [*stage.flags, f"-max-open={pool}", f"-max-idle={pool}"]
        with running_application(
            self.folder, name=f"pool-{pool}", flags=flags, port=self.port, database=self.database
        ) as process:
            time.sleep(SETTLE_SECONDS)
            yield process

    @contextmanager
    def load(self) -> Generator[None]:
        """While load is played nobody else plays one."""
        if self._lock is None:
            yield
            return
        with self._lock.open("a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def main() -> None:
    """Plays, and writes bench/results/closed_loop.md."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--busy", type=int, default=2, help="processes that keep the host busy in a second sweep")
    parser.add_argument("--lock", type=Path)
    parser.add_argument("--stay", type=int, default=0, help="seconds for which the server stays, to look at its pages")
    given = parser.parse_args()
    with ExitStack() as stack:
        scene = Scene(stack, given.lock)
        print(scene.server, flush=True)
        sweeps = [play_sweep(scene, "sweep")]
        if given.busy:
            with ExitStack() as busy:
                for _ in range(given.busy):
                    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
                    busy.callback(process.wait)
                    busy.callback(process.kill)
                sweeps.append(play_sweep(scene, "sweep-on-a-busy-host"))
        runs = play_tools(scene, given.rounds, given.seconds) if given.rounds else []
        if runs:
            write(runs, sweeps)
        print(json.dumps(sweeps), flush=True)
        time.sleep(given.stay)


def write(runs: Sequence[Mapping[str, Any]], sweeps: Sequence[Mapping[str, Any]]) -> None:
    """The result with its versions."""
    versions = {
        tool: subprocess.run(command, capture_output=True, text=True, check=False).stdout.partition(" from ")[0].strip()
        for tool, command in VERSIONS.items()
        if shutil.which(tool)
    }
    missing = [tool for tool in VERSIONS if tool not in versions]
    lines = [
        f"A pool of {POOL}, whose statements take 20 ms and more; {CLIENTS} clients are to send {CLIENTS * EACH}/s. "
        + ", ".join(f"{tool}: {text}" for tool, text in versions.items())
        + ("." if not missing else f". Not there, and left out: {', '.join(missing)}."),
        "",
        f"{sum(run['valid'] for run in runs)} of {len(runs)} runs are valid, and "
        f"{sum(run['pool_first'] for run in runs)} name the pool first.",
        "",
        "| tool | verdict | generator | reached of target | highest rate of its clients | cores | first finding |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| {run['tool']} | {run['verdict']} | {run['generator']} | "
            f"{run['reached']:.0f} of {run['target']:.0f}/s | "
            f"{'–' if run['ceiling'] is None else format(run['ceiling'], '.0f') + '/s'} | {run['cores'] or 0:.2f} | "
            f"{', '.join(run['findings'][:1]) or 'none'} |"
            for run in runs
        ),
    ]
    for sweep in sweeps:
        points = "; ".join(f"pool {value:g}: {x:.0f}/s" for value, x, _, _ in sweep["points"] if x is not None)
        lines += ["", f"{sweep['name']}: {len(sweep['points'])} points ({points}), best {sweep['best']}."]
    result = {"machine": describe_machine(), "versions": versions, "runs": list(runs), "sweeps": list(sweeps)}
    write_result(
        "closed_loop", "Tools whose clients wait for answers, on a pool that is too small", "\n".join(lines), result
    )


def _get(server: str, path: str, **fields: str) -> Any:
    answer = urllib3.request("GET", f"{server}{path}", fields=fields or None, timeout=60.0)
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status} {answer.data[:300]!r}")
    return answer.json()


if __name__ == "__main__":
    main()

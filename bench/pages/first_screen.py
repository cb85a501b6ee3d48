"""What the live page says in its first screen, in each stage of the demo and of ten instances of which one is slow.

Its own load, its own truth: the target rate is the load tool's, and which limit comes first is the stage's.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.machine import describe_machine, write_result
from examples.demo.stages import MAX_CONNECTIONS, SCENARIO, STAGES, THRESHOLDS
from examples.rig.application import ROOT, running_application
from examples.rig.database import MONITOR_USER, running_database
from examples.rig.load import AsRun, Load, LoadGenerator
from examples.rig.loadwatch import WatchedApp, agent_config, running_agent, running_server, write_secret
from examples.rig.processes import free_port

STAGE_SECONDS = 75
LOOKED_AT = 50
"""Seconds of a stage after which the page is opened."""
SLOW = "web-3"
CELLS = ("sent", "p95", "failing", "stored", "ran out first")
"""How the cells of the cockpit begin."""
FLEET = Load(workers=40, rate_per_worker=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What must be said: `first` and `nearest` are patterns of what ran out first and of the nearest limit."""

    target: float
    first: str
    nearest: str = "."


FIRST = {
    "naive": "connection|pool for each request",
    "default": "nothing|pool without a limit|not kept|CPU",
    "bounded": "pool",
    "bulk": "nothing|CPU",
    "channel": "file",
}
"""What ran out first of each stage, as the page may word it; two stages run out of nothing but, on a small or busy
machine, its CPU."""


def main() -> int:
    """Plays, looks and writes the result; pictures are kept in a folder that the last line names."""
    pictures = Path(tempfile.mkdtemp(prefix="lw-first-screen-"))
    looks = first_screens(pictures)
    _write(looks)
    print(f"pictures: {pictures}")
    return 0 if not any(look["faults"] for look in looks) else 1


def _write(looks: Sequence[dict[str, Any]]) -> None:
    lines = [
        "`python -m bench first-screen`: the live page at 1440x900 as it opens, unscrolled, "
        "with the time after which all of it stood there, "
        f"{LOOKED_AT} s into each stage of the demo and of a load on ten instances of which {SLOW} is slow. Wanted in "
        "view and right: what ran out first, the rate against its target, p95 against its threshold, the share that "
        "fails and by which kinds, what is stored of what was accepted, the nearest limit, and the charts of rate, "
        "latency and failures. "
        f"Load average of the machine, which also plays the load, at the end: {os.getloadavg()[0]:.1f}.",
        "",
        "| stage | sent | p95 | failing | stored | ran out first | nearest limit | there after | missing or wrong |",
        "| --- | --- | --- | --- | --- | --- | --- | ---: | --- |",
    ]
    for look in looks:
        cells = [_cell(look, name) or "–" for name in CELLS]
        nearest: str = "–" if look["nearest"] is None else look["nearest"]["limit"]
        faults = "; ".join(look["faults"]) or "nothing"
        lines.append(
            f"| {look['stage']} | {' | '.join(cells)} | {nearest} | {look['after_ms']:,} ms | {faults} |".replace(
                "\n", " "
            )
        )
    write_result("first-screen", "The first screen", "\n".join(lines), {"machine": describe_machine(), "looks": looks})


def first_screens(pictures: Path) -> list[dict[str, Any]]:
    """One look for each stage and for the fleet: the name, what stands there, and what is missing or wrong of it."""
    pictures.mkdir(parents=True, exist_ok=True)
    return [*_stages(pictures), _fleet(pictures)]


def _stages(pictures: Path) -> Generator[dict[str, Any]]:
    listen = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "examples.demo", "--once", "--stage-seconds", str(STAGE_SECONDS)]
    with (
        tempfile.TemporaryDirectory(prefix="lw-pages-") as data,
        subprocess.Popen(
            [*command, "--data", data],
            cwd=ROOT,
            env={**os.environ, "LOADWATCH_LISTEN": listen},
            stdout=subprocess.PIPE,
            text=True,
        ) as demo,
    ):
        assert demo.stdout is not None
        try:
            for stage in STAGES:
                for line in demo.stdout:
                    if stage.title in line:
                        break
                time.sleep(LOOKED_AT)
                truth = Truth(target=stage.load.target_rate, first=FIRST[stage.name])
                yield _look(stage.title, f"http://{listen}/", pictures / f"{stage.name}.png", truth)
            threading.Thread(target=demo.stdout.read, daemon=True).start()
        finally:
            demo.send_signal(signal.SIGTERM)


def _fleet(pictures: Path) -> dict[str, Any]:
    with ExitStack() as stack:
        url, load = _set_the_fleet(stack)
        with load:
            time.sleep(LOOKED_AT)
            truth = Truth(target=FLEET.target_rate, first="pool|one instance", nearest=SLOW)
            return _look(f"ten instances, {SLOW} slow", url, pictures / "fleet.png", truth)


def _set_the_fleet(stack: ExitStack) -> tuple[str, LoadGenerator]:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lw-pages-")))
    database = stack.enter_context(running_database(folder, max_connections=MAX_CONNECTIONS))
    loadwatch = stack.enter_context(running_server(folder, listen=f"127.0.0.1:{free_port()}"))
    apps = [WatchedApp(instance=f"web-{index}", port=free_port(), probe=False) for index in range(1, 11)]
    for app in apps:
        size, delay = (2, "250ms") if app.instance == SLOW else (4, "20ms")
        flags = ("-stage=bounded", f"-max-open={size}", f"-max-idle={size}", f"-db-delay={delay}")
        running = running_application(folder, name=app.instance, flags=flags, port=app.port, database=database)
        stack.enter_context(running)
    config = agent_config(
        server_url=loadwatch.url,
        spool=folder / "spool",
        apps=apps,
        database=database,
        secret=write_secret(folder / "monitor-password", database.passwords[MONITOR_USER]),
    )
    stack.enter_context(running_agent(folder, config))
    time.sleep(5)
    thresholds = [f"--threshold={one}" for one in THRESHOLDS]
    options = ["--name=ten instances", f"--scenario={SCENARIO}", "--tool=measuring-load", *thresholds]
    run = AsRun(server=loadwatch.url, options=[*options, f"--rate={FLEET.target_rate:g}"])
    urls = [f"http://127.0.0.1:{app.port}/?name=fleet&value=1" for app in apps]
    return loadwatch.url, LoadGenerator(load=FLEET, urls=urls, seconds=STAGE_SECONDS, folder=folder, run=run)


def _look(title: str, url: str, picture: Path, truth: Truth) -> dict[str, Any]:
    script = Path(__file__).with_name("first-screen.mjs")
    done = subprocess.run(
        ["node", str(script), url, str(picture)], check=True, stdout=subprocess.PIPE, text=True, timeout=120
    )
    seen = json.loads(done.stdout)
    return {"stage": title, "faults": list(_faults(seen, truth)), **seen}


def _cell(seen: dict[str, Any], start: str) -> str | None:
    return next((text for name, text in seen["cockpit"].items() if name.lower().startswith(start)), None)


def _faults(seen: dict[str, Any], truth: Truth) -> Generator[str]:
    for name in CELLS:
        if _cell(seen, name) is None:
            yield f"no cell {name!r} in the first screen"
    if (sent := _cell(seen, "sent")) is not None and f"of {truth.target:g}" not in sent.replace(",", ""):
        yield f"the rate is not held against {truth.target:g}: {sent!r}"
    if (first := _cell(seen, "ran out first")) is not None and re.search(truth.first, first, re.IGNORECASE) is None:
        yield f"what ran out first is said as {first!r}"
    if seen["nearest"] is None or re.search(truth.nearest, seen["nearest"]["text"], re.IGNORECASE) is None:
        yield f"the nearest limit is {seen['nearest']!r}"
    missing = {"rps", "latency", "failures"} - set(seen["charts"])
    if missing:
        yield f"charts not whole in the first screen: {', '.join(sorted(missing))}"


if __name__ == "__main__":
    sys.exit(main())

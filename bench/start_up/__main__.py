"""Clones the repository, runs `make up` twice, and measures each time until a browser shows a line in a chart.

The first run has empty pip and npm caches of its own; Debian packages are not part of it, as `make up` needs none.
Usage: python -m bench.start_up
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from bench.machine import describe_machine, write_result

ROOT = Path(__file__).resolve().parents[2]
LIMIT_SECONDS = 600
GOAL_SECOND_SECONDS = 5.0


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def is_ready(address: str) -> bool:
    """Whether the server answers that it is ready."""
    try:
        with urllib.request.urlopen(f"http://{address}/-/ready", timeout=1) as answer:
            return answer.status == 200
    except OSError:
        return False


def measure(clone: Path, environment: dict[str, str]) -> dict[str, float]:
    """Seconds from the start of `make up` to readiness and to the first line drawn; ends it by Ctrl-C."""
    address = f"127.0.0.1:{free_port()}"
    log = clone.parent / "make-up.log"
    started = time.time()
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["make", "up"],
            cwd=clone,
            env=environment | {"LOADWATCH_LISTEN": address},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            while not is_ready(address):
                if process.poll() is not None or time.time() - started > LIMIT_SECONDS:
                    raise RuntimeError(f"make up did not come up:\n{log.read_text()[-4000:]}")
                time.sleep(0.05)
            ready = time.time() - started
            chart = subprocess.run(
                ["node", str(ROOT / "bench/start_up/first-chart.mjs"), f"http://{address}/", "60"],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=True,
            )
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
            stopping = time.time()
            process.wait(timeout=30)
    return {
        "ready_seconds": round(ready, 1),
        "first_chart_seconds": round(int(chart.stdout) / 1000 - started, 1),
        "stop_seconds": round(time.time() - stopping, 1),
    }


def main() -> int:
    """Measures both starts and writes the result."""
    with tempfile.TemporaryDirectory(prefix="loadwatch-start-") as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LOADWATCH_", "VIRTUAL_ENV"))}
        environment = kept | {
            "PIP_CACHE_DIR": f"{folder}/pip-cache",
            "npm_config_cache": f"{folder}/npm-cache",
        }
        first = measure(clone, environment)
        second = measure(clone, environment)
        size = subprocess.run(["du", "-sm", str(clone)], capture_output=True, text=True, check=True).stdout.split()[0]
        shutil.rmtree(clone)
    result = {
        "what": "make up from a fresh clone with empty pip and npm caches, then again",
        "first": first,
        "second": second,
        "goal": {"second_first_chart_seconds": GOAL_SECOND_SECONDS},
        "clone_megabytes": int(size),
        "machine": describe_machine(),
    }
    table = "\n".join(
        [
            "| | server ready | first chart drawn | stopped after Ctrl-C |",
            "| --- | --- | --- | --- |",
            *(
                f"| {name} | {run['ready_seconds']} s | {run['first_chart_seconds']} s | {run['stop_seconds']} s |"
                for name, run in (("first time, empty caches", first), ("second time", second))
            ),
            "",
            f"Goal for the second time: {GOAL_SECOND_SECONDS:.0f} s to the first chart. The time to the first chart"
            " includes the start of a headless Chromium, which begins once the server is ready.",
        ]
    )
    write_result("start-up", "From `make up` to the first chart", table, result)
    print(json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Completion on the page Explore beside 10,000 metrics: `python -m bench explore`.

With FILES of Grafana (`python -m bench.explore FILE ...`), also how many of their PromQL panels `loadwatch packs
from-grafana` takes.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import urllib3
from loadwatch_collectors.collector import TargetIdentity
from loadwatch_collectors.pipeline.sender import HEADERS, compress, encode_rows
from loadwatch_collectors.series import SampleRow, make_series

from bench.idle import process
from bench.machine import describe_machine, write_result
from tests.serving import LOADWATCH, free_port, wait_until_answers

ROOT = Path(__file__).resolve().parent.parent
METRICS, REPEATS, GOAL_MS, GOAL_SHARE = 10_000, 40, 100, 0.95
KINDS = ("seconds_total", "bytes_total", "requests_total", "errors_total", "connections", "queue_length")
LETTERS = ("s", "e", "q", "b")
COUNTS = re.compile(r"(\d+) of (\d+) PromQL panels")


def main(files: Sequence[str]) -> int:
    """Measures and writes the result."""
    with tempfile.TemporaryDirectory(prefix="loadwatch-bench-") as folder:
        taken = _completions(Path(folder))
        panels = {Path(file).stem: _panels(Path(file), Path(folder)) for file in files}
    first, *later = taken
    later.sort()
    goal = "reached" if later[-1] < GOAL_MS else "MISSED"
    rows = "\n".join(f"| {name} | {each['taken']} | {each['panels']} |" for name, each in panels.items())
    shares = [each["taken"] / each["panels"] for each in panels.values() if each["panels"]]
    imports = (
        f"\n| dashboard | PromQL panels taken | of |\n| --- | --- | --- |\n{rows}\n\n"
        f"Goal: {GOAL_SHARE:.0%} of each: {'reached' if min(shares) >= GOAL_SHARE else 'MISSED'}.\n"
        if shares
        else ""
    )
    text = f"""
`python -m bench explore`, load average {os.getloadavg()[0]:.1f} at the end. {METRICS:,} metrics; {REPEATS} times a
letter is typed into the empty editor in Chromium. Time from the key to the frame that has the list:

| | ms |
| --- | --- |
| first time | {first:.0f} |
| after it: median | {statistics.median(later):.0f} |
| after it: slowest | {later[-1]:.0f} |

Goal: under {GOAL_MS} ms, each time after the first: {goal}.
{imports}"""
    result = {"machine": describe_machine(), "completion_ms": taken, "dashboards": panels}
    write_result("explore", "Completion of 10,000 metrics, and imported dashboards", text, result)
    return 0


def _completions(folder: Path) -> Sequence[float]:
    address = f"127.0.0.1:{free_port()}"
    environment = {"LOADWATCH_LISTEN": address, "LOADWATCH_DATA": str(folder / "data")}
    with process([str(LOADWATCH), "server"], folder / "server.log", environment) as server:
        wait_until_answers(f"http://{address}/-/ready", server)
        identity = TargetIdentity(job="bench", instance="bench")
        names = [f"service_{place // len(KINDS)}_{KINDS[place % len(KINDS)]}" for place in range(METRICS)]
        row = SampleRow(int(time.time() * 1_000), [make_series(name, (), identity) for name in names], [1.0] * METRICS)
        url = f"http://{address}/prometheus/api/v1/write"
        answer = urllib3.request("POST", url, body=compress(encode_rows([row])), headers=HEADERS)
        if answer.status not in (200, 204):
            raise RuntimeError(f"the samples were refused: {answer.status} {answer.data[:200]!r}")
        command = ["node", "bench/explore.mjs", f"http://{address}", str(REPEATS), *LETTERS]
        shown = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=300)
        found: list[float] = json.loads(shown.stdout)
        return found


def _panels(file: Path, folder: Path) -> Mapping[str, int]:
    command = [str(LOADWATCH), "packs", "from-grafana", str(file), "--out", str(folder / "packs")]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    found = COUNTS.search(shown.stdout + shown.stderr)
    if found is None:
        raise RuntimeError(f"{file} was not counted: {shown.stdout[-400:]}{shown.stderr[-400:]}")
    return {"taken": int(found[1]), "panels": int(found[2])}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

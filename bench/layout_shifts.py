"""What moves on a live page that is left open through the whole demo: `python -m bench.layout_shifts`.

Four pages in one Chromium: 1440 and 390 px, English and Japanese. Each is loaded as the first stage begins (nothing or
little is stored yet), left open through every stage, and loaded again while the first stage is played a second time.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.machine import describe_machine, write_result
from examples.demo.stages import STAGES
from examples.rig.application import ROOT
from examples.rig.processes import free_port

OPEN_GOAL, LOAD_GOAL = 0.05, 0.02
WORST = 5


def main(stage_seconds: int) -> int:
    """Plays the demo beside the pages and writes the result."""
    listen = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "examples.demo", "--stage-seconds", str(stage_seconds)]
    environment = {**os.environ, "LOADWATCH_LISTEN": listen}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        try:
            _read_until(demo.stdout, listen)
            script = str(Path(__file__).with_name("pages") / "layout-shifts.mjs")
            with subprocess.Popen(
                ["node", script, f"http://{listen}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            ) as pages:
                assert pages.stdin is not None
                assert pages.stdout is not None
                _read_until(pages.stdout, "open")
                for stage in (*STAGES, STAGES[0]):
                    _read_until(demo.stdout, stage.title)
                threading.Thread(target=demo.stdout.read, daemon=True).start()
                pages.stdin.write("\n")
                pages.stdin.flush()
                found = json.loads(pages.stdout.read())
        finally:
            demo.send_signal(signal.SIGTERM)
    return _write(found, stage_seconds)


def _read_until(lines: Iterable[str], text: str) -> None:
    for line in lines:
        print(line, end="", flush=True)
        if text in line:
            return
    raise RuntimeError(f"the output ended before {text!r}")


def worst_sources(shifts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Shifts summed by the element that moved and the blocks whose height changed (figures left out), largest first."""
    sources: dict[tuple[str, str], dict[str, Any]] = {}
    for shift in shifts:
        blocks = "; ".join(shift["blocks"])
        source = sources.setdefault((shift["node"], re.sub(r"-?\d+", "#", blocks)), {**shift, "value": 0.0, "times": 0})
        source["value"] += shift["value"]
        source["times"] += 1
    return sorted(sources.values(), key=lambda source: -source["value"])[:WORST]


def _write(found: Sequence[dict[str, Any]], stage_seconds: int) -> int:
    lines = [
        f"`python -m bench.layout_shifts`: the live page, left open through the demo's {len(STAGES)} stages of "
        f"{stage_seconds} s, in one Chromium beside it. Sums of Chromium's layout shifts without recent input. Load: "
        "the first 5 s, as the first stage begins and again at its second time. "
        f"Load average of the machine at the end: {os.getloadavg()[0]:.1f}.",
        "",
        "| page | first load | left open | load under load |",
        "| --- | ---: | ---: | ---: |",
        *(
            f"| {one['width']} px, {one['locale']} | {one['first']:.4f} | {one['open']:.4f} | {one['reload']:.4f} |"
            for one in found
        ),
    ]
    reached = all(one["open"] < OPEN_GOAL and max(one["first"], one["reload"]) < LOAD_GOAL for one in found)
    lines += [
        "",
        f"Goals: left open under {OPEN_GOAL}, a load under {LOAD_GOAL}: {'reached' if reached else 'MISSED'}.",
    ]
    for one in found:
        shifts = one["shifts"]
        lines += [
            "",
            f"## {one['width']} px, {one['locale']}: {len(shifts['later'])} shifts while open",
            "",
            "| sum | times | the first after | moved | what moved | its text | blocks whose height changed |",
            "| ---: | ---: | ---: | ---: | --- | --- | --- |",
        ]
        lines += [
            f"| {source['value']:.4f} | {source['times']} | {source['at_ms'] / 1_000:.0f} s | "
            f"{source['moved_px']} px | `{source['node']}` | {source['text'].replace('|', '/')} | "
            f"{'; '.join(source['blocks'])} |"
            for source in worst_sources([*shifts["first"], *shifts["later"], *shifts["loaded"]])
        ]
    result = {"machine": describe_machine(), "pages": found}
    write_result("layout_shifts", "What moves on the live page", "\n".join(lines), result)
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 75))

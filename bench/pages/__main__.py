"""What the live page and a run's page cost, measured in Chromium on the real demo: `python -m bench.pages`.

Two stages of the demo: the page of the first one's run, and the live page while the second one lasts.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from bench.machine import describe_machine, write_result
from bench.pages.beside import servers_beside
from examples.demo.pictures import runs_before
from examples.demo.stages import stages_by_name
from examples.rig.application import ROOT
from examples.rig.processes import free_port

STAGES = ("naive", "bounded")
TITLES = {
    "live": "live, 1440 px, under load",
    "live_phone": "live, 390 px, under load",
    "run": "run, 1440 px",
}
STAGE_SECONDS = 90
"""The live page is looked at for 70 s; the stages go on in turn while the others are."""


def main() -> int:
    """Plays, measures and writes the result."""
    listen = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "examples.demo", "--stages", ",".join(STAGES)]
    with (
        tempfile.TemporaryDirectory(prefix="lw-pages-") as data,
        subprocess.Popen(
            [*command, "--stage-seconds", str(STAGE_SECONDS), "--data", data],
            cwd=ROOT,
            env={**os.environ, "LOADWATCH_LISTEN": listen},
            stdout=subprocess.PIPE,
            text=True,
        ) as demo,
    ):
        assert demo.stdout is not None
        try:
            runs = runs_before(demo.stdout, stages_by_name()[STAGES[-1]].title)
            threading.Thread(target=demo.stdout.read, daemon=True).start()
            script = Path(__file__).with_name("measure.mjs")
            with servers_beside(Path(data) / "beside") as beside:
                command = ["node", str(script), f"http://{listen}", runs[0], "axe", beside.setup, beside.quiet]
                command.append(str(beside.agent))
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=2_400)
        finally:
            demo.send_signal(signal.SIGTERM)
    _write(json.loads(done.stdout))
    return 0


def _write(found: dict[str, Any]) -> None:
    lines = [
        "`python -m bench.pages`: the demo under load, in Chromium without a GPU, on the machine that also plays the "
        "demo. Warm: files in the browser's cache, median of three; painted is when the first line of a chart stands. "
        "Layout shift that no input caused (Chromium's own figure), main thread over 20 s, scripts that the page "
        "loads, gzipped.",
        "",
        "| page | painted cold, ms | warm, ms | layout shift, first visit | later | main thread | scripts |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, title in TITLES.items():
        one = found[name]
        lines.append(
            f"| {title} | {one['first_paint_ms']:,} | {one['warm_paint_ms']:,} | "
            f"{one['first_layout_shift']:.4f} | {one['layout_shift']:.4f} | "
            f"{one['main_thread_share']:.1%} | {one['script_gzip_bytes'] / 1_000:.0f} kB |"
        )
    axe = found["axe"]
    lines += [
        "",
        f"Layout shift of the live page as its agent stops and the page says so: {found['stopped_agent']:.4f}.",
        "",
        "Goals: warm under 1,200 ms, layout shift under 0.02.",
        "",
        f"axe: {len(axe['violations'])} violations in {axe['looks']} looks ({axe['pages']} pages, 390 and 1440 px, "
        "light and dark, English and Japanese).",
        *(f"- {one}" for one in axe["violations"]),
    ]
    write_result("pages", "What pages cost", "\n".join(lines), {"machine": describe_machine(), **found})


if __name__ == "__main__":
    sys.exit(main())

"""How much a live page grows that is left open: `python -m bench.pages.left_open [MINUTES]`.

`loadwatch up` with an agent on this host, samples each second, and a run of 20 s each two minutes, so that the cockpit
comes and goes. What the page holds after a garbage collection is looked at twice a minute; the first ten minutes are
left out, in which the charts' windows fill, and of the rest the longest stretch counts in which the page shows the same
(a group that unfolds brings nodes and what it draws). Growth is the slope by Theil and Sen with its 95 % interval;
where that holds both the goal and nothing, an hour cannot tell.
"""

import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import scipy.stats

from bench.machine import describe_machine, write_result
from examples.rig.application import ROOT
from examples.rig.processes import free_port
from tests.serving import LOADWATCH, wait_until_answers

MINUTES = 45
LOOK_SECONDS = 30
WARM_UP_SECONDS = 600
RUN_SECONDS, RUN_EACH_SECONDS = 20, 120
DAY_SECONDS = 86_400
GOAL_BYTES = 20_000_000
Look = dict[str, float]
# scipy comes without complete types.
stats: Any = scipy.stats


def main(minutes: int) -> int:
    """Leaves the page open and writes the result."""
    listen = f"127.0.0.1:{free_port()}"
    url = f"http://{listen}"
    ended = threading.Event()
    with tempfile.TemporaryDirectory(prefix="lw-open-") as data:
        environment = {**os.environ, "LOADWATCH_LISTEN": listen, "LOADWATCH_DATA": data}
        log = Path(data) / "up.log"
        with (
            log.open("wb") as out,
            subprocess.Popen([str(LOADWATCH), "up"], env=environment, stdout=out, stderr=out) as server,
        ):
            runs = threading.Thread(target=_keep_running, args=(url, ended))
            try:
                wait_until_answers(f"{url}/-/ready", server)
                runs.start()
                script = str(Path(__file__).with_name("left-open.mjs"))
                looks = str(minutes * 60 // LOOK_SECONDS)
                command = ["node", script, url, looks, str(LOOK_SECONDS)]
                done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
            finally:
                ended.set()
                server.send_signal(signal.SIGTERM)
                if runs.is_alive():
                    runs.join()
    _write(minutes, [json.loads(line) for line in done.stdout.splitlines()])
    return 0


def _keep_running(url: str, ended: threading.Event) -> None:
    for number in itertools.count(1):
        name = f"left open {number}"
        command = [str(LOADWATCH), "run", "--name", name, "--", "sleep", str(RUN_SECONDS)]
        environment = {**os.environ, "LOADWATCH_SERVER": url}
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        if ended.wait(RUN_EACH_SECONDS - RUN_SECONDS):
            return


def longest_unchanged(looks: Sequence[Look]) -> Sequence[Look]:
    """The longest stretch of looks in which the page shows the same: as many nodes and listeners, within a tenth."""
    stretches: list[list[Look]] = [[]]
    for look in looks:
        first = stretches[-1][0] if stretches[-1] else look
        if any(abs(look[key] - first[key]) > 0.1 * first[key] for key in ("nodes", "listeners")):
            stretches.append([])
        stretches[-1].append(look)
    return max(stretches, key=len)


def growth_in_a_day(looks: Sequence[Look], key: str) -> tuple[float, float, float]:
    """The slope of one figure over the seconds, times a day: estimate, and the ends of its 95 % interval."""
    found = stats.theilslopes([one[key] for one in looks], [one["seconds"] for one in looks], 0.95)
    return found[0] * DAY_SECONDS, found[2] * DAY_SECONDS, found[3] * DAY_SECONDS


def _write(minutes: int, looks: Sequence[Look]) -> None:
    warm = longest_unchanged([one for one in looks if one["seconds"] >= WARM_UP_SECONDS])
    growth, least, most = growth_in_a_day(warm, "heap_bytes")
    rows: list[str] = []
    for title, key, unit in (
        ("JavaScript heap, MB", "heap_bytes", 1e6),
        ("DOM nodes", "nodes", 1),
        ("event listeners", "listeners", 1),
    ):
        values = [one[key] / unit for one in warm]
        slope = [one / unit for one in growth_in_a_day(warm, key)]
        rows.append(
            f"| {title} | {values[0]:,.1f} | {values[-1]:,.1f} | {min(values):,.1f} to {max(values):,.1f} | "
            f"{slope[0]:+,.1f} ({slope[1]:+,.1f} to {slope[2]:+,.1f}) |"
        )
    verdict = "reached" if most < GOAL_BYTES else "MISSED" if least > GOAL_BYTES else "this run is too short to tell"
    lines = [
        f"`python -m bench.pages.left_open`: the live page at 1440 px, {minutes} minutes, samples each second and a "
        f"run of {RUN_SECONDS} s each {RUN_EACH_SECONDS} s. After a garbage collection, {len(warm)} looks from minute "
        f"{warm[0]['seconds'] / 60:.0f} to {warm[-1]['seconds'] / 60:.0f}, while the page shows the same. Growth is "
        f"the slope by Theil and Sen with its 95 % interval. Load average at the end {os.getloadavg()[0]:.1f}.",
        "",
        "| what the page holds | first | last | least to most | growth in a day |",
        "| --- | ---: | ---: | ---: | ---: |",
        *rows,
        "",
        f"The goal is less than {GOAL_BYTES / 1e6:.0f} MB in a day: {verdict}.",
    ]
    result = {"machine": describe_machine(), "growth_bytes_a_day": [growth, least, most], "looks": list(looks)}
    write_result("left-open", "A live page that is left open", "\n".join(lines), result)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else MINUTES))

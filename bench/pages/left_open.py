"""How much a live page grows that is left open: `python -m bench.pages.left_open [MINUTES]`.

`loadwatch up` with an agent on this host, samples each second, and a run of 20 s each two minutes, so that the cockpit
comes and goes. What the page holds after a garbage collection is looked at twice a minute; the first ten minutes are
left out, in which the charts' windows fill. Growth is the slope by Theil and Sen: the median of those of all pairs.
"""

import itertools
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

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


def growth_in_a_day(looks: Sequence[dict[str, float]], key: str) -> float:
    """The Theil-Sen slope of one figure over the seconds, times a day."""
    pairs = itertools.combinations([(one["seconds"], one[key]) for one in looks], 2)
    return statistics.median((b - a) / (later - earlier) for (earlier, a), (later, b) in pairs) * DAY_SECONDS


def _write(minutes: int, looks: Sequence[dict[str, float]]) -> None:
    warm = [one for one in looks if one["seconds"] >= WARM_UP_SECONDS]
    rows: list[str] = []
    for title, key, unit in (
        ("JavaScript heap, MB", "heap_bytes", 1e6),
        ("DOM nodes", "nodes", 1),
        ("event listeners", "listeners", 1),
    ):
        growth = growth_in_a_day(warm, key)
        rows.append(f"| {title} | {warm[0][key] / unit:,.1f} | {warm[-1][key] / unit:,.1f} | {growth / unit:+,.1f} |")
    heap = growth_in_a_day(warm, "heap_bytes")
    lines = [
        f"`python -m bench.pages.left_open`: the live page at 1440 px, {minutes} minutes, samples each second and a "
        f"run of {RUN_SECONDS} s each {RUN_EACH_SECONDS} s. After a garbage collection, from minute "
        f"{WARM_UP_SECONDS // 60} on; growth is the median slope of all pairs of {len(warm)} looks.",
        "",
        "| what the page holds | first | last | growth in a day |",
        "| --- | ---: | ---: | ---: |",
        *rows,
        "",
        f"The goal is less than {GOAL_BYTES / 1e6:.0f} MB in a day: {'reached' if heap < GOAL_BYTES else 'MISSED'}.",
    ]
    result = {"machine": describe_machine(), "growth_bytes_a_day": heap, "looks": list(looks)}
    write_result("left-open", "A live page that is left open", "\n".join(lines), result)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else MINUTES))

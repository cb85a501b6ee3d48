"""What a comparison claims of runs whose truth is known: the same load again and again, and one a fifth slower.

`python -m bench.compare [ROUNDS [SECONDS]]` records and judges; `… record FOLDER [ROUNDS [SECONDS]]` and `… judge
FOLDER` do one of both, so that recorded runs can be judged again. A round is eight runs against the measuring server
and four against one whose database takes longer for each statement so that a request takes a fifth longer, in an
order drawn by lot; hey sends at a fixed rate, MariaDB stores. Everything is real, goes to loopback, and ends by
itself.
"""

import csv
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.machine import describe_machine, write_result
from collectors.tests.mariadb import MariaDB, running_mariadb
from tests.serving import RealServer, free_port, wait_until_answers

ROUNDS, SECONDS = 10, 12
EQUAL, SLOW = 8, 4
WORKERS, RATE_OF_A_WORKER = 10, 15
DELAY_MS = 10.0
SLOWER = 1.2
ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "measuring-server"
HOUR_MS = 3_600_000
CALM = 0.1
"""Between equal runs: on a host of several guests the others' work shows in some rounds, and not in others."""
CLAIMS = frozenset({"better", "worse"})
Row = Mapping[str, Any]


def main(arguments: Sequence[str]) -> int:
    """Records, judges, or does both."""
    match arguments:
        case ["record", folder, *rest]:
            record(Path(folder), *_numbers(rest))
        case ["judge", folder]:
            judge(Path(folder))
        case _:
            with tempfile.TemporaryDirectory(prefix="lw-compare-") as name:
                record(Path(name), *_numbers(arguments))
                judge(Path(name))
    return 0


def _numbers(given: Sequence[str]) -> tuple[int, int]:
    rounds, seconds = [*map(int, given), *(ROUNDS, SECONDS)[len(given) :]]
    return rounds, seconds


# Record ---------------------------------------------------------------------------------------------------------------


def record(folder: Path, rounds: int, seconds: int) -> None:
    """Run the load; `equal-ROUND-N.csv` and `slow-ROUND-N.csv` are hey's answers."""
    folder.mkdir(parents=True, exist_ok=True)
    lot = random.Random(20_261_122)
    with tempfile.TemporaryDirectory(prefix="lw-c-") as name, running_mariadb(Path(name) / "db") as database:
        database.run("CREATE DATABASE equal", "CREATE DATABASE slow")
        with _measuring(database, "equal", DELAY_MS) as equal:
            base = _median_seconds(_load(equal, 3))
            delay = DELAY_MS + (SLOWER - 1) * base * 1_000
            with _measuring(database, "slow", delay) as slow:
                _load(slow, 3)
                urls = {"equal": equal, "slow": slow}
                for number in range(rounds):
                    kinds = ["equal"] * EQUAL + ["slow"] * SLOW
                    lot.shuffle(kinds)
                    for place, kind in enumerate(kinds):
                        (folder / f"{kind}-{number}-{place}.csv").write_text(_load(urls[kind], seconds))
                    print(f"round {number + 1} of {rounds}", flush=True)
    facts = {"rounds": rounds, "seconds": seconds, "delay_ms": {"equal": DELAY_MS, "slow": round(delay, 2)}}
    (folder / "facts.json").write_text(json.dumps(facts))


@contextmanager
def _measuring(database: MariaDB, schema: str, delay_ms: float) -> Generator[str]:
    address = f"127.0.0.1:{free_port()}"
    command = [PROGRAM, "-listen", address, "-dsn", f"root@tcp(127.0.0.1:{database.port})/{schema}"]
    command += ["-stage", "bounded", "-max-open", "20", "-max-idle", "20", "-db-delay", f"{delay_ms:.2f}ms"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until_answers(f"http://{address}/healthz", process)
            yield f"http://{address}/?name=bench&value=1"
        finally:
            process.terminate()
            process.wait(60)


def _load(url: str, seconds: int) -> str:
    command = ["hey", "-z", f"{seconds}s", "-c", str(WORKERS), "-q", str(RATE_OF_A_WORKER), "-o", "csv", url]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=seconds + 60)
    statuses = [row["status-code"] for row in csv.DictReader(done.stdout.splitlines())]
    if not statuses or set(statuses) != {"200"}:
        raise SystemExit(f"{url} answered {len(statuses)} requests with {sorted(set(statuses))}, not all with 200")
    return done.stdout


def _median_seconds(answers: str) -> float:
    return statistics.median(float(row["response-time"]) for row in csv.DictReader(answers.splitlines()))


# Judge ----------------------------------------------------------------------------------------------------------------


def judge(folder: Path) -> None:
    """Import all runs into a server, compare them in pairs and in fours, and write what was claimed."""
    facts = json.loads((folder / "facts.json").read_text())
    with tempfile.TemporaryDirectory(prefix="lw-j-") as name:
        server = RealServer(directory=Path(name), installed=True)
        server.start()
        try:
            told = _judge(server.url, folder, facts["rounds"])
        finally:
            server.stop()
    _report(facts, told)


def _judge(url: str, folder: Path, rounds: int) -> dict[str, list[list[Row]]]:
    told: dict[str, list[list[Row]]] = {"pairs": [], "groups": [], "slower": [], "slower_pairs": []}
    now_ms = int(time.time() * 1_000)
    for number in range(rounds):
        equal = sorted(folder.glob(f"equal-{number}-*.csv"), key=_place)
        slow = sorted(folder.glob(f"slow-{number}-*.csv"), key=_place)
        started = now_ms - (rounds - number) * HOUR_MS
        # Runs that follow each other are dealt to both sides in turn, as whoever compares two versions should do.
        sides = {"a": equal[0::2], "b": equal[1::2], "slow": slow}
        # A scenario a round: no group may borrow from the repeats of another.
        ids = {
            side: [_import(url, path, f"round-{number}", side, started + _place(path) * 60_000) for path in paths]
            for side, paths in sides.items()
        }
        told["groups"].append(_compare(url, ids["a"] + ids["b"]))
        told["slower"].append(_compare(url, ids["a"] + ids["slow"]))
        for place in range(2):
            alone = [
                _import(url, sides[side][place], f"alone-{number}-{place}", side, started + 1_800_000 + place)
                for side in sides
            ]
            told["pairs"].append(_compare(url, alone[:2]))
            told["slower_pairs"].append(_compare(url, [alone[0], alone[2]]))
    return told


def _place(path: Path) -> int:
    return int(path.stem.rsplit("-", 1)[1])


def _import(url: str, path: Path, scenario: str, side: str, started_ms: int) -> str:
    facts = {"scenario": scenario, "parameter": f"side={side}", "started_ms": str(started_ms), "filename": path.name}
    job = _ask(f"{url}/api/imports?{urllib.parse.urlencode(facts)}", path.read_bytes())
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        job = _ask(f"{url}/api/imports/{job['id']}")
        if job["state"] != "reading":
            return str(job["run"])
        time.sleep(0.02)
    raise SystemExit(f"the import of {path.name} did not end")


def _compare(url: str, runs: Sequence[str]) -> list[Row]:
    found = _ask(f"{url}/api/compare?{urllib.parse.urlencode([('run', run) for run in runs])}")
    return [
        {"metric": row["metric"]["id"], "base_per_run": row["cells"][0]["per_run"], **row["cells"][1]}
        for row in found["rows"]
        if not row["metric"]["id"].startswith("signal:")
    ]


def _ask(address: str, content: bytes | None = None) -> Any:
    headers = {"Content-Type": "application/octet-stream"} if content is not None else {}
    with urllib.request.urlopen(urllib.request.Request(address, content, headers), timeout=60) as answer:
        return json.load(answer)


# Report ---------------------------------------------------------------------------------------------------------------


def _report(facts: Mapping[str, Any], told: Mapping[str, Sequence[Sequence[Row]]]) -> None:
    tables = {name: _counts(rows) for name, rows in told.items()}
    claimed = {name: sum(any(row["opinion"] in CLAIMS for row in one) for one in rows) for name, rows in told.items()}
    found = sum(any(row["opinion"] == "worse" for row in one) for one in told["slower"])
    spreads = [row["spread"] for one in told["groups"] for row in one if row["metric"] == "p50" and row["spread"]]
    calm = [place for place, one in enumerate(told["groups"]) if _apart(one) < CALM]
    found_calm = sum(any(row["opinion"] == "worse" for row in told["slower"][place]) for place in calm)
    result = {
        "machine": describe_machine(),
        "load": f"hey, {WORKERS} workers at {RATE_OF_A_WORKER}/s each, {facts['seconds']} s a run",
        **facts,
        "comparisons": {name: len(rows) for name, rows in told.items()},
        "with_a_claim": claimed,
        "slower_found": found,
        "calm": {"rounds": len(calm), "slower_found": found_calm},
        "spread_of_p50_in_equal_groups": [round(one, 3) for one in sorted(spreads)],
        "opinions": tables,
    }
    text = f"""
The same load again and again against the measuring server with a real MariaDB, and against one of which each request
takes a fifth longer ({facts["delay_ms"]["slow"]} instead of {facts["delay_ms"]["equal"]} ms of delay in the database).
{result["load"]}; {EQUAL + SLOW} runs a round in an order drawn by lot, {facts["rounds"]} rounds.

| comparison | how many | with a claim of a difference |
| --- | ---: | ---: |
| equal, one run against one | {len(told["pairs"])} | {claimed["pairs"]} |
| equal, four runs against four | {len(told["groups"])} | {claimed["groups"]} |
| a fifth slower, four against four | {len(told["slower"])} | {claimed["slower"]} ("worse" in {found}) |
| of these, rounds in which equal runs' p50 differ by less than {CALM:.0%} | {len(calm)} | {found_calm} ("worse") |
| a fifth slower, one against one | {len(told["slower_pairs"])} | {claimed["slower_pairs"]} |

Opinions by figure, four against four:

| figure | equal | a fifth slower |
| --- | --- | --- |
"""
    for metric in tables["groups"]:
        cells = [_shown(tables[name].get(metric, {})) for name in ("groups", "slower")]
        text += f"| {metric} | {cells[0]} | {cells[1]} |\n"
    write_result("compare", "What a comparison claims", text, result)
    print(text)


def _apart(comparison: Sequence[Row]) -> float:
    """How far the medians of equal runs are apart, largest less smallest over the smallest."""
    (row,) = [row for row in comparison if row["metric"] == "p50"]
    values = [*row["base_per_run"], *row["per_run"]]
    return max(values) / min(values) - 1


def _counts(comparisons: Sequence[Sequence[Row]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for row in (row for one in comparisons for row in one):
        counts = found.setdefault(row["metric"], {})
        counts[row["opinion"]] = counts.get(row["opinion"], 0) + 1
    return found


def _shown(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {opinion}" for opinion, count in sorted(counts.items(), key=lambda one: -one[1]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

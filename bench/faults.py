"""kill -9 and a full disk in each place of the store: `python -m bench faults`, about 20 minutes.

100 rounds of kills and 30 of full disks in each; what a run was told so far stays in build/faults, for --resume.

The same rounds as those of backend/tests/store/faults, which has a few of each; what a failed one left stays in
build/faults.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from backend.tests.store.faults.dying import KEEP
from backend.tests.store.faults.places import PLACES
from bench.machine import describe_machine, write_result

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "build" / "faults"
SECONDS = 1_800.0
"""After which the rounds of a place are given up."""
HOW: dict[str, str] = {
    "write": "samples with new series and metadata, the log folded in, the start itself",
    "seal": "seal, convert format 1, join days, move, checkpoint",
    "rollup": "rollups of what is sealed, of a directory of format 2, of days that are over",
    "retention": "samples, rollups and series that are too old, around a pinned window",
    "backup": "a second full backup: server and receiver",
    "migration": "tables of the first version to the present one (SQLite)",
    "transfer": "`loadwatch store migrate` to another engine",
}


def rounds_of(what: str, name: str, directory: Path, rounds: int) -> dict[str, Any]:
    """What the rounds of a place told, also in a file; progress goes to standard error."""
    done = subprocess.run(
        [sys.executable, "-m", f"backend.tests.store.faults.{what}", name, str(directory / what / name), str(rounds)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        env={**os.environ, KEEP: str(KEPT / "failed")},
        text=True,
        check=False,
        timeout=SECONDS,
    )
    told = done.stdout.splitlines()[-1]
    outcome: dict[str, Any] = json.loads(told)
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / f"{what}-{name}.json").write_text(told)
    print(f"{what} {name}: {outcome['rounds']} rounds, {len(outcome['faults'])} faults", flush=True)
    return outcome


def main() -> int:
    """The exit code: whether there was a fault."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=100, help="Of kills, in each place.")
    parser.add_argument("--full-rounds", type=int, default=30, help="Of full disks, in each place.")
    parser.add_argument("--resume", action="store_true", help="Leave out what build/faults has from a run before.")
    parser.add_argument("--at-once", type=int, default=2, help="Places at the same time.")
    asked = parser.parse_args()
    counts = {"kills": asked.rounds, "full_disk": asked.full_rounds}
    outcomes: dict[tuple[str, str], dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="loadwatch-faults-") as folder, ThreadPoolExecutor(asked.at_once) as pool:
        jobs: dict[tuple[str, str], Future[dict[str, Any]]] = {}
        for name in PLACES:
            for what, rounds in counts.items():
                before = KEPT / f"{what}-{name}.json"
                if asked.resume and before.exists():
                    outcomes[what, name] = json.loads(before.read_bytes())
                else:
                    jobs[what, name] = pool.submit(rounds_of, what, name, Path(folder), rounds)
        outcomes.update({key: job.result() for key, job in jobs.items()})
    kills, full = ([outcomes[what, name] for name in PLACES] for what in counts)
    write_result("faults", "kill -9 and a full disk", text_of(kills, full), result_of(kills, full))
    faults = [fault for outcome in (*kills, *full) for fault in outcome["faults"]]
    print("\n".join(faults) or "no fault")
    return bool(faults)


def result_of(kills: list[dict[str, Any]], full: list[dict[str, Any]]) -> dict[str, Any]:
    """For machines."""
    return {
        "what": "rounds of kill -9 and of a full disk in each place of the store",
        "kills": kills,
        "full_disk": full,
        "machine": describe_machine(),
    }


def text_of(kills: list[dict[str, Any]], full: list[dict[str, Any]]) -> str:
    """For people."""
    lines = [
        "Each round begins in a prepared directory: start, kill -9 at a statement, a commit or a change of the"
        " directory (before it, after it, or up to 3 ms after it began), start again, kill -9 elsewhere, start again"
        " and end. Then each acknowledged sample is compared bit for bit, rollups with what they are made of, a backup"
        " by restoring it, tables with those of a database that nobody disturbed. Points are the moments of one life"
        " that it may die at; a second start has fewer left, so that some of the 200 kills come too late.",
        "",
        "| place | what is cut off | points | rounds | kills | starts | failed starts | acknowledged"
        " | rounds with a loss |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {one['place']} | {HOW[one['place']]} | {one['points']} | {one['rounds']} | {one['kills']} |"
            f" {one['starts']:,} | {one['failed_starts']} | {one['acknowledged']:,} | {one['failed_checks']} |"
            for one in kills
        ),
        "",
        "Full disks: after a part of the work the kernel refuses that files grow (RLIMIT_FSIZE; at several amounts of"
        " room that is left), the rest of the work is tried, then there is room and what failed is done again in the"
        " same process; the next start does all of it once more, and the same is compared. In the place `backup` the"
        " disk of the backup is full, and that of the store.",
        "",
        "| place | rounds | rounds in which something was refused | errors | acknowledged | faults |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {one['place']} | {one['rounds']} | {one['full']} | {sum(one['errors'].values())} |"
            f" {one['acknowledged']:,} | {len(one['faults'])} |"
            for one in full
        ),
        "",
        "Acknowledged are pushes, of five samples each; migration and transfer have none, all that there was must be"
        " there. `python -m bench faults` measures again; `make test` runs three rounds of each.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

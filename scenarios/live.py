"""Plays the thirteen live cases and says how many answers are right: `make live-cases`.

Each is played on the real measuring server and MariaDB in a network namespace of its own; nothing is recorded.
"""

import json
import math
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import click
from loadwatch_collectors.runs.replay.labels import parse_label
from loadwatch_collectors.runs.replay.scoring import counting, score

from bench.machine import describe_machine, write_result
from examples.rig.application import build_application
from examples.rig.database import find_mariadb, install_database
from examples.rig.processes import RigError
from scenarios.__main__ import play_one, stop_on_signals
from scenarios.cases.live import LIVE_CASES, LiveCase
from scenarios.record import make_label

_INTRODUCTION = """\
`make live-cases`: each case of the measuring server with a real MariaDB, played anew in a network namespace of its own.
An answer is right when the first finding that accuses is the expected one and nothing else is accused, or when a
healthy run ends as "none". Of a load that is shorter than the case's least time, "cannot tell" is right too. The
interval is Wilson's, 95 %."""


@click.command()
@click.argument("names", nargs=-1)
@click.option("--seconds", default="5,15,60", show_default=True, help="Lengths of load, by comma.")
@click.option("--rounds", default=1, show_default=True, type=click.IntRange(1, 50))
@click.option("--busy", is_flag=True, help="Two other processes keep the host's CPU busy.")
@click.option("--write/--no-write", default=False, help="Write bench/results/live_cases.md.")
@click.option("--logs", type=click.Path(file_okay=False, path_type=Path), help="Keep each case's documents here.")
def main(names: tuple[str, ...], seconds: str, rounds: int, busy: bool, write: bool, logs: Path | None) -> None:
    """Play the cases NAMES, or all, at each length of load."""
    cases = [case for case in LIVE_CASES if not names or case.name in names]
    unknown = set(names) - {case.name for case in LIVE_CASES}
    if unknown:
        raise click.BadParameter(f"no case {', '.join(sorted(unknown))}")
    stop_on_signals(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    find_mariadb()
    build_application()
    played: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="loadwatch-live-") as folder:
        template = install_database(Path(folder))
        for turn in range(1, rounds + 1):
            for case in cases:
                for length in map(float, seconds.split(",")):
                    out = (logs or Path(folder)) / f"{case.name}-{length:g}s-{turn}{'-busy' if busy else ''}"
                    played.append(_play(case, length, busy=busy, template=template, out=out, turn=turn))
    right = sum(one["right"] for one in played)
    click.echo(f"{right} of {len(played)} right")
    if write:
        write_result(
            "live_cases" + ("_busy" if busy else ""),
            "Live cases",
            _page(played),
            {"machine": describe_machine(), "played": played},
        )
    sys.exit(0 if right == len(played) else 1)


def _play(case: LiveCase, seconds: float, *, busy: bool, template: Path, out: Path, turn: int) -> dict[str, Any]:
    lasting = case.lasting(seconds, busy=busy)
    try:
        document = play_one(lasting, template=template, out=out)
    except (RigError, json.JSONDecodeError) as error:
        click.echo(f"WRONG {lasting.name}: could not be played: {error}", err=True)
        return {"case": case.name, "seconds": seconds, "round": turn, "state": "not played", "said": [], "right": False}
    made = {"at": "", "commit": "", "machine": "", "findings": ""}
    label = parse_label(make_label(lasting, run=document["id"], made=made, said=[]), where=lasting.name)
    findings: list[dict[str, Any]] = document.get("findings") or []
    said = counting(label, document)
    diagnosis: dict[str, Any] = document.get("diagnosis") or {}
    state = str(diagnosis.get("state", "unknown"))
    if case.expected:
        right = score(label, said).right or (seconds < case.least_seconds and state == "cannot-tell")
    else:
        right = not said and state == "none"
    sentence = findings[0]["sentence"]["en"] if findings else ""
    click.echo(f"{'right' if right else 'WRONG'} {lasting.name} (round {turn}): {state} {' > '.join(said)}; {sentence}")
    return {
        "case": case.name,
        "seconds": seconds,
        "round": turn,
        "state": state,
        "said": list(said),
        "right": right,
        "sentence": sentence,
    }


def _page(played: list[dict[str, Any]]) -> str:
    """The result's text: totals by length, then each case."""
    lengths = sorted({one["seconds"] for one in played})
    rows = ["| load | right | interval |", "| --- | --- | --- |"]
    for length in lengths:
        of_length = [one for one in played if one["seconds"] == length]
        right = sum(one["right"] for one in of_length)
        low, high = wilson(right, len(of_length))
        rows.append(f"| {length:g} s | {right} of {len(of_length)} | {low:.0%} to {high:.0%} |")
    rows += ["", "| case | least load | " + " | ".join(f"{length:g} s" for length in lengths) + " | otherwise said |"]
    rows.append("| --- " * (len(lengths) + 3) + "|")
    for case in LIVE_CASES:
        of_case = [one for one in played if one["case"] == case.name]
        if not of_case:
            continue
        cells = [
            f"{sum(one['right'] for one in of_case if one['seconds'] == length)}"
            f" of {sum(one['seconds'] == length for one in of_case)}"
            for length in lengths
        ]
        others = Counter(
            f"{one['seconds']:g} s: {', '.join(one['said']) or one['state']}" for one in of_case if not one["right"]
        )
        rows.append(f"| {case.name} | {case.least_seconds:g} s | {' | '.join(cells)} | {'; '.join(others)} |")
    return "\n".join([_INTRODUCTION, "", *rows])


def wilson(right: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson, 1927)."""
    z = 1.959964
    share, square = right / of, z * z / of
    middle, half = share + square / 2, z * math.sqrt(share * (1 - share) / of + square / (4 * of))
    return max((middle - half) / (1 + square), 0.0), min((middle + half) / (1 + square), 1.0)


if __name__ == "__main__":
    main()

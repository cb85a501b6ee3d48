"""Plays cases anew and says how many answers are right, with intervals: `make live-cases`.

Each case is played on the real measuring server and MariaDB in a network namespace of its own; nothing is recorded.
"""

import fnmatch
import math
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from loadwatch_collectors.runs.replay import counting, parse_label, score

from bench.machine import describe_machine, write_result
from examples.rig.application import build_application
from examples.rig.database import find_mariadb, install_database
from examples.rig.processes import RigError
from scenarios.__main__ import play_one, stop_on_signals
from scenarios.case import Case
from scenarios.cases import answers, healthy
from scenarios.cases.live import LIVE_CASES
from scenarios.record import make_label

_INTRODUCTION = """\
Cases of the measuring server with a real MariaDB, each played anew in a network namespace of its own. An answer is
right when the first finding that accuses is the expected one and nothing wrong is accused besides, or when a healthy
run ends as "none". Of a load that is shorter than the case's least time, "cannot tell" is right too. An all-clear is
the answer "none" where something was wrong. Intervals are Wilson's, 95 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One case and its answer; `said` are the findings that count."""

    case: str
    group: str
    round: int
    healthy: bool
    state: str
    said: tuple[str, ...]
    right: bool
    sentence: str

    @property
    def all_clear(self) -> bool:
        """Whether a run in which something was wrong was cleared."""
        return not self.healthy and self.state == "none"


@click.command()
@click.argument("names", nargs=-1)
@click.option("--answers", "of_answers", is_flag=True, help="Play scenarios/cases/answers.py and the healthy cases.")
@click.option("--seconds", default="5,15,60", show_default=True, help="Lengths of load of the live cases, by comma.")
@click.option("--rounds", default=1, show_default=True, type=click.IntRange(1, 50))
@click.option("--busy", is_flag=True, help="Two other processes keep the host's CPU busy.")
@click.option("--write", help="Write bench/results/NAME.md and .json.")
@click.option("--logs", type=click.Path(file_okay=False, path_type=Path), help="Keep each case's documents here.")
def main(
    names: tuple[str, ...],
    of_answers: bool,
    seconds: str,
    rounds: int,
    busy: bool,
    write: str | None,
    logs: Path | None,
) -> None:
    """Play the cases that the patterns NAMES name, or all."""
    if of_answers:
        chosen = [(case, case.purpose.value, False) for case in (*answers.CASES, *healthy.CASES)]
    else:
        chosen = [
            (case.lasting(length), f"{length:g} s", length < case.least_seconds)
            for case in LIVE_CASES
            for length in map(float, seconds.split(","))
        ]
    if names:
        chosen = [one for one in chosen if any(fnmatch.fnmatchcase(one[0].name, name) for name in names)]
    stop_on_signals(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    find_mariadb()
    build_application()
    played: list[Played] = []
    with tempfile.TemporaryDirectory(prefix="loadwatch-live-") as folder:
        template = install_database(Path(folder))
        for turn in range(1, rounds + 1):
            for case, group, short in chosen:
                out = (logs or Path(folder)) / f"{case.name}-{turn}"
                one = _play(case, group, turn, short=short, busy=busy, template=template, out=out)
                played.append(one)
                answer = " > ".join(one.said) or one.state
                click.echo(f"{'right' if one.right else 'WRONG'} {one.case} ({turn}): {answer}: {one.sentence}")
    right = sum(one.right for one in played)
    click.echo(f"{right} of {len(played)} right, {sum(one.all_clear for one in played)} all-clears")
    if write:
        machine = describe_machine()
        rows = [
            {
                "case": one.case,
                "round": one.round,
                "right": one.right,
                "state": one.state,
                "said": one.said,
                "sentence": one.sentence,
            }
            for one in played
        ]
        write_result(
            write,
            "Cases played anew" + (" on a busy host" if busy else ""),
            _page(played),
            {"machine": machine, "played": rows},
        )
    sys.exit(0 if right == len(played) else 1)


def _play(case: Case, group: str, turn: int, *, short: bool, busy: bool, template: Path, out: Path) -> Played:
    try:
        document = play_one(case, template=template, out=out, busy=busy)
    except RigError as error:
        return Played(
            case=case.name, group=group, round=turn, healthy=case.healthy, state="not played", said=(), right=False,
            sentence=str(error).splitlines()[0],
        )  # fmt: skip
    made = {"at": "", "commit": "", "machine": "", "findings": ""}
    label = parse_label(make_label(case, run=document["id"], made=made, said=[]), where=case.name)
    findings: list[dict[str, Any]] = document.get("findings") or []
    diagnosis: dict[str, Any] = document.get("diagnosis") or {}
    state, said = str(diagnosis.get("state", "unknown")), counting(label, document)
    right = score(label, said).right and (state == "none" or not case.healthy)
    return Played(
        case=case.name,
        group=group,
        round=turn,
        healthy=case.healthy,
        state=state,
        said=said,
        right=right or (short and state == "cannot-tell" and not said),
        sentence=findings[0]["sentence"]["en"] if findings else "",
    )


def _page(played: Sequence[Played]) -> str:
    """The result's text: totals by group, then each case."""
    rows = [
        "| group | with a limit: right | interval | all-clears | healthy: right |",
        "| --- | --- | --- | --- | --- |",
    ]
    for group in sorted({one.group for one in played}, key=lambda name: (len(name), name)):
        limited = [one for one in played if one.group == group and not one.healthy]
        sound = [one for one in played if one.group == group and one.healthy]
        right = sum(one.right for one in limited)
        low, high = wilson(right, len(limited))
        rows.append(
            f"| {group} | {right} of {len(limited)} | {low:.0%} to {high:.0%} | {sum(one.all_clear for one in limited)}"
            f" | {sum(one.right for one in sound)} of {len(sound)} |"
        )
    rows += ["", "| case | right | otherwise |", "| --- | --- | --- |"]
    for name in dict.fromkeys(one.case for one in played):
        of_case = [one for one in played if one.case == name]
        others = [", ".join(one.said) or one.state for one in of_case if not one.right]
        rows.append(f"| {name} | {sum(one.right for one in of_case)} of {len(of_case)} | {'; '.join(others)} |")
    least = ", ".join(f"{case.name} {case.least_seconds:g} s" for case in LIVE_CASES)
    return "\n".join([_INTRODUCTION, "", f"Least load times: {least}.", "", *rows])


def wilson(right: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson, 1927); all of it without a case."""
    if not of:
        return 0.0, 1.0
    z = 1.959964
    share, square = right / of, z * z / of
    middle, half = share + square / 2, z * math.sqrt(share * (1 - share) / of + square / (4 * of))
    return max((middle - half) / (1 + square), 0.0), min((middle + half) / (1 + square), 1.0)


if __name__ == "__main__":
    main()

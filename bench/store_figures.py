"""The store's goals in one table, measured in one run on an otherwise idle machine: `python -m bench.store_figures`.

Runs the benchmarks below one after another (about half an hour), then Prometheus' own scripts, and writes `store.md`
from the results that each of them leaves. `--only-table` makes the table of results that are there.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from backend.tests.promql import script
from backend.tests.promql.test_scripts import KNOWN
from bench.machine import RESULTS, describe_machine, write_result

PARTS = ("ingest", "query", "sealed_formats", "series_memory", "engine_growth", "idle")
Results = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure: ours, the peers', the goal, and whether it is reached."""

    work: str
    ours: str
    prometheus: str
    victoria: str
    goal: str
    reached: bool | None
    """None where there is no goal."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all, or only write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only-table", action="store_true")
    options = parser.parse_args(arguments)
    load = os.getloadavg()[0]
    if options.only_table:
        load = json.loads((RESULTS / "store.json").read_text())["load"]
    else:
        for part in PARTS:
            print(f"==> {part}", flush=True)
            subprocess.run([sys.executable, "-m", f"bench.{part}"], check=True)
    every, right = _scripts()
    results = {part: json.loads((RESULTS / f"{part.replace('_', '-')}.json").read_text()) for part in PARTS}
    rows = [row for make in _ROWS for row in make(results)]
    rows.append(
        Row(
            work="evaluations of Prometheus' own scripts",
            ours=f"{right:,} of {every:,}",
            prometheus="all",
            victoria="–",
            goal="all but native histograms and what is behind flags",
            reached=right == every,
        )
    )
    missed = [row.work for row in rows if row.reached is False]
    goals = sum(row.reached is not None for row in rows)
    dates = {part: result["machine"]["date"] for part, result in results.items()}
    text = f"""
{", ".join(f"[{part.replace('_', ' ')}]({part.replace('_', '-')}.md)" for part in PARTS)},
one after another in one run that began at a load average of {load:.1f}; what each figure means is said there.
Medians; compare within a row.

| work | Loadwatch | Prometheus | VictoriaMetrics | goal | |
| --- | ---: | ---: | ---: | --- | --- |
{chr(10).join(_line(row) for row in rows)}

{goals - len(missed)} of {goals} goals are reached."""
    write_result(
        "store",
        "The store beside its peers",
        text,
        {"machine": describe_machine(), "load": round(load, 1), "dates": dates, "missed": missed},
    )
    print(text)
    return 0


def _line(row: Row) -> str:
    told = "–" if row.reached is None else "reached" if row.reached else "**missed**"
    cells = (row.work, row.ours, row.prometheus, row.victoria, row.goal, told)
    return f"| {' | '.join(cells)} |"


def _ingest(results: Results) -> Iterator[Row]:
    for name, runs in results["ingest"]["runs"].items():
        samples, connections = name.split("; ")
        size, _, order = samples.partition(", ")
        rates = {server: _median([run["samples_per_second"] for run in some]) for server, some in runs.items()}
        yield Row(
            work=f"ingest, {size} a request{order and ', ' + order},"
            f" {connections} connection{'' if connections == '1' else 's'}, samples/s",
            ours=f"{rates['loadwatch']:,.0f}",
            prometheus=f"{rates['prometheus']:,.0f}",
            victoria=f"{rates['victoria-metrics']:,.0f}",
            goal="above Prometheus",
            reached=rates["loadwatch"] > rates["prometheus"],
        )


def _query(results: Results) -> Iterator[Row]:
    for span, found in results["query"]["ranges"].items():
        for figure, users in (("one_ms", "one user"), ("eight_ms", "each of eight")):
            times = {server: one[figure] for server, one in found.items()}
            week = span == "7 d" and figure == "one_ms"
            yield Row(
                work=f"12 panels over {span}, {users}, ms",
                ours=f"{times['Loadwatch']:,.0f}",
                prometheus=f"{times['Prometheus']:,.0f}",
                victoria=f"{times['VictoriaMetrics']:,.0f}",
                goal="below Prometheus, and 300" if week else "below Prometheus",
                reached=times["Loadwatch"] < times["Prometheus"] and (times["Loadwatch"] < 300 or not week),
            )
    seconds = {server: one["start_seconds"] for server, one in results["query"]["servers"].items()}
    yield Row(
        work="start after kill -9 with 121 million samples, s",
        ours=f"{seconds['Loadwatch']:.1f}",
        prometheus=f"{seconds['Prometheus']:.1f}",
        victoria=f"{seconds['VictoriaMetrics']:.1f}",
        goal="below 5",
        reached=seconds["Loadwatch"] < 5,
    )


def _bytes(results: Results) -> Iterator[Row]:
    ours = {row["kind"]: row["bytes"] for row in results["sealed_formats"]["rows"] if row["format"].startswith("segm")}
    for kind, size in ours.items():
        bounded = not kind.startswith("random")
        yield Row(
            work=f"bytes a sample once an hour is sealed, {kind}",
            ours=f"{size:.2f}",
            prometheus="–",
            victoria="–",
            goal="below 2" if bounded else "–",
            reached=size < 2 if bounded else None,
        )
    disk = {server: one["disk_mib"] for server, one in results["query"]["servers"].items()}
    yield Row(
        work="data directory of the 121 million samples, half counters, half gauges of two decimals, MiB",
        ours=f"{disk['Loadwatch']:,.0f}",
        prometheus=f"{disk['Prometheus']:,.0f}",
        victoria=f"{disk['VictoriaMetrics']:,.0f}",
        goal="–",
        reached=None,
    )


def _memory(results: Results) -> Iterator[Row]:
    resident = results["series_memory"]["resident"]
    for count in resident["loadwatch"]:
        used = {server: one[count]["with"] for server, one in resident.items()}
        yield Row(
            work=f"memory at {int(count):,} active series, MiB",
            ours=f"{used['loadwatch']:.0f}",
            prometheus=f"{used['prometheus']:.0f}",
            victoria=f"{used['victoria-metrics']:.0f}",
            goal="within twice Prometheus",
            reached=used["loadwatch"] <= 2 * used["prometheus"],
        )


def _growth(results: Results) -> Iterator[Row]:
    few, many = results["engine_growth"]["found"].values()
    for figure, text in (("named_ms", "ten instances by name"), ("total_ms", "the total of all instances")):
        yield Row(
            work=f"a page on VictoriaMetrics as engine, {text}: with 10 and with 100 instances, ms",
            ours=f"{few[figure]:,.0f}, {many[figure]:,.0f}",
            prometheus="–",
            victoria="–",
            goal="under twice the time",
            reached=many[figure] < 2 * few[figure],
        )


def _rest(results: Results) -> Iterator[Row]:
    ours, _, prometheus = results["idle"]["core_shares"].values()
    yield Row(
        work="a server to which nobody sends, share of a core",
        ours=f"{ours:.2%}",
        prometheus=f"{prometheus:.2%}",
        victoria="–",
        goal="below 1%",
        reached=ours < 0.01,
    )


_ROWS: Sequence[Callable[[Results], Iterator[Row]]] = (_ingest, _query, _bytes, _memory, _growth, _rest)


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def _scripts() -> tuple[int, int]:
    """Evaluations of Prometheus' own scripts, but native histograms: how many there are, and how many are right."""
    every = right = 0
    for name in script.names():
        if name in KNOWN:
            continue
        for _, problem in script.outcomes(name):
            every += 1
            right += problem is None
    return every, right


if __name__ == "__main__":
    sys.exit(main())

"""What all packs accuse where nothing is wrong: `python -m bench.healthy_packs`.

All healthy recordings of `scenarios/`, and an hour that is one of them again and again, whose counters go on.
"""

import json
import re
import tempfile
import time
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import cramjam
import duckdb
import numpy as np
from loadwatch_backend.series.store.remote_pb2 import Label, Sample, TimeSeries, WriteRequest
from loadwatch_collectors.commands.replay import replay_one
from loadwatch_collectors.runs.delivery import Client
from loadwatch_collectors.runs.replay import read_label

from bench.machine import describe_machine, write_result
from examples.rig.loadwatch import running_server
from examples.rig.processes import free_port
from scenarios.record import FOLDER

HOUR, HOUR_MS = "healthy-steady", 3_600_000
RISING = {"counter", "histogram", "summary"}
WRITTEN_BY_RULES = ("ALERTS", "ALERTS_FOR_STATE")


def main() -> int:
    """Plays all and writes the result."""
    archives = [path for path in sorted(FOLDER.glob("healthy-*.zip")) if read_label(path).healthy]
    with (
        tempfile.TemporaryDirectory(prefix="loadwatch-bench-") as folder,
        running_server(Path(folder), listen=f"127.0.0.1:{free_port()}") as loadwatch,
    ):
        url = f"{loadwatch.url}/prometheus/api/v1"
        rules = [
            rule
            for group in _get(f"{url}/rules", type="alert")["groups"]
            for rule in group["rules"]
            if rule["labels"].get("severity") == "critical" and "loadwatch_finding" not in rule["query"]
        ]
        accused: dict[str, Sequence[str]] = {}
        alerts: dict[str, Sequence[str]] = {}
        seconds = 0.0
        for archive in archives:
            name = read_label(archive).case
            accused[name] = list(replay_one(Client(loadwatch.url, None), archive).wrong)
            times = [one for _, at, _ in _series(archive, Path(folder)) for one in (at[0], at[-1])]
            alerts[name] = _firing(url, rules, min(times), max(times))
            seconds += (max(times) - min(times)) / 1_000
            print(name, accused[name], alerts[name], flush=True)
        end_ms = int(time.time()) * 1_000
        begin_ms = _write_hour(url, FOLDER / f"{HOUR}.zip", Path(folder), end_ms)
        alerts["an hour"] = _firing(url, rules, begin_ms, end_ms)
    wrong, critical = (sum(len(one) for one in each.values()) for each in (accused, alerts))
    hours = {"findings": seconds / 3_600, "alerts": (seconds + (end_ms - begin_ms) / 1_000) / 3_600}
    played = f"{len(archives)} recordings, {hours['findings'] * 60:.0f} min"
    text = f"""
`python -m bench.healthy_packs`: {len(archives)} healthy recordings of `scenarios/` into a server with all shipped
packs, and `{HOUR}` again and again for an hour, whose counters go on. A finding accuses when it is critical or a
warning and the recording does not allow it. {len(rules)} critical rules, shipped and made of resources, are evaluated
at each second of the samples; one counts that holds for its `for`. The rule that tells of findings is left out: what
it reads in a recording are the findings of the day when that was played.

| | played | counted | upper bound of 95 % |
| --- | --- | ---: | --- |
| false findings | {played} | {wrong} | {_bound(wrong, len(archives))} a recording |
| critical alerts | {hours["alerts"] * 60:.0f} min | {critical} | {_bound(critical, hours["alerts"])} an hour |

Of none, the bound is the rule of three: 3 / n. Of the hour there are alerts only: findings are those of a load's run.

{_list(accused, alerts)}
"""
    result = {"machine": describe_machine(), "hours": hours, "critical_rules": len(rules)}
    write_result(
        "healthy-packs", "All packs where nothing is wrong", text, {**result, "accused": accused, "alerts": alerts}
    )
    return 0


def _bound(count: int, of: float) -> str:
    return f"{3 / of:.2f}" if count == 0 else "not none"


def _list(*found: Mapping[str, Sequence[str]]) -> str:
    lines = [f"- {name}: {', '.join(ids)}" for one in found for name, ids in one.items() if ids]
    return "\n".join(lines) or "Nothing was accused."


def _get(url: str, **query: object) -> Any:
    with urllib.request.urlopen(f"{url}?{urllib.parse.urlencode(query)}", timeout=120) as answer:
        return json.loads(answer.read())["data"]


def _firing(url: str, rules: Sequence[Mapping[str, Any]], from_ms: int, to_ms: int) -> Sequence[str]:
    """Names of the rules that hold for their `for` at instants a second apart."""
    found: list[str] = []
    for rule in rules:
        asked = {"query": rule["query"], "start": from_ms / 1_000, "end": to_ms / 1_000, "step": 1}
        for series in _get(f"{url}/query_range", **asked)["result"]:
            times = np.array([float(at) for at, _ in series["values"]])
            runs = np.split(times, np.flatnonzero(np.diff(times) > 1.5) + 1)
            if max(one[-1] - one[0] for one in runs) >= rule["duration"]:
                found.append(f"{rule['name']} {json.dumps(series['metric'])}")
    return found


def _series(
    archive: Path, folder: Path
) -> Iterator[tuple[Mapping[str, str], "np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]]:
    """Labels, times in ms and finite values of each, but what rules wrote."""
    with zipfile.ZipFile(archive) as content:
        file = content.extract("samples.parquet", folder)
    rows = duckdb.execute(f"SELECT series, time_ms, value FROM '{file}' ORDER BY series, time_ms").fetchall()
    for text, own in groupby(rows, key=lambda row: row[0]):
        labels, samples = json.loads(text), [one for one in own if np.isfinite(one[2])]
        if samples and labels["__name__"] not in WRITTEN_BY_RULES:
            yield labels, np.array([one[1] for one in samples]), np.array([one[2] for one in samples])


def _write_hour(url: str, archive: Path, folder: Path, end_ms: int) -> int:
    """Writes a recording again and again until `end_ms`; when it begins, ms."""
    kinds = {name: one[0]["type"] for name, one in _get(f"{url}/metadata").items()}
    series = list(_series(archive, folder))
    first, last = min(int(at[0]) for _, at, _ in series), max(int(at[-1]) for _, at, _ in series)
    length = last - first + 1_000
    count = HOUR_MS // length
    begin_ms = end_ms - count * length
    for turn in range(count):
        request = WriteRequest()
        for labels, at, values in series:
            name = labels["__name__"]
            base = re.sub(r"_(bucket|count|sum)$", "", name)
            rises = name.endswith("_total") or "uptime" in name or {kinds.get(name), kinds.get(base)} & RISING
            shift = turn * (values[-1] - values[0]) if rises else 0.0
            times = (at - first + begin_ms + turn * length).tolist()
            request.timeseries.append(
                TimeSeries(
                    labels=[Label(name=key.encode(), value=labels[key].encode()) for key in sorted(labels)],
                    samples=[
                        Sample(timestamp=t, value=v) for t, v in zip(times, (values + shift).tolist(), strict=True)
                    ],
                )
            )
        body = bytes(cramjam.snappy.compress_raw(request.SerializeToString()))
        headers = {"content-type": "application/x-protobuf", "content-encoding": "snappy"}
        urllib.request.urlopen(urllib.request.Request(f"{url}/write", body, headers), timeout=120).close()
    return begin_ms


if __name__ == "__main__":
    raise SystemExit(main())

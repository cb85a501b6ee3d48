"""The pages' figures with VictoriaMetrics as the engine, of ten instances and of a hundred.

A sample a second for a quarter of an hour of each metric that the catalogue's signals read, of each instance. Then the
signals are asked for as the page does: of ten instances by name, whatever else there is, and the total of all. Beside
it the engine is asked the same directly, an expression after another.
`python -m bench.engine_growth`
"""

import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import cramjam
import numpy as np
from loadwatch_backend.catalogue.packs.library import shipped_catalogue
from loadwatch_backend.catalogue.signals.interval import any_tree_of, selectors_of, tree_of
from loadwatch_backend.catalogue.signals.service import matchers_of, together
from loadwatch_backend.series.promql.engine import expression_text
from loadwatch_backend.series.store.port import MatchOperator
from loadwatch_backend.series.store.prometheus.wire import encode_labels, encode_series

from bench.ingest import SERVERS, free_port, running
from bench.machine import describe_machine, write_result
from tests.serving import RealServer

FEW, MANY = 10, 100
SECONDS = 900
ROUNDS = 7
AT_ONCE = 25
"""Signals of one question; the page asks for those in view."""
REQUEST_SERIES = 500
LOOKBACK_MS = 5_000
STEP_MS = 1_000
"""At which a quarter of an hour is evaluated, whatever is drawn of it."""


def series_of(instances: int) -> list[bytes]:
    """Encoded labels of a series of each metric that a signal reads, of each instance."""
    # By it Loadwatch hears of what others have sent.
    wanted: dict[tuple[tuple[str, str], ...], None] = {(("__name__", "up"),): None}
    for group in shipped_catalogue().groups:
        for panel in group.panels:
            for signal in panel.signals:
                for selector in selectors_of(any_tree_of(signal.expression)):
                    equal = {one.label: one.value for one in selector.matchers if one.operator is MatchOperator.EQUAL}
                    if equal.get("__name__"):
                        wanted[tuple(sorted(equal.items()))] = None
    return [
        encode_labels({**dict(labels), "job": "shop", "instance": f"web-{number:03d}:9100"})
        for labels in wanted
        for number in range(instances)
    ]


def bodies(heads: list[bytes], end_s: int) -> Iterator[bytes]:
    """Remote-write bodies, in order of time."""
    steps = np.random.default_rng(3).integers(1, 40, len(heads))
    for first in range(end_s - SECONDS, end_s, 60):
        times = np.arange(first, first + 60, dtype=np.int64) * 1_000
        for begin in range(0, len(heads), REQUEST_SERIES):
            some = heads[begin : begin + REQUEST_SERIES]
            values = steps[begin : begin + REQUEST_SERIES, None] * (times // 1_000 - end_s + SECONDS)
            message = encode_series(
                some, [60] * len(some), np.tile(times, len(some)), values.astype(np.float64).ravel()
            )
            yield bytes(cramjam.snappy.compress_raw(b"".join(message)))


def measure(instances: int, directory: Path) -> dict[str, float]:
    """Milliseconds of the live page's figures, the median."""
    engine = next(server for server in SERVERS if server.name == "victoria-metrics")
    (directory / "engine").mkdir(parents=True)
    heads = series_of(instances)
    with running(engine, directory / "engine") as (url, _):
        end_s = int(time.time())
        connection = HTTPConnection("127.0.0.1", int(url.rpartition(":")[2]), timeout=300)
        for body in bodies(heads, end_s):
            headers = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy"}
            connection.request("POST", engine.write, body, headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status >= 300:
                raise RuntimeError(f"the engine refused samples: {answer.status}")
        # Alerts on made-up figures are another work.
        settings = {"LOADWATCH_STORE_URL": url, "LOADWATCH_DEFAULT_RULES": "false"}
        server = RealServer(directory / "server", settings, port=free_port(), installed=True)
        server.directory.mkdir()
        server.start()
        try:
            time.sleep(15)
            named = [f"web-{number:03d}:9100" for number in range(FEW)]
            return {
                "series": len(heads),
                "named_ms": time_page(server, end_s, {"instance": named}, ""),
                "named_engine_ms": time_engine(url, end_s, {"instance": named}, ""),
                "total_ms": time_page(server, end_s, {}, "@total"),
                "total_engine_ms": time_engine(url, end_s, {}, "@total"),
            }
        finally:
            server.stop()


def time_page(server: RealServer, end_s: int, filters: dict[str, list[str]], kind: str) -> float:
    """What the page asks for when it is opened: all signals of a quarter of an hour, or those that have a total."""
    connection = HTTPConnection("127.0.0.1", int(server.url.rpartition(":")[2]), timeout=300)

    def ask(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        found = json.loads(answer.read())
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {found}")
        return found

    known = ask("GET", "/api/signals")["signals"]
    signals = [one["id"] + kind for one in known if not kind or (one["total"] and not one["delivery"])]
    spent: list[float] = []
    found = 0
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        found = 0
        for first in range(0, len(signals), AT_ONCE):
            question = {
                "signals": signals[first : first + AT_ONCE],
                "start_ms": (end_s - SECONDS) * 1000,
                "end_ms": end_s * 1000,
                "max_points": 600,
                "filters": filters,
            }
            results = ask("POST", "/api/signals/query", question)["results"]
            found += sum(len(one["series"]) for one in results)
            if wrong := [one for one in results if one["error"]]:
                raise RuntimeError(str(wrong[0]["error"]))
        spent.append((time.perf_counter() - begin) * 1000)
    if not found:
        raise RuntimeError("the page shows nothing")
    print(f"{found} lines, {[round(one) for one in spent]} ms", flush=True)
    return round(statistics.median(spent[1:]), 1)


def time_engine(url: str, end_s: int, filters: dict[str, list[str]], kind: str) -> float:
    """The same of the engine itself, with the steps that the page asks for."""
    signals = [signal for group in shipped_catalogue().groups for panel in group.panels for signal in panel.signals]
    if kind:
        signals = [one for signal in signals for one in together(signal) if one.id.endswith(kind)]
    bodies: list[str] = []
    for signal in signals:
        intervals = dict.fromkeys(selectors_of(any_tree_of(signal.expression)), 1_000)
        text = expression_text(tree_of(signal.expression, intervals, STEP_MS), matchers_of(filters), LOOKBACK_MS)
        span = {"start": end_s - SECONDS, "end": end_s, "step": STEP_MS / 1_000}
        bodies.append(urlencode({"query": text, "nocache": "1", **span}))
    connection = HTTPConnection("127.0.0.1", int(url.rpartition(":")[2]), timeout=300)
    spent: list[float] = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for body in bodies:
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            connection.request("POST", "/api/v1/query_range", body, headers)
            answer = connection.getresponse()
            found = json.loads(answer.read())
            if answer.status != 200:
                raise RuntimeError(f"the engine: {answer.status} {found}")
        spent.append((time.perf_counter() - begin) * 1000)
    print(f"the engine itself: {[round(one) for one in spent]} ms", flush=True)
    return round(statistics.median(spent[1:]), 1)


def main() -> None:
    """Measure both and write the result."""
    busy = round(os.getloadavg()[0], 1)
    found: dict[int, dict[str, float]] = {}
    for instances in (FEW, MANY):
        with tempfile.TemporaryDirectory(prefix="bench-growth-") as directory:
            found[instances] = measure(instances, Path(directory))
    few, many = found[FEW], found[MANY]
    lines = ["| ms, all signals of the live page, a quarter of an hour | 10 instances | 100 instances | times |"]
    lines.append("| --- | ---: | ---: | ---: |")
    for name, text in (("named_ms", "ten instances by name"), ("total_ms", "the total of all")):
        lines.append(f"| {text} | {few[name]:,} | {many[name]:,} | {many[name] / few[name]:.2f} |")
        direct = name.replace("_ms", "_engine_ms")
        lines.append(f"| the same, asked of the engine | {few[direct]:,} | {many[direct]:,} | |")
    text = f"""
{few["series"]:,.0f} and {many["series"]:,.0f} series at 1 s on VictoriaMetrics; the median of {ROUNDS - 1} rounds,
warm; load average {busy} when it began. Goals: the same page in less than twice the time, and within 1.5 times
of asking the engine.

{chr(10).join(lines)}"""
    print(text)
    result = {"machine": describe_machine(), "load": busy, "found": {str(key): one for key, one in found.items()}}
    write_result("engine-growth", "The same pages with ten times the series, on VictoriaMetrics", text, result)


if __name__ == "__main__":
    main()

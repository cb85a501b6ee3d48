"""The guide says which figures of each tool are ours and how the others differ: computed here from real results."""

import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.evidence.records.model import Figures
from loadwatch_backend.runs.importers.registry import IMPORTERS
from loadwatch_formats.outcomes import Outcome

from backend.tests.importers.conftest import FIXTURES, Importing

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "tool-figures.md"
HEAD = "| tool | its figure | its value | ours | our value | how they differ |\n| --- | --- | --- | --- | --- | --- |\n"
SENDING = "ours: from first to last start"
EXACT = "ours: nearest rank"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`within`: what the tool rounds its figure to, in the figure's unit. `why` is empty where both are the same."""

    tool: str
    name: str
    theirs: float
    ours: str
    why: str = ""
    within: float = 1e-9


READ: Mapping[str, Callable[[Figures], float | None]] = {
    "requests": lambda figures: figures.requests,
    "failures": lambda figures: figures.requests - figures.outcomes.get(Outcome.OK, 0),
    "error_rate": lambda figures: (figures.requests - figures.outcomes.get(Outcome.OK, 0)) / figures.requests,
    "success_ratio": lambda figures: figures.success_ratio,
    "rate": lambda figures: figures.rate,
    "throughput": lambda figures: figures.throughput,
    "wait": lambda figures: figures.wait_seconds,
    "duration": lambda figures: figures.duration_seconds,
    "bytes_in": lambda figures: figures.bytes_in,
    **{
        name: (lambda figures, name=name: getattr(figures.latency, name))
        for name in ("min", "mean", "p50", "p90", "p95", "p99", "max")
    },
}


def document(name: str) -> Any:
    path = FIXTURES / name
    return json.loads(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())


def text(name: str) -> str:
    return (FIXTURES / name).read_text()


def figure(content: str, pattern: str) -> float:
    match = re.search(pattern, content, re.M)
    assert match is not None, pattern
    return float(match[1])


def vegeta() -> Iterator[Row]:
    found = document("vegeta/pool-waits/report.json")
    for name, ours in (("requests", "requests"), ("success", "success_ratio"), ("rate", "rate")):
        yield Row(tool="vegeta", name=name, theirs=found[name], ours=ours)
    yield Row(tool="vegeta", name="throughput", theirs=found["throughput"], ours="throughput")
    for name in ("duration", "wait"):
        yield Row(tool="vegeta", name=name, theirs=found[name] / 1e9, ours=name)
    yield Row(tool="vegeta", name="bytes_in.total", theirs=found["bytes_in"]["total"], ours="bytes_in")
    for name in ("min", "mean", "max"):
        yield Row(tool="vegeta", name=f"latencies.{name}", theirs=found["latencies"][name] / 1e9, ours=name)
    for name, ours in (("50th", "p50"), ("90th", "p90"), ("95th", "p95"), ("99th", "p99")):
        theirs = found["latencies"][name] / 1e9
        yield Row(tool="vegeta", name=f"latencies.{name}", theirs=theirs, ours=ours, why=f"an estimate; {EXACT}")


def k6() -> Iterator[Row]:
    found = document("k6/export.json")["metrics"]
    times, requests = found["http_req_duration"], found["http_reqs"]
    yield Row(tool="k6", name="http_reqs.count", theirs=requests["count"], ours="requests")
    why = f"by the time of the whole script; {SENDING}"
    yield Row(tool="k6", name="http_reqs.rate", theirs=requests["rate"], ours="rate", why=why)
    why = "answers that the script expects count as good there, a status of 400 or above never does here"
    yield Row(tool="k6", name="http_req_failed", theirs=found["http_req_failed"]["value"], ours="error_rate", why=why)
    for name, ours in (("min", "min"), ("avg", "mean"), ("max", "max")):
        yield Row(tool="k6", name=f"http_req_duration.{name}", theirs=times[name] / 1e3, ours=ours)
    for name, ours in (("med", "p50"), ("p(90)", "p90"), ("p(95)", "p95")):
        why = f"interpolated between two requests; {EXACT}"
        yield Row(tool="k6", name=f"http_req_duration.{name}", theirs=times[name] / 1e3, ours=ours, why=why)


def locust() -> Iterator[Row]:
    first, second = re.findall(r"^ +Aggregated +(.*)$", text("locust/whole/report.txt"), re.M)
    words = re.split(r"[\s|()%]+", first)
    times = second.split()
    yield Row(tool="Locust", name="# reqs", theirs=float(words[0]), ours="requests")
    yield Row(tool="Locust", name="# fails", theirs=float(words[1]), ours="failures")
    for at, name, ours in ((3, "Avg", "mean"), (4, "Min", "min"), (5, "Max", "max")):
        why = "printed in whole milliseconds"
        yield Row(tool="Locust", name=name, theirs=float(words[at]) / 1e3, ours=ours, why=why)
    yield Row(tool="Locust", name="req/s", theirs=float(words[7]), ours="rate", within=0.005)
    for at, name, ours in ((0, "50%", "p50"), (4, "90%", "p90"), (5, "95%", "p95"), (7, "99%", "p99")):
        yield Row(tool="Locust", name=name, theirs=float(times[at]) / 1e3, ours=ours)


def gatling() -> Iterator[Row]:
    found = document("gatling/text.global_stats.json")
    yield Row(tool="Gatling", name="request count", theirs=found["numberOfRequests"]["total"], ours="requests")
    yield Row(tool="Gatling", name="KO", theirs=found["numberOfRequests"]["ko"], ours="failures")
    for name, ours in (("minResponseTime", "min"), ("maxResponseTime", "max")):
        yield Row(tool="Gatling", name=name, theirs=found[name]["total"] / 1e3, ours=ours)
    theirs = found["meanResponseTime"]["total"] / 1e3
    yield Row(tool="Gatling", name="meanResponseTime", theirs=theirs, ours="mean", why="rounded to whole milliseconds")
    for name, ours in (("percentiles1", "p50"), ("percentiles3", "p95"), ("percentiles4", "p99")):
        why = f"an estimate; {EXACT}"
        yield Row(tool="Gatling", name=name, theirs=found[name]["total"] / 1e3, ours=ours, why=why)
    theirs = found["meanNumberOfRequestsPerSecond"]["total"]
    why = f"by the whole seconds of the test; {SENDING}"
    yield Row(tool="Gatling", name="meanNumberOfRequestsPerSecond", theirs=theirs, ours="rate", why=why)


def jmeter() -> Iterator[Row]:
    found = document("jmeter/default.jtl.statistics.json.gz")["Total"]
    yield Row(tool="JMeter", name="sampleCount", theirs=found["sampleCount"], ours="requests")
    yield Row(tool="JMeter", name="errorCount", theirs=found["errorCount"], ours="failures")
    for name, ours in (("minResTime", "min"), ("meanResTime", "mean"), ("maxResTime", "max")):
        yield Row(tool="JMeter", name=name, theirs=found[name] / 1e3, ours=ours)
    for name, ours in (
        ("medianResTime", "p50"),
        ("pct1ResTime", "p90"),
        ("pct2ResTime", "p95"),
        ("pct3ResTime", "p99"),
    ):
        why = f"interpolated, over the last 20,000 samples; {EXACT}"
        yield Row(tool="JMeter", name=name, theirs=found[name] / 1e3, ours=ours, why=why)
    why = f"all samples until the last answer; {SENDING}"
    yield Row(tool="JMeter", name="throughput", theirs=found["throughput"], ours="rate", why=why)
    why = "counts failures, too; ours counts good answers"
    yield Row(tool="JMeter", name="throughput", theirs=found["throughput"], ours="throughput", why=why)


def hey() -> Iterator[Row]:
    found = text("hey/mixed.txt")
    for name, ours in (("Total", "duration"), ("Slowest", "max"), ("Fastest", "min"), ("Average", "mean")):
        yield Row(tool="hey", name=name, theirs=figure(found, rf"{name}:\s+([\d.]+) secs"), ours=ours)
    yield Row(tool="hey", name="Requests/sec", theirs=figure(found, r"Requests/sec:\s+([\d.]+)"), ours="rate")
    for name, ours in (("50", "p50"), ("90", "p90"), ("95", "p95"), ("99", "p99")):
        yield Row(tool="hey", name=f"{name}%", theirs=figure(found, rf"{name}%+ in ([\d.]+) secs"), ours=ours)


def oha() -> Iterator[Row]:
    found = document("oha/mixed.json")
    for name, ours in (("total", "duration"), ("requestsPerSec", "rate"), ("slowest", "max"), ("fastest", "min")):
        yield Row(tool="oha", name=name, theirs=found["summary"][name], ours=ours)
    yield Row(tool="oha", name="average", theirs=found["summary"]["average"], ours="mean")
    why = "every answer is a success there, also 404 and 500"
    yield Row(tool="oha", name="successRate", theirs=found["summary"]["successRate"], ours="success_ratio", why=why)
    for name in ("p50", "p90", "p95", "p99"):
        yield Row(tool="oha", name=name, theirs=found["latencyPercentiles"][name], ours=name)


def wrk() -> Iterator[Row]:
    found = text("wrk/mixed.txt")
    why = "requests that got no answer are not counted there; ours counts them"
    yield Row(tool="wrk", name="requests", theirs=figure(found, r"^\s*(\d+) requests in"), ours="requests", why=why)
    theirs = figure(found, r"Requests/sec:\s+([\d.]+)")
    yield Row(tool="wrk", name="Requests/sec", theirs=theirs, ours="rate", why=why)
    theirs = figure(found, r"Latency\s+([\d.]+)ms")
    yield Row(tool="wrk", name="Latency Avg", theirs=theirs / 1e3, ours="mean")
    theirs = figure(found, r"Latency\s+\S+\s+\S+\s+([\d.]+)ms")
    yield Row(tool="wrk", name="Latency Max", theirs=theirs / 1e3, ours="max")
    for name, ours in (("50", "p50"), ("90", "p90"), ("99", "p99")):
        yield Row(tool="wrk", name=f"{name}%", theirs=figure(found, rf"{name}%\s+([\d.]+)ms") / 1e3, ours=ours)


def artillery() -> Iterator[Row]:
    found = document("artillery/report.json")["aggregate"]
    times = found["summaries"]["http.response_time"]
    yield Row(tool="Artillery", name="http.requests", theirs=found["counters"]["http.requests"], ours="requests")
    why = "of its periods; ours divides by the time of the test"
    yield Row(
        tool="Artillery", name="http.request_rate", theirs=found["rates"]["http.request_rate"], ours="rate", why=why
    )
    for name, ours in (
        ("min", "min"),
        ("mean", "mean"),
        ("max", "max"),
        ("p50", "p50"),
        ("p95", "p95"),
        ("p99", "p99"),
    ):
        yield Row(tool="Artillery", name=f"http.response_time.{name}", theirs=times[name] / 1e3, ours=ours)


def locust_files() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted((FIXTURES / "locust" / "whole").glob("run*")):
            archive.write(path, path.name)
    return target.getvalue()


TOOLS: Mapping[str, tuple[Callable[[], Iterator[Row]], Callable[[], Path | bytes]]] = {
    "vegeta": (vegeta, lambda: FIXTURES / "vegeta/pool-waits/vegeta.gob.gz"),
    "k6": (k6, lambda: FIXTURES / "k6/run.json.gz"),
    "locust": (locust, locust_files),
    "gatling": (gatling, lambda: FIXTURES / "gatling/text.log.gz"),
    "jmeter": (jmeter, lambda: FIXTURES / "jmeter/default.jtl.gz"),
    "hey": (hey, lambda: FIXTURES / "hey/mixed.txt"),
    "oha": (oha, lambda: FIXTURES / "oha/mixed.json"),
    "wrk": (wrk, lambda: FIXTURES / "wrk/mixed.txt"),
    "artillery": (artillery, lambda: FIXTURES / "artillery/report.json"),
}


def difference(row: Row, ours: float) -> str:
    return f"| {row.tool} | {row.name} | {row.theirs:.6g} | `{row.ours}` | {ours:.6g} | {row.why} |"


def equal(rows: Iterable[Row]) -> str:
    """The line of the figures that are the same on both sides."""
    same = [row for row in rows if not row.why]
    return f"- {same[0].tool}: " + ", ".join(f"{row.name} (`{row.ours}`)" for row in same)


@pytest.mark.parametrize("tool", TOOLS)
def test_each_figure_is_the_tools_own_or_the_page_says_how_it_differs(imported: Importing, tool: str) -> None:
    rows, file = TOOLS[tool]
    figures = imported(file()).result.figures
    page = PAGE.read_text()
    lines: list[str] = []
    for row in rows():
        ours = READ[row.ours](figures)
        assert ours is not None, row
        if row.why:
            lines.append(difference(row, ours))
        else:
            assert ours == pytest.approx(row.theirs, rel=1e-6, abs=row.within), row
    assert "\n".join(lines) in page, "The page should say:\n" + "\n".join(lines)
    assert equal(rows()) + "\n" in page, "The page should say:\n" + equal(rows())


def test_every_tool_is_on_the_page() -> None:
    assert set(TOOLS) == {importer.tool for importer in IMPORTERS}
    _, found, rest = PAGE.read_text().partition(HEAD)
    assert found
    differing = sum(bool(row.why) for rows, _ in TOOLS.values() for row in rows())
    assert len(rest.partition("\n\n")[0].splitlines()) == differing, "no row that nothing computes"

"""Result files of any size: one and the same load in the forms of vegeta, JMeter and Gatling."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

START_NS = 1_795_252_714_967_080_042
RATE = 30_000
URL = "http://127.0.0.1:18081/measure?name=hoge&value=1"
BATCH = 200_000
JTL_HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,"
    "grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
)
GATLING_VERSION = "3.11.5"

Lines = Callable[[list[int], list[int], list[bool], int], str]


def write_vegeta(path: Path, requests: int) -> None:
    """The CSV of `vegeta encode --to csv`, without bodies and headers: about 100 bytes a request."""
    ok, bad = "200,{},0,3,,,,{},GET,{},\n", "500,{},0,3,500 Internal Server Error,,,{},GET,{},\n"

    def lines(starts: list[int], latencies: list[int], failed: list[bool], first: int) -> str:
        return "".join(
            f"{start}," + (bad if wrong else ok).format(latency, first + at, URL)
            for at, (start, latency, wrong) in enumerate(zip(starts, latencies, failed, strict=True))
        )

    _write(path, requests, "", lines)


def write_jtl(path: Path, requests: int) -> None:
    """A JTL with JMeter's default columns; padded to about the bytes of the CSV by what JMeter writes anyway."""

    def lines(starts: list[int], latencies: list[int], failed: list[bool], _first: int) -> str:
        return "".join(
            f"{start // 1_000_000},{latency // 1_000_000},measure,"
            + ("500,Internal Server Error" if wrong else "200,OK")
            + f",load 1-{at % 200},text,{'false' if wrong else 'true'},,3,128,200,200,{URL},"
            + f"{latency // 1_000_000},0,0\n"
            for at, (start, latency, wrong) in enumerate(zip(starts, latencies, failed, strict=True))
        )

    _write(path, requests, JTL_HEADER, lines)


def write_gatling(path: Path, requests: int) -> None:
    """A text `simulation.log` of Gatling 3.11: the last versions before the binary one read and write this."""
    head = f"RUN\tbench.Load\tload\t{START_NS // 1_000_000}\t \t{GATLING_VERSION}\n"
    head += f"USER\tload\tSTART\t{START_NS // 1_000_000}\n"

    def lines(starts: list[int], latencies: list[int], failed: list[bool], _first: int) -> str:
        return "".join(
            f"REQUEST\t\tmeasure\t{start // 1_000_000}\t{(start + latency) // 1_000_000}\t"
            + ("KO\tstatus.find.in(200), found 500\n" if wrong else "OK\t \n")
            for start, latency, wrong in zip(starts, latencies, failed, strict=True)
        )

    _write(path, requests, head, lines)


def _write(path: Path, requests: int, head: str, lines: Lines) -> None:
    random = np.random.default_rng(1)
    gap = 1_000_000_000 // RATE
    with path.open("w", buffering=1 << 22, encoding="utf-8") as target:
        target.write(head)
        for first in range(0, requests, BATCH):
            count = min(BATCH, requests - first)
            starts = START_NS + (first + np.arange(count)) * gap + random.integers(0, gap // 2, count)
            latencies = random.lognormal(np.log(20e6), 0.8, count).astype(np.int64)
            failed = random.random(count) < 0.01
            target.write(lines(starts.tolist(), latencies.tolist(), failed.tolist(), first))

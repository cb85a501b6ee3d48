"""Samples out of a real server, and into a real Prometheus' blocks."""

import shutil
import subprocess
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import urllib3
from loadwatch_backend.series.store.port import STALE_NAN_BITS
from loadwatch_backend.series.store.remote_pb2 import MetricMetadata

from backend.tests.ingest.writing import HEADERS, body, series
from tests.run_cli import Cli
from tests.serving import RealServer

NOW_MS = int(time.time() * 1000) // 1000 * 1000
STALE = float(np.array([STALE_NAN_BITS], np.uint64).view(np.float64)[0])
Samples = dict[str, list[tuple[int, int]]]
"""By the text of a series: times, and values as bits."""


@contextmanager
def serving(directory: Path) -> Generator[RealServer]:
    directory.mkdir()
    server = RealServer(directory)
    server.start()
    try:
        yield server
    finally:
        if server.process is not None:
            server.kill()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """One that has the samples of `pushes`."""
    with serving(tmp_path_factory.mktemp("metrics") / "first") as server:
        write(server, *pushes())
        yield server


def write(server: RealServer, *pushes: bytes) -> None:
    for push in pushes:
        answer = urllib3.request("POST", f"{server.url}/prometheus/api/v1/write", body=push, headers=HEADERS)
        assert answer.status == 204, answer.data


def pushes() -> list[bytes]:
    values = [0.0, -0.0, 0.1, 1e300, 5e-324, float("inf"), float("-inf"), float("nan"), 3.0]
    odd = [(NOW_MS - 3_600_000 + 1_001 * place, value) for place, value in enumerate(values)]
    steps = [(NOW_MS - 60_000 + 1_000 * place, float(place)) for place in range(50)]
    return [
        body(
            series({"__name__": "odd", "path": '/a\\b"c\nd', "shop": "東京 # 1"}, *odd),
            series({"__name__": "orders_total", "job": "shop"}, *steps),
            series({"__name__": "orders_total", "job": "shop", "zone": "a|b.*"}, *steps),
            series({"__name__": "ended", "job": "shop"}, *steps, (NOW_MS, STALE)),
            series({"__name__": "wait_seconds_bucket", "le": "0.1"}, *steps),
            series({"__name__": "wait_seconds_bucket", "le": "+Inf"}, *steps),
            series({"__name__": "wait_seconds_sum"}, *steps),
            series({"__name__": "wait_seconds_count"}, *steps),
            metadata=[
                MetricMetadata(type=1, metric_family_name=b"orders_total", help=b"Orders."),
                MetricMetadata(
                    type=3,
                    metric_family_name=b"wait_seconds",
                    help=b"Wait\nfor it.",
                    unit=b"seconds",
                ),
            ],
        )
    ]


def test_promtool_makes_blocks_of_an_export(server: RealServer, tmp_path: Path) -> None:
    exported = tmp_path / "samples.om"
    assert Cli(server=server.url, directory=tmp_path)("export", "-o", str(exported)).returncode == 0
    assert shutil.which("promtool"), "promtool is missing; scripts/apt-install.sh prometheus installs it"
    made = subprocess.run(
        ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(exported), str(tmp_path / "tsdb")],
        capture_output=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    # What only reads wants the log of a running server.
    (tmp_path / "tsdb" / "wal").mkdir()
    dumped = subprocess.run(
        ["promtool", "tsdb", "dump", str(tmp_path / "tsdb")], capture_output=True, check=True
    ).stdout.decode()
    assert dumped.count("\n") == 359
    odd = [
        line.rsplit(" ", 2)[1:]
        for line in dumped.splitlines()
        if '"odd", path="/a\\\\b\\"c\\nd", shop="東京 # 1"' in line
    ]
    values = ["0", "-0", "0.1", "1e+300", "5e-324", "+Inf", "-Inf", "NaN", "3"]
    assert odd == [[value, str(NOW_MS - 3_600_000 + 1_001 * place)] for place, value in enumerate(values)]


def test_selectors_and_times_choose(server: RealServer, tmp_path: Path) -> None:
    client = Cli(server=server.url, directory=tmp_path)
    out = client("export", "--match", 'orders_total{zone!=""}', "--match", "odd", "--to", str(NOW_MS / 1000 - 58))
    samples = [line for line in out.stdout.splitlines() if not line.startswith("#")]
    assert [line.partition("{")[0] for line in samples] == ["odd"] * 9 + ["orders_total"] * 3
    assert out.stdout.endswith("# EOF\n")
    assert client("export", "--match", "nothing_there").stdout == "# EOF\n"
    wrong = client("export", "--match", "rate(")
    assert wrong.returncode == 1
    assert "match" in wrong.stderr or "parse" in wrong.stderr

"""Samples out of one real server and into another, and into a real Prometheus' blocks."""

import gzip
import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import urllib3
from loadwatch_backend.ingest.remote_pb2 import MetricMetadata
from loadwatch_backend.store.embedded.engine import open_embedded
from loadwatch_backend.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.store.port import STALE_NAN_BITS, Matcher, MatchOperator

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


def stored(server: RealServer) -> Samples:
    """All that is on the server's disk; ends it."""
    server.stop()
    store = open_embedded(EmbeddedSettings(data_directory=server.data), lambda: NOW_MS)
    try:
        found = store.select([Matcher("__name__", MatchOperator.NOT_EQUAL, "")], 0, 2 * NOW_MS)
        bits = found.values.view(np.uint64)
        return {
            json.dumps(dict(sorted(labels.items()))): list(
                zip(found.timestamps[begin:end].tolist(), bits[begin:end].tolist(), strict=True)
            )
            for labels, begin, end in zip(found.labels, found.offsets[:-1], found.offsets[1:], strict=True)
        }
    finally:
        store.close()


def without_markers(samples: Samples) -> Samples:
    kept = {key: [row for row in rows if row[1] != STALE_NAN_BITS] for key, rows in samples.items()}
    return {key: rows for key, rows in kept.items() if rows}


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


def test_what_is_exported_and_imported_is_the_same(tmp_path: Path) -> None:
    with serving(tmp_path / "first") as first, serving(tmp_path / "second") as second:
        write(first, *pushes())
        bring_over(first, second, tmp_path)
        before, after = stored(first), stored(second)
    assert after == without_markers(before)
    assert sum(map(len, after.values())) == 359


def bring_over(first: RealServer, second: RealServer, tmp_path: Path) -> None:
    exported = tmp_path / "samples.om"
    out = Cli(server=first.url, directory=tmp_path)("export", "--output", str(exported))
    assert (out.returncode, out.stderr) == (0, "")
    packed = tmp_path / "samples.om.gz"
    packed.write_bytes(gzip.compress(exported.read_bytes()))
    into = Cli(server=second.url, directory=tmp_path)
    for _ in range(2):
        done = into("import", "metrics", str(packed), "--json")
        assert (done.returncode, done.stderr) == (0, "")
        counts = json.loads(done.stdout)
        assert (counts["samples"], counts["stored"], counts["series"]) == (359, 359, 8)
    told = json.load(urllib.request.urlopen(f"{second.url}/prometheus/api/v1/metadata"))["data"]
    assert told["orders_total"] == [{"type": "counter", "help": "Orders.", "unit": ""}]
    assert told["wait_seconds"] == [{"type": "histogram", "help": "Wait\nfor it.", "unit": "seconds"}]


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
    assert f'{{__name__="odd", path="/a\\\\b\\"c\\nd", shop="東京 # 1"}} +Inf {NOW_MS - 3_600_000 + 5_005}\n' in dumped


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


def test_what_is_damaged_is_named_and_the_rest_is_stored(server: RealServer, tmp_path: Path) -> None:
    client = Cli(server=server.url, directory=tmp_path)
    seconds = NOW_MS // 1000
    text = f"""# TYPE level gauge
level{{a="1"}} 1 {seconds}
level{{a="1" 2 {seconds}
level{{a="1"}} 3
level{{a="2"}} 4 {NOW_MS}
level{{a="2"}} 5 {seconds - 400 * 86_400}
level{{a="3"}} 6 {seconds}.5 # {{trace="x"}} 1
# EOF
"""
    done = client("import", "metrics", "-", "--json", stdin=text.encode())
    assert done.returncode == 1
    assert json.loads(done.stdout) == {
        "samples": 4,
        "series": 3,
        "stored": 3,
        "refused": 1,
        "damaged_lines": 1,
        "without_time": 1,
        "exemplars_left_out": 1,
        "metrics_described": 1,
    }
    assert "-: line 3:" in done.stderr
    assert "LOADWATCH_RETENTION_DAYS" in done.stderr
    assert "--at TIME" in done.stderr
    (tmp_path / "metrics").write_text(text)
    stamped = client("import", "metrics", "./metrics", "--at", "2026-01-01T00:00:00Z", "--json")
    assert json.loads(stamped.stdout)["without_time"] == 0


def test_another_kind_of_file_is_refused(server: RealServer, tmp_path: Path) -> None:
    (tmp_path / "result.bin").write_bytes(bytes(range(256)) * 4_000)
    done = Cli(server=server.url, directory=tmp_path)("import", "metrics", "result.bin")
    assert done.returncode == 1
    assert "is not OpenMetrics or Prometheus text" in done.stderr


def test_a_server_that_is_away_is_said(tmp_path: Path) -> None:
    (tmp_path / "m.om").write_text(f"a 1 {NOW_MS}\n")
    done = Cli(server="http://127.0.0.1:1", directory=tmp_path)("import", "metrics", "m.om", "--wait", "0.2")
    assert done.returncode == 1
    assert "has taken nothing for 0.2 s" in done.stderr
    assert "0 stored" in done.stdout

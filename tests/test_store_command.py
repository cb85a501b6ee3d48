"""`loadwatch store` on a real server."""

import json
import re
import time
from pathlib import Path

import urllib3

from backend.tests.ingest.writing import HEADERS, body, series
from tests.run_cli import Cli
from tests.serving import RealServer

NOW_MS = int(time.time() * 1000)


def test_figures_and_a_compaction_that_loses_nothing(tmp_path: Path) -> None:
    server = RealServer(tmp_path)
    server.start()
    try:
        rows = [(NOW_MS - 1_000 * place, float(place)) for place in range(500)]
        wide = [series({"__name__": "wide", "job": "a", "i": str(i)}, rows[0]) for i in range(30)]
        push = body(series({"__name__": "long_total", "job": "b"}, *rows), *wide)
        url = f"{server.url}/prometheus/api/v1/write"
        assert urllib3.request("POST", url, body=push, headers=HEADERS).status == 204
        client = Cli(server=server.url, directory=tmp_path)
        told = client("store")
        assert told.returncode == 0, told.stderr
        assert "samples in order of arrival" in told.stdout
        assert "31 series of at most 500,000" in told.stdout
        assert "metrics by series (2 of 2)" in told.stdout
        compacted = client("store", "compact")
        assert compacted.returncode == 0, compacted.stderr
        # The server seals by itself what is of an hour before this one.
        assert re.match(r"\d+ samples sealed; ", compacted.stdout)
        server.kill()
        server.start()
        found = json.loads(client("store", "--json").stdout)
        assert (found["hot"]["samples"], found["sealed"]["samples"]) == (0, 530)
        assert 0 < found["rollups"]["samples"] <= 530
        assert {one["name"] for one in found["metrics"]} == {"long_total", "wide"}
        assert [one["name"] for one in found["metrics_by_series"]] == ["wide", "long_total"]
    finally:
        server.kill()

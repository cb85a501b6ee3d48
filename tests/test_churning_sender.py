"""A sender that brings new series all the time does not take the room of another: a real server, told them apart."""

import json
import time
import urllib.request
from pathlib import Path

import urllib3

from backend.tests.ingest.writing import HEADERS, body, series
from tests.serving import RealServer

NOW_MS = int(time.time() * 1000)
SETTINGS = {
    "LOADWATCH_PROXY_NETWORKS": "127.0.0.0/8",
    "LOADWATCH_STORE_SERIES_LIMIT": "500",
}


def push(server: RealServer, sender: str, *names: str) -> urllib3.BaseHTTPResponse:
    rows = [series({"__name__": "m", "sender": sender, "i": name}, (NOW_MS, 1.0)) for name in names]
    headers = {**HEADERS, "x-forwarded-for": sender}
    return urllib3.request("POST", f"{server.url}/prometheus/api/v1/write", body=body(*rows), headers=headers)


def stored(server: RealServer, sender: str) -> int:
    url = f"{server.url}/prometheus/api/v1/series?match[]=%7Bsender=%22{sender}%22%7D"
    return len(json.load(urllib.request.urlopen(url))["data"])


def test_one_sender_that_churns_does_not_harm_another(tmp_path: Path) -> None:
    server = RealServer(tmp_path, SETTINGS)
    server.start()
    try:
        churning, steady = "10.9.8.7", "10.1.1.1"
        assert push(server, steady, "a", "b").status == 204
        answers = [push(server, churning, *(f"{turn}-{i}" for i in range(45))) for turn in range(6)]
        assert [answer.status for answer in answers] == [204, 204, 204, 204, 400, 400]
        detail = json.loads(answers[4].data)["detail"]
        assert "25 of 45 samples were refused, the others are stored" in detail
        assert f"{churning} has 180 active series, and a sender may have 200" in detail
        assert "LOADWATCH_STORE_SERIES_LIMIT" in detail
        # What it has is taken on, also beside a series that is refused.
        mixed = push(server, churning, "0-1", "new", "1-2")
        assert (mixed.status, json.loads(mixed.data)["rejected"], json.loads(mixed.data)["stored"]) == (400, 1, 2)
        # The other one goes on, with new series too.
        assert push(server, steady, "a", "b", *(str(i) for i in range(40))).status == 204
        assert (stored(server, churning), stored(server, steady)) == (200, 42)
        with urllib.request.urlopen(f"{server.url}/metrics") as page:
            told = page.read().decode()
        for line in (
            f'loadwatch_ingest_sender_series{{sender="{churning}"}} 200.0',
            f'loadwatch_ingest_sender_new_series{{sender="{steady}"}} 42.0',
            f'loadwatch_ingest_sender_rejected_samples_total{{sender="{churning}"}} 71.0',
            'loadwatch_ingest_rejected_samples_total{reason="sender_series"} 71.0',
        ):
            assert f"{line}\n" in told
    finally:
        server.kill()

"""kill -9 of the real server at random moments: nothing acknowledged is lost, and every start succeeds.

FAULT_CYCLES sets how often it is killed; the fault run uses 50.
"""

import os
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3
from loadwatch_backend.series.store.embedded.engine import open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import Matcher, MatchOperator

from backend.tests.ingest.writing import HEADERS, body, series
from tests.serving import RealServer

CYCLES = int(os.environ.get("FAULT_CYCLES", "6"))
WRITERS = 3
SERIES = 50
# Some hours ago: every start then seals what the last one wrote, so that kills hit sealing, too.
START_MS = int(time.time() * 1000) - 6 * 3_600_000


class Writer(threading.Thread):
    """Sends one body after another until each is acknowledged; `acknowledged` holds the seconds that are."""

    def __init__(self, name: str, url: str, stop: threading.Event) -> None:
        super().__init__(name=name, daemon=True)
        self.acknowledged: list[int] = []
        self.retries = 0
        self.surprises: list[str] = []
        self._url = url
        self._stop_sending = stop

    def run(self) -> None:
        pool = urllib3.PoolManager(retries=False, timeout=60)
        second = 0
        while not self._stop_sending.is_set():
            content = body(
                *(
                    series(
                        {"__name__": "kill_test", "writer": self.name, "i": str(number)},
                        (START_MS + second * 1000, float(second)),
                    )
                    for number in range(SERIES)
                )
            )
            try:
                answer = pool.request("POST", self._url, body=content, headers=HEADERS)
            except urllib3.exceptions.HTTPError:
                self.retries += 1
                time.sleep(0.02)
                continue
            if answer.status == 204:
                self.acknowledged.append(second)
                second += 1
            elif answer.status != 503:
                self.surprises.append(f"{answer.status} {answer.data[:500]!r}")
                return


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path)
    yield server
    if server.process is not None:
        server.kill()


@pytest.mark.timeout(300 + 60 * CYCLES)
def test_nothing_acknowledged_is_lost(server: RealServer) -> None:
    randomly = random.Random(20261121)
    stop = threading.Event()
    server.start()
    writers = [Writer(str(number), f"{server.url}/prometheus/api/v1/write", stop) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(CYCLES):
            time.sleep(randomly.uniform(0, 1.2))
            server.kill()
            if randomly.random() < 0.4:
                # Also in the middle of a start, while what the last kill left is being repaired.
                server.launch()
                time.sleep(randomly.uniform(0.5, 2.5))
                server.kill()
            server.start()
        deadline = time.monotonic() + 120
        while min(len(writer.acknowledged) for writer in writers) <= CYCLES and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(0.5)
    finally:
        stop.set()
        for writer in writers:
            writer.join(120)
    assert server.stop() == 0
    assert [writer.surprises for writer in writers] == [[]] * WRITERS
    assert sum(writer.retries for writer in writers) > 0
    found = read(server.data)
    for writer in writers:
        assert len(writer.acknowledged) > CYCLES
        for number in range(SERIES):
            stored = found[writer.name, str(number)]
            missing = [second for second in writer.acknowledged if second not in stored]
            assert missing == [], f"{len(missing)} of {len(writer.acknowledged)} acknowledged samples are lost"


def read(data: Path) -> dict[tuple[str, str], set[int]]:
    """Seconds on disk by writer and series; a value must be what was sent for its time."""
    store = open_embedded(EmbeddedSettings(data_directory=data), lambda: START_MS)
    try:
        found = store.select([Matcher("__name__", MatchOperator.EQUAL, "kill_test")], 0, START_MS + 10**9)
    finally:
        store.close()
    assert ((found.timestamps - START_MS) // 1000 == found.values).all()
    return {
        (labels["writer"], labels["i"]): set(found.values[start:end].astype(int).tolist())
        for labels, start, end in zip(
            found.labels, found.offsets[:-1].tolist(), found.offsets[1:].tolist(), strict=True
        )
    }

"""What real collectors read, written to a server as if a second had passed between readings."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from loadwatch_collectors.collector import Sample

from backend.tests.conftest import NOW_MS, run_server

BEGIN_MS = NOW_MS - 200_000


class Ticks:
    """Readings of one target."""

    def __init__(self, **target: str) -> None:
        self._target = target
        self._series: dict[tuple[tuple[str, str], ...], list[tuple[int, float]]] = defaultdict(list)
        self.count = 0

    def add(self, samples: Iterable[Sample]) -> None:
        for one in samples:
            labels = {"__name__": one.name, **self._target, **dict(one.labels)}
            self._series[tuple(labels.items())].append((BEGIN_MS + 1_000 * self.count, one.value))
        self.count += 1

    def findings(self, data: Path, **settings: Any) -> Mapping[str, Any]:
        """What a server says at the last reading, by id."""
        with run_server(data, **settings) as server:
            server.write(*((dict(labels), samples) for labels, samples in self._series.items()))
            server.clock.now_ms = BEGIN_MS + 1_000 * self.count
            answer = server.client.get("/api/findings").raise_for_status().json()
        return {one["id"]: one for one in answer["findings"]}

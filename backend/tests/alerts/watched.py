"""A server of the test's process with rules of the test's own."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from backend.tests.conftest import RunningServer, run_server

WAIT_SECONDS = 120


class Watched:
    """A server, and samples of one metric `x{i=...}`."""

    def __init__(self, server: RunningServer, rules: Path) -> None:
        self.server = server
        self.rules = rules

    def write(self, metric: str = "x", **values: float) -> None:
        """A sample of now for each `i`."""
        now_ms = self.server.clock.now_ms
        self.server.write(*(({"__name__": metric, "i": name}, [(now_ms, value)]) for name, value in values.items()))

    def pass_seconds(self, seconds: float) -> None:
        """Let time pass."""
        self.server.clock.now_ms += round(seconds * 1_000)

    def get(self, path: str, **parameters: Any) -> Any:
        """An answer that must be good."""
        answer = self.server.client.get(path, params=parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def alerts(self, **parameters: Any) -> list[dict[str, Any]]:
        """Alerts of now."""
        found: list[dict[str, Any]] = self.get("/api/alerts", **parameters)["alerts"]
        return found

    def states(self) -> dict[str, str]:
        """State by `i`, of alerts of now."""
        return {alert["labels"].get("i", alert["name"]): alert["state"] for alert in self.alerts(sparklines=False)}

    def wait_states(self, **states: str) -> None:
        """Wait until the alerts of now are these."""
        wait_for(f"{states}, not {self.states()}", lambda: self.states() == states)

    def query(self, expression: str) -> dict[str, float]:
        """Values of now by `i`, or by the metric's name."""
        answer = self.get("/prometheus/api/v1/query", query=expression, time=self.server.clock.now_ms / 1_000)
        return {
            one["metric"].get("i", one["metric"].get("__name__", "")): float(one["value"][1])
            for one in answer["data"]["result"]
        }


def wait_for(what: str, holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


@contextmanager
def watch(folder: Path, rules: str, **settings: Any) -> Generator[Watched]:
    """Serve with a rule file until the block ends; the same folder again goes on with what it had."""
    folder.mkdir(exist_ok=True)
    path = folder / "rules.yml"
    path.write_text(rules)
    with run_server(folder / "data", rules=(str(path),), **settings) as server:
        yield Watched(server, path)

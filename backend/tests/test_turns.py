"""Endpoints that wait for long do not stop the others: the threads that all plain endpoints share stay free."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from loadwatch_backend.core.errors import NotFoundError
from loadwatch_backend.evidence.profiles.service import Profiles
from loadwatch_backend.runs.report.service import ReportService


@pytest.mark.parametrize(
    ("service", "method", "path"),
    [(Profiles, "view", "/api/profiles/view?file=" + "0" * 32), (ReportService, "render", "/api/runs/{run}/report")],
)
def test_many_that_wait_leave_the_api_to_others(
    server: Any, monkeypatch: pytest.MonkeyPatch, service: type, method: str, path: str
) -> None:
    run = server.client.post("/api/runs", json={}).json()["id"]
    entered, leave = threading.Event(), threading.Event()

    def wait(*_: object, **__: object) -> None:
        entered.set()
        leave.wait(120)
        raise NotFoundError("there is none")

    monkeypatch.setattr(service, method, wait)

    def ask() -> int:
        return httpx.get(server.url + path.format(run=run), timeout=120, verify=False).status_code

    with ThreadPoolExecutor(60) as pool:
        asked = [pool.submit(ask) for _ in range(60)]
        assert entered.wait(120)
        # Plain endpoints, which need one of the shared threads each.
        assert server.client.get("/api/runs").status_code == 200
        assert server.client.get("/api/annotations").status_code == 200
        leave.set()
        assert {one.result() for one in asked} <= {404, 503}

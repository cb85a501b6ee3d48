"""What the tests of runs send."""

import time
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parents[1] / "importers" / "fixtures"


def vegeta_csv(start_ms: int, *, seconds: int = 20, rate: int = 20, failing: int = 0) -> bytes:
    """A result of vegeta at a steady rate; of each second the first `failing` requests are answered with 500."""
    lines: list[str] = []
    for number in range(seconds * rate):
        time_ns = start_ms * 1_000_000 + number * 1_000_000_000 // rate
        status = 500 if number % rate < failing else 200
        latency_ns = (10 + number % 7) * 1_000_000
        error = "500 Internal Server Error" if status == 500 else ""
        url = f"http://127.0.0.1/{'a' if number % 2 else 'b'}"
        lines.append(f"{time_ns},{status},{latency_ns},100,200,{error},,load,{number},GET,{url},")
    return ("\n".join(lines) + "\n").encode()


def send(server: Any, content: bytes, **params: Any) -> dict[str, Any]:
    """Import a file and wait for the end; the job."""
    answer = server.client.post("/api/imports", content=content, params=params)
    assert answer.status_code == 202, answer.text
    return wait(server, answer.json()["id"])


def wait(server: Any, job: str) -> dict[str, Any]:
    deadline = time.monotonic() + 240
    while True:
        found = server.client.get(f"/api/imports/{job}").json()
        if found["state"] != "reading":
            return found
        assert time.monotonic() < deadline
        time.sleep(0.05)


def imported(server: Any, content: bytes, **params: Any) -> dict[str, Any]:
    """Import a file that is whole; the run."""
    job = send(server, content, **params)
    assert job["state"] == "done", job
    answer = server.client.get(f"/api/runs/{job['run']}")
    assert answer.status_code == 200, answer.text
    return answer.json()

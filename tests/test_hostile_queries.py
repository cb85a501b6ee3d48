"""A real server is sent texts that have ended or held up a process: it refuses each, and answers others meanwhile."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from backend.tests.ingest.writing import HEADERS, body, series
from backend.tests.promql.hostile import HOSTILE, PANICS
from tests.fork_server import run_forked
from tests.serving import RealServer

_API = "/prometheus/api/v1"
_NUMBERS = {
    "digits": "9" * 60_000 + "x",
    "digits of a duration": "1" * 5_000 + "y",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    running = RealServer(tmp_path_factory.mktemp("hostile"))
    running.start()
    yield running
    assert running.stop() == 0


class _Others(threading.Thread):
    """Another client, which asks and writes all the time."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self.answers: list[int] = []
        self._url = url
        self._over = threading.Event()

    def run(self) -> None:
        with httpx.Client(base_url=self._url, timeout=120, verify=False) as client:
            while not self._over.is_set():
                self.answers.append(client.get(f"{_API}/query", params={"query": "1"}).status_code)
                written = client.post(f"{_API}/write", content=body(series({"__name__": "up"})), headers=HEADERS)
                self.answers.append(written.status_code)

    def end(self) -> set[int]:
        """The statuses that it got."""
        self._over.set()
        self.join(120)
        return set(self.answers)


def _requests(client: httpx.Client, text: str) -> Iterator[httpx.Response]:
    span = {"start": "0", "end": "60", "step": "15"}
    yield client.post(f"{_API}/query", data={"query": text})
    yield client.post(f"{_API}/query_range", data={"query": text, **span})
    yield client.post(f"{_API}/series", data={"match[]": text})
    yield client.post(f"{_API}/labels", data={"match[]": text})
    if len(text) < 60_000:
        yield client.get(f"{_API}/query", params={"query": text[:8_000]})
        yield client.get(f"{_API}/label/job/values", params={"match[]": text[:8_000]})


def test_hostile_texts_are_refused_and_others_are_answered(server: RealServer) -> None:
    others = _Others(server.url)
    others.start()
    with httpx.Client(base_url=server.url, timeout=120, verify=False) as client:
        for name, text in {**HOSTILE, **PANICS}.items():
            for answer in _requests(client, text):
                assert answer.status_code in (400, 414), (name, answer.request.url.path, answer.text[:300])
        for name, text in _NUMBERS.items():
            for field in ("time", "lookback_delta"):
                answer = client.post(f"{_API}/query", data={"query": "1", field: text})
                assert answer.status_code == 400, (name, field, answer.text[:300])
        many = "&".join(["match[]=up"] * 20_000)
        form = {"content-type": "application/x-www-form-urlencoded"}
        assert client.post(f"{_API}/series", content=many, headers=form).status_code == 400
    assert others.end() == {200, 204}
    assert server.process is not None
    assert server.process.poll() is None


def test_rules_with_hostile_texts_are_faults_of_their_file(tmp_path: Path) -> None:
    file = tmp_path / "hostile.yml"
    rules = [{"alert": f"A{number}", "expr": text} for number, text in enumerate(HOSTILE.values())]
    # JSON is YAML, and writes any text.
    file.write_text(json.dumps({"groups": [{"name": "hostile", "rules": rules}]}))
    done = run_forked("rules", "check", file)
    assert done.returncode == 1, done.stderr[-2000:]
    assert (done.stdout + done.stderr).count("hostile.yml:1:") >= len(rules)

"""Load with the real generator; `loadwatch run` around it is tested with the whole demo."""

import http.server
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.rig.application import build_application
from examples.rig.load import Load, LoadGenerator
from examples.rig.processes import RigError
from tests.ports import free_port

LOAD = Load(workers=4, rate_per_worker=10)


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    build_application()


@pytest.fixture
def answering() -> Iterator[tuple[str, list[str]]]:
    """A server that answers "ok", and the paths that it was asked for."""
    paths: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/?name=x", paths
    server.shutdown()
    server.server_close()
    thread.join()


def generator(url: str, folder: Path, *, load: Load = LOAD, seconds: float = 3600) -> LoadGenerator:
    return LoadGenerator(load=load, urls=[url], seconds=seconds, folder=folder)


def wait_for_the_end(load: LoadGenerator) -> None:
    deadline = time.monotonic() + 120
    while not load.ended() and time.monotonic() < deadline:
        time.sleep(0.02)


def test_every_request_is_counted_also_when_the_load_is_cut_off(
    answering: tuple[str, list[str]], tmp_path: Path
) -> None:
    url, paths = answering
    with generator(url, tmp_path) as load:
        deadline = time.monotonic() + 120
        while len(paths) < 20 and time.monotonic() < deadline:
            time.sleep(0.02)
            assert not load.ended()
    assert load.by_outcome() == {"ok": len(paths)}


def test_the_load_ends_by_itself_and_nobody_listening_shows_as_refused(tmp_path: Path) -> None:
    with generator(f"http://127.0.0.1:{free_port()}/", tmp_path, seconds=0.5) as load:
        wait_for_the_end(load)
        assert load.ended()
    assert set(load.by_outcome()) == {"refused"}
    assert load.run() is None


def test_a_load_that_cannot_begin_is_told_in_its_own_words(tmp_path: Path) -> None:
    nobody = Load(workers=0, rate_per_worker=1)
    with generator("http://127.0.0.1:1/", tmp_path, load=nobody) as load:
        with pytest.raises(RigError, match=r"status 2[\s\S]*-clients must be from 1"):
            wait_for_the_end(load)

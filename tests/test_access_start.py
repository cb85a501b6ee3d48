"""The first start on an address that others can reach, with real processes."""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.fork_server import ForkedLoadwatch, run_forked

LOADWATCH = str(Path(sys.executable).with_name("loadwatch"))
PASSWORD = "four random words here"
SECONDS = 180.0
OWN = {name: value for name, value in os.environ.items() if not name.startswith("LOADWATCH_")}


class Process:
    """A command whose standard error is read as it comes."""

    def __init__(self, arguments: Iterable[str], environment: dict[str, str]) -> None:
        self.text = ""
        self.process = ForkedLoadwatch(
            [LOADWATCH, *arguments],
            env={**OWN, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.text += line

    def wait_for(self, pattern: str) -> str:
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            if found := re.search(pattern, self.text):
                return found[1]
            assert self.process.poll() is None, self.text
            time.sleep(0.05)
        raise AssertionError(self.text)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(SECONDS)
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()


@contextmanager
def started(*arguments: str, **environment: str) -> Generator[Process]:
    process = Process(arguments, environment)
    try:
        yield process
    finally:
        process.close()


def run(*arguments: str, stdin: str = "", **environment: str) -> "subprocess.CompletedProcess[str]":
    return run_forked(*arguments, environment={**OWN, **environment}, stdin=stdin.encode(), seconds=SECONDS)


LINK = r'"link": "(http://[^"]+/setup#[\w-]{43})"'


def test_the_first_start_asks_for_an_administrator_by_a_link_that_works_once(tmp_path: Path):
    data = tmp_path / "data"
    arguments = ("server", "--listen", "0.0.0.0:0", "--data", str(data))
    with started(*arguments) as first:
        old = first.wait_for(LINK)
    with started(*arguments) as server:
        url, _, secret = server.wait_for(LINK).partition("/setup#")
        assert secret != old.partition("#")[2]
        with httpx.Client(base_url=url, timeout=120, headers={"origin": url}, verify=False) as client:
            assert client.get("/api/session").json()["setup"] is True
            assert client.get("/api/targets").status_code == 401
            assert client.post("/prometheus/api/v1/write").status_code == 401
            body = {"secret": old.partition("#")[2], "name": "ann", "password": PASSWORD}
            assert client.post("/api/setup", json=body).status_code == 403
            assert client.post("/api/setup", json={**body, "secret": secret}).status_code == 201
            assert client.get("/api/targets").status_code == 200
            assert client.post("/api/setup", json={**body, "secret": secret, "name": "eve"}).status_code == 403
            session = client.cookies["loadwatch_session"]
        server.process.kill()
    # Nothing of it was only in memory: after kill -9 the session holds and no link is offered.
    with started(*arguments) as server:
        url = server.wait_for(r'"url": "(http://[^"]+)"')
        with httpx.Client(base_url=url, timeout=120, cookies={"loadwatch_session": session}, verify=False) as client:
            assert client.get("/api/session").json()["principal"]["name"] == "ann"
            assert client.get("/api/session").json()["setup"] is False
            entries = client.get("/api/audit").json()["entries"]
        assert {entry["action"] for entry in entries} == {"session.login", "setup"}
    assert "link" not in server.text
    for kept in data.glob("loadwatch.sqlite*"):
        assert secret.encode() not in kept.read_bytes()
        assert session.encode() not in kept.read_bytes()
        assert kept.stat().st_mode & 0o077 == 0


def test_up_shows_the_link_and_gives_its_own_agent_a_token(tmp_path: Path):
    with started("up", "--listen", "0.0.0.0:0", "--data", str(tmp_path)) as up:
        link = up.wait_for(r"(http://\S+/setup#\S+)\n\n  Remote write")
        url, _, secret = link.partition("/setup#")
        with httpx.Client(base_url=url, timeout=120, headers={"origin": url}, verify=False) as client:
            body = {"secret": secret, "name": "ann", "password": PASSWORD}
            assert client.post("/api/setup", json=body).status_code == 201
            deadline = time.monotonic() + SECONDS
            while not client.get("/api/targets").json()["targets"]:
                assert time.monotonic() < deadline, up.text
                time.sleep(0.2)
            tokens = client.get("/api/tokens").json()["tokens"]
    assert [token["scopes"] for token in tokens] == [["samples:write"]]
    assert (tmp_path / "agent.token").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "agent.token").read_text().strip() not in up.text


def test_users_and_tokens_from_the_command_line_hold_at_once_and_lift_a_lock(tmp_path: Path):
    place = {"LOADWATCH_DATA": str(tmp_path / "data")}
    made = run("user", "create", "--role", "admin", "--name", "ann", stdin=f"{PASSWORD}\n", **place)
    assert made.returncode == 0, made.stderr
    weak = run("user", "create", "--role", "admin", "--name", "bo", stdin="password1234\n", **place)
    assert weak.returncode == 1
    assert "commonest" in weak.stderr
    assert "password1234" not in weak.stderr
    with started("server", "--listen", "0.0.0.0:0", **place) as server:
        url = server.wait_for(r'"url": "(http://[^"]+)"')
        with httpx.Client(base_url=url, timeout=120, verify=False) as client:
            token = run("token", "create", "--scope", "read", "--name", "ci", **place).stdout.strip()
            headers = {"authorization": f"Bearer {token}"}
            assert client.get("/api/targets", headers=headers).status_code == 200
            assert client.post("/api/annotations", json={}, headers=headers).status_code == 403
            assert run("token", "list", **place).stdout.startswith("ci\tread\t")
            assert run("token", "revoke", "--name", "ci", **place).returncode == 0
            assert client.get("/api/targets", headers=headers).status_code == 401
            login = {"name": "ann", "password": "wrong password"}
            # The first lock lasts 15 s, which is less than a busy machine takes to look; each further one lasts longer.
            while "locked" not in run("user", "list", **place).stdout:
                while client.post("/api/session/password", json=login).status_code == 401:
                    pass
            assert run("user", "unlock", "--name", "ann", **place).returncode == 0
            answer = client.post("/api/session/password", json={**login, "password": PASSWORD})
            assert answer.json()["principal"]["name"] == "ann"
            last = run("user", "disable", "--name", "ann", **place)
            assert last.returncode == 1
            assert "last administrator" in last.stderr
            renewed = run("user", "password", "--name", "ann", stdin="another set of words\n", **place)
            assert renewed.returncode == 0
            assert client.get("/api/targets").status_code == 401


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"LOADWATCH_ACCESS": "open", "LOADWATCH_LISTEN": "0.0.0.0:0"}, "refusing to listen"),
        ({"LOADWATCH_PROXY_NETWORKS": "everywhere"}, "LOADWATCH_PROXY_NETWORKS"),
        ({"LOADWATCH_PROXY_USER_HEADER": "X-User: x"}, "LOADWATCH_PROXY_USER_HEADER"),
    ],
)
def test_settings_that_contradict_each_other_end_the_start(tmp_path: Path, environment: dict[str, str], says: str):
    refused = run("server", **{"LOADWATCH_DATA": str(tmp_path / "data"), **environment})
    assert refused.returncode == 1
    assert says in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "data").exists()

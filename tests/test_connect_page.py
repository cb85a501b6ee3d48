"""A page configures the agent of `loadwatch up`: real programs, a real configuration, a real restart."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from collectors.tests.connect.alone import application_alone
from tests.test_access_start import SECONDS, started


@pytest.fixture
def application() -> Iterator[int]:
    with application_alone() as port:
        yield port


def jobs(client: httpx.Client) -> dict[tuple[str, str], Any]:
    targets = client.get("/api/targets").json()["targets"]
    return {(one["job"], item["collector"]): item for one in targets for item in one["collectors"]}


def test_a_click_has_the_agent_watch_an_application_and_so_does_the_next_start(tmp_path: Path, application: int):
    arguments = ("up", "--listen", "127.0.0.1:0", "--data", str(tmp_path))
    with started(*arguments) as up:
        url = up.wait_for(r"is up\. Open  (http://\S+)")
        with httpx.Client(base_url=url, timeout=120, headers={"origin": url}, verify=False) as client:
            seen = client.get("/api/connect").json()
            assert (seen["agent"], seen["config"]) == ("here", str(tmp_path / "loadwatch.yml"))
            one = next(item for item in seen["listeners"] if item["port"] == application)
            own = [item for item in seen["listeners"] if [s["kind"] for s in item["seems"]] == ["loadwatch"]]
            assert url.rpartition(":")[2] in {str(item["port"]) for item in own}
            assert all(item["lines"] == "" for item in own)
            asked = {"port": application, "digest": one["digest"]}
            checked = client.post("/api/connect/check", json=asked).json()
            assert (checked["works"], checked["written"]) == (True, None)
            assert [item["collector"] for item in checked["collectors"]] == ["process", "dbstats"]
            other = client.post("/api/connect/watch", json={**asked, "digest": "0" * 16})
            assert (other.status_code, other.json()["code"]) == (422, "listener-changed")
            foreign = client.post("/api/connect/watch", json=asked, headers={"origin": "http://elsewhere.example"})
            assert foreign.status_code == 403
            assert not (tmp_path / "loadwatch.yml").exists()
            written = client.post("/api/connect/watch", json=asked)
            assert written.json()["written"] == {"path": str(tmp_path / "loadwatch.yml"), "backup": None}
            job = one["lines"].splitlines()[0].removeprefix("- job: ")
            wait_for_pool(client, job, up)
            assert {key[1] for key in jobs(client) if key[0] == "host"} == {"host", "sockets"}
            entries = client.get("/api/audit").json()["entries"]
            assert [(entry["action"], entry["subject"], entry["outcome"]) for entry in entries] == [
                ("agent.configure", str(tmp_path / "loadwatch.yml"), "ok"),
                ("agent.configure", "", "listener-changed"),
            ]
    before = (tmp_path / "loadwatch.yml").read_text()
    with started(*arguments) as up:
        url = up.wait_for(r"is up\. Open  (http://\S+)")
        with httpx.Client(base_url=url, timeout=120, verify=False) as client:
            again = next(item for item in client.get("/api/connect").json()["listeners"] if item["port"] == application)
            assert {item["source"] for item in again["watched"]} == {"process", "dbstats"}
            assert again["lines"] == ""
            wait_for_pool(client, job, up)
    assert (tmp_path / "loadwatch.yml").read_text() == before


def wait_for_pool(client: httpx.Client, job: str, up: Any) -> None:
    """Wait until the agent reads the application's pool at this moment."""
    deadline = time.monotonic() + SECONDS
    while not jobs(client).get((job, "dbstats"), {}).get("up"):
        assert time.monotonic() < deadline, up.text
        time.sleep(0.2)


def test_a_server_of_its_own_says_that_the_agent_is_elsewhere(tmp_path: Path):
    with started("server", "--listen", "127.0.0.1:0", "--data", str(tmp_path)) as server:
        url = server.wait_for(r"(http://127\.0\.0\.1:\d+)")
        with httpx.Client(base_url=url, timeout=120, headers={"origin": url}, verify=False) as client:
            seen = client.get("/api/connect").json()
            assert seen.pop("looked_ms") > 0
            assert seen == {
                "agent": "elsewhere",
                "config": None,
                "host": None,
                "listeners": [],
                "more": 0,
            }
            refused = client.post("/api/connect/watch", json={"port": 80, "digest": "0" * 16})
    assert (refused.status_code, refused.json()["code"]) == (422, "agent-elsewhere")
    assert "loadwatch connect PORT --write" in refused.json()["detail"]

"""Data, spools, archives and configuration files that an earlier commit wrote are read as that commit read them.

`tests/data/before/README.md` says what there is and how it was made.
"""

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from collectors.tests.receiver import Receiver, running
from tests.alerting import Pager, make_watch, wait_for
from tests.data.before.make import (
    CONFIGURATION,
    HERE,
    Client,
    agent_configuration,
    configuration_answers,
    now_ms,
    routing_answers,
)
from tests.ports import free_port
from tests.run_cli import Cli
from tests.serving import RealServer

COMMITS = sorted(path.name.removesuffix(".tar.xz") for path in HERE.glob("*.tar.xz"))
CHANGING = frozenset(
    {
        # By the clock, which goes on.
        "evaluated_ms",
        "last_used_ms",
        "last_seen_ms",
        "loaded_ms",
        "muted_now",
        "active_now",
        "to_ms",
        "to_seconds",
        "evaluation_seconds",
        # Of this machine.
        "created_ms",
        "updated_ms",
        "path",
        "file",
        # The paths of receivers' addresses are secrets since, and no longer shown.
        "target",
    }
)

ANALYSED_AGAIN = {
    # By this machine's clock, which is compared with the server's at the delivery.
    "started_at",
    "ended_at",
    "started_ms",
    "ended_ms",
    "steady_window",
    "clock",
    "source",
    # What is thought of the generator's host; that it was busy by others than the generator is known since.
    "generator",
    "verdict_reasons",
}
"""Fields of a run that a server hears of only now, which are not in what was kept."""


@pytest.fixture(params=COMMITS)
def before(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with what one commit wrote."""
    folder = tmp_path / "before"
    with tarfile.open(HERE / f"{request.param}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def pager() -> Iterator[Pager]:
    pager = Pager()
    yield pager
    pager.close()


def expected(before: Path) -> dict[str, Any]:
    return json.loads((before / "expected.json").read_text("utf-8"))


def differences(old: Any, new: Any, place: str = "") -> list[str]:
    """Where something that was is no longer, or is something else; fields may have come since."""
    if isinstance(old, dict) and isinstance(new, dict):
        before, now = cast("dict[str, Any]", old), cast("dict[str, Any]", new)
        pairs = [(f".{key}", one, now.get(key, "nothing")) for key, one in before.items() if key not in CHANGING]
    elif isinstance(old, list) and isinstance(new, list) and len(cast("list[Any]", old)) == len(cast("list[Any]", new)):
        both = zip(cast("list[Any]", old), cast("list[Any]", new), strict=True)
        pairs = [(f"[{index}]", one, other) for index, (one, other) in enumerate(both)]
    else:
        return [] if old == new else [f"{place}: {old!r} is {new!r}"]
    return [found for step, one, other in pairs for found in differences(one, other, place + step)]


def test_a_data_directory_is_read_as_it_was(before: Path, pager: Pager, tmp_path: Path) -> None:
    was = expected(before)
    offset = tmp_path / "offset"
    environment = {"LOADWATCH_ACCESS": "users", "LOADWATCH_CLOCK_OFFSET_FILE": str(offset)}
    watch = make_watch(tmp_path / "server", pager, environment=environment)
    (before / "data").rename(watch.server.data)
    # It goes on where the old one ended, or alerts would have no data, and runs under way would be silent.
    offset.write_text(str(was["at_ms"] - now_ms()))
    watch.server.start()
    try:
        client = Client(watch.server.url, was["token"])
        wait_for("the message that waited", lambda: [one.id for one in pager.heard] == [was["waiting"]])
        wait_for("a note of it", lambda: client.json("GET", "/api/deliveries")["counts"]["waiting"] == 0)
        now = {path: client.json("GET", path) for path in was["answers"]}
        assert client.session()
        cookie = {"cookie": was["session"]}
        signed_in = json.loads(Client(watch.server.url).ask("GET", "/api/session", kind=cookie))
        shared = Client(watch.server.url).ask("GET", was["share"])
    finally:
        watch.server.kill()
    assert signed_in["principal"]["name"] == "ann"
    assert b"boats" in shared
    told = was["answers"]["/api/deliveries"]["deliveries"]
    assert told.pop(0)["id"] == was["waiting"]
    assert now["/api/deliveries"]["deliveries"].pop(0)["state"] == "delivered"
    del was["answers"]["/api/deliveries"]["counts"]
    assert differences(was["answers"], now) == []


def test_a_spool_is_delivered_whole(before: Path, tmp_path: Path) -> None:
    waits = {tuple(one) for one in expected(before)["spool"]}
    receiver = Receiver(port=free_port())
    config = tmp_path / "loadwatch.yml"
    config.write_text(agent_configuration(receiver.url, before / "spool", f"http://127.0.0.1:{free_port()}"))

    def come() -> set[tuple[str, int, int]]:
        return {
            (json.dumps(sample.labels, sort_keys=True), sample.timestamp_ms, sample.bits) for sample in receiver.samples
        }

    with running(receiver):
        process = Cli(server="", directory=tmp_path).start("agent", "--config", str(config))
        receiver.wait_for(lambda: waits <= come())
        process.terminate()
        assert process.wait(60) == 0
    assert sum(name.find('"looks_total"') > 0 for name, _, _ in waits) > 5


def test_archives_runs_on_disk_and_configuration_files_are_taken(before: Path, tmp_path: Path) -> None:
    was = expected(before)
    folder = tmp_path / "files"
    for source in (HERE / "configuration").iterdir():
        folder.mkdir(exist_ok=True)
        (folder / source.name).write_bytes(source.read_bytes())
    cli = Cli(server="", directory=folder, environment=CONFIGURATION)
    assert configuration_answers(cli) == was["commands"]

    (before / "runs").rename(cli.state)
    assert len(cli.waiting) == 1
    for run in cli.waiting:
        was["runs"][run] = {key: value for key, value in was["runs"][run].items() if key not in ANALYSED_AGAIN}
    for journal in cli.state.glob("*/run.json"):
        old = str(Path(json.loads(journal.read_text())["result"]).parent)
        journal.write_text(journal.read_text().replace(old, str(journal.parent)))
    files = {name: str(folder / value) if value.endswith(".yml") else value for name, value in CONFIGURATION.items()}
    server = RealServer(folder, files)
    server.start()
    try:
        client = Client(server.url)
        routing = routing_answers(client)
        cli.server = server.url
        synced = cli("sync")
        assert synced.returncode == 0, synced.stdout
        archive = {"content-type": "application/zip"}
        client.ask("POST", "/api/archives", (before / "archive.zip").read_bytes(), archive)
        runs = {run: client.json("GET", f"/api/runs/{run}") for run in was["runs"]}
    finally:
        server.stop()
    # Rules of the server's own have come since, after those of the file.
    inhibition = routing["/api/routes"]["inhibit_rules"]
    del inhibition[len(was["files"]["/api/routes"]["inhibit_rules"]) :]
    assert differences(was["files"], routing) == []
    assert differences(was["runs"], runs) == []
    assert cli.waiting == []


def test_a_difference_is_found() -> None:
    assert differences({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3, "c": 4}]}) == [".a[1].b: 2 is 3"]
    assert differences({"a": [1]}, {"a": []}) == [".a: [1] is []"]
    assert differences({"a": 1}, {"b": 1}) == [".a: 1 is 'nothing'"]
    assert not differences({"evaluated_ms": 1}, {"evaluated_ms": 2, "new": 3})

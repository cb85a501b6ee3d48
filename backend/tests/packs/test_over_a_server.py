"""A user's pack over a running server: its panel, its resource and its finding, without a restart."""

import os
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.catalogue.packs import library
from loadwatch_backend.core.settings import load_settings

from backend.tests.conftest import NOW_MS, RunningServer, run_server
from backend.tests.packs.texts import PACK, put

TARGET = {"job": "mq", "instance": "mq-1", "queue": "orders"}


@pytest.fixture(autouse=True)
def look_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "LOOK_SECONDS", 0.0)


def write(server: RunningServer) -> None:
    """Full for the last minute, in which messages were refused."""
    seconds = range(-200, 1)
    for name, values in (
        ("mq_used", [100.0 if at > -60 else 10.0 for at in seconds]),
        ("mq_limit", [100.0 for _ in seconds]),
        ("mq_rejected_total", [5.0 * max(at + 60, 0) for at in seconds]),
    ):
        samples = [(NOW_MS + at * 1_000, value) for at, value in zip(seconds, values, strict=True)]
        server.write(({"__name__": name, **TARGET}, samples))


def get(server: RunningServer, path: str) -> Any:
    return server.client.get(path).raise_for_status().json()


def panels(server: RunningServer) -> dict[str, str]:
    """A signal by the title of its panel."""
    return {one["panel"]["title"]: one["id"] for one in get(server, "/api/signals?lang=ja")["signals"]}


def test_the_page_shows_its_panel_its_resource_and_its_finding(server: RunningServer) -> None:
    write(server)
    assert "保持メッセージ" not in panels(server)
    assert get(server, "/api/findings")["findings"] == []
    file = put(server.data / "packs", "broker")
    assert panels(server)["保持メッセージ"] == "mq_used"
    query = {"signals": ["mq_used"], "start_ms": NOW_MS - 60_000, "end_ms": NOW_MS}
    answer = server.client.post("/api/signals/query", json=query).raise_for_status().json()
    assert [one["labels"] for one in answer["results"][0]["series"]] == [TARGET]
    entries = get(server, f"/api/headroom?at_ms={NOW_MS}")
    (entry,) = [one for one in entries["resources"] if one["resource"] == "broker_queue"]
    assert (entry["used"], entry["limit"], entry["labels"]) == (100.0, 100.0, TARGET)
    server.clock.now_ms += 6_000
    (finding, *_) = get(server, "/api/findings")["findings"]
    assert (finding["id"], finding["labels"], finding["certainty"]) == ("broker-queue-exhausted", TARGET, "likely")

    file.write_text(PACK.replace("kind: queue", "kind: qeue"))
    assert panels(server)["保持メッセージ"] == "mq_used"
    file.unlink()
    assert "保持メッセージ" not in panels(server)


def test_an_expression_that_asks_for_too_much_costs_its_own_resource_alone(server: RunningServer) -> None:
    write(server)
    heavy = PACK.replace("used: sum by (job, instance, queue) (mq_used)", "used: sum_over_time(mq_used[1d:1ms])")
    put(server.data / "packs", "heavy", heavy.replace("broker", "heavy").replace("mq_used\n", "heavy_used\n"))
    put(server.data / "packs", "broker")
    findings = get(server, "/api/findings")["findings"]
    assert [one["id"] for one in findings] == ["broker-queue-exhausted"]


def test_folders_of_the_setting_are_read_in_place_of_the_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "data" / "packs", "none", PACK.replace("保持メッセージ", "読まれない"))
    put(tmp_path / "a", "broker", PACK.replace("保持メッセージ", "先"))
    put(tmp_path / "b", "broker", PACK.replace("保持メッセージ", "後"))
    monkeypatch.setenv("LOADWATCH_PACKS", os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")]))
    folders = load_settings().packs
    assert folders == (tmp_path / "a", tmp_path / "b")
    with run_server(tmp_path / "server", packs=folders) as server:
        assert {"後"} == panels(server).keys() & {"先", "後", "読まれない"}

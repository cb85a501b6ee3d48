"""Panels made and pinned over a real server: what stands in the file, and what is refused."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from loadwatch_backend.catalogue.packs.pinned import MOST_PANELS

from backend.tests.access.people import town
from backend.tests.conftest import NOW_MS, RunningServer, run_server
from backend.tests.packs.test_commands import packs
from backend.tests.packs.texts import PACK, put

TITLE = "読み取り /s"
READ = "sum by (device) (rate(node_disk_read_bytes_total[$window]))"
MADE: dict[str, Any] = {"title": TITLE, "expressions": [READ], "unit": "bytes_per_second", "legend": "{{device}}"}
HAND = """# Ours
pack: pinned
title: Pinned    # a title
there_when: [up]
groups:
  # The first group.
  - id: pinned
    title: Ours
    panels:
    - id: by-hand
      title: By hand   # kept
      signals: [{id: by_hand, title: By hand, unit: count, expr: up, legend: ''}]
    # Behind it.
  - id: host
    panels: [{id: h, title: H, signals: [{id: h, title: H, unit: count, expr: up, legend: ''}]}]
# The end.
"""


@pytest.fixture
def file(server: RunningServer) -> Path:
    return server.data / "packs" / "pinned" / "pack.yml"


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[RunningServer, Path, Path]]:
    """A server with two folders of packs."""
    first, last = tmp_path / "first", tmp_path / "last"
    with run_server(tmp_path / "data", packs=(first, last)) as server:
        yield server, first, last


def pin(server: RunningServer, **more: Any) -> dict[str, Any]:
    answer = server.client.post("/api/panels", json=MADE | more)
    assert answer.status_code == 201, answer.text
    return answer.json()


def refused(server: RunningServer, code: str, **more: Any) -> str:
    answer = server.client.post("/api/panels", json=MADE | more)
    assert answer.json()["code"] == code, answer.text
    return answer.json()["detail"]


def remove(server: RunningServer, id: str) -> int:
    return server.client.delete(f"/api/panels/{id}").status_code


def panels(server: RunningServer) -> dict[str, list[str]]:
    """Expressions of the first group's panels."""
    found = server.client.get("/api/signals").raise_for_status().json()
    first: dict[str, list[str]] = {}
    for one in found["signals"]:
        if one["group"] == "pinned" == found["groups"][0]["id"]:
            first.setdefault(one["panel"]["title"], []).append(one["expression"])
    return first


def test_a_panel_is_a_pack_that_is_checked_and_there_after_a_restart_until_it_is_removed(tmp_path: Path) -> None:
    with run_server(tmp_path / "data") as server:
        made = pin(server)
        assert panels(server) == {TITLE: [READ]}
        second = pin(server, title="Two", expressions=["up", "sum(\n  up\n)"])
    text = Path(made["file"]).read_text("utf-8")
    assert f"{READ}\n" in text
    assert "読み取り /s" in text
    assert "expr: |-\n        sum(\n          up\n        )\n" in text
    checked = packs(tmp_path / "data", "check", tmp_path / "data" / "packs")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    with run_server(tmp_path / "data") as server:
        assert panels(server) == {TITLE: [READ], "Two": ["up", "sum(\n  up\n)"]}
        samples = [(NOW_MS + at * 1_000, float(at)) for at in range(-60, 1)]
        server.write(({"__name__": "node_disk_read_bytes_total", "device": "sda"}, samples))
        signal = yaml.safe_load(text)["groups"][0]["panels"][0]["signals"][0]["id"]
        query = {"signals": [signal], "start_ms": NOW_MS - 30_000, "end_ms": NOW_MS}
        answer = server.client.post("/api/signals/query", json=query).raise_for_status().json()
        assert [one["name"] for one in answer["results"][0]["series"]] == ["sda"]
        assert remove(server, made["id"]) == 204
        assert panels(server).keys() == {"Two"}
        assert remove(server, second["id"]) == 204
        assert panels(server) == {}
        assert list((tmp_path / "data" / "packs").iterdir()) == []
        assert remove(server, made["id"]) == 404


def test_a_pinned_panel_is_what_its_pack_says_also_where_the_pack_is_changed_or_late(server: RunningServer) -> None:
    late = PACK.replace("groups:", "late: {source: CloudWatch, period: 60s}\ndefine: {all: job}\ngroups:", 1)
    late = late.replace("expr: sum by (job,", "expr: sum by (${all},").replace(
        "        signals:", "        form: stacked\n        signals:", 1
    )
    put(server.data / "packs", "broker", late)
    answer = server.client.post("/api/panels", json={"signals": ["mq_used"]})
    assert answer.status_code == 201, answer.text
    found = {one["id"]: one for one in server.client.get("/api/signals?lang=ja").json()["signals"]}
    old, new = found["mq_used"], found["pinned_mq_used"]
    own = {"id", "group", "panel"}
    assert {name: value for name, value in old.items() if name not in own} == {
        name: value for name, value in new.items() if name not in own
    }
    assert new["panel"] == old["panel"] | {"id": "pinned-mq-used"}
    assert new["delivery"] is not None
    assert new["panel"]["stacked"]
    again = server.client.post("/api/panels", json={"signals": ["mq_used"]})
    assert (again.status_code, again.json()["code"]) == (409, "panel-pinned")
    assert server.client.post("/api/panels", json={"signals": ["nobody"]}).json()["code"] == "panel-invalid"


def test_every_shipped_panel_can_be_pinned(server: RunningServer) -> None:
    shown: dict[str, list[str]] = {}
    for one in server.client.get("/api/signals").json()["signals"]:
        shown.setdefault(one["panel"]["id"], []).append(one["id"])
    for signals in shown.values():
        made = server.client.post("/api/panels", json={"signals": signals})
        assert made.status_code == 201, made.text
        assert remove(server, made.json()["id"]) == 204


def test_what_somebody_wrote_by_hand_stays_with_its_comments(server: RunningServer, file: Path) -> None:
    put(file.parent.parent, "pinned", HAND)
    made = pin(server)
    lines = file.read_text("utf-8").splitlines()
    assert [one for one in HAND.splitlines() if one not in lines] == []
    assert remove(server, made["id"]) == 204
    assert file.read_text("utf-8") == HAND
    assert remove(server, "by-hand") == 204
    left = file.read_text("utf-8")
    assert "# Behind it." in left
    assert [one["id"] for one in yaml.safe_load(left)["groups"]] == ["host"]


def test_lists_in_brackets_are_written_anew_without_loss_of_anything_but_comments(
    server: RunningServer, file: Path
) -> None:
    put(file.parent.parent, "pinned", "pack: pinned\ntitle: P\nthere_when: up\ngroups: [{id: pinned, order: 3}]\n")
    pin(server)
    assert yaml.safe_load(file.read_text("utf-8"))["groups"][0] | {"panels": []} == {
        "id": "pinned",
        "order": 3,
        "panels": [],
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HAND.replace("id: by-hand", "id: [by-hand"), ":11:"),
        (HAND.replace("unit: count", "unti: count", 1), "unknown key 'unti'"),
        (HAND.replace("pack: pinned", "change: host"), "pack is missing"),
    ],
)
def test_a_broken_file_is_refused_with_its_line_and_stays(
    server: RunningServer, file: Path, text: str, said: str
) -> None:
    put(file.parent.parent, "pinned", text)
    detail = refused(server, "pack-file")
    assert said in detail
    assert str(file) in detail
    assert server.client.delete("/api/panels/by-hand").json()["code"] == "pack-file"
    assert file.read_text("utf-8") == text


def test_what_the_loader_refuses_changes_nothing(server: RunningServer, file: Path) -> None:
    assert "this is no PromQL" in refused(server, "panel-invalid", expressions=["sum(rate(up)"])
    assert not file.exists()
    pin(server)
    text = file.read_text("utf-8")
    refused(server, "panel-pinned", title="Another title")
    refused(server, "invalid", title="")
    refused(server, "invalid", title="x" * 121)
    refused(server, "invalid", expressions=["u" * 4_001])
    refused(server, "invalid", expressions=[])
    refused(server, "invalid", signals=["cpu"])
    refused(server, "invalid", unit="furlongs")
    refused(server, "panel-invalid", expressions=["up", "   "])
    assert file.read_text("utf-8") == text


def test_titles_of_all_kinds_are_told_apart_and_read_back(server: RunningServer) -> None:
    titles = ["固定", "固 定", "yes", "1", "a: b # c", "'\"", "{{x}}", "- x", "null", "${x}", "é\u2028é", "*a", "~"]
    ids = [pin(server, title=one, expressions=[f"up == {at}"])["id"] for at, one in enumerate(titles)]
    assert len(set(ids)) == len(titles)
    assert list(panels(server)) == [" ".join(one.split()) for one in titles]


def test_there_are_at_most_so_many(server: RunningServer) -> None:
    for place in range(MOST_PANELS):
        pin(server, expressions=[f"up == {place}"])
    assert str(MOST_PANELS) in refused(server, "panel-limit", expressions=["up == 1000"])


def test_panels_that_are_pinned_at_once_are_all_there(server: RunningServer) -> None:
    with ThreadPoolExecutor(8) as threads:
        each = [threads.submit(pin, server, expressions=[f"up == {at}"]) for at in range(16)]
        made = [one.result()["id"] for one in each]
        assert sum(len(one) for one in panels(server).values()) == 16
        assert [one.result() for one in [threads.submit(remove, server, id) for id in made]] == [204] * 16
    assert panels(server) == {}


def test_the_last_folder_has_them_unless_another_one_does(two: tuple[RunningServer, Path, Path]) -> None:
    server, first, last = two
    made = pin(server)
    assert Path(made["file"]) == last / "pinned" / "pack.yml"
    assert remove(server, made["id"]) == 204
    put(first, "pinned", HAND)
    assert Path(pin(server)["file"]) == first / "pinned" / "pack.yml"
    assert not (last / "pinned").exists()


def test_a_folder_that_cannot_be_written_is_named_with_what_to_do(server: RunningServer) -> None:
    (server.data / "packs").write_text("a file")
    detail = refused(server, "pack-file")
    assert str(server.data / "packs" / "pinned" / "pack.yml") in detail
    assert "LOADWATCH_PACKS" in detail


def test_a_viewer_explores_and_does_not_pin_and_who_did_is_in_the_audit_log(tmp_path: Path) -> None:
    with town(run_server, tmp_path / "data") as place:
        viewer, admin = place.signed_in("vi"), place.signed_in("ann")
        assert viewer.get("/prometheus/api/v1/query?query=up").status_code == 200
        assert viewer.post("/api/panels", json=MADE).status_code == 403
        assert place.signed_in("ed").post("/api/panels", json=MADE).status_code == 403
        id = admin.post("/api/panels", json=MADE).raise_for_status().json()["id"]
        assert viewer.delete(f"/api/panels/{id}").status_code == 403
        assert admin.delete(f"/api/panels/{id}").status_code == 204
        entries = [(one["actor"], one["action"], one["subject"], one["outcome"]) for one in place.audit("panel")]
    assert entries == [
        ("ann", "panel.remove", id, "ok"),
        ("vi", "panel.remove", id, "forbidden"),
        ("ann", "panel.pin", id, "ok"),
        ("ed", "panel.pin", "", "forbidden"),
        ("vi", "panel.pin", "", "forbidden"),
    ]

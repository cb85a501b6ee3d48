"""Share links over HTTP."""

import sqlite3
from typing import Any

NOW_MS = 1_768_550_400_000
DAY_MS = 86_400_000


def test_a_link_opens_its_run_until_it_expires_or_is_revoked(server: Any):
    run = server.client.post("/api/runs", json={"name": "shared"}).json()["id"]
    made = server.client.post(f"/api/runs/{run}/shares", json={"days": 2, "note": "for the team"}).json()
    assert (made["run"], made["note"], made["expires_ms"]) == (run, "for the team", NOW_MS + 2 * DAY_MS)
    secret = made["path"].removeprefix("/share/")
    assert len(secret) >= 43
    opened = server.client.get(made["path"])
    assert (opened.status_code, opened.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "shared" in opened.text
    listed = server.client.get(f"/api/runs/{run}/shares").json()["shares"]
    assert listed == [made | {"path": None}]
    wrong = server.client.get("/share/" + "x" * 43)
    server.clock.now_ms += 2 * DAY_MS
    late = server.client.get(made["path"])
    assert [answer.status_code for answer in (wrong, late)] == [404, 404]
    assert wrong.json()["detail"] == late.json()["detail"]
    assert server.client.get(f"/api/runs/{run}/shares").json()["shares"] == []
    other = server.client.post(f"/api/runs/{run}/shares", json={}).json()
    assert server.client.delete(f"/api/shares/{other['id']}").status_code == 204
    assert server.client.get(other["path"]).status_code == 404
    assert server.client.delete(f"/api/shares/{other['id']}").status_code == 404


def test_of_the_secret_only_a_hash_is_kept(server: Any):
    run = server.client.post("/api/runs", json={}).json()["id"]
    secret = server.client.post(f"/api/runs/{run}/shares", json={}).json()["path"].removeprefix("/share/")
    with sqlite3.connect(server.data / "loadwatch.sqlite") as database:
        assert secret not in "\n".join(database.iterdump())
    database.close()

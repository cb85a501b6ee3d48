"""Users and tokens as administrators see to them, over HTTP."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from backend.tests.access.people import PASSWORD, Town, town


def test_an_administrator_adds_changes_and_deletes_users(people: Town):
    admin = people.signed_in("ann")
    new = {"name": "Bo.K@x", "full_name": "葵", "role": "viewer", "password": "a new long password"}
    made = admin.post("/api/users", json=new).json()
    assert (made["name"], made["role"], made["source"], made["sessions"]) == ("Bo.K@x", "viewer", "password", 0)
    assert admin.post("/api/users", json={**new, "name": "bo.k@X"}).json()["code"] == "user-name-taken"
    assert admin.post("/api/users", json={**new, "name": "x", "role": "agent"}).json()["code"] == "role-of-agents"
    assert admin.post("/api/users", json={**new, "name": "x", "password": "password1234"}).status_code == 422
    them = people.signed_in("Bo.K@x", "a new long password")
    path = f"/api/users/{made['id']}"
    assert them.post("/api/annotations", json={}).status_code == 403
    assert admin.patch(path, json={"role": "editor"}).json()["role"] == "editor"
    assert them.post("/api/annotations", json={}).status_code == 422  # past the gate, from the next request on
    sessions = admin.get(f"{path}/sessions").json()["sessions"]
    assert [(one["user"], one["current"], one["address"]) for one in sessions] == [("Bo.K@x", False, "127.0.0.1")]
    assert admin.delete(f"{path}/sessions/{sessions[0]['id']}").status_code == 204
    assert them.get("/api/status").status_code == 401
    them = people.signed_in("Bo.K@x", "a new long password")
    admin.patch(path, json={"password": "another long password"})
    assert them.get("/api/status").status_code == 401
    them = people.signed_in("Bo.K@x", "another long password")
    admin.patch(path, json={"disabled": True})
    assert them.get("/api/status").status_code == 401
    refused = people.browser().post(
        "/api/session/password", json={"name": "Bo.K@x", "password": "another long password"}
    )
    assert (refused.status_code, refused.json()["code"]) == (403, "user-disabled")
    admin.patch(path, json={"disabled": False})
    assert them.get("/api/status").status_code == 401
    assert admin.delete(path).status_code == 204
    assert admin.delete(path).json()["code"] == "user-not-found"
    assert "password" not in admin.get("/api/users").text.replace('"source":"password"', "")


def test_the_last_administrator_stays(people: Town):
    admin = people.signed_in("ann")
    mine = people.server.services.access.users.find("ann").id
    for answer in (
        admin.patch(f"/api/users/{mine}", json={"role": "viewer"}),
        admin.patch(f"/api/users/{mine}", json={"disabled": True}),
        admin.delete(f"/api/users/{mine}"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (422, "last-administrator")
    assert admin.get("/api/users").status_code == 200
    other = people.server.services.access.users.find("ed").id
    assert admin.patch(f"/api/users/{other}", json={"role": "admin", "disabled": True}).status_code == 200
    assert admin.patch(f"/api/users/{mine}", json={"role": "viewer"}).status_code == 422
    admin.patch(f"/api/users/{other}", json={"disabled": False})
    assert admin.patch(f"/api/users/{mine}", json={"role": "viewer"}).status_code == 200
    assert admin.get("/api/users").status_code == 403


def test_tokens_are_shown_once_and_end(people: Town):
    admin = people.signed_in("ann")
    now_ms = people.server.clock.now_ms
    body = {"name": "ci", "scopes": ["read", "runs:write"], "expires_ms": now_ms + 1_000}
    made = admin.post("/api/tokens", json=body).json()
    assert made["token"].startswith("lw_api_")
    assert made["record"]["created_by"] == "ann"
    assert made["token"] not in admin.get("/api/tokens").text
    headers = {"authorization": f"Bearer {made['token']}"}
    assert people.server.client.get("/api/targets", headers=headers).status_code == 200
    assert admin.get("/api/tokens").json()["tokens"][0]["last_used_ms"] == now_ms
    browser = people.browser()
    assert browser.post("/api/session", json={"token": made["token"]}).status_code == 200
    assert browser.get("/api/targets").status_code == 200
    people.server.clock.now_ms += 1_000
    assert people.server.client.get("/api/targets", headers=headers).status_code == 401
    assert browser.get("/api/targets").status_code == 401, "a session of a token ends with it"
    assert admin.post("/api/tokens", json=body).json()["code"] in ("token-name-taken", "token-expiry")
    assert admin.post("/api/tokens", json={**body, "scopes": []}).status_code == 422
    assert admin.post("/api/tokens", json={**body, "scopes": ["everything"]}).status_code == 422


def test_unknown_tokens_are_slowed_down_and_known_ones_from_there_are_not(people: Town):
    good = people.token("good", "read")
    statuses = [
        people.server.client.get("/api/targets", headers={"authorization": f"Bearer lw_agent_{number}"}).status_code
        for number in range(32)
    ]
    assert statuses == [401] * 30 + [429] * 2
    assert people.server.client.get("/api/targets", headers=good).status_code == 200
    entries = people.audit("token.use")
    assert len(entries) == 10
    assert entries[0]["outcome"] == "unauthorized"
    assert people.server.services.access.audit.suppressed_total > 0


def test_what_was_done_is_in_the_audit_log_and_no_secret_is(people: Town):
    admin, viewer = people.signed_in("ann"), people.signed_in("vi")
    note = admin.post("/api/annotations", json={"author": "a", "text": "secret text", "start_ms": 5}).json()
    admin.delete(f"/api/annotations/{note['id']}")
    viewer.post("/api/annotations", json={"author": "a", "text": "secret text", "start_ms": 5})
    made = admin.post("/api/users", json={"name": "bo", "role": "viewer", "password": "a new long password"}).json()
    admin.patch(f"/api/users/{made['id']}", json={"password": "another long password"})
    admin.delete(f"/api/users/{made['id']}")
    token = admin.post("/api/tokens", json={"name": "ci", "scopes": ["read"]}).json()
    admin.delete(f"/api/tokens/{token['record']['id']}")
    admin.post("/api/signals/query", json={})
    viewer.delete("/api/session")
    answer = admin.get("/api/audit", params={"limit": 500})
    done = [(one["actor"], one["action"], one["subject"], one["outcome"]) for one in answer.json()["entries"]]
    assert done[::-1] == [
        ("ann", "session.login", "", "ok"),
        ("vi", "session.login", "", "ok"),
        ("ann", "annotation.create", str(note["id"]), "ok"),
        ("ann", "annotation.delete", str(note["id"]), "ok"),
        ("vi", "annotation.create", "", "forbidden"),
        ("ann", "user.create", "bo", "ok"),
        ("ann", "user.update", "bo", "ok"),
        ("ann", "user.delete", "bo", "ok"),
        ("ann", "token.create", "ci", "ok"),
        ("ann", "token.revoke", "ci", "ok"),
        ("vi", "session.logout", "", "ok"),
    ]
    for secret in ("secret text", "a new long", "another long", token["token"], PASSWORD):
        assert secret not in answer.text
    assert viewer.get("/api/audit").status_code == 401


def test_the_first_administrator_is_made_by_the_link_and_the_link_works_once(
    start_server: Callable[..., Any], tmp_path: Path
):
    with start_server(tmp_path / "data", access="users") as first:
        old = first.services.setup_secret
        assert first.client.get("/api/session").json()["setup"] is True
        for path in ("/api/status", "/api/users", "/metrics", "/prometheus/api/v1/query?query=1"):
            assert first.client.get(path).status_code == 401
        assert first.client.get("/-/ready").status_code == 200
    with start_server(tmp_path / "data", access="users") as server:
        secret = server.services.setup_secret
        body = {"secret": secret, "name": "root", "password": "four random words"}
        assert secret != old
        for wrong in ({"secret": old}, {"secret": "x"}):
            assert server.client.post("/api/setup", json={**body, **wrong}).json()["code"] == "setup-link"
        assert server.client.post("/api/setup", json={**body, "password": "rootrootroot"}).json()["code"] in (
            "weak-password",
        )
        server.clock.now_ms += 24 * 3_600_000
        assert server.client.post("/api/setup", json=body).json()["code"] == "setup-link"
        server.clock.now_ms -= 1
        made = server.client.post("/api/setup", json=body)
        assert (made.status_code, made.json()["principal"]["role"]) == (201, "admin")
        assert server.client.get("/api/users").json()["users"][0]["name"] == "root"
        again = server.client.post("/api/setup", json={**body, "name": "eve"}, headers={"origin": server.url})
        assert again.json()["code"] == "setup-link"
        assert server.client.get("/api/session").json()["setup"] is False
    with start_server(tmp_path / "data", access="users") as later:
        assert later.services.setup_secret is None


def test_a_database_that_is_gone_keeps_people_out_without_blaming_them(
    start_server: Callable[..., Any], tmp_path: Path
):
    with town(start_server, tmp_path / "data") as people:
        client = people.signed_in("ann")
        with people.server.services.relational.engine.begin() as connection:
            connection.exec_driver_sql("ALTER TABLE user_sessions RENAME TO gone")
        answer = client.get("/api/targets")
        assert (answer.status_code, answer.json()["code"]) == (503, "access-unavailable")
        with people.server.services.relational.engine.begin() as connection:
            connection.exec_driver_sql("ALTER TABLE gone RENAME TO user_sessions")
        assert client.get("/api/targets").status_code == 200

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from loadwatch_backend.access.principal import Role
from loadwatch_backend.access.repository import IDLE_MS
from loadwatch_backend.access.token_file import TokenFile

NOW = datetime(2026, 1, 16, 8, tzinfo=UTC)


@pytest.fixture
def tokens(tmp_path: Path) -> dict[str, str]:
    file = TokenFile(tmp_path / "tokens.json")
    return {"admin": file.create("me", Role.ADMIN, NOW), "agent": file.create("a1", Role.AGENT, NOW)}


@pytest.fixture
def guarded(start_server: Callable[..., Any], tmp_path: Path, tokens: dict[str, str]) -> Iterator[Any]:
    with start_server(tmp_path / "data", token_file=tmp_path / "tokens.json") as running:
        yield running


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_where_access_is_open_everyone_is_the_local_administrator(server: Any):
    session = server.client.get("/api/session").json()
    assert session["access"] == "open"
    assert session["ways"] == {"token": False, "password": False, "oidc": None}
    assert session["setup"] is False
    assert (session["principal"]["name"], session["principal"]["role"]) == ("local", "admin")
    assert session["principal"]["kind"] == "local"
    answer = server.client.post("/api/session", json={"token": "anything"})
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers


PROTECTED = [
    ("GET", "/api/status"),
    ("GET", "/api/signals"),
    ("POST", "/api/signals/query"),
    ("GET", "/api/headroom"),
    ("GET", "/api/targets"),
    ("GET", "/api/annotations"),
    ("POST", "/api/annotations"),
    ("DELETE", "/api/annotations/1"),
    ("GET", "/api/live"),
    ("GET", "/metrics"),
    ("GET", "/prometheus/api/v1/query"),
    ("POST", "/prometheus/api/v1/query_range"),
    ("GET", "/prometheus/api/v1/labels"),
]


@pytest.mark.parametrize(("method", "path"), PROTECTED)
def test_strangers_and_agents_are_kept_out(guarded: Any, tokens: dict[str, str], method: str, path: str):
    stranger = guarded.client.request(method, path)
    assert stranger.status_code == 401
    assert stranger.headers["www-authenticate"].startswith("Bearer")
    agent = guarded.client.request(method, path, headers=bearer(tokens["agent"]))
    assert agent.status_code == 403
    wrong = guarded.client.request(method, path, headers=bearer(tokens["admin"][:-1] + "!"))
    assert wrong.status_code == 401


def test_prometheus_errors_keep_their_shape(guarded: Any):
    answer = guarded.client.get("/prometheus/api/v1/query?query=1").json()
    assert (answer["status"], answer["errorType"]) == ("error", "unauthorized")


def test_an_agent_may_write(guarded: Any, tokens: dict[str, str]):
    """An empty body gets past the gate and fails as a body."""
    write = "/prometheus/api/v1/write"
    assert guarded.client.post(write).status_code == 401
    for role in ("agent", "admin"):
        assert guarded.client.post(write, headers=bearer(tokens[role])).status_code == 415


def test_an_administrator_signs_in_with_a_cookie_that_scripts_cannot_read(guarded: Any, tokens: dict[str, str]):
    client = guarded.client
    before = client.get("/api/session").json()
    assert (before["access"], before["principal"]) == ("token", None)
    assert before["ways"] == {"token": True, "password": False, "oidc": None}
    answer = client.post("/api/session", json={"token": tokens["admin"]})
    assert answer.json()["principal"]["name"] == "me"
    assert answer.json()["principal"]["kind"] == "token"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert tokens["admin"].lower() not in cookie
    assert client.get("/api/status").json()["principal"]["name"] == "me"
    guarded.clock.now_ms += IDLE_MS
    assert client.get("/api/status").status_code == 401


def test_signing_out_forgets_the_cookie(guarded: Any, tokens: dict[str, str]):
    guarded.client.post("/api/session", json={"token": tokens["admin"]})
    assert guarded.client.get("/api/status").status_code == 200
    assert guarded.client.delete("/api/session", headers={"origin": guarded.url}).status_code == 204
    assert guarded.client.get("/api/status").status_code == 401


@pytest.mark.parametrize("which", ["agent", "nobody"])
def test_others_cannot_sign_in(guarded: Any, tokens: dict[str, str], which: str):
    answer = guarded.client.post("/api/session", json={"token": tokens.get(which, "lw_admin_wrong")})
    assert (answer.status_code, answer.json()["code"]) == (401, "wrong-token")
    assert "set-cookie" not in answer.headers


def test_a_revoked_token_and_its_sessions_end_at_once(guarded: Any, tokens: dict[str, str], tmp_path: Path):
    guarded.client.post("/api/session", json={"token": tokens["admin"]})
    TokenFile(tmp_path / "tokens.json").revoke("me")
    assert guarded.client.get("/api/status").status_code == 401
    assert guarded.client.get("/api/status", headers=bearer(tokens["admin"])).status_code == 401


def test_sessions_of_a_token_are_listed_and_ended_one_by_one(guarded: Any, tokens: dict[str, str], tmp_path: Path):
    admin = bearer(tokens["admin"])
    ci = guarded.client.post("/api/tokens", json={"name": "ci", "scopes": ["read"]}, headers=admin).json()["token"]
    other = TokenFile(tmp_path / "tokens.json").create("you", Role.VIEWER, NOW)
    for token in (tokens["admin"], ci, other):
        with ExitStack() as stack:
            browsers = [
                stack.enter_context(
                    httpx.Client(
                        base_url=guarded.url,
                        headers={"origin": guarded.url, "user-agent": name},
                        verify=False,
                        timeout=120,
                    )
                )
                for name in ("one", "two")
            ]
            for browser in browsers:
                assert browser.post("/api/session", json={"token": token}).status_code == 200
            listed = browsers[0].get("/api/session/sessions").json()["sessions"]
            assert {(one["browser"], one["current"]) for one in listed} == {("one", True), ("two", False)}
            away = next(one["id"] for one in listed if not one["current"])
            assert browsers[0].delete(f"/api/session/sessions/{away}").status_code == 204
            assert browsers[1].get("/api/status").status_code == 401
            assert browsers[0].get("/api/status").status_code == 200
            assert len(browsers[0].get("/api/session/sessions").json()["sessions"]) == 1
            theirs = [one["id"] for one in listed if one["current"]]
            refused = guarded.client.delete(
                f"/api/session/sessions/{theirs[0]}",
                headers=bearer(tokens["admin"] if token != tokens["admin"] else ci),
            )
            assert refused.status_code in (403, 404)


def test_signing_out_ends_the_session_and_not_only_the_cookie(guarded: Any, tokens: dict[str, str]):
    answer = guarded.client.post("/api/session", json={"token": tokens["admin"]})
    kept = {"cookie": answer.headers["set-cookie"].partition(";")[0]}
    guarded.client.delete("/api/session", headers={"origin": guarded.url})
    guarded.client.cookies.clear()
    assert guarded.client.get("/api/status", headers=kept).status_code == 401


def test_a_damaged_token_file_lets_nobody_in(guarded: Any, tokens: dict[str, str], tmp_path: Path):
    (tmp_path / "tokens.json").write_text("{")
    assert guarded.client.get("/api/status", headers=bearer(tokens["admin"])).status_code == 401


def test_tokens_of_the_database_hold_beside_those_of_the_file(guarded: Any, tokens: dict[str, str]):
    admin = bearer(tokens["admin"])
    made = guarded.client.post("/api/tokens", json={"name": "ci", "scopes": ["read"]}, headers=admin).json()
    reader = bearer(made["token"])
    assert guarded.client.get("/api/targets", headers=reader).status_code == 200
    assert guarded.client.post("/api/annotations", json={}, headers=reader).status_code == 403
    listed = guarded.client.get("/api/tokens", headers=admin).json()["tokens"]
    assert [(one["name"], one["from_file"]) for one in listed] == [("a1", True), ("ci", False), ("me", True)]
    refused = guarded.client.delete(f"/api/tokens/{listed[0]['id']}", headers=admin)
    assert refused.json()["code"] == "token-in-file"
    assert guarded.client.delete(f"/api/tokens/{made['record']['id']}", headers=admin).status_code == 204
    assert guarded.client.get("/api/targets", headers=reader).status_code == 401


def test_passwords_open_nothing_where_only_tokens_do(guarded: Any, tokens: dict[str, str]):
    user = {"name": "ann", "role": "admin", "password": "four random words"}
    assert guarded.client.post("/api/users", json=user, headers=bearer(tokens["admin"])).status_code == 201
    answer = guarded.client.post("/api/session/password", json={"name": "ann", "password": "four random words"})
    assert answer.json()["code"] == "no-passwords"

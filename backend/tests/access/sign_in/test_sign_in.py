"""Signing in with a password: what is let in, what is kept out, and what nobody learns from it."""

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import pytest
from argon2 import PasswordHasher
from loadwatch_backend.access.limits import FIRST_WAIT_MS, FREE_FAILURES, LONGEST_WAIT_MS, FailureLimit
from loadwatch_backend.access.repository import IDLE_MS, LONGEST_MS, MOST_SESSIONS
from loadwatch_backend.access.schemas import UserPatch
from loadwatch_backend.access.tables import LockoutRow, UserRow, UserSessionRow
from sqlalchemy import select

from backend.tests.access.people import PASSWORD, Town, town


def attempt(client: httpx.Client, name: str, password: str = "wrong password") -> httpx.Response:
    return client.post("/api/session/password", json={"name": name, "password": password})


def patient(people: Town) -> None:
    """Let the tests' one address try as often as it likes: what is tested is the name's lock."""
    people.server.services.access.gate.attempts.most = 10_000


def test_a_user_signs_in_and_out(people: Town):
    client = people.browser()
    before = client.get("/api/session").json()
    assert (before["access"], before["principal"], before["setup"]) == ("users", None, False)
    assert before["ways"] == {"token": True, "password": True, "oidc": None}
    answer = attempt(client, "ANN", PASSWORD)
    assert (answer.json()["principal"]["name"], answer.json()["principal"]["role"]) == ("ann", "admin")
    for cookie in answer.headers.get_list("set-cookie"):
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert "Path=/" in cookie
        assert "Domain" not in cookie
        assert "Secure" not in cookie
    assert client.get("/api/status").json()["principal"]["kind"] == "user"
    assert client.delete("/api/session").status_code == 204
    assert client.get("/api/status").status_code == 401


def test_a_cookie_ends_on_the_server_too(people: Town):
    client = people.signed_in("ann")
    cookie = client.cookies["loadwatch_session"]
    client.delete("/api/session")
    thief = people.browser(cookie=f"loadwatch_session={cookie}")
    assert thief.get("/api/status").status_code == 401


def test_nothing_kept_opens_a_session(people: Town):
    client = people.signed_in("ann")
    with people.server.services.relational.transaction() as session:
        row = session.scalars(select(UserSessionRow)).one()
        user = session.scalars(select(UserRow).where(UserRow.name == "ann")).one()
    assert client.cookies["loadwatch_session"] not in (row.id, row.secret_hash)
    assert user.password_hash.startswith("$argon2id$")
    for stolen in (row.id, row.secret_hash):
        assert people.browser(cookie=f"loadwatch_session={stolen}").get("/api/status").status_code == 401


def test_signing_in_makes_a_new_session_and_ends_the_one_before(people: Town):
    """A session that somebody else put into the browser is not the one that becomes the user's."""
    client = people.browser()
    client.cookies.set("loadwatch_session", "planted-by-an-attacker")
    attempt(client, "ann", PASSWORD)
    first = client.cookies.get("loadwatch_session", domain="127.0.0.1")
    assert first != "planted-by-an-attacker"
    client = people.signed_in("ann")
    old = client.cookies["loadwatch_session"]
    attempt(client, "ed", PASSWORD)
    assert client.get("/api/status").json()["principal"]["name"] == "ed"
    assert people.browser(cookie=f"loadwatch_session={old}").get("/api/status").status_code == 401


def test_wrong_names_and_wrong_passwords_look_the_same(people: Town):
    patient(people)
    client = people.browser()
    answers = [attempt(client, name) for name in ("ann", "nobody")]
    assert [answer.status_code for answer in answers] == [401, 401]
    assert answers[0].json() == answers[1].json()
    assert "set-cookie" not in answers[0].headers
    # And one is not much faster than the other: both pay for a hash. Time of the processor, which is this process's
    # own however busy the machine is; the server is in it, too.
    taken: dict[str, list[float]] = {"ann": [], "nobody": []}
    for _ in range(3):
        for name, times in taken.items():
            start = time.process_time()
            attempt(people.browser(), name)
            times.append(time.process_time() - start)
    assert min(taken["nobody"]) > 0.2 * median(taken["ann"])


@pytest.mark.parametrize("name", ["ann", "nobody"])
def test_a_name_waits_after_wrong_passwords_whether_there_is_such_a_user_or_not(people: Town, name: str):
    patient(people)
    client = people.browser()
    for _ in range(FREE_FAILURES + 1):
        assert attempt(client, name).status_code == 401
    locked = attempt(client, name, PASSWORD)
    assert (locked.status_code, locked.json()["code"]) == (429, "too-many-attempts")
    assert int(locked.headers["retry-after"]) == FIRST_WAIT_MS // 1_000
    people.server.clock.now_ms += FIRST_WAIT_MS
    assert attempt(client, name, PASSWORD).status_code == (200 if name == "ann" else 401)


def test_a_lock_is_shown_survives_a_restart_and_is_lifted_by_an_administrator(
    start_server: Callable[..., Any], tmp_path: Path
):
    with town(start_server, tmp_path / "data") as people:
        patient(people)
        for _ in range(20):
            people.server.clock.now_ms += LONGEST_WAIT_MS
            attempt(people.browser(), "vi")
        admin = people.signed_in("ann")
        users = {user["name"]: user for user in admin.get("/api/users").json()["users"]}
        assert users["vi"]["locked_until_ms"] == people.server.clock.now_ms + LONGEST_WAIT_MS
        assert users["ed"]["locked_until_ms"] is None
        now_ms = people.server.clock.now_ms
    with start_server(tmp_path / "data", access="users") as again:
        again.clock.now_ms = now_ms
        assert attempt(again.client, "vi", PASSWORD).status_code == 429
        vi = again.services.access.users.find("vi")
        assert again.services.access.users.update(vi.id, UserPatch(unlock=True)).locked_until_ms is None
        assert attempt(again.client, "vi", PASSWORD).status_code == 200


def test_strangers_cannot_lock_out_a_browser_that_was_here_before(people: Town):
    patient(people)
    known = people.signed_in("ann")
    known.delete("/api/session")
    stranger = people.browser()
    for _ in range(FREE_FAILURES + 1):
        attempt(stranger, "ann")
    assert attempt(people.browser(), "ann", PASSWORD).status_code == 429
    assert attempt(known, "ann", PASSWORD).status_code == 200
    # The exemption is for that name only, and has a limit of its own.
    known.delete("/api/session")
    for _ in range(FREE_FAILURES + 1):
        attempt(stranger, "ed")
    assert attempt(known, "ed", PASSWORD).status_code == 429
    for _ in range(FREE_FAILURES + 1):
        attempt(known, "ann")
    assert attempt(known, "ann", PASSWORD).status_code == 429


def test_one_address_may_be_wrong_so_often_and_succeeding_is_free(people: Town):
    people.server.services.access.gate.attempts.most = 3
    for _ in range(5):
        people.signed_in("ann")
    answers = [attempt(people.browser(), f"name{number}") for number in range(5)]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429, 429]
    assert int(answers[-1].headers["retry-after"]) > 0
    assert attempt(people.browser(), "ann", PASSWORD).status_code == 429
    admin = people.token("t", "read")
    numbers = people.server.client.get("/metrics", headers=admin).text
    assert (
        "loadwatch_access_failed_logins_total 3.0" in numbers or "loadwatch_access_failed_logins_total 5.0" in numbers
    )
    assert 'loadwatch_http_refusals_total{code="too-many-attempts"} 3.0' in numbers


def test_names_are_not_kept_where_people_may_have_typed_a_password(people: Town):
    attempt(people.browser(), "hunter2isMyPassword")
    attempt(people.browser(), "ann")
    entries = people.audit("session.login")
    assert [(entry["subject"], entry["outcome"]) for entry in entries] == [
        ("ann", "wrong-password"),
        ("", "wrong-password"),
    ]
    with people.server.services.relational.transaction() as session:
        kept = str([(row.key_hash, row.name_hash) for row in session.scalars(select(LockoutRow))])
    assert "hunter2" not in kept


def test_a_session_ends_when_nobody_uses_it_and_after_a_week(people: Town):
    client, clock = people.signed_in("ann"), people.server.clock
    clock.now_ms += IDLE_MS
    assert client.get("/api/status").status_code == 401
    client = people.signed_in("ann")
    start = clock.now_ms
    while clock.now_ms - start + IDLE_MS // 2 < LONGEST_MS:
        clock.now_ms += IDLE_MS // 2
        assert client.get("/api/status").status_code == 200
    clock.now_ms = start + LONGEST_MS
    assert client.get("/api/status").status_code == 401


def test_one_user_has_so_many_sessions(people: Town):
    first = people.signed_in("vi")
    service = people.server.services.access.sign_in
    user = people.server.services.access.users.find("vi")
    from loadwatch_backend.access.credentials import Visit
    from loadwatch_backend.access.sign_in.sign_in import Browser

    for _ in range(MOST_SESSIONS):
        people.server.clock.now_ms += 1
        service.open(user.id, Browser(visit=Visit(address="", browser="", secure=False)), "password")
    assert people.server.services.access.users.find("vi").sessions == MOST_SESSIONS
    assert first.get("/api/status").status_code == 401


def test_changing_the_password_ends_the_other_sessions(people: Town):
    here, there = people.signed_in("ed"), people.signed_in("ed")
    listed = here.get("/api/session/sessions").json()["sessions"]
    assert sorted(one["current"] for one in listed) == [False, True]
    wrong = here.put("/api/session/password", json={"current": "no", "new": "five other words now here"})
    assert wrong.json()["code"] == "wrong-password"
    weak = here.put("/api/session/password", json={"current": PASSWORD, "new": "password1234"})
    assert weak.json()["code"] == "weak-password"
    assert "password1234" not in weak.text
    changed = here.put("/api/session/password", json={"current": PASSWORD, "new": "five other words now here"})
    assert changed.status_code == 200
    assert here.get("/api/status").status_code == 200
    assert there.get("/api/status").status_code == 401
    assert attempt(people.browser(), "ed", PASSWORD).status_code == 401
    assert attempt(people.browser(), "ed", "five other words now here").status_code == 200


def test_a_stolen_session_cannot_guess_the_password_for_long(people: Town):
    patient(people)
    client = people.signed_in("ed")
    body = {"current": "guess", "new": "five other words now here"}
    answers = [client.put("/api/session/password", json=body).status_code for _ in range(FREE_FAILURES + 2)]
    assert answers == [401] * (FREE_FAILURES + 1) + [429]
    assert attempt(people.browser(), "ed", PASSWORD).status_code == 200


def test_sessions_end_one_by_one_and_only_ones_own(people: Town):
    here, there, other = people.signed_in("ed"), people.signed_in("ed"), people.signed_in("vi")
    mine = {one["current"]: one["id"] for one in here.get("/api/session/sessions").json()["sessions"]}
    theirs = other.get("/api/session/sessions").json()["sessions"][0]["id"]
    assert here.delete(f"/api/session/sessions/{theirs}").json()["code"] == "session-not-found"
    assert here.delete(f"/api/session/sessions/{mine[False]}").status_code == 204
    assert there.get("/api/status").status_code == 401
    assert here.get("/api/status").status_code == 200
    assert other.get("/api/status").status_code == 200


def test_an_old_hash_is_renewed_at_the_next_sign_in(people: Town):
    relational = people.server.services.relational
    old = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash(PASSWORD)
    with relational.transaction() as session:
        session.scalars(select(UserRow).where(UserRow.name == "ann")).one().password_hash = old
    people.signed_in("ann")
    with relational.transaction() as session:
        assert "m=19456,t=2,p=1" in session.scalars(select(UserRow).where(UserRow.name == "ann")).one().password_hash
    people.signed_in("ann")


def test_tokens_have_no_password_and_no_sessions_of_a_user(people: Town):
    headers = people.token("ci", "read")
    assert people.server.client.get("/api/session/sessions", headers=headers).json() == {"sessions": []}
    body = {"current": "x", "new": "five other words now here"}
    assert people.server.client.put("/api/session/password", json=body, headers=headers).json()["code"] == "no-password"


def test_a_token_that_may_read_signs_in_and_its_session_ends_with_it(people: Town):
    client = people.browser()
    reader = people.token("reader", "read")["authorization"].removeprefix("Bearer ")
    writer = people.token("writer", "samples:write")["authorization"].removeprefix("Bearer ")
    assert client.post("/api/session", json={"token": writer}).json()["code"] == "wrong-token"
    assert client.post("/api/session", json={"token": reader}).json()["principal"]["name"] == "reader"
    assert client.get("/api/status").status_code == 200
    assert client.post("/api/annotations", json={}).status_code == 403
    tokens = people.server.services.access.tokens
    assert tokens.revoke_by_name("reader")
    assert client.get("/api/status").status_code == 401


def test_the_limit_of_addresses_is_one_for_all_ways_in(people: Town):
    assert isinstance(people.server.services.access.gate.attempts, FailureLimit)
    people.server.services.access.gate.attempts.most = 2
    client = people.browser()
    assert client.post("/api/session", json={"token": "lw_admin_x"}).status_code == 401
    assert client.post("/api/setup", json={"secret": "x", "name": "eve", "password": PASSWORD}).status_code == 403
    assert attempt(client, "ann", PASSWORD).status_code == 429

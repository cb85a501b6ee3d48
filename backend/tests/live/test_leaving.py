"""An open stream ends with what opened it."""

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from loadwatch_backend.access.principal import Role
from loadwatch_backend.access.schemas import UserPatch
from loadwatch_backend.access.token_file import TokenFile

from backend.tests.access.people import Town, town

NOW_HEADERS = {"X-Remote-User": "kim", "X-Groups": "ops"}


@pytest.fixture
def people(start_server: Callable[..., Any], tmp_path: Path) -> Iterator[Town]:
    settings = {
        "proxy_user_header": "X-Remote-User",
        "proxy_networks": ("127.0.0.0/8",),
        "proxy_groups_header": "X-Groups",
        "proxy_group_roles": ("ops=editor",),
        "token_file": tmp_path / "tokens.json",
    }
    with town(start_server, tmp_path / "data", **settings) as running:
        yield running


@contextmanager
def streaming(client: httpx.Client, headers: dict[str, str] | None = None) -> Generator[Iterator[str]]:
    """An open stream, of which the first line has come."""
    with client.stream("GET", "/api/live", headers=headers, timeout=60) as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()
        assert next(lines).startswith(":")
        yield lines


def ends(lines: Iterator[str]) -> bool:
    """Whether the stream ends; it says that it is still there each 10 s, and only so often."""
    return sum(1 for line in lines if line.startswith(":")) < 3


def test_streams_of_users_end_with_their_sessions(people: Town):
    users = people.server.services.access.users
    ann, ed, vi, ed_too = (people.signed_in(name) for name in ("ann", "ed", "vi", "ed"))
    with ExitStack() as stack:
        streams = {
            name: stack.enter_context(streaming(client))
            for name, client in (("ann", ann), ("ed", ed), ("vi", vi), ("ed_too", ed_too))
        }
        sessions = ed_too.get("/api/session/sessions").json()["sessions"]
        other = next(one["id"] for one in sessions if not one["current"])
        assert ed_too.delete(f"/api/session/sessions/{other}").status_code == 204
        assert ends(streams["ed"])
        users.update(users.find("vi").id, UserPatch(role=Role.EDITOR))
        assert ends(streams["vi"])
        users.update(users.find("ed").id, UserPatch(disabled=True))
        assert ends(streams["ed_too"])
        assert people.server.services.live.streams == 1
        people.server.clock.now_ms += 8 * 86_400_000
        assert ends(streams["ann"])


def test_streams_of_tokens_end_with_the_token(people: Town, tmp_path: Path):
    file = TokenFile(tmp_path / "tokens.json")
    secret = file.create("reader", Role.VIEWER, datetime(2026, 1, 1, tzinfo=UTC))
    stored = people.token("ci", "read")
    signed_in = people.browser()
    assert signed_in.post("/api/session", json={"token": secret}).status_code == 200
    with ExitStack() as stack:
        by_file = stack.enter_context(streaming(people.browser(), {"authorization": f"Bearer {secret}"}))
        by_session = stack.enter_context(streaming(signed_in))
        by_token = stack.enter_context(streaming(people.browser(), stored))
        file.revoke("reader")
        assert ends(by_file)
        assert ends(by_session)
        tokens = people.server.services.access.tokens
        tokens.revoke(next(one.id for one in tokens.list().tokens if one.name == "ci"))
        assert ends(by_token)


def test_streams_of_a_proxys_users_end_with_the_role_and_give_none_back(people: Town):
    with streaming(people.browser(), NOW_HEADERS) as lines:
        without = {"X-Remote-User": "kim"}
        assert people.browser().get("/api/session", headers=without).json()["principal"]["role"] == "viewer"
        assert ends(lines)
        assert people.server.services.access.users.find("kim").role == "viewer"


def test_a_stream_is_no_use_of_a_session(people: Town):
    ann = people.signed_in("ann")
    with streaming(ann) as lines:
        people.server.clock.now_ms += 13 * 3600_000
        assert ends(lines)
    assert ann.get("/api/status").status_code == 401

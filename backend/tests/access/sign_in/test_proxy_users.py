"""Users whom a reverse proxy has signed in, and those who only say so."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from structlog.testing import capture_logs

from backend.tests.access.people import PASSWORD, PEOPLE, Town, town

HERE = {"proxy_user_header": "X-Remote-User", "proxy_networks": ("127.0.0.0/8",)}
ALL = {**HERE, "proxy_name_header": "X-Name", "proxy_role_header": "X-Role", "proxy_groups_header": "X-Groups"}


def who(people: Town, *headers: tuple[str, str]) -> Any:
    with httpx.Client(base_url=people.url, timeout=120, verify=False) as client:
        answer = client.get("/api/session", headers=list(headers))
        return answer.json().get("principal", answer.json().get("code"))


def test_a_user_is_made_at_the_first_visit_and_known_at_the_second(start_server: Callable[..., Any], tmp_path: Path):
    with town(start_server, tmp_path / "data", **HERE) as people:
        first = who(people, ("X-Remote-User", "kim"))
        assert (first["name"], first["role"], first["kind"]) == ("kim", "viewer", "user")
        assert who(people, ("X-Remote-User", "KIM"))["name"] == "kim"
        users = people.server.services.access.users
        assert len(users.list().users) == len(PEOPLE) + 1
        assert users.find("kim").source == "header"


def test_roles_and_names_follow_the_headers(start_server: Callable[..., Any], tmp_path: Path):
    settings = {**ALL, "proxy_group_roles": ("ops=admin", "devs=editor"), "proxy_default_role": "none"}
    with town(start_server, tmp_path / "data", **settings) as people:
        kim = ("X-Remote-User", "kim")
        assert who(people, kim) == "proxy-user"
        assert who(people, kim, ("X-Groups", "all, devs"), ("X-Name", "Kim K"))["role"] == "editor"
        assert people.server.services.access.users.find("kim").full_name == "Kim K"
        assert who(people, kim, ("X-Groups", "devs,ops"))["role"] == "admin"
        assert who(people, kim, ("X-Groups", "ops"), ("X-Role", "Viewer"))["role"] == "viewer"
        assert who(people, kim) == "proxy-user"


def test_a_role_goes_with_its_group_at_once(start_server: Callable[..., Any], tmp_path: Path):
    settings = {**HERE, "proxy_groups_header": "X-Groups", "proxy_group_roles": ("ops=admin",)}
    kim, ops = ("X-Remote-User", "kim"), ("X-Groups", "ops")
    with town(start_server, tmp_path / "data", **settings) as people:
        assert who(people, kim, ops)["role"] == "admin"
        assert people.server.services.access.users.find("kim").role_source == "group"
        assert who(people, kim)["role"] == "viewer"
        assert who(people, kim, ("X-Groups", "others"))["role"] == "viewer"
        assert people.server.services.access.users.find("kim").role_source == "default"
        assert who(people, kim, ops)["role"] == "admin"
    with town(start_server, tmp_path / "none", proxy_default_role="none", **settings) as people:
        assert who(people, kim, ops)["role"] == "admin"
        assert who(people, kim) == "proxy-user"
        left = people.server.services.access.users.find("kim")
        assert (left.role, left.sessions) == ("viewer", 0)
        assert who(people, kim, ops)["role"] == "admin"


def test_a_role_set_by_hand_stays_until_groups_may_bring_it_again(start_server: Callable[..., Any], tmp_path: Path):
    settings = {**HERE, "proxy_groups_header": "X-Groups", "proxy_group_roles": ("ops=admin",)}
    kim, ops = ("X-Remote-User", "kim"), ("X-Groups", "ops")
    with town(start_server, tmp_path / "data", proxy_default_role="none", **settings) as people:
        assert who(people, kim, ops)["role"] == "admin"
        ann = people.signed_in("ann")
        path = f"/api/users/{people.server.services.access.users.find('kim').id}"
        changed = ann.patch(path, json={"role": "editor"}).json()
        assert (changed["role"], changed["role_source"]) == ("editor", "hand")
        assert who(people, kim)["role"] == "editor"
        assert who(people, kim, ops)["role"] == "editor"
        assert ann.patch(path, json={"role": "editor", "role_by_hand": False}).json()["code"] == "role-by-hand"
        assert ann.patch(path, json={"role_by_hand": False}).json()["role_source"] == "group"
        assert who(people, kim, ops)["role"] == "admin"
        assert who(people, kim) == "proxy-user"
        own = f"/api/users/{people.server.services.access.users.find('ed').id}"
        assert ann.patch(own, json={"role_by_hand": False}).json()["code"] == "role-by-hand"


def test_a_viewer_of_the_proxy_leaves_the_link_of_the_first_administrator_open(
    start_server: Callable[..., Any], tmp_path: Path
):
    settings = {**HERE, "proxy_role_header": "X-Role", "access": "users"}
    kim, admin = ("X-Remote-User", "kim"), ("X-Role", "admin")
    with start_server(tmp_path / "data", **settings) as server:
        secret = server.services.setup_secret
        with httpx.Client(
            base_url=server.url, headers=[kim, ("origin", server.url)], verify=False, timeout=120
        ) as client:
            seen = client.get("/api/session").json()
            assert (seen["principal"]["role"], seen["setup"]) == ("viewer", True)
            body = {"secret": secret, "name": "ann", "password": PASSWORD}
            made = client.post("/api/setup", json=body)
            assert (made.status_code, made.json()["principal"]["role"]) == (201, "admin")
            assert made.json()["setup"] is False
            assert client.post("/api/setup", json={**body, "name": "eve"}).json()["code"] == "setup-link"
    with start_server(tmp_path / "other", **settings) as server:
        body = {"secret": server.services.setup_secret, "name": "eve", "password": PASSWORD}
        with httpx.Client(base_url=server.url, headers=[kim], verify=False, timeout=120) as client:
            assert client.get("/api/session", headers=[admin]).json()["principal"]["role"] == "admin"
            assert client.get("/api/session").json()["principal"]["role"] == "viewer"
            refused = client.post("/api/setup", json=body, headers={"origin": server.url})
            assert refused.json()["code"] == "setup-link"


def test_the_header_from_anywhere_else_is_ignored_and_logged(start_server: Callable[..., Any], tmp_path: Path):
    settings = {**HERE, "proxy_networks": ("10.9.8.0/24",)}
    with town(start_server, tmp_path / "data", **settings) as people, capture_logs() as entries:
        assert who(people, ("X-Remote-User", "ann")) is None
        assert who(people, ("X-Remote-User", "kim")) is None
        ignored = [entry for entry in entries if "user header ignored" in entry["event"]]
        assert [entry["sender"] for entry in ignored] == ["127.0.0.1"]
        assert len(people.server.services.access.users.list().users) == len(PEOPLE)
        assert people.server.services.access.gate.counts.headers_ignored_total == 2


def test_without_the_setting_no_header_means_anything(people: Town):
    assert who(people, ("X-Remote-User", "ann")) is None


def test_a_header_that_comes_twice_is_not_believed(start_server: Callable[..., Any], tmp_path: Path):
    """A proxy that adds its header without taking the client's away."""
    with town(start_server, tmp_path / "data", **ALL) as people:
        assert who(people, ("X-Remote-User", "kim"), ("X-Remote-User", "eve")) is None
        assert who(people, ("X-Remote-User", "kim"), ("X-Role", "admin"), ("X-Role", "viewer")) is None


def test_a_name_of_another_kind_of_user_or_of_a_strange_form_is_refused(
    start_server: Callable[..., Any], tmp_path: Path
):
    with town(start_server, tmp_path / "data", **HERE) as people:
        for name in ("ann", "a b", "-x", "x" * 101, "<script>"):
            assert who(people, ("X-Remote-User", name)) == "proxy-user", name


def test_a_disabled_user_of_the_proxy_stays_out(start_server: Callable[..., Any], tmp_path: Path):
    from loadwatch_backend.access.schemas import UserPatch

    with town(start_server, tmp_path / "data", **HERE) as people:
        who(people, ("X-Remote-User", "kim"))
        users = people.server.services.access.users
        users.update(users.find("kim").id, UserPatch(disabled=True))
        assert who(people, ("X-Remote-User", "kim")) == "proxy-user"


def test_the_client_behind_the_proxy_is_the_one_that_is_written_down(start_server: Callable[..., Any], tmp_path: Path):
    with town(start_server, tmp_path / "data", **HERE) as people:
        headers = {"x-forwarded-for": "6.6.6.6, 203.0.113.9", "x-forwarded-proto": "https"}
        with httpx.Client(base_url=people.url, headers=headers, verify=False, timeout=120) as client:
            body = {"name": "ann", "password": "four random words here"}
            answer = client.post("/api/session/password", json=body, headers={"origin": people.url})
        assert people.audit("session.login")[0]["address"] == "203.0.113.9"
        for cookie in answer.headers.get_list("set-cookie"):
            assert cookie.startswith("__Host-loadwatch_")
            assert "Secure" in cookie


def test_nobody_else_may_say_where_a_request_comes_from(people: Town):
    headers = {"x-forwarded-for": "6.6.6.6", "x-forwarded-proto": "https"}
    with httpx.Client(base_url=people.url, headers=headers, verify=False, timeout=120) as client:
        answer = client.post("/api/session/password", json={"name": "ann", "password": "wrong"})
    assert answer.status_code == 401
    assert people.audit("session.login")[0]["address"] == "127.0.0.1"


def test_over_https_only_the_prefixed_cookie_counts(start_server: Callable[..., Any], tmp_path: Path):
    with town(start_server, tmp_path / "data", **HERE) as people:
        plain = people.signed_in("ann").cookies["loadwatch_session"]
        secure = {"x-forwarded-proto": "https", "cookie": f"loadwatch_session={plain}"}
        with httpx.Client(base_url=people.url, verify=False, timeout=120) as client:
            assert client.get("/api/status", headers=secure).status_code == 401
            secure["cookie"] = f"__Host-loadwatch_session={plain}"
            assert client.get("/api/status", headers=secure).status_code == 200

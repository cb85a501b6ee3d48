"""Signing in at a real provider, and everything that must not pass for it."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import requests
from loadwatch_backend.access.schemas import UserPatch
from loadwatch_backend.access.sign_in.oidc_sign_in import (
    OidcNotAllowedError,
    check_allowed,
    groups_of,
    local_path,
)
from loadwatch_backend.core.secret import Secret
from loadwatch_backend.core.settings import Settings

from backend.tests.access.oidc_server import CLIENT, SECRET
from backend.tests.access.people import Town, town

SERVER = Path(__file__).parents[1] / "oidc_server.py"
OUTSIDE = "http://watch.example:8000"


class Provider:
    """The provider's process."""

    def __init__(self, url: str) -> None:
        self.url = url

    def control(self, mode: str = "", *, rotate: bool = False, **claims: Any) -> None:
        httpx.post(
            f"{self.url}/control", json={"mode": mode, "claims": claims, "rotate": rotate}, verify=False, timeout=120
        )

    def seen(self) -> dict[str, int]:
        found: dict[str, int] = httpx.get(f"{self.url}/seen", verify=False, timeout=120).json()
        return found


@pytest.fixture(scope="module")
def process() -> Iterator[Provider]:
    with subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            yield Provider(f"http://127.0.0.1:{int(running.stdout.readline())}")
        finally:
            running.kill()


@pytest.fixture
def provider(process: Provider) -> Provider:
    process.control()
    return process


@pytest.fixture
def place(start_server: Callable[..., Any], tmp_path: Path, provider: Provider) -> Iterator[Callable[..., Town]]:
    """Start servers that use the provider; their clock goes with the provider's."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        secret = tmp_path / "secret"
        secret.write_text(SECRET + "\n")

        def start(**settings: Any) -> Town:
            people = stack.enter_context(
                town(
                    start_server,
                    tmp_path / "data",
                    external_url=OUTSIDE,
                    oidc_issuer=provider.url,
                    oidc_client_id=CLIENT,
                    oidc_client_secret=Secret(path=secret),
                    **settings,
                )
            )
            people.server.services.access.gate.attempts.most = 1_000
            return people

        yield start


def begin(client: httpx.Client, target: str = "/runs") -> str:
    """The callback's path and question as the provider sends the browser back."""
    start = client.get("/api/session/oidc", params={"next": target})
    assert start.status_code == 303, start.text
    back = httpx.get(start.headers["location"], verify=False, timeout=120).headers["location"]
    assert back.startswith(f"{OUTSIDE}/api/session/oidc/callback?")
    return back.removeprefix(OUTSIDE)


def finish(client: httpx.Client, target: str = "/runs") -> str:
    """Where the browser is in the end."""
    answer = client.get(begin(client, target))
    assert answer.status_code == 303
    location: str = answer.headers["location"]
    return location


def claims(people: Town, **more: Any) -> dict[str, Any]:
    """Claims at the time of the server's clock."""
    return {"now": people.server.clock.now_ms // 1_000, "preferred_username": "kim", "name": "Kim K", **more}


def test_a_user_signs_in_at_the_provider(place: Callable[..., Town], provider: Provider):
    people = place(oidc_group_roles=("ops=admin", "devs=editor"))
    provider.control(**claims(people, groups=["devs"]))
    client = people.browser()
    assert client.get("/api/session").json()["ways"]["oidc"] == "Single sign-on"
    assert finish(client) == "/runs"
    principal = client.get("/api/session").json()["principal"]
    assert (principal["name"], principal["role"], principal["kind"]) == ("kim", "editor", "user")
    user = people.server.services.access.users.find("kim")
    assert (user.full_name, user.source) == ("Kim K", "oidc")
    # The subject is who they are: another name is the same user, and the role follows the groups.
    provider.control(**claims(people, preferred_username="renamed", groups=["ops"]))
    again = people.browser()
    finish(again)
    assert again.get("/api/session").json()["principal"]["role"] == "admin"
    assert again.get("/api/session").json()["principal"]["name"] == "kim"
    assert [entry["outcome"] for entry in people.audit("session.login")] == ["ok", "ok"]


@pytest.mark.parametrize("settings", [{"oidc_group_roles": ("ops=admin",)}, {"oidc_groups": ("ops",)}])
def test_a_sign_in_without_the_group_ends_all_sessions(
    place: Callable[..., Town], provider: Provider, settings: dict[str, Any]
):
    people = place(oidc_default_role="none" if "oidc_group_roles" in settings else "editor", **settings)
    provider.control(**claims(people, groups=["ops"]))
    browsers = [people.browser(), people.browser()]
    for browser in browsers:
        assert finish(browser) == "/runs"
        assert browser.get("/api/status").status_code == 200
    provider.control(**claims(people, groups=["others"]))
    assert finish(people.browser()) == "/?sign_in_error=oidc-not-allowed"
    for browser in browsers:
        assert browser.get("/api/status").status_code == 401
    provider.control(**claims(people, groups=["ops"]))
    assert finish(browsers[0]) == "/runs"


def test_a_role_goes_with_its_group_and_stays_when_set_by_hand(place: Callable[..., Town], provider: Provider):
    people = place(oidc_group_roles=("ops=admin",))
    provider.control(**claims(people, groups=["ops"]))
    open_before = people.browser()
    finish(open_before)
    provider.control(**claims(people, groups=[]))
    finish(people.browser())
    assert open_before.get("/api/session").json()["principal"]["role"] == "viewer"
    kim = people.server.services.access.users.find("kim")
    assert kim.role_source == "default"
    people.signed_in("ann").patch(f"/api/users/{kim.id}", json={"role": "editor"})
    for groups in ([], ["ops"]):
        provider.control(**claims(people, groups=groups))
        finish(people.browser())
        assert open_before.get("/api/session").json()["principal"]["role"] == "editor"


def test_the_cookies_of_a_sign_in(place: Callable[..., Town], provider: Provider):
    people = place()
    provider.control(**claims(people))
    client = people.browser()
    start = client.get("/api/session/oidc")
    assert "SameSite=lax" in start.headers["set-cookie"]
    assert "HttpOnly" in start.headers["set-cookie"]
    asked = parse_qs(urlsplit(start.headers["location"]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert len(asked["state"][0]) >= 43
    assert len(asked["nonce"][0]) >= 43
    assert asked["redirect_uri"] == [f"{OUTSIDE}/api/session/oidc/callback"]
    assert SECRET not in str(start.headers)
    client = people.browser()
    answer = client.get(begin(client))
    session = [cookie for cookie in answer.headers.get_list("set-cookie") if cookie.startswith("loadwatch_session=")]
    assert "SameSite=strict" in session[0]
    assert "loadwatch_oidc" not in client.cookies


@pytest.mark.parametrize(
    "mode",
    [
        "wrong-nonce",
        "no-nonce",
        "expired",
        "unsigned",
        "secret-signed",
        "foreign-key",
        "wrong-issuer",
        "wrong-audience",
        "wrong-at-hash",
        "no-id-token",
    ],
)
def test_a_token_that_does_not_hold_opens_nothing(place: Callable[..., Town], provider: Provider, mode: str):
    people = place()
    provider.control(mode, **claims(people))
    client = people.browser()
    assert finish(client) == "/?sign_in_error=oidc-token"
    assert client.get("/api/status").status_code == 401
    assert people.audit("session.login")[0]["outcome"] == "oidc-token"


def test_a_state_that_is_wrong_or_of_another_browser_opens_nothing(place: Callable[..., Town], provider: Provider):
    people = place()
    provider.control(**claims(people))
    one, other = people.browser(), people.browser()
    callback = begin(one)
    refused = "/?sign_in_error=oidc-state"
    assert other.get(callback).headers["location"] == refused
    begin(other)
    assert other.get(callback).headers["location"] == refused
    assert one.get(callback.replace("state=", "state=x")).headers["location"] == refused
    assert one.get("/api/session/oidc/callback").headers["location"] == refused
    for client in (one, other):
        assert client.get("/api/status").status_code == 401


def test_a_sign_in_must_be_finished_within_ten_minutes(place: Callable[..., Town], provider: Provider):
    people = place()
    client = people.browser()
    callback = begin(client)
    people.server.clock.now_ms += 600_000
    provider.control(**claims(people))
    assert client.get(callback).headers["location"] == "/?sign_in_error=oidc-state"


def test_a_code_that_was_used_opens_nothing_again(place: Callable[..., Town], provider: Provider):
    people = place()
    provider.control(**claims(people))
    client = people.browser()
    callback = begin(client)
    kept = client.cookies["loadwatch_oidc"]
    assert client.get(callback).headers["location"] == "/runs"
    assert client.get(callback).headers["location"] == "/?sign_in_error=oidc-state"
    thief = people.browser(cookie=f"loadwatch_oidc={kept}")
    assert thief.get(callback).headers["location"] == "/?sign_in_error=oidc-refused"


def test_who_is_denied_or_comes_from_a_strange_provider(place: Callable[..., Town], provider: Provider):
    people = place()
    provider.control("denied")
    assert finish(people.browser()) == "/?sign_in_error=oidc-not-allowed"


def test_a_provider_that_calls_itself_by_another_name_is_not_asked(place: Callable[..., Town], provider: Provider):
    people = place()
    provider.control("wrong-discovery")
    answer = people.browser().get("/api/session/oidc")
    assert (answer.status_code, answer.headers["location"]) == (303, "/?sign_in_error=oidc-provider")
    provider.control(**claims(people))
    assert finish(people.browser()) == "/runs"


def test_keys_rotate_and_are_not_read_for_every_token(place: Callable[..., Town], provider: Provider):
    people = place()
    tick = [0.0]
    people.server.services.access.oidc._provider._clock = lambda: tick[0]
    provider.control(**claims(people))
    before = provider.seen().get("/jwks", 0)
    for _ in range(3):
        assert finish(people.browser()) == "/runs"
    assert provider.seen()["/jwks"] == before + 1
    tick[0] = 20.0
    provider.control(rotate=True, **claims(people))
    assert finish(people.browser()) == "/runs"
    assert provider.seen()["/jwks"] == before + 2


def test_only_allowed_domains_and_groups_come_in(place: Callable[..., Town], provider: Provider):
    people = place(oidc_domains=("example.org",), oidc_groups=("staff",), oidc_default_role="none")
    refused = "/?sign_in_error=oidc-not-allowed"
    good = {"email": "kim@Example.org", "email_verified": True, "groups": ["staff"]}
    for worse in ({"email": "kim@evil.org"}, {"email_verified": False}, {"groups": ["x"]}, {"email": ""}):
        provider.control(**claims(people, **{**good, **worse}))
        assert finish(people.browser()) == refused
    provider.control(**claims(people, **good))
    assert finish(people.browser()) == refused  # let in, and no group brings a role


def test_the_provider_cannot_give_somebody_another_users_name(place: Callable[..., Town], provider: Provider):
    people = place()
    provider.control(**claims(people, preferred_username="Ann"))
    assert finish(people.browser()) == "/?sign_in_error=oidc-name-taken"


def test_a_disabled_user_stays_out(place: Callable[..., Town], provider: Provider):
    people = place()
    provider.control(**claims(people))
    client = people.browser()
    finish(client)
    users = people.server.services.access.users
    users.update(users.find("kim").id, UserPatch(disabled=True))
    assert client.get("/api/status").status_code == 401
    assert finish(people.browser()) == "/?sign_in_error=user-disabled"


def test_where_there_is_no_provider(people: Town):
    answer = people.server.client.get("/api/session/oidc")
    assert (answer.status_code, answer.json()["code"]) == (404, "oidc-off")


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("/runs?x=1#y", "/runs?x=1#y"),
        ("/", "/"),
        ("", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("/\t/evil.example", "/"),
        ("/x\r\nSet-Cookie: a=b", "/"),
        ("javascript:alert(1)", "/"),
        ("/\u2028", "/"),
    ],
)
def test_only_paths_of_this_server_are_come_back_to(target: str, path: str):
    assert local_path(target) == path


def test_groups_come_in_many_forms():
    assert groups_of({"groups": ["a", 1, "b"]}, "groups") == ["a", "b"]
    assert groups_of({"groups": "a b,c"}, "groups") == ["a", "b", "c"]
    assert groups_of({"realm_access": {"roles": ["a"]}}, "realm_access.roles") == ["a"]
    assert groups_of({"https://x/groups.all": ["a"]}, "https://x/groups.all") == ["a"]
    assert groups_of({}, "groups") == []


def test_a_domain_needs_a_verified_address():
    settings = Settings(oidc_domains=("example.org",))
    check_allowed({"email": "a@example.org", "email_verified": True}, settings)
    for email in ("a@example.org.evil", "example.org", "a@sub.example.org"):
        with pytest.raises(OidcNotAllowedError):
            check_allowed({"email": email + ".x", "email_verified": True}, settings)
    with pytest.raises(OidcNotAllowedError):
        check_allowed({"email": "a@example.org", "email_verified": "true"}, settings)


def test_a_provider_that_does_not_answer_is_asked_once_and_leads_to_the_page(
    place: Callable[..., Town], monkeypatch: pytest.MonkeyPatch
):
    people = place()
    asked: list[str] = []

    def fail(url: str, **_: Any) -> Any:
        asked.append(url)
        raise requests.ConnectTimeout

    monkeypatch.setattr(requests, "get", fail)
    client = people.browser()
    for _ in range(3):
        answer = client.get("/api/session/oidc")
        assert (answer.status_code, answer.headers["location"]) == (303, "/?sign_in_error=oidc-provider")
    assert len(asked) == 1


@pytest.mark.parametrize("mode", ["endless-token", "deep-token", "no-subject"])
def test_hostile_answers_of_the_token_endpoint(place: Callable[..., Town], provider: Provider, mode: str):
    people = place()
    provider.control(mode, **claims(people, **({"sub": ""} if mode == "no-subject" else {})))
    wanted = "oidc-token" if mode == "no-subject" else "oidc-provider"
    assert finish(people.browser()) == f"/?sign_in_error={wanted}"

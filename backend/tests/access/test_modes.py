from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.access.modes import AccessSettingsError, access_of, check_settings
from loadwatch_backend.access.principal import Access
from loadwatch_backend.core.settings import Settings

FILE = {"token_file": Path("tokens.json")}
PROXY = {"proxy_user_header": "X-User", "proxy_networks": "10.0.0.0/8"}
OIDC = {"oidc_issuer": "https://id.example.org", "oidc_client_id": "lw", "external_url": "https://lw.example.org"}


@pytest.mark.parametrize(
    ("listen", "given", "access"),
    [
        ("127.0.0.1:8000", {}, Access.OPEN),
        ("[::1]:8000", {}, Access.OPEN),
        ("127.0.0.1:8000", FILE, Access.TOKEN),
        ("127.0.0.1:8000", PROXY, Access.USERS),
        ("127.0.0.1:8000", OIDC, Access.USERS),
        ("127.0.0.1:8000", {**FILE, **OIDC}, Access.USERS),
        ("127.0.0.1:8000", {"access": "users"}, Access.USERS),
        ("127.0.0.1:8000", {"access": "open"}, Access.OPEN),
        (":8000", {}, Access.USERS),
        (":8000", FILE, Access.TOKEN),
        (":8000", {**FILE, "access": "token"}, Access.TOKEN),
        (":8000", {**FILE, "access": "users"}, Access.USERS),
    ],
)
def test_who_has_to_sign_in(listen: str, given: dict[str, Any], access: Access):
    settings = Settings(listen=listen, **given)  # pyright: ignore[reportArgumentType] - as the environment gives it
    assert access_of(settings) is access
    check_settings(settings)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"listen": "0.0.0.0:8000", "access": "open"}, "refusing to listen"),
        ({"access": "open", **FILE}, "LOADWATCH_TOKEN_FILE"),
        ({"access": "token"}, "needs LOADWATCH_TOKEN_FILE"),
        ({"proxy_user_header": "X-User"}, "LOADWATCH_PROXY_NETWORKS"),
        ({"proxy_networks": "10.0.0.0/33"}, "LOADWATCH_PROXY_NETWORKS"),
        ({**OIDC, "oidc_client_id": ""}, "CLIENT_ID"),
        ({**OIDC, "external_url": ""}, "EXTERNAL_URL"),
        ({**OIDC, "oidc_issuer": "http://id.example.org"}, "https://"),
        ({**OIDC, "oidc_scopes": "profile"}, "openid"),
    ],
)
def test_contradictions_are_named(given: dict[str, Any], says: str):
    settings = Settings(**given)
    check = access_of if "access" in given else check_settings
    with pytest.raises(AccessSettingsError, match=says):
        check(settings)

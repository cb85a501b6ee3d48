"""Who has to sign in, by the settings; pure."""

from loadwatch_backend.access.principal import Access, Role
from loadwatch_backend.core.addresses import parse_cidrs
from loadwatch_backend.core.settings import AccessMode, NewUserRole, Settings


class AccessSettingsError(Exception):
    """The settings of access contradict each other; the text says what to change."""


def access_of(settings: Settings) -> Access:
    """The access that the settings ask for.

    Raises:
        AccessSettingsError: they contradict each other, or would let everyone in.
    """
    mode = settings.access
    if mode is AccessMode.AUTO:
        if brings_users(settings):
            return Access.USERS
        if settings.token_file is not None:
            return Access.TOKEN
        return Access.OPEN if settings.listen.is_loopback else Access.USERS
    if mode is AccessMode.OPEN:
        _check_open(settings)
        return Access.OPEN
    if mode is AccessMode.TOKEN:
        if settings.token_file is None:
            raise AccessSettingsError(
                "LOADWATCH_ACCESS=token needs LOADWATCH_TOKEN_FILE; or take LOADWATCH_ACCESS=users."
            )
        return Access.TOKEN
    return Access.USERS


def brings_users(settings: Settings) -> bool:
    return bool(settings.proxy_user_header or settings.oidc_issuer)


def role_of(new: NewUserRole) -> Role | None:
    """The role of somebody who comes for the first time; None refuses them."""
    return None if new is NewUserRole.NONE else Role(new.value)


def check_settings(settings: Settings) -> None:
    """Look for what can only be a mistake.

    Raises:
        AccessSettingsError: names the variable.
    """
    try:
        parse_cidrs(settings.proxy_networks, "LOADWATCH_PROXY_NETWORKS")
    except ValueError as error:
        raise AccessSettingsError(str(error)) from error
    if settings.proxy_user_header and not settings.proxy_networks:
        raise AccessSettingsError(
            "LOADWATCH_PROXY_USER_HEADER needs LOADWATCH_PROXY_NETWORKS, the addresses of the proxy: without them "
            "anyone could send the header."
        )
    if not settings.oidc_issuer:
        return
    if not settings.oidc_client_id:
        raise AccessSettingsError("LOADWATCH_OIDC_ISSUER needs LOADWATCH_OIDC_CLIENT_ID.")
    if not settings.external_url:
        raise AccessSettingsError(
            "LOADWATCH_OIDC_ISSUER needs LOADWATCH_EXTERNAL_URL: the provider sends browsers back to "
            "<external url>/api/session/oidc/callback."
        )
    if not settings.oidc_issuer.startswith(("https://", "http://127.0.0.1", "http://localhost", "http://[::1]")):
        raise AccessSettingsError("LOADWATCH_OIDC_ISSUER must begin with https:// (http:// on this machine only).")
    if "openid" not in settings.oidc_scopes:
        raise AccessSettingsError("LOADWATCH_OIDC_SCOPES must contain openid.")


def _check_open(settings: Settings) -> None:
    if not settings.listen.is_loopback:
        raise AccessSettingsError(
            f"refusing to listen on {settings.listen} with LOADWATCH_ACCESS=open: everyone on the network could read "
            "and change everything. Leave LOADWATCH_ACCESS out and make a user by the link that the server prints, or "
            "listen on this machine only: LOADWATCH_LISTEN=127.0.0.1:8000"
        )
    if settings.token_file is not None or brings_users(settings):
        raise AccessSettingsError(
            "LOADWATCH_ACCESS=open lets everyone in, so LOADWATCH_TOKEN_FILE, LOADWATCH_PROXY_USER_HEADER and "
            "LOADWATCH_OIDC_ISSUER would mean nothing; leave them out, or LOADWATCH_ACCESS."
        )

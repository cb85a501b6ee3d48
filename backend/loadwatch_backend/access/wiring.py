"""The services of access, put together from the settings."""

import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from anyio import CapacityLimiter

from loadwatch_backend.access.audit import AuditLog
from loadwatch_backend.access.modes import access_of, check_settings, role_of
from loadwatch_backend.access.principal import Access
from loadwatch_backend.access.service import AccessParts, AccessService
from loadwatch_backend.access.sign_in.group_roles import RolePolicy, parse_group_roles
from loadwatch_backend.access.sign_in.oidc_sign_in import OidcSignIn
from loadwatch_backend.access.sign_in.passwords import Passwords
from loadwatch_backend.access.sign_in.proxy_users import ProxyUsers
from loadwatch_backend.access.sign_in.sign_in import SignInService
from loadwatch_backend.access.token_file import TokenFile
from loadwatch_backend.access.tokens import TokenService
from loadwatch_backend.access.users.service import UserService
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.settings import Settings

KEY_BYTES = 32


def load_sealing_key(path: Path) -> bytes:
    """The key, made at the first start; without it browsers that were here before are strangers again."""
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        key = b""
    if len(key) != KEY_BYTES:
        key = secrets.token_bytes(KEY_BYTES)
        with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
            file.write(key)
    return key


LOOKUPS_AT_ONCE = 4
"""Threads for the gates alone: slow queries, which fill the others, must not keep anybody waiting at the gate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessServices:
    gate: AccessService
    sign_in: SignInService
    users: UserService
    tokens: TokenService
    audit: AuditLog
    oidc: OidcSignIn | None
    headers: Settings | None
    """With the names of the headers in which a trusted proxy names the user; None without one."""
    gate_threads: CapacityLimiter
    watch_threads: CapacityLimiter
    """Threads for streams, which occupy all of them while the database hangs."""


def open_access(settings: Settings, relational: Relational, clock: Clock) -> AccessServices:
    """The services, for the event loop that runs.

    Raises:
        AccessSettingsError: a setting is wrong; names the variable.
    """
    check_settings(settings)
    access = access_of(settings)
    file = None if settings.token_file is None or access is Access.OPEN else TokenFile(settings.token_file)
    audit = AuditLog(relational, clock)
    key = load_sealing_key(settings.data / "session.key")
    headers = settings if access is Access.USERS and settings.proxy_user_header else None
    parts = AccessParts(
        access=access,
        relational=relational,
        sealing_key=key,
        clock=clock,
        audit=audit,
        tokens=file,
        proxy=None if headers is None else ProxyUsers(relational, clock, _proxy_policy(settings)),
        oidc_label=settings.oidc_label if settings.oidc_issuer else None,
    )
    passwords = Passwords()
    gate = AccessService(parts)
    sign_in = SignInService(parts, gate, passwords)
    return AccessServices(
        gate=gate,
        sign_in=sign_in,
        users=UserService(relational, clock, passwords),
        tokens=TokenService(relational, clock, file),
        audit=audit,
        oidc=_oidc(settings, parts, gate, sign_in) if access is Access.USERS and settings.oidc_issuer else None,
        headers=headers,
        gate_threads=CapacityLimiter(LOOKUPS_AT_ONCE),
        watch_threads=CapacityLimiter(LOOKUPS_AT_ONCE),
    )


def _proxy_policy(settings: Settings) -> RolePolicy:
    return RolePolicy(
        group_roles=parse_group_roles(settings.proxy_group_roles, "LOADWATCH_PROXY_GROUP_ROLES"),
        default_role=role_of(settings.proxy_default_role),
        brings=bool(settings.proxy_group_roles or settings.proxy_role_header),
    )


def _oidc(settings: Settings, parts: AccessParts, gate: AccessService, sign_in: SignInService) -> OidcSignIn:
    # Imported here: it brings a whole HTTP client along, which most servers have no use for.
    from loadwatch_backend.access.sign_in.oidc_provider import OidcProvider

    secret = settings.oidc_client_secret.reveal() if settings.oidc_client_secret else None
    roles = RolePolicy(
        group_roles=parse_group_roles(settings.oidc_group_roles, "LOADWATCH_OIDC_GROUP_ROLES"),
        default_role=role_of(settings.oidc_default_role),
        brings=bool(settings.oidc_group_roles),
    )
    # The client's secret is known to all servers of one database, so that one may finish what another one began.
    flow_key = parts.sealing_key
    if secret is not None:
        flow_key = hmac.new(secret.encode(), b"loadwatch sign-ins under way", hashlib.sha256).digest()
    return OidcSignIn(parts, gate, sign_in, OidcProvider(settings, secret), settings, roles, flow_key)

"""Signing in at an OpenID Connect provider: where the browser goes, and who comes back.

What a sign-in needs to be finished (state, nonce, verifier) lies sealed in a cookie of the browser that began it:
nobody else can finish it, and strangers cannot fill our memory by beginning.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadwatch_backend.access.credentials import Cookie, CookieKind, hash_secret, new_secret
from loadwatch_backend.access.repository import (
    dismiss,
    end_sessions,
    find_user_by_external_id,
    find_user_by_name,
    give_role,
    keep_user,
    new_user,
    role_given,
)
from loadwatch_backend.access.schemas import UserSource
from loadwatch_backend.access.service import AccessParts, AccessService
from loadwatch_backend.access.sign_in.group_roles import RolePolicy, highest_role
from loadwatch_backend.access.sign_in.sign_in import Browser, SignInService, seal, unseal
from loadwatch_backend.access.tables import NAME_LENGTH, TEXT_LENGTH
from loadwatch_backend.core.database.outages import ConstraintError
from loadwatch_backend.core.errors import ForbiddenError, NotFoundError, ProblemError, UnavailableError
from loadwatch_backend.core.settings import Settings

if TYPE_CHECKING:  # It brings a whole HTTP client along.
    from loadwatch_backend.access.sign_in.oidc_provider import OidcProvider

FLOW_SECONDS = 600
FLOW = "oidc"
ERROR_PAGE = "/?sign_in_error="
NAME_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@+-")


class OidcOffError(NotFoundError, code="oidc-off"):
    """There is no provider here."""


class OidcStateError(ForbiddenError, code="oidc-state", title="Sign-in not begun here"):
    """The browser comes back from a sign-in that it did not begin here, or too late."""


class OidcNotAllowedError(ForbiddenError, code="oidc-not-allowed", title="Not let in"):
    """The provider knows them; they may not come in here."""


class OidcNameTakenError(ForbiddenError, code="oidc-name-taken", title="Name taken"):
    """The name is another user's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """The secrets of one sign-in under way."""

    state: str
    nonce: str
    verifier: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    location: str
    cookies: tuple[Cookie, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    state: str
    code: str
    error: str
    cookie: str | None


def local_path(target: str) -> str:
    """The target when it is a path on this server, else the first page: a sign-in must not lead to another site.

    Browsers read a backslash as a slash and leave out control characters, so neither may be in it.
    """
    is_local = target.startswith("/") and not target.startswith("//")
    return target if is_local and "\\" not in target and target.isprintable() and target.isascii() else "/"


def groups_of(claims: Mapping[str, Any], claim: str) -> list[str]:
    """The groups; dots in the claim's name lead into objects, as in Keycloak's `realm_access.roles`."""
    value: Any = claims.get(claim)
    if value is None:
        value = claims
        for part in claim.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - JSON
    if isinstance(value, str):
        return value.replace(",", " ").split()
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType] - JSON


def check_allowed(claims: Mapping[str, Any], settings: Settings) -> None:
    """Refuse who is of no allowed domain or group.

    Raises:
        OidcNotAllowedError: says which.
    """
    if settings.oidc_domains:
        email = str(claims.get("email", ""))
        domain = email.rpartition("@")[2].lower()
        if claims.get("email_verified") is not True or domain not in {one.lower() for one in settings.oidc_domains}:
            raise OidcNotAllowedError("Your email address is not verified, or not of a domain that may sign in here.")
    groups = settings.oidc_groups
    if groups and not set(groups) & set(groups_of(claims, settings.oidc_groups_claim)):
        raise OidcNotAllowedError("You are in none of the groups that may sign in here.")


class OidcSignIn:
    def __init__(
        self,
        parts: AccessParts,
        gate: AccessService,
        sign_in: SignInService,
        provider: "OidcProvider",
        settings: Settings,
        roles: RolePolicy,
        flow_key: bytes,
    ) -> None:
        self._parts = parts
        self._gate = gate
        self._sign_in = sign_in
        self._provider = provider
        self._settings = settings
        self._roles = roles
        self._flow_key = flow_key

    def start(self, target: str, address: str) -> Redirect:
        """Send the browser to the provider; it comes back to `target`. Without a provider, to the page that says so.

        Raises:
            TooManyAttemptsError: the address began too many.
        """
        self._parts.attempts.attempt(address, "attempts to sign in")
        flow = Flow(state=new_secret(), nonce=new_secret(), verifier=new_secret())
        end_ms = self._parts.clock() + FLOW_SECONDS * 1_000
        document = {"state": flow.state, "nonce": flow.nonce, "verifier": flow.verifier, "next": local_path(target)}
        cookie = seal(self._flow_key, FLOW, document, end_ms)
        try:
            location = self._provider.authorization_url(flow)
        except UnavailableError as error:
            return Redirect(location=ERROR_PAGE + error.code, cookies=())
        return Redirect(location=location, cookies=(Cookie(kind=CookieKind.OIDC, value=cookie, seconds=FLOW_SECONDS),))

    def finish(self, back: Return, browser: Browser) -> Redirect:
        """Take the browser back: signed in, or to the page with the code of what went wrong."""
        forget = Cookie(kind=CookieKind.OIDC, value=None)
        try:
            signed_in, target = self._finish(back, browser)
        except ProblemError as error:
            self._gate.counts.logins_failed_total += 1
            self._parts.audit.write_failed_sign_in(error.code, browser.visit.address, way="oidc")
            return Redirect(location=ERROR_PAGE + error.code, cookies=(forget,))
        self._parts.attempts.forgive(browser.visit.address)
        return Redirect(location=target, cookies=(forget, *signed_in.cookies))

    def _finish(self, back: Return, browser: Browser) -> Any:
        now_ms = self._parts.clock()
        kept = unseal(self._flow_key, FLOW, back.cookie, now_ms) if back.cookie else None
        if kept is None or not hmac.compare_digest(kept["state"].encode(), back.state.encode("utf-8", "replace")):
            raise OidcStateError("This sign-in was not begun in this browser, or more than ten minutes ago; try again.")
        if back.error or not back.code:
            raise OidcNotAllowedError("The provider did not sign you in.")
        flow = Flow(state=kept["state"], nonce=kept["nonce"], verifier=kept["verifier"])
        claims = self._provider.claims(back.code, flow, now_ms // 1_000)
        try:
            check_allowed(claims, self._settings)
        except OidcNotAllowedError:
            self._dismiss(claims)
            raise
        try:
            user_id = self._user_of(claims, now_ms)
        except ConstraintError:  # two first sign-ins at once: the other one has made the user
            user_id = self._user_of(claims, now_ms)
        if user_id is None:
            raise OidcNotAllowedError("None of your groups has a role here; ask an administrator.")
        return self._sign_in.open(user_id, browser, "oidc"), kept["next"]

    def _user_of(self, claims: Mapping[str, Any], now_ms: int) -> int | None:
        """The user whom issuer and subject name; names and addresses may change hands, subjects do not.

        None for somebody of no role, whose sessions have ended when this returns.
        """
        roles = self._roles
        brought = highest_role(groups_of(claims, self._settings.oidc_groups_claim), roles.group_roles)
        with self._parts.relational.transaction() as session:
            row = find_user_by_external_id(session, self._external_id(claims))
            given = roles.role_of(None if row is None else role_given(row), brought)
            if given is None:
                if row is not None:
                    dismiss(session, row)
                return None
            if row is None:
                name = self._name_of(claims)
                if find_user_by_name(session, name) is not None:
                    raise OidcNameTakenError(f"There is another user {name!r} here; ask an administrator.")
                row = new_user(name, UserSource.OIDC, given.source, now_ms, seen=True)
                row.external_id = self._external_id(claims)
            give_role(session, row, given)
            row.full_name = str(claims.get("name") or row.full_name)[:TEXT_LENGTH]
            return keep_user(session, row)

    def _dismiss(self, claims: Mapping[str, Any]) -> None:
        """Sign out everywhere a user who may not come in any more."""
        with self._parts.relational.transaction() as session:
            row = find_user_by_external_id(session, self._external_id(claims))
            if row is not None:
                end_sessions(session, row.id)

    def _external_id(self, claims: Mapping[str, Any]) -> str:
        return hash_secret(f"{self._settings.oidc_issuer}\n{claims['sub']}")

    def _name_of(self, claims: Mapping[str, Any]) -> str:
        claim = self._settings.oidc_name_claim
        wished = claims.get(claim) or claims.get("email") or claims["sub"]
        name = "".join(sign if sign in NAME_SIGNS else "-" for sign in str(wished)).lstrip("._@+-")[:NAME_LENGTH]
        if not name:
            raise OidcNotAllowedError(f"The claim {claim!r} makes no user name.")
        return name

"""The OpenID Connect provider, by Authlib: discovery, the code flow with PKCE, its keys, and what its ID token says.

The one file that knows Authlib, which has no types: everything that comes out of it is checked here.
"""

import io
import json
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, cast

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from loadwatch_backend.access.sign_in.oidc_sign_in import Flow
from loadwatch_backend.core.errors import ForbiddenError, UnavailableError
from loadwatch_backend.core.paths import SIGN_IN_CALLBACK
from loadwatch_backend.core.settings import Settings

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures by the provider's private key only: never `none`, never HMAC with a secret that others know."""
TIMEOUT_SECONDS = 10.0
DOCUMENT_SECONDS = 3600.0
FAILED_SECONDS = 10.0
"""A provider that did not answer is not asked again for this long; requests fail at once."""
KEYS_LEAST_SECONDS = 10.0
"""Least interval between reads of the keys for unknown key ids, so that tokens cannot cause a flood."""
LEEWAY_SECONDS = 60
MOST_BYTES = 1 << 20


class OidcUnavailableError(UnavailableError, code="oidc-provider", title="The provider does not answer"):
    """The provider does not answer, or not as one."""


class OidcRefusedError(ForbiddenError, code="oidc-refused", title="The provider refused"):
    """The provider refuses the code."""


class OidcTokenError(ForbiddenError, code="oidc-token", title="The provider's token does not hold"):
    """The ID token is not one to be believed."""


class OidcProvider:
    """Talks to the provider; from worker threads only. `secret` is the client's, `clock` monotonic seconds."""

    def __init__(self, settings: Settings, secret: str | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._secret = secret
        self._clock = clock
        self._lock = threading.Lock()
        self._document: dict[str, Any] = {}
        self._document_at = float("-inf")
        self._failure, self._failed_at = "", float("-inf")
        self._keys: KeySet | None = None
        self._keys_at = float("-inf")

    def authorization_url(self, flow: Flow) -> str:
        """Where to send the browser.

        Raises:
            OidcUnavailableError: discovery failed.
        """
        endpoint = self._endpoint("authorization_endpoint")
        with self._session() as session:
            url, _ = session.create_authorization_url(
                endpoint, state=flow.state, nonce=flow.nonce, code_verifier=flow.verifier
            )
        return str(url)

    def claims(self, code: str, flow: Flow, now_seconds: int) -> Mapping[str, Any]:
        """What the ID token says that the code is exchanged for.

        Raises:
            OidcUnavailableError: the provider does not answer.
            OidcRefusedError: the provider refuses the code.
            OidcTokenError: the ID token is forged, over, for somebody else or for another sign-in.
        """
        token = self._exchange(code, flow)
        text = token.get("id_token")
        if not isinstance(text, str):
            raise OidcTokenError("The provider sent no ID token; does it know the scope openid?")
        try:
            decoded = self._decode(text)
            claims: Any = CodeIDToken(
                decoded.claims,
                decoded.header,
                {
                    "iss": {"essential": True, "value": self._settings.oidc_issuer},
                    "aud": {"essential": True, "value": self._settings.oidc_client_id},
                },
                {
                    "nonce": flow.nonce,
                    "client_id": self._settings.oidc_client_id,
                    "access_token": token.get("access_token"),
                },
            )
            claims.validate(now=now_seconds, leeway=LEEWAY_SECONDS)
        except (JoseError, ValueError) as error:
            raise OidcTokenError(f"The provider's ID token does not hold: {error}.") from error
        if not claims.get("sub"):
            raise OidcTokenError("The provider's ID token names nobody: its `sub` is empty.")
        return cast("Mapping[str, Any]", dict(claims))

    # ------------------------------------------------------------------------------------------------------------------

    def _session(self) -> Any:
        session: Any = OAuth2Session(
            self._settings.oidc_client_id,
            self._secret,
            scope=" ".join(self._settings.oidc_scopes),
            redirect_uri=self._settings.external_url.rstrip("/") + SIGN_IN_CALLBACK,
            code_challenge_method="S256",
            token_endpoint_auth_method="client_secret_basic" if self._secret else "none",
        )
        return session

    def _exchange(self, code: str, flow: Flow) -> Mapping[str, Any]:
        endpoint = self._endpoint("token_endpoint")
        try:
            with self._session() as session:
                token: Any = session.fetch_token(
                    endpoint,
                    code=code,
                    grant_type="authorization_code",
                    code_verifier=flow.verifier,
                    timeout=TIMEOUT_SECONDS,
                    allow_redirects=False,
                    stream=True,
                    hooks={"response": _bounded},
                )
        except AuthlibBaseError as error:
            raise OidcRefusedError(f"The provider refuses the code: {error.error}.") from error
        except (requests.RequestException, OSError, ValueError, RecursionError) as error:
            raise OidcUnavailableError(
                f"The provider's token endpoint does not answer ({type(error).__name__})."
            ) from error
        return cast("Mapping[str, Any]", token)

    def _decode(self, text: str) -> jwt.Token:
        """The token, its signature checked; keys are read again once when it names an unknown one (rotation)."""
        try:
            return jwt.decode(text, self._key_set(fresh=False), algorithms=list(ALGORITHMS))
        except JoseError:
            before = self._keys_at
            keys = self._key_set(fresh=True)
            if self._keys_at == before:
                raise
            return jwt.decode(text, keys, algorithms=list(ALGORITHMS))

    def _endpoint(self, name: str) -> str:
        with self._lock:
            if self._clock() - self._document_at >= DOCUMENT_SECONDS:
                if self._clock() - self._failed_at < FAILED_SECONDS:
                    raise OidcUnavailableError(self._failure)
                try:
                    self._document = self._read(
                        self._settings.oidc_issuer.rstrip("/") + "/.well-known/openid-configuration"
                    )
                except OidcUnavailableError as error:
                    self._failure, self._failed_at = error.detail, self._clock()
                    raise
                self._document_at = self._clock()
            issuer, value = self._document.get("issuer"), self._document.get(name)
        ours = self._settings.oidc_issuer
        if issuer != ours:
            self._document_at = float("-inf")
            raise OidcUnavailableError(
                f"The provider calls itself {issuer!r} and not {ours!r}; correct LOADWATCH_OIDC_ISSUER."
            )
        if not isinstance(value, str):
            raise OidcUnavailableError(f"The provider's configuration lacks {name}.")
        return value

    def _key_set(self, *, fresh: bool) -> KeySet:
        endpoint = self._endpoint("jwks_uri")
        with self._lock:
            age = self._clock() - self._keys_at
            if self._keys is None or age >= DOCUMENT_SECONDS or (fresh and age >= KEYS_LEAST_SECONDS):
                self._keys = KeySet.import_key_set(cast(Any, self._read(endpoint)))
                self._keys_at = self._clock()
            return self._keys

    def _read(self, url: str) -> dict[str, Any]:
        """A JSON object; redirects are not followed."""
        try:
            with requests.get(url, timeout=TIMEOUT_SECONDS, allow_redirects=False, stream=True) as answer:
                body = answer.raw.read(MOST_BYTES + 1, decode_content=True)
                if answer.status_code != 200 or len(body) > MOST_BYTES:
                    raise OidcUnavailableError(f"The provider answers {url} with {answer.status_code}.")
        except (requests.RequestException, OSError) as error:
            raise OidcUnavailableError(f"The provider does not answer at {url} ({type(error).__name__}).") from error
        return _json_object(body, url)


def _bounded(answer: requests.Response, **_: object) -> requests.Response:
    body = answer.raw.read(MOST_BYTES + 1, decode_content=True)
    if len(body) > MOST_BYTES:
        raise ValueError("the answer is too large")
    answer.raw = io.BytesIO(body)
    return answer


def _json_object(body: bytes, url: str) -> dict[str, Any]:
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise OidcUnavailableError(f"The provider's answer at {url} is not JSON.") from error
    if not isinstance(document, dict):
        raise OidcUnavailableError(f"The provider's answer at {url} is no JSON object.")
    return cast("dict[str, Any]", document)

"""`http_config` and `tls_config`, as Prometheus has them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, InstanceOf

from loadwatch_backend.alerting.notify.record import FilePath, Flag, Record, SecretFile, SecretText, Text, parsed
from loadwatch_backend.core.secret import Secret

_PROXY = "notifications connect directly, so that each address can be checked"
_INLINE = "name a file instead: ca_file, cert_file, key_file"
_UNSUPPORTED = {
    "oauth2": "use authorization, basic_auth or http_headers",
    "proxy_url": _PROXY,
    "no_proxy": _PROXY,
    "proxy_from_environment": _PROXY,
    "proxy_connect_header": _PROXY,
}
_TLS_UNSUPPORTED = {
    **dict.fromkeys(("ca", "cert", "key"), _INLINE),
    **dict.fromkeys(("ca_ref", "cert_ref", "key_ref"), "there is no secret manager; use the key that ends in _file"),
    "min_version": "TLS 1.2 or newer is always asked for",
    "max_version": "the newest version that both sides know is used",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsConfig(Record):
    """How the other side's certificate is checked, and ours."""

    unsupported: ClassVar[Mapping[str, str]] = _TLS_UNSUPPORTED
    ca_file: FilePath | None = None
    cert_file: FilePath | None = None
    key_file: FilePath | None = None
    server_name: Text = ""
    insecure_skip_verify: Flag = False

    def __post_init__(self) -> None:
        if (self.cert_file is None) != (self.key_file is None):
            raise ValueError("cert_file and key_file belong together")


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicAuth(Record):
    """User and password of an HTTP request."""

    unsupported: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("username_ref", "password_ref"), "use the key that ends in _file instead"
    )
    username: SecretText = field(default_factory=lambda: Secret(""))
    password: SecretText | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorization(Record):
    """The header `Authorization: <type> <credentials>`."""

    unsupported: ClassVar[Mapping[str, str]] = {"credentials_ref": "use credentials_file"}
    missing: ClassVar[Mapping[str, str]] = {"credentials": "authorization needs credentials or credentials_file"}
    type: Text = "Bearer"
    credentials: SecretText


def _no_redirects(wanted: bool) -> bool:
    if wanted:
        raise ValueError("must be false: redirects are never followed; give the address that they lead to")
    return wanted


def _header_name(name: str) -> str:
    if not name or not name.isascii() or any(sign in name for sign in " :\r\n\t"):
        raise ValueError(f"{name!r} is no name of a header")
    return name


def _header_value(text: str) -> Secret:
    if "\n" in text or "\r" in text:
        raise ValueError("must not hold a line feed")
    return Secret(text)


_HeaderValue = Annotated[InstanceOf[Secret], parsed(_header_value)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Header(Record):
    """All values of one header."""

    values: tuple[_HeaderValue, ...] = ()
    secrets: tuple[_HeaderValue, ...] = ()
    files: tuple[SecretFile, ...] = ()

    @property
    def all(self) -> Sequence[Secret]:
        """What is sent."""
        return (*self.values, *self.secrets, *self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpConfig(Record):
    """What of Prometheus' `http_config` is supported; `headers` are added as they are."""

    unsupported: ClassVar[Mapping[str, str]] = _UNSUPPORTED
    basic_auth: BasicAuth | None = None
    authorization: Authorization | None = None
    bearer_token: SecretText | None = None
    tls: Annotated[TlsConfig, Field(alias="tls_config")] = field(default_factory=TlsConfig)
    headers: Annotated[dict[Annotated[str, parsed(_header_name)], Header], Field(alias="http_headers")] = field(
        default_factory=dict[str, Header]
    )
    follow_redirects: Annotated[Flag, AfterValidator(_no_redirects)] = False
    enable_http2: Flag = False
    """Either is taken: requests are HTTP/1.1."""

    def __post_init__(self) -> None:
        if (self.basic_auth, self.authorization, self.bearer_token).count(None) < 2:
            raise ValueError("give only one of basic_auth, authorization and bearer_token")

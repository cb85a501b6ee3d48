"""`http_config` and `tls_config`, as Prometheus has them, and how they are read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from loadwatch_backend.alerting.notify.nodes import Section
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
class TlsConfig:
    """How the other side's certificate is checked, and ours."""

    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    server_name: str = ""
    insecure_skip_verify: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicAuth:
    """User and password of an HTTP request."""

    username: Secret
    password: Secret | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorization:
    """The header `Authorization: <type> <credentials>`."""

    type: str = "Bearer"
    credentials: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpConfig:
    """What of Prometheus' `http_config` is supported; `headers` are added as they are."""

    basic_auth: BasicAuth | None = None
    authorization: Authorization | None = None
    tls: TlsConfig = field(default_factory=TlsConfig)
    headers: Mapping[str, Sequence[Secret]] = field(default_factory=dict[str, Sequence[Secret]])


def read_http(section: Section | None) -> HttpConfig | None:
    """The section `http_config`."""
    if section is None:
        return None
    basic, authorization = _basic(section.section("basic_auth")), _authorization(section.section("authorization"))
    bearer = section.secret("bearer_token")
    if sum(one is not None for one in (basic, authorization, bearer)) > 1:
        raise section.error("give only one of basic_auth, authorization and bearer_token")
    redirects = section.take("follow_redirects")
    if redirects is not None and section.flag("follow_redirects", False):
        raise redirects.error("redirects are never followed; give the address that they lead to")
    section.flag("enable_http2", False)
    config = HttpConfig(
        basic_auth=basic,
        authorization=authorization if bearer is None else Authorization(credentials=bearer),
        tls=read_tls(section.section("tls_config")),
        headers=_headers(section),
    )
    section.finish("http_config", _UNSUPPORTED)
    return config


def _basic(section: Section | None) -> BasicAuth | None:
    if section is None:
        return None
    username = section.secret("username")
    made = BasicAuth(username=username or Secret(""), password=section.secret("password"))
    section.finish(
        "basic_auth", dict.fromkeys(("username_ref", "password_ref"), "use the key that ends in _file instead")
    )
    return made


def _authorization(section: Section | None) -> Authorization | None:
    if section is None:
        return None
    credentials = section.secret("credentials")
    if credentials is None:
        raise section.error("authorization needs credentials or credentials_file")
    made = Authorization(type=section.text("type", "Bearer"), credentials=credentials)
    section.finish("authorization", {"credentials_ref": "use credentials_file"})
    return made


def _headers(section: Section) -> Mapping[str, Sequence[Secret]]:
    headers: dict[str, Sequence[Secret]] = {}
    for name, value in section.pairs("http_headers").items():
        if not name or not name.isascii() or any(sign in name for sign in " :\r\n\t"):
            raise value.error(f"{name!r} is no name of a header")
        header = value.section()
        folder = Path(header.value.path).parent
        texts = [*(header.texts("values") or []), *(header.texts("secrets") or [])]
        if any("\n" in text or "\r" in text for text in texts):
            raise value.error(f"the header {name} holds a line feed")
        paths = [folder / path for path in header.texts("files") or []]
        headers[name] = (*map(Secret, texts), *(Secret(path=path) for path in paths))
        header.finish("a header")
    return headers


def read_tls(section: Section | None) -> TlsConfig:
    """The section `tls_config`."""
    if section is None:
        return TlsConfig()
    made = TlsConfig(
        ca_file=section.path("ca_file"),
        cert_file=section.path("cert_file"),
        key_file=section.path("key_file"),
        server_name=section.text("server_name"),
        insecure_skip_verify=section.flag("insecure_skip_verify", False),
    )
    section.finish("tls_config", _TLS_UNSUPPORTED)
    if (made.cert_file is None) != (made.key_file is None):
        raise section.error("cert_file and key_file belong together")
    return made

"""Receivers and the global defaults of a notification file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from loadwatch_backend.kit.language import Language
from loadwatch_backend.notify.file.model import (
    PAGERDUTY_URL,
    AppriseIntegration,
    Authorization,
    BasicAuth,
    EmailIntegration,
    HttpConfig,
    Integration,
    IntegrationKind,
    PagerDutyIntegration,
    Receiver,
    Secret,
    SlackIntegration,
    TlsConfig,
    WebhookIntegration,
)
from loadwatch_backend.notify.nodes import Section, Value, check_url

_TEMPLATE = "it is a template there; Loadwatch writes the message itself"
_PROXY = "notifications connect directly, so that each address can be checked"
_APPRISE = "use apprise_configs with the service's URL (https://github.com/caronc/apprise/wiki)"
_INLINE = "name a file instead: ca_file, cert_file, key_file"

_HTTP_UNSUPPORTED = {
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
_GLOBAL_UNSUPPORTED = {
    **dict.fromkeys(("slack_app_token", "slack_app_token_file", "slack_app_url"), "use slack_api_url"),
    **dict.fromkeys(
        (
            "jira_api_url",
            "opsgenie_api_url",
            "opsgenie_api_key",
            "opsgenie_api_key_file",
            "wechat_api_url",
            "wechat_api_secret",
            "wechat_api_secret_file",
            "wechat_api_corp_id",
            "victorops_api_url",
            "victorops_api_key",
            "victorops_api_key_file",
            "telegram_api_url",
            "telegram_bot_token",
            "telegram_bot_token_file",
            "webex_api_url",
            "rocketchat_api_url",
            "rocketchat_token",
            "rocketchat_token_file",
            "rocketchat_token_id",
            "rocketchat_token_id_file",
            "mattermost_webhook_url",
            "mattermost_webhook_url_file",
        ),
        _APPRISE,
    ),
}
_RECEIVER_UNSUPPORTED = {
    "labels": "routes choose receivers by name",
    **dict.fromkeys(
        (
            "discord_configs",
            "incidentio_configs",
            "jira_configs",
            "mattermost_configs",
            "msteams_configs",
            "msteamsv2_configs",
            "opsgenie_configs",
            "pushover_configs",
            "rocketchat_configs",
            "sns_configs",
            "telegram_configs",
            "victorops_configs",
            "webex_configs",
            "wechat_configs",
        ),
        _APPRISE,
    ),
}
_SLACK_UNSUPPORTED = {
    **dict.fromkeys(("app_token", "app_token_file", "app_url", "update_message"), "use api_url, an incoming webhook"),
    **dict.fromkeys(
        ("title", "title_link", "pretext", "text", "message_text", "fields", "footer", "fallback", "color", "actions"),
        _TEMPLATE,
    ),
    **dict.fromkeys(
        ("short_fields", "callback_id", "image_url", "thumb_url", "link_names", "mrkdwn_in"),
        "messages are made of blocks, which have no such thing",
    ),
}
_PAGERDUTY_UNSUPPORTED = {
    **dict.fromkeys(("service_key", "service_key_file"), "it belongs to Events API v1; use routing_key"),
    **dict.fromkeys(("description", "details"), _TEMPLATE),
    "images": "links are made from each alert's runbook and dashboard",
    "links": "links are made from each alert's runbook and dashboard",
}
_EMAIL_UNSUPPORTED = {
    "html": _TEMPLATE,
    "text": _TEMPLATE,
    "threading": "messages of one group are always one thread",
}
SEVERITIES = ("critical", "error", "warning", "info")


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """The section `global`."""

    http: HttpConfig = field(default_factory=HttpConfig)
    smtp_from: str = ""
    smtp_hello: str = "localhost"
    smtp_smarthost: tuple[str, int] | None = None
    smtp_username: str = ""
    smtp_password: Secret | None = None
    smtp_secret: Secret | None = None
    smtp_identity: str = ""
    smtp_require_tls: bool = True
    smtp_implicit_tls: bool | None = None
    smtp_tls: TlsConfig = field(default_factory=TlsConfig)
    slack_api_url: Secret | None = None
    pagerduty_url: str = PAGERDUTY_URL
    language: Language = Language.EN


def read_defaults(section: Section | None) -> Defaults:
    """The section `global`; its absence is all defaults."""
    if section is None:
        return Defaults()
    section.duration("resolve_timeout")  # It is for alerts whose sender fell silent; ours are evaluated here.
    url = section.take("pagerduty_url")
    defaults = Defaults(
        http=read_http(section.section("http_config")) or HttpConfig(),
        smtp_from=section.text("smtp_from"),
        smtp_hello=section.text("smtp_hello", "localhost"),
        smtp_smarthost=_host_port(section.take("smtp_smarthost")),
        smtp_username=section.text("smtp_auth_username"),
        smtp_password=section.secret("smtp_auth_password"),
        smtp_secret=section.secret("smtp_auth_secret"),
        smtp_identity=section.text("smtp_auth_identity"),
        smtp_require_tls=section.flag("smtp_require_tls", True),
        smtp_implicit_tls=_optional_flag(section, "smtp_force_implicit_tls"),
        smtp_tls=read_tls(section.section("smtp_tls_config")),
        slack_api_url=section.secret_url("slack_api_url"),
        pagerduty_url=PAGERDUTY_URL if url is None else check_url(url),
        language=_language(section, Language.EN),
    )
    section.finish("global", _GLOBAL_UNSUPPORTED)
    return defaults


# Receivers ------------------------------------------------------------------------------------------------------------


def read_receivers(sections: Sequence[Section], defaults: Defaults) -> Mapping[str, Receiver]:
    """All receivers by name.

    Raises:
        ConfigurationError: two have one name, or one is wrong.
    """
    receivers: dict[str, Receiver] = {}
    for section in sections:
        name = section.text("name")
        if not name:
            raise section.error("a receiver needs a name")
        if name in receivers:
            raise section.error(f"there are two receivers of the name {name!r}")
        language = _language(section, defaults.language)
        integrations: list[Integration] = []
        for kind, read in INTEGRATIONS:
            for place, one in enumerate(section.sections(f"{kind.value}_configs")):
                integrations.append(replace(read(one, f"{kind.value}-{place}", defaults), language=language))
        section.finish(f"receiver {name!r}", _RECEIVER_UNSUPPORTED)
        receivers[name] = Receiver(name=name, integrations=tuple(integrations))
    return receivers


def _language(section: Section, otherwise: Language) -> Language:
    """Loadwatch's own key `language`."""
    given = section.take("language")
    if given is None:
        return otherwise
    try:
        return Language(given.text())
    except ValueError as error:
        raise given.error(f"language must be one of {', '.join(Language)}") from error


def _read_webhook(section: Section, id: str, defaults: Defaults) -> Integration:
    url = section.secret_url("url")
    if url is None:
        raise section.error("webhook_configs need a url or a url_file")
    made = WebhookIntegration(
        id=id,
        send_resolved=section.flag("send_resolved", True),
        timeout_ms=section.duration("timeout") or 0,
        max_alerts=section.count("max_alerts"),
        http=read_http(section.section("http_config")) or defaults.http,
        line=section.line,
        url=url,
        signing_secrets=_signing_secrets(section),
    )
    section.finish("webhook_configs", {"payload": "the body is always Alertmanager's version 4"})
    return made


def _signing_secrets(section: Section) -> tuple[Secret, ...]:
    """One, or a list while one replaces another."""
    found, path = section.take("signing_secret"), section.path("signing_secret_file")
    if found is not None and path is not None:
        raise found.error("give signing_secret or signing_secret_file, not both")
    if path is not None:
        return (Secret(path=path),)
    if found is None:
        return ()
    texts = [found.plain()] if found.node.id == "scalar" else [item.plain() for item in found.items()]
    if not texts or not all(texts):
        raise found.error("signing_secret is empty; make one with `openssl rand -base64 32`, and put whsec_ before it")
    return tuple(map(Secret, texts))


def _read_slack(section: Section, id: str, defaults: Defaults) -> Integration:
    url = section.secret_url("api_url") or defaults.slack_api_url
    if url is None:
        raise section.error("slack_configs need an api_url or api_url_file, here or as slack_api_url in global")
    made = SlackIntegration(
        id=id,
        send_resolved=section.flag("send_resolved", False),
        timeout_ms=section.duration("timeout") or 0,
        http=read_http(section.section("http_config")) or defaults.http,
        line=section.line,
        api_url=url,
        channel=section.text("channel"),
        username=section.text("username"),
        icon_emoji=section.text("icon_emoji"),
        icon_url=section.text("icon_url"),
    )
    section.finish("slack_configs", _SLACK_UNSUPPORTED)
    return made


def _read_pagerduty(section: Section, id: str, defaults: Defaults) -> Integration:
    key = section.secret("routing_key")
    url = section.take("url")
    severity = section.take("severity")
    if severity is not None and severity.plain() not in SEVERITIES:
        raise severity.error(f"severity must be one of {', '.join(SEVERITIES)}; without it the alert's label counts")
    made = PagerDutyIntegration(
        id=id,
        send_resolved=section.flag("send_resolved", True),
        timeout_ms=section.duration("timeout") or 0,
        http=read_http(section.section("http_config")) or defaults.http,
        line=section.line,
        routing_key=key or Secret(""),
        url=defaults.pagerduty_url if url is None else check_url(url),
        client=section.text("client"),
        client_url=section.text("client_url"),
        source=section.text("source"),
        severity="" if severity is None else severity.plain(),
        event_class=section.text("class"),
        component=section.text("component"),
        group=section.text("group"),
    )
    section.finish("pagerduty_configs", _PAGERDUTY_UNSUPPORTED)
    if key is None:
        raise section.error("pagerduty_configs need a routing_key or a routing_key_file")
    return made


def _read_email(section: Section, id: str, defaults: Defaults) -> Integration:
    to = [part.strip() for part in section.text("to").split(",") if part.strip()]
    sender = section.text("from", defaults.smtp_from)
    host = _host_port(section.take("smarthost")) or defaults.smtp_smarthost
    if not to:
        raise section.error("email_configs need a to")
    if not sender or host is None:
        missing = "smarthost" if sender else "from"
        raise section.error(f"email_configs need {missing}, here or as smtp_{missing} in global")
    implicit = _optional_flag(section, "force_implicit_tls")
    tls = section.section("tls_config")
    made = EmailIntegration(
        id=id,
        send_resolved=section.flag("send_resolved", False),
        line=section.line,
        to=tuple(to),
        sender=sender,
        host=host[0],
        port=host[1],
        hello=section.text("hello", defaults.smtp_hello),
        auth_username=section.text("auth_username", defaults.smtp_username),
        auth_password=section.secret("auth_password") or defaults.smtp_password,
        auth_secret=section.secret("auth_secret") or defaults.smtp_secret,
        auth_identity=section.text("auth_identity", defaults.smtp_identity),
        require_tls=section.flag("require_tls", defaults.smtp_require_tls),
        implicit_tls=defaults.smtp_implicit_tls if implicit is None else implicit,
        tls=defaults.smtp_tls if tls is None else read_tls(tls),
        headers=_mail_headers(section),
    )
    section.finish("email_configs", _EMAIL_UNSUPPORTED)
    return made


def _mail_headers(section: Section) -> Mapping[str, str]:
    headers: dict[str, str] = {}
    for name, value in section.pairs("headers").items():
        normal = name.title()
        text = value.plain()
        if normal in headers:
            raise value.error(f"the header {normal} is given twice")
        if not name.isascii() or not name.replace("-", "").isalnum() or "\n" in text or "\r" in text:
            raise value.error(f"{name!r} is no header of one line")
        headers[normal] = text
    return headers


def _read_apprise(section: Section, id: str, defaults: Defaults) -> Integration:
    del defaults
    url = section.secret("url")
    if url is None:
        raise section.error("apprise_configs need a url or a url_file")
    made = AppriseIntegration(
        id=id,
        send_resolved=section.flag("send_resolved", True),
        timeout_ms=section.duration("timeout") or 0,
        line=section.line,
        url=url,
    )
    section.finish("apprise_configs")
    return made


INTEGRATIONS: Sequence[tuple[IntegrationKind, Callable[[Section, str, Defaults], Integration]]] = (
    (IntegrationKind.WEBHOOK, _read_webhook),
    (IntegrationKind.SLACK, _read_slack),
    (IntegrationKind.PAGERDUTY, _read_pagerduty),
    (IntegrationKind.EMAIL, _read_email),
    (IntegrationKind.APPRISE, _read_apprise),
)


# HTTP, TLS, addresses -------------------------------------------------------------------------------------------------


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
        headers=_http_headers(section),
    )
    section.finish("http_config", _HTTP_UNSUPPORTED)
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


def _http_headers(section: Section) -> Mapping[str, Sequence[Secret]]:
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


def _optional_flag(section: Section, name: str) -> bool | None:
    return section.flag(name, False) if section.take(name) is not None else None


def _host_port(value: Value | None) -> tuple[str, int] | None:
    if value is None:
        return None
    host, _, port = value.plain().rpartition(":")
    if not port.isascii() or not port.isdigit() or not 0 < int(port) < 65_536:
        raise value.error(f"{value.name} must be host:port, such as mail.example.org:587")
    return host.strip("[]"), int(port)

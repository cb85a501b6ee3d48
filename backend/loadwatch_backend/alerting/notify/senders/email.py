"""Email by SMTP: text and HTML, one thread for each group of alerts."""

import hashlib
import smtplib
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP as WIRE
from email.utils import format_datetime, parseaddr
from html import escape
from typing import Annotated, ClassVar, NamedTuple

from loadwatch_formats.deadline import Deadline, DeadlineSocket, DeadlineTLSSocket
from pydantic import AfterValidator, Field, InstanceOf

from loadwatch_backend.alerting.notify.record import Flag, SecretText, Text, error_at, parsed, plain
from loadwatch_backend.alerting.notify.senders.content import (
    AlertText,
    Content,
    content_of,
    describe_labels,
    describe_times,
    plain_text,
)
from loadwatch_backend.alerting.notify.senders.model import (
    RESPONSE_LENGTH,
    TEMPLATE,
    AttemptOutcome,
    Integration,
    Message,
    Result,
    SendContext,
    Sender,
    SendRules,
    cut,
)
from loadwatch_backend.alerting.notify.senders.sockets import (
    Dialer,
    ForbiddenAddressError,
    TlsConfig,
    describe_error,
    describe_file_error,
    wrap_tls,
)
from loadwatch_backend.alerting.notify.senders.transport import MOST_BYTES
from loadwatch_backend.core.texts.words import Texts, Words

IMPLICIT_TLS_PORT = 465
MOST_ALERTS = 100
SUBJECT_LENGTH = 300


_NO_ADDRESS = "email_configs need a to"


def _addresses(text: str) -> tuple[str, ...]:
    found = tuple(part.strip() for part in plain(text).split(",") if part.strip())
    if not found:
        raise ValueError(_NO_ADDRESS)
    return found


def _headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    normal = {name.title(): text for name, text in headers.items()}
    if len(normal) < len(headers):
        raise ValueError("must not name a header twice")
    for name, text in headers.items():
        if not name.isascii() or not name.replace("-", "").isalnum() or "\n" in text or "\r" in text:
            raise error_at((name,), f"{name!r} is no header of one line")
    return normal


class HostPort(NamedTuple):
    host: str
    port: int


def _host_port(text: str) -> HostPort:
    host, _, port = plain(text).rpartition(":")
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and 0 < int(port) < 65_536):
        raise ValueError("must be host:port, such as mail.example.org:587")
    return HostPort(host.strip("[]"), int(port))


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailIntegration(Integration):
    """SMTP. `implicit_tls` None: by the port, 465. `auth_secret` is for CRAM-MD5. `to` are addresses."""

    unsupported: ClassVar[Mapping[str, str]] = {
        "html": TEMPLATE,
        "text": TEMPLATE,
        "threading": "messages of one group are always one thread",
    }
    missing: ClassVar[Mapping[str, str]] = {
        "to": _NO_ADDRESS,
        "from": "email_configs need from, here or as smtp_from in global",
        "smarthost": "email_configs need smarthost, here or as smtp_smarthost in global",
    }
    to: Annotated[tuple[str, ...], parsed(_addresses)]
    sender: Annotated[Text, Field(alias="from")]
    smarthost: Annotated[InstanceOf[HostPort], parsed(_host_port)]
    hello: Text = "localhost"
    auth_username: Text = ""
    auth_password: SecretText | None = None
    auth_secret: SecretText | None = None
    auth_identity: Text = ""
    require_tls: Flag = True
    implicit_tls: Annotated[Flag | None, Field(alias="force_implicit_tls")] = None
    tls: Annotated[TlsConfig, Field(alias="tls_config")] = field(default_factory=TlsConfig)
    headers: Annotated[dict[str, Text], AfterValidator(_headers)] = field(default_factory=dict[str, str])


_SERVER = ("from", "smarthost", "hello", "require_tls", "force_implicit_tls", "tls_config")
_SIGN_IN = ("auth_username", "auth_password", "auth_secret", "auth_identity")


class EmailSender(Sender[EmailIntegration]):
    """A connection for each message; mail servers end idle ones early."""

    kind: ClassVar[str] = "email"
    title: ClassVar[Words] = Words("Email", "メール")
    record = EmailIntegration
    globals: ClassVar[Mapping[str, str]] = {f"smtp_{key}": key for key in (*_SERVER, *_SIGN_IN)}
    rules: ClassVar[SendRules] = SendRules(parallel=2, timeout_seconds=30.0)

    def target(self, own: EmailIntegration) -> str:
        return f"{', '.join(own.to)} by {own.smarthost.host}:{own.smarthost.port}"

    def send(self, own: EmailIntegration, message: Message, context: SendContext, seconds: float) -> Result:
        mail = render(own, message, context.clock())
        try:
            tls = context.transport.context(own.tls)
        except OSError as error:
            return Result(outcome=AttemptOutcome.PERMANENT, error=f"tls_config: {describe_file_error(error)}")
        client = CheckedSmtp(own, context.transport.dialer, Deadline(seconds, MOST_BYTES), tls)
        try:
            return client.deliver(mail)
        except ForbiddenAddressError as error:
            return Result(outcome=AttemptOutcome.PERMANENT, error=str(error))
        except smtplib.SMTPException as error:
            return _refused(error, client.address)
        except (OSError, ValueError) as error:
            return Result(outcome=AttemptOutcome.PASSING, error=describe_error(error), address=client.address)
        finally:
            client.close()


# Sending --------------------------------------------------------------------------------------------------------------


class NoTlsError(smtplib.SMTPException):
    """The mail server offers no encryption, and the configuration asks for it."""


class CheckedSmtp(smtplib.SMTP):
    """An SMTP client whose connection is checked and bounded as all others are."""

    def __init__(self, own: EmailIntegration, dialer: Dialer, deadline: Deadline, tls: ssl.SSLContext) -> None:
        super().__init__(local_hostname=own.hello)
        self.address = ""
        self._own = own
        self._dialer = dialer
        self._deadline = deadline
        self._tls = tls
        self._encrypted = False

    def deliver(self, mail: EmailMessage) -> Result:
        """Connect, sign in, hand over, say good-bye.

        Raises:
            SMTPException: the server refused.
            OSError: the connection broke.
            ForbiddenAddressError: it may not be connected to.
        """
        own = self._own
        code, said = self.connect(*own.smarthost)
        if code != 220:
            raise smtplib.SMTPConnectError(code, said)
        self.ehlo_or_helo_if_needed()
        if not self._encrypted and self.has_extn("starttls"):
            self._start_tls()
        if own.require_tls and not self._encrypted:
            raise NoTlsError("the mail server offers no STARTTLS; set require_tls: false to send without encryption")
        self._sign_in()
        sender = parseaddr(own.sender)[1]
        refused = self.sendmail(sender, [parseaddr(one)[1] for one in own.to], mail.as_bytes(policy=WIRE))
        try:
            self.quit()
        except (smtplib.SMTPException, OSError):
            pass  # The message was accepted; how the server says good-bye is its own affair.
        error = "; ".join(f"{to}: {_reply_text(code, text)}" for to, (code, text) in refused.items())
        return Result(
            outcome=AttemptOutcome.DELIVERED,
            status_code=250,
            error=f"not taken for {error}" if error else "",
            address=self.address,
        )

    def _get_socket(self, host: str, port: int, timeout: float) -> DeadlineSocket:  # type: ignore[override] - bounded
        del timeout
        connection, self.address = self._dialer.dial(host, port, self._deadline)
        implicit = self._own.implicit_tls
        if implicit or (implicit is None and port == IMPLICIT_TLS_PORT):
            self._encrypted = True
            return wrap_tls(self._tls, connection, self._own.tls.server_name or host, self._deadline)
        return connection

    def _start_tls(self) -> None:
        self._host = self._own.tls.server_name or self._own.smarthost.host
        self.starttls(context=self._tls)
        assert isinstance(self.sock, DeadlineTLSSocket)
        self.sock.deadline = self._deadline
        self._encrypted = True
        self.ehlo_or_helo_if_needed()

    def _sign_in(self) -> None:
        own = self._own
        if not own.auth_username:
            return
        if own.auth_secret is not None:
            self.user, self.password = own.auth_username, own.auth_secret.reveal()
            self.auth("CRAM-MD5", self.auth_cram_md5)
            return
        password = "" if own.auth_password is None else own.auth_password.reveal()
        if own.auth_identity:
            text = f"{own.auth_identity}\0{own.auth_username}\0{password}"

            def plain(challenge: bytes | None = None) -> str:
                del challenge
                return text

            self.auth("PLAIN", plain)
            return
        self.login(own.auth_username, password)


def _refused(error: smtplib.SMTPException, address: str) -> Result:
    """4xx may work later (RFC 5321, 4.2.1), 5xx will not."""
    code, text = None, str(error)
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        refusals = list(error.recipients.values())
        # One address that may work later is reason enough to try again.
        code = min((refusal[0] for refusal in refusals), default=550)
        text = "; ".join(f"{to}: {_reply_text(*refusal)}" for to, refusal in error.recipients.items())
    elif isinstance(error, smtplib.SMTPResponseException):
        code = error.smtp_code
        text = _reply_text(error.smtp_code, error.smtp_error)
    elif isinstance(error, smtplib.SMTPServerDisconnected):
        cause = error.__context__
        text = describe_error(cause) if isinstance(cause, OSError) else "the mail server closed the connection"
    elif isinstance(error, smtplib.SMTPNotSupportedError):
        return Result(outcome=AttemptOutcome.PERMANENT, error=f"the mail server cannot do it: {text}", address=address)
    permanent = code is not None and 500 <= code < 600
    return Result(
        outcome=AttemptOutcome.PERMANENT if permanent else AttemptOutcome.PASSING,
        status_code=code if code is not None and code > 0 else None,
        error=f"the mail server refused: {cut(text, 500)}" if code is not None else cut(text, 500),
        response=cut(text, RESPONSE_LENGTH),
        address=address,
    )


def _reply_text(code: int, text: bytes | str) -> str:
    return f"{code} {text.decode('utf-8', 'replace') if isinstance(text, bytes) else text}".replace("\n", " ")


# The message ----------------------------------------------------------------------------------------------------------


def render(own: EmailIntegration, message: Message, now_ms: int) -> EmailMessage:
    """The mail. Its id is the delivery's, so that a repeat can be recognised; mails of one group are one thread."""
    content = content_of(message, own.language)
    domain = _domain(own.sender)
    mail = EmailMessage()
    mail["Subject"] = " ".join(cut(message.subject, SUBJECT_LENGTH).split()) or "Loadwatch"
    mail["From"] = _address(own.sender)
    mail["To"] = [_address(one) for one in own.to]
    mail["Date"] = format_datetime(datetime.fromtimestamp(now_ms / 1_000, UTC))
    mail["Message-ID"] = f"<{message.id}@{domain}>"
    thread = f"<group-{hashlib.sha256(content.group_key.encode()).hexdigest()[:32]}@{domain}>"
    mail["In-Reply-To"] = thread
    mail["References"] = thread
    mail["Auto-Submitted"] = "auto-generated"
    if content.firing and content.severity == "critical":
        mail["Importance"] = "high"
    for name, value in own.headers.items():
        del mail[name]
        mail[name] = " ".join(value.split())
    mail.set_content(plain_text(content, MOST_ALERTS))
    mail.add_alternative(_html(content), subtype="html")
    return mail


def _domain(sender: str) -> str:
    domain = parseaddr(sender)[1].rpartition("@")[2]
    return domain if domain and all(c.isalnum() or c in ".-" for c in domain) and domain.isascii() else "loadwatch"


def _address(text: str) -> Address:
    name, address = parseaddr(text)
    return Address(display_name=name, addr_spec=address)


def _html(content: Content) -> str:
    texts = content.texts
    parts = [f'<h2 style="font-size:18px;margin:0 0 12px">{escape(content.title)}</h2>']
    if content.text:
        parts.append(f"<p>{escape(content.text)}</p>")
    if content.facts:
        rows = "".join(
            f'<tr><th style="text-align:left;padding:2px 12px 2px 0">{escape(label)}</th><td>{escape(text)}</td></tr>'
            for label, text in content.facts
        )
        parts.append(f"<table>{rows}</table>")
    parts += [_html_alert(alert, content.texts) for alert in content.alerts[:MOST_ALERTS]]
    if more := content.more(MOST_ALERTS):
        parts.append(f"<p>{escape(more)}</p>")
    if content.url:
        parts.append(f"<p>{_link(content.url, texts('open_run' if content.is_news else 'open_alert'))}</p>")
    style = "font-family:system-ui,sans-serif;font-size:14px;line-height:1.45;color:#1b1f24"
    return f'<!doctype html><html lang="{content.language}"><body style="{style}">{"".join(parts)}</body></html>\n'


def _html_alert(alert: AlertText, texts: Texts) -> str:
    colour = {"firing": "#c62828", "stopped": "#57606a"}.get(alert.state, "#2e7d32")
    word = texts(alert.state)
    lines = [f'<strong style="color:{colour}">{word}</strong> <strong>{escape(alert.headline)}</strong>']
    if alert.description and alert.description != alert.headline:
        lines.append(escape(alert.description))
    if alert.finding:
        lines.append(escape(alert.finding))
    details = " · ".join(part for part in (describe_labels(alert.labels), describe_times(alert, texts)) if part)
    lines.append(f'<span style="color:#57606a">{escape(details)}</span>')
    named = ((texts("runbook"), alert.runbook_url), (texts("open_alert"), alert.url))
    links = [_link(url, name) for name, url in named if url]
    if links:
        lines.append(" · ".join(links))
    border = f"border-left:4px solid {colour};margin:0 0 12px;padding:2px 0 2px 12px"
    return f'<p style="{border}">{"<br>".join(lines)}</p>'


def _link(url: str, text: str) -> str:
    if not url.startswith(("http://", "https://")):
        return escape(f"{text}: {url}")
    return f'<a href="{escape(url)}">{escape(text)}</a>'

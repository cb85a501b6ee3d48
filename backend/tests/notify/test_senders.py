"""What the senders for people post, at real receivers."""

import asyncio
import json
import ssl
import subprocess
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage as Mail
from email.policy import default as policy
from pathlib import Path
from typing import Any, cast

import pytest
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from loadwatch_backend.alerting.notify.model import EnvelopeKind
from loadwatch_backend.alerting.notify.outbox.messages import delivery_row, message_of
from loadwatch_backend.alerting.notify.outbox.outcomes import attempt, target_of
from loadwatch_backend.alerting.notify.outbox.tables import DeliveryRow
from loadwatch_backend.alerting.notify.senders.email import EmailIntegration, HostPort
from loadwatch_backend.alerting.notify.senders.model import Integration, Result, SendContext
from loadwatch_backend.alerting.notify.senders.pagerduty import PagerDutyIntegration, dedup_key
from loadwatch_backend.alerting.notify.senders.slack import SlackIntegration
from loadwatch_backend.alerting.notify.senders.sockets import TlsConfig
from loadwatch_backend.core.clock import system_clock
from loadwatch_backend.core.secret import Secret

from backend.tests.notify.receiving import Receiver, answer, run_receiver
from backend.tests.notify.sending import document, envelope, transport

NEWS = {
    "version": "loadwatch/1",
    "type": "run-finished",
    "key": "run-1-finished",
    "at": "2026-11-21T14:20:00.000Z",
    "title": "Load test failed: checkout",
    "text": "p95<300ms: was 412 ms",
    "url": "https://watch.example.org/runs/1",
    "labels": {"run": "1", "verdict": "failed", "scenario": "checkout"},
    "facts": [{"label": "Requests", "text": "12,000"}, {"label": "p50 / p95 / p99", "text": "80 / 412 / 900 ms"}],
}


def send(integration: Integration, networks: tuple[str, ...] = ("127.0.0.0/8",), **more: Any) -> Result:
    row = DeliveryRow(**delivery_row(envelope(**{"integration": integration.id, **more}), system_clock()))
    client = transport(networks)
    try:
        return attempt(integration, message_of(row), SendContext(transport=client, clock=system_clock))
    finally:
        client.close()


def news(integration: Integration, **more: Any) -> Result:
    return send(integration, kind=EnvelopeKind.RUN, document=NEWS, subject=NEWS["title"], **more)


def many_alerts(count: int) -> dict[str, Any]:
    whole = document()
    return {
        **whole,
        "alerts": [{**whole["alerts"][0], "labels": {"alertname": "A", "n": str(n)}} for n in range(count)],
    }


# Slack ----------------------------------------------------------------------------------------------------------------


def slack(receiver: Receiver, **more: Any) -> SlackIntegration:
    return SlackIntegration(
        id="slack-0", send_resolved=True, api_url=Secret(f"{receiver.url}/T0/B0/xoxsecret"), channel="#ops", **more
    )


def texts(value: Any) -> list[str]:
    """All texts of blocks."""
    if isinstance(value, dict):
        fields = cast(dict[str, Any], value)
        own = [fields["text"]] if isinstance(fields.get("text"), str) else []
        return own + [text for inner in fields.values() for text in texts(inner)]
    return [text for inner in cast(list[Any], value) for text in texts(inner)] if isinstance(value, list) else []


def test_slack_gets_text_and_blocks() -> None:
    with run_receiver(usually=answer(body=b"ok")) as receiver:
        assert send(slack(receiver)).outcome == "delivered"
        posted = receiver.requests[0].json
        assert posted["text"] == ":rotating_light: [FIRING] PoolWaits: Requests wait for a connection"
        assert posted["channel"] == "#ops"
        assert posted["blocks"][0]["text"]["text"] == ":rotating_light: [FIRING] PoolWaits"
        shown = "\n".join(texts(posted["blocks"]))
        assert "*Requests wait for a connection*" in shown
        assert "<https://docs.example.org/pool|Runbook>" in shown
        assert "since 2026-11-21 14:20:00 UTC" in shown
        assert send(slack(receiver), document=document(status="resolved")).outcome == "delivered"
        resolved = "\n".join(texts(receiver.requests[1].json["blocks"]))
        assert ":large_green_circle:" in resolved
        assert "14:20:00 UTC to 2026-11-21 14:30:00 UTC, 10 min 00 s" in resolved


def test_slack_texts_are_escaped_and_within_its_limits() -> None:
    whole = document()
    whole["alerts"][0]["annotations"] = {"summary": "<!channel> a & b " * 300, "description": "&" * 5_000}
    whole["alerts"] = whole["alerts"] * 100
    with run_receiver(usually=answer(body=b"ok")) as receiver:
        assert send(slack(receiver), document=whole, subject="x" * 400).outcome == "delivered"
        posted = receiver.requests[0].json
        assert len(posted["blocks"]) <= 50
        assert len(posted["blocks"][0]["text"]["text"]) <= 150
        assert all(len(block["text"]["text"]) <= 3_000 for block in posted["blocks"] if block["type"] == "section")
        assert "<!channel>" not in json.dumps(posted)
        assert "and 80 more" in json.dumps(posted)


@pytest.mark.parametrize(
    ("behaviour", "outcome", "error"),
    [
        (answer(400, body=b"invalid_payload"), "permanent", "answered 400"),
        (answer(403, body=b"action_prohibited"), "permanent", "answered 403"),
        (answer(404, body=b"no_service"), "permanent", "answered 404"),
        (answer(410, body=b"channel_is_archived"), "permanent", "answered 410"),
        (answer(429, {"Retry-After": "3"}), "passing", "answered 429 and asks to wait 3 s"),
        (answer(500), "passing", "answered 500"),
        (answer(body=b'{"ok":false,"error":"channel_not_found"}'), "permanent", "refused: channel_not_found"),
        (answer(body=b'{"ok":false,"error":"ratelimited"}'), "passing", "refused: ratelimited"),
        (answer(body=b'{"ok":true}'), "delivered", ""),
    ],
)
def test_slacks_answers(behaviour: Any, outcome: str, error: str) -> None:
    with run_receiver(usually=behaviour) as receiver:
        result = send(slack(receiver))
        assert (result.outcome, result.error[: len(error)]) == (outcome, error)


def test_slack_gets_news_of_runs() -> None:
    with run_receiver(usually=answer(body=b"ok")) as receiver:
        assert news(slack(receiver)).outcome == "delivered"
        posted = receiver.requests[0].json
        assert posted["text"] == ":x: Load test failed: checkout: p95&lt;300ms: was 412 ms"
        shown = "\n".join(texts(posted["blocks"]))
        assert "*Requests*\n12,000" in shown
        assert "<https://watch.example.org/runs/1|Open the run>" in shown


def test_the_target_shows_no_secret() -> None:
    with run_receiver() as receiver:
        assert target_of(slack(receiver)) == f"http://127.0.0.1:{receiver.port}/*** #ops"


# PagerDuty ------------------------------------------------------------------------------------------------------------


def pagerduty(receiver: Receiver, **more: Any) -> PagerDutyIntegration:
    return PagerDutyIntegration(
        id="pagerduty-0",
        send_resolved=True,
        routing_key=Secret("R0UT1NGKEY"),
        url=f"http://127.0.0.1:{receiver.port}/v2/enqueue",
        **more,
    )


def test_pagerduty_gets_an_incident_for_each_group() -> None:
    with run_receiver(usually=answer(202, body=b'{"status":"success"}')) as receiver:
        result = send(pagerduty(receiver))
        assert (result.outcome, result.status_code) == ("delivered", 202)
        event = receiver.requests[0].json
        assert event["event_action"] == "trigger"
        assert event["dedup_key"] == dedup_key('{}:{alertname="PoolWaits"}')
        assert event["payload"]["summary"] == "Requests wait for a connection"
        assert event["payload"]["severity"] == "critical"
        assert event["payload"]["source"] == "api"
        assert event["payload"]["timestamp"] == "2026-11-21T14:20:00.000Z"
        assert {"href": "https://docs.example.org/pool", "text": "Runbook of PoolWaits"} in event["links"]

        send(pagerduty(receiver), document={**document(), "loadwatch": {"acknowledged": True}})
        send(pagerduty(receiver), document=document(status="resolved"))
        actions = [request.json["event_action"] for request in receiver.requests]
        assert actions == ["trigger", "acknowledge", "resolve"]
        assert {request.json["dedup_key"] for request in receiver.requests} == {event["dedup_key"]}
        assert all(request.json["routing_key"] == "R0UT1NGKEY" for request in receiver.requests)


def test_pagerduty_events_are_within_its_limits() -> None:
    whole = many_alerts(2_000)
    whole["alerts"][0]["annotations"] = {"summary": "ü" * 5_000}
    with run_receiver(usually=answer(202)) as receiver:
        send(pagerduty(receiver), document=whole)
        event = receiver.requests[0].json
        assert len(event["payload"]["summary"]) == 1_024
        assert len(receiver.requests[0].body) < 512 * 1_024
        assert event["payload"]["custom_details"]["num_firing"] == "2000"


@pytest.mark.parametrize(("label", "severity"), [("warning", "warning"), ("page", "critical"), ("odd", "error")])
def test_severities_are_pagerdutys(label: str, severity: str) -> None:
    whole = document()
    whole["alerts"][0]["labels"] = {"alertname": "A", "severity": label}
    with run_receiver(usually=answer(202)) as receiver:
        send(pagerduty(receiver), document=whole)
        assert receiver.requests[0].json["payload"]["severity"] == severity


@pytest.mark.parametrize(("status", "outcome"), [(400, "permanent"), (429, "passing"), (500, "passing")])
def test_pagerdutys_answers(status: int, outcome: str) -> None:
    with run_receiver(usually=answer(status)) as receiver:
        assert send(pagerduty(receiver)).outcome == outcome


def test_a_test_opens_an_incident_of_no_weight_and_closes_it() -> None:
    with run_receiver(usually=answer(202)) as receiver:
        send(pagerduty(receiver), kind=EnvelopeKind.TEST)
        first, second = (request.json for request in receiver.requests)
        assert (first["event_action"], first["payload"]["severity"]) == ("trigger", "info")
        assert (second["event_action"], second["dedup_key"]) == ("resolve", first["dedup_key"])


def test_news_of_runs_are_change_events() -> None:
    with run_receiver(usually=answer(202)) as receiver:
        assert news(pagerduty(receiver)).outcome == "delivered"
        assert receiver.requests[0].path == "/v2/change/enqueue"
        assert receiver.requests[0].json["payload"]["custom_details"]["Requests"] == "12,000"


# Email ----------------------------------------------------------------------------------------------------------------


@dataclass
class Mailbox:
    """What a mail server took; `refuse` answers instead."""

    mails: list[Mail] = field(default_factory=list[Mail])
    recipients: list[list[str]] = field(default_factory=list[list[str]])
    users: list[str] = field(default_factory=list[str])
    encrypted: list[bool] = field(default_factory=list[bool])
    refuse_data: str = ""
    refuse_recipient: dict[str, str] = field(default_factory=dict[str, str])
    port: int = 0

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.refuse_recipient:
            return self.refuse_recipient[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        if self.refuse_data:
            return self.refuse_data
        content = envelope.content
        assert isinstance(content, bytes)
        self.mails.append(message_from_bytes(content, policy=policy))
        self.recipients.append(list(envelope.rcpt_tos))
        assert server.transport is not None
        self.encrypted.append(server.transport.get_extra_info("sslcontext") is not None)
        return "250 taken"

    def authenticate(self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.users.append(f"{mechanism} {data.login.decode()}")
        return AuthResult(success=data.password == b"pass", handled=False)


@contextmanager
def run_mail(tls: ssl.SSLContext | None = None, **options: Any) -> Generator[Mailbox]:
    """A mail server; `tls` is for connections that are encrypted from the start."""
    mailbox = Mailbox()
    given: dict[str, Any] = {"authenticator": mailbox.authenticate, "enable_SMTPUTF8": False, **options}

    async def start(loop: asyncio.AbstractEventLoop) -> asyncio.Server:
        return await loop.create_server(lambda: SMTP(mailbox, loop=loop, **given), "127.0.0.1", 0, ssl=tls)

    with serve(start) as port:
        mailbox.port = port
        yield mailbox


@contextmanager
def serve(start: Callable[[asyncio.AbstractEventLoop], Coroutine[Any, Any, asyncio.Server]]) -> Generator[int]:
    """Serve from a thread until the block ends; the port."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(start(loop))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:

        async def stop() -> None:
            server.close()
            others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(stop(), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def email(mailbox: Mailbox, **more: Any) -> EmailIntegration:
    given: dict[str, Any] = {
        "id": "email-0",
        "send_resolved": True,
        "to": ("Ops <ops@example.org>", "oncall@example.org"),
        "sender": "Loadwatch <watch@example.org>",
        "smarthost": HostPort("127.0.0.1", mailbox.port),
        "require_tls": False,
        **more,
    }
    return EmailIntegration(**given)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=mail.example.org",
    ]
    command += ["-addext", "subjectAltName=DNS:mail.example.org"]
    command += ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def served(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def texts_of(mail: Mail) -> list[str]:
    """The parts that are read: plain text, then HTML."""
    parts = [part for part in mail.walk() if not part.is_multipart()]
    return [part.get_content() for part in parts]


def test_a_mail_has_text_html_and_headers_that_make_a_thread() -> None:
    with run_mail() as mailbox:
        first = send(email(mailbox))
        assert (first.outcome, first.status_code, first.address) == ("delivered", 250, "127.0.0.1")
        send(email(mailbox), document=document(status="resolved"), subject="[RESOLVED] PoolWaits")
        one, two = mailbox.mails
        assert (one["Subject"], two["Subject"]) == ("[FIRING] PoolWaits", "[RESOLVED] PoolWaits")
        assert one["From"] == "Loadwatch <watch@example.org>"
        assert one["To"] == "Ops <ops@example.org>, oncall@example.org"
        assert mailbox.recipients[0] == ["ops@example.org", "oncall@example.org"]
        assert one["Message-ID"] != two["Message-ID"]
        assert one["References"] == two["References"]
        assert one["Message-ID"].startswith("<msg_")
        assert one["Date"]
        assert one["MIME-Version"] == "1.0"
        plain, html = texts_of(one)
        assert "[FIRING] Requests wait for a connection" in plain
        assert "Runbook: https://docs.example.org/pool" in plain
        assert '<a href="https://docs.example.org/pool">Runbook</a>' in html


def test_texts_of_a_mail_are_escaped_and_headers_cannot_be_broken() -> None:
    whole = document()
    whole["alerts"][0]["annotations"] = {"summary": "<script>alert(1)</script> ü 漢字"}
    with run_mail() as mailbox:
        result = send(email(mailbox), document=whole, subject="Evil\r\nBcc: all@example.org\r\n\r\nbody 漢字")
        assert result.outcome == "delivered"
        (mail,) = mailbox.mails
        assert mail["Bcc"] is None
        assert mail["Subject"] == "Evil Bcc: all@example.org body 漢字"
        plain, html = texts_of(mail)
        assert "漢字" in plain
        assert "<script>" not in html


def test_mail_over_starttls_with_a_password(certificate: Path) -> None:
    with run_mail(tls_context=served(certificate), auth_require_tls=True) as mailbox:
        tls = TlsConfig(ca_file=certificate / "cert.pem", server_name="mail.example.org")
        known = email(mailbox, tls=tls, require_tls=True, auth_username="watch", auth_password=Secret("pass"))
        assert send(known).outcome == "delivered"
        assert [user.partition(" ")[2] for user in mailbox.users] == ["watch"]
        assert mailbox.encrypted == [True]
        wrong = send(email(mailbox, tls=tls, auth_username="watch", auth_password=Secret("hunter22")))
        assert (wrong.outcome, wrong.status_code) == ("permanent", 535), wrong
        assert "hunter22" not in wrong.error + wrong.response
        untrusted = send(email(mailbox, require_tls=True))
        assert untrusted.error.startswith("the certificate is not to be trusted")


def test_mail_over_tls_from_the_start(certificate: Path) -> None:
    with run_mail(served(certificate)) as mailbox:
        tls = TlsConfig(ca_file=certificate / "cert.pem", server_name="mail.example.org")
        assert send(email(mailbox, tls=tls, implicit_tls=True, require_tls=True)).outcome == "delivered"
        assert mailbox.encrypted == [True]


def test_a_mail_is_not_sent_in_the_clear_unless_that_is_asked_for() -> None:
    with run_mail() as mailbox:
        result = send(email(mailbox, require_tls=True))
        assert (result.outcome, mailbox.mails) == ("passing", [])
        assert "offers no STARTTLS" in result.error


@pytest.mark.parametrize(
    ("said", "outcome"),
    [("451 later", "passing"), ("452 full", "passing"), ("550 no", "permanent"), ("554 spam", "permanent")],
)
def test_mail_servers_refuse_for_now_or_for_good(said: str, outcome: str) -> None:
    with run_mail() as mailbox:
        mailbox.refuse_data = said
        result = send(email(mailbox))
        assert (result.outcome, result.status_code) == (outcome, int(said[:3]))
        assert said in result.error


def test_recipients_that_are_refused() -> None:
    with run_mail() as mailbox:
        mailbox.refuse_recipient = {"ops@example.org": "550 unknown"}
        some = send(email(mailbox))
        assert (some.outcome, some.error) == ("delivered", "not taken for ops@example.org: 550 unknown")
        mailbox.refuse_recipient["oncall@example.org"] = "450 busy"
        assert send(email(mailbox)).outcome == "passing"
        mailbox.refuse_recipient["oncall@example.org"] = "550 unknown"
        assert send(email(mailbox)).outcome == "permanent"


def test_a_mail_server_at_a_forbidden_address_and_one_that_never_ends() -> None:
    with run_mail() as mailbox:
        assert "is loopback" in send(email(mailbox), networks=()).error
        assert mailbox.mails == []

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                writer.write(b"220-more\r\n" * 1_000)
                await writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            writer.close()

    async def start(loop: asyncio.AbstractEventLoop) -> asyncio.Server:
        return await asyncio.start_server(endless, "127.0.0.1", 0)

    with serve(start) as port:
        mailbox = Mailbox(port=port)
        result = send(email(mailbox, timeout_ms=60_000))
        assert (result.outcome, result.error) == ("passing", "the answer has no end")


# Texts from outside ---------------------------------------------------------------------------------------------------


FORGING = "up\n[RESOLVED] all is well\n@here [more](https://evil.example) <img src=x>\x1b[2J\u202e"


def forged() -> dict[str, Any]:
    whole = document()
    whole["alerts"] = whole["alerts"][:1]
    whole["alerts"][0]["labels"]["instance"] = FORGING
    whole["alerts"][0]["annotations"] = {"summary": FORGING, "description": f"of {FORGING}"}
    return whole


def test_labels_forge_no_lines_name_nobody_and_are_no_links_in_chats() -> None:
    with run_receiver(usually=answer(body=b"ok")) as receiver:
        assert send(slack(receiver), document=forged(), subject=FORGING).outcome == "delivered"
        [request] = receiver.requests
        said = json.dumps(request.json, ensure_ascii=False)
        assert "all is well" in said
        assert "@here" not in said
        assert "](" not in said
        assert "\n" not in request.json["text"]
        assert "\n" not in request.json["blocks"][0]["text"]["text"]


def test_labels_are_no_html_and_forge_no_lines_in_a_mail() -> None:
    with run_mail() as mailbox:
        result = send(email(mailbox), document=forged())
        assert result.outcome == "delivered", result
        parts = {part.get_content_type(): part.get_payload(decode=True) for part in mailbox.mails[0].walk()}
        page, plain = parts["text/html"], parts["text/plain"]
        assert isinstance(page, bytes)
        assert b"<img" not in page
        assert isinstance(plain, bytes)
        assert b"all is well" in plain
        assert not [line for line in plain.splitlines() if line.startswith(b"[RESOLVED]")]

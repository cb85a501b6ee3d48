"""Any of the services that the apprise library knows, each message in a process of its own (`apprise_child.py`)."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from loadwatch_backend.notify.nodes import Section
from loadwatch_backend.notify.secret import Secret
from loadwatch_backend.notify.senders.content import Content, chat_text, content_of, one_line, plain_text
from loadwatch_backend.notify.senders.http_config import HttpConfig
from loadwatch_backend.notify.senders.model import (
    AttemptOutcome,
    Integration,
    Message,
    Result,
    SendContext,
    Sender,
    SendRules,
    cut,
)
from loadwatch_backend.texts.words import Words

CHILD = "loadwatch_backend.notify.senders.apprise_child"
PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
"""Variables that the child gets. Not ours, which may be secrets, and no proxies, which would hide the address."""
BODY_LENGTH = 10_000
MOST_ALERTS = 20
OUTCOMES: Mapping[str, AttemptOutcome] = {
    "delivered": AttemptOutcome.DELIVERED,
    "passing": AttemptOutcome.PASSING,
    "permanent": AttemptOutcome.PERMANENT,
}
_INSTEAD = "use apprise_configs with the service's URL (https://github.com/caronc/apprise/wiki)"
_GLOBALS = (
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
)
"""Of services that Alertmanager has a sender for, and Loadwatch has not."""
_CONFIGS = (
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
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppriseIntegration(Integration):
    """Any service that the apprise library knows; `url` in its form (https://github.com/caronc/apprise/wiki)."""

    url: Secret


class AppriseSender(Sender[AppriseIntegration]):
    """One process at a time for each integration; it takes about half a second to start."""

    kind: ClassVar[str] = "apprise"
    title: ClassVar[Words] = Words("Apprise", "Apprise")
    rules: ClassVar[SendRules] = SendRules(parallel=1, timeout_seconds=30.0)
    unsupported_globals = dict.fromkeys(_GLOBALS, _INSTEAD)
    unsupported_configs = dict.fromkeys(_CONFIGS, _INSTEAD)

    def reader(self, common: Section, http: HttpConfig) -> Callable[[Section, str], AppriseIntegration]:
        """Nothing of `global`: the library makes its requests itself."""
        del common, http
        return _read_section

    def target(self, own: AppriseIntegration) -> str:
        """The service; everything behind it may be a secret."""
        return f"{own.url.reveal().partition('://')[0]}://***"

    def send(self, own: AppriseIntegration, message: Message, context: SendContext, seconds: float) -> Result:
        """Hand one message to the library."""
        content = content_of(message, own.language)
        job = {
            "url": own.url.reveal(),
            "title": cut(chat_text(one_line(content.title)), 250),
            "body": cut(chat_text(plain_text(content, MOST_ALERTS)), BODY_LENGTH),
            "type": _type(content),
            "networks": [str(network) for network in context.transport.dialer.policy.allowed],
            "seconds": seconds,
        }
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-m", CHILD],
                input=json.dumps(job).encode(),
                capture_output=True,
                timeout=seconds,
                env=environment | {"HOME": "/nonexistent"},
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Result(outcome=AttemptOutcome.PASSING, error="no answer within the time for one attempt")
        return _read(done)


def _read_section(section: Section, id: str) -> AppriseIntegration:
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


def _type(content: Content) -> str:
    if content.is_news:
        return {"passed": "success", "failed": "failure", "invalid": "warning"}.get(
            content.labels.get("verdict", ""), "info"
        )
    if not content.open:
        return "success"
    return "failure" if content.firing and content.severity in ("critical", "error") else "warning"


def _read(done: "subprocess.CompletedProcess[bytes]") -> Result:
    try:
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return Result(
            outcome=OUTCOMES[answer["outcome"]], error=str(answer["error"]), address=str(answer.get("address", ""))
        )
    except (ValueError, KeyError, IndexError, TypeError):
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        error = f"apprise ended with status {done.returncode}" + (f": {cut(said[-1], 300)}" if said else "")
        return Result(outcome=AttemptOutcome.PASSING, error=error)

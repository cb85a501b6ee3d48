"""Any of the services that the apprise library knows, each message in a process of its own (`apprise_child.py`)."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, ClassVar

from loadwatch_backend.notify.file.model import AppriseIntegration, Integration, IntegrationKind
from loadwatch_backend.notify.senders.content import Content, content_of, plain_text
from loadwatch_backend.notify.senders.model import Message, Outcome, Result, SendContext, SendRules, cut

CHILD = "loadwatch_backend.notify.senders.apprise_child"
PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
"""Variables that the child gets. Not ours, which may be secrets, and no proxies, which would hide the address."""
BODY_LENGTH = 10_000
MOST_ALERTS = 20
OUTCOMES: Mapping[str, Outcome] = {
    "delivered": Outcome.DELIVERED,
    "passing": Outcome.PASSING,
    "permanent": Outcome.PERMANENT,
}


class AppriseSender:
    """One process at a time for each integration; it takes about half a second to start."""

    kind: ClassVar[IntegrationKind] = IntegrationKind.APPRISE
    rules: ClassVar[SendRules] = SendRules(parallel=1, timeout_seconds=30.0)

    def target(self, integration: Integration) -> str:
        """The service; everything behind it may be a secret."""
        return f"{_own(integration).url.reveal().partition('://')[0]}://***"

    def send(self, integration: Integration, message: Message, context: SendContext, seconds: float) -> Result:
        """Hand one message to the library."""
        content = content_of(message, integration.language)
        job = {
            "url": _own(integration).url.reveal(),
            "title": cut(content.title, 250),
            "body": cut(plain_text(content, MOST_ALERTS), BODY_LENGTH),
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
            return Result(outcome=Outcome.PASSING, error="no answer within the time for one attempt")
        return _read(done)


def _own(integration: Integration) -> AppriseIntegration:
    assert isinstance(integration, AppriseIntegration)
    return integration


def _type(content: Content) -> str:
    if content.is_news:
        return {"passed": "success", "failed": "failure", "invalid": "warning"}.get(
            content.labels.get("verdict", ""), "info"
        )
    if not content.firing:
        return "success"
    return "failure" if content.severity in ("critical", "error") else "warning"


def _read(done: "subprocess.CompletedProcess[bytes]") -> Result:
    try:
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return Result(
            outcome=OUTCOMES[answer["outcome"]], error=str(answer["error"]), address=str(answer.get("address", ""))
        )
    except (ValueError, KeyError, IndexError, TypeError):
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        error = f"apprise ended with status {done.returncode}" + (f": {cut(said[-1], 300)}" if said else "")
        return Result(outcome=Outcome.PASSING, error=error)

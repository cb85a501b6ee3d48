"""What a message says of an alert's finding, and of its run."""

from collections.abc import Mapping
from typing import Any

from loadwatch_backend.alerting.notify.model import EnvelopeKind
from loadwatch_backend.alerting.notify.senders.content import Content, content_of, plain_text
from loadwatch_backend.alerting.notify.senders.model import Message
from loadwatch_backend.alerting.notify.senders.pagerduty import PagerDutyIntegration, alert_event
from loadwatch_backend.alerting.notify.senders.slack import SlackIntegration, render
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.secret import Secret

FINDING = {"finding": "The pool of 5 <ran> out.", "finding_id": "pool-exhausted", "finding_certainty": "likely"}
SAID = "What ran out: The pool of 5 <ran> out. (likely)"


def content(
    annotations: Mapping[str, str] | None = None,
    *,
    status: str = "firing",
    language: Language = Language.EN,
    labels: Mapping[str, str] | None = None,
) -> Content:
    alert: dict[str, Any] = {
        "status": status,
        "labels": {"alertname": "PoolWaits", **(labels or {})},
        "annotations": {"summary": "Waits", **(annotations or {})},
    }
    document: dict[str, Any] = {
        "status": status,
        "commonLabels": alert["labels"] if labels else {},
        "commonAnnotations": alert["annotations"] if labels else {},
        "alerts": [alert],
        "externalURL": "",
        "groupKey": "g",
    }
    message = Message(
        id="1",
        kind=EnvelopeKind.ALERT,
        receiver="team",
        subject="Waits",
        document=document,
        body=b"",
        order_key="o",
        created_ms=0,
    )
    return content_of(message, language)


def test_what_ran_out_is_said_while_the_alert_fires():
    assert content(FINDING).alerts[0].finding == SAID
    assert content(FINDING, status="resolved").alerts[0].finding == ""
    assert content().alerts[0].finding == ""
    assert content({"finding": "My own words."}).alerts[0].finding == "What ran out: My own words."
    japanese = content(FINDING, language=Language.JA).alerts[0].finding
    assert japanese == "尽きたもの: The pool of 5 <ran> out.（可能性が高い）"


def test_every_kind_of_message_has_it():
    found = content(FINDING)
    assert SAID in plain_text(found)
    slack = SlackIntegration(id="s", send_resolved=True, api_url=Secret("http://127.0.0.1/"))
    blocks = str(render(slack, found)["blocks"])
    assert "What ran out: The pool of 5 &lt;ran&gt; out. (likely)" in blocks
    pager = PagerDutyIntegration(id="p", send_resolved=True, routing_key=Secret("k"))
    details = alert_event(pager, found)["payload"]["custom_details"]
    assert details["finding"] == SAID
    assert SAID in details["firing"]
    assert "finding" not in alert_event(pager, content())["payload"]["custom_details"]


def test_people_read_the_name_of_a_run_and_not_its_id():
    run = content({"run_name": "Ten instances"}, labels={"run": "20261128-091834-me4p"})
    slack = SlackIntegration(id="s", send_resolved=True, api_url=Secret("http://127.0.0.1/"))
    pager = PagerDutyIntegration(id="p", send_resolved=True, routing_key=Secret("k"))
    details = alert_event(pager, run)["payload"]["custom_details"]
    for text in (plain_text(run), str(render(slack, run)["blocks"]), str(details)):
        assert "Ten instances" in text
        assert "me4p" not in text

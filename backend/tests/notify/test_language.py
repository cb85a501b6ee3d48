"""Messages in the language of their receiver, from the rule's annotations to what people read."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from loadwatch_backend.alerting.notify.file.configuration import parse_configuration
from loadwatch_backend.alerting.notify.model import Notice, NoticeKind, NoticeText
from loadwatch_backend.alerting.notify.outbox.service import trial_envelope
from loadwatch_backend.alerting.notify.record import ConfigurationError
from loadwatch_backend.alerting.notify.senders.model import Integration
from loadwatch_backend.alerting.notify.senders.slack import SlackIntegration
from loadwatch_backend.core.language import Language, in_language, translations_of
from loadwatch_backend.core.secret import Secret

from backend.tests.notify.desk import Desk, firing
from backend.tests.notify.receiving import answer, run_receiver
from backend.tests.notify.test_senders import send, texts

ROUTES = """
route:
  receiver: world
  group_wait: 0s
  routes:
    - {receiver: osaka, matchers: ['site="osaka"'], continue: true}
    - {receiver: world}
receivers:
  - name: world
    webhook_configs: [{url: 'https://hooks.example.org/w'}]
  - name: osaka
    language: ja
    webhook_configs: [{url: 'https://hooks.example.org/o'}]
loadwatch:
  run_notices: [{receiver: world}, {receiver: osaka}]
"""
ANNOTATIONS = {
    "summary": "requests wait",
    "description": "all connections are in use",
    "loadwatch_summary_ja": "接続待ちが発生",
    "loadwatch_runbook_url_ja": "https://watch.example.org/runbooks/pool-waits?lang=ja",
    "runbook_url": "https://watch.example.org/runbooks/pool-waits",
}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path, ROUTES)
    yield made
    made.close()


def test_annotations_in_a_language() -> None:
    assert in_language(ANNOTATIONS, Language.EN) == {
        name: text for name, text in ANNOTATIONS.items() if not name.startswith("loadwatch_")
    }
    assert in_language(ANNOTATIONS, Language.JA) == {
        "summary": "接続待ちが発生",
        "description": "all connections are in use",
        "runbook_url": "https://watch.example.org/runbooks/pool-waits?lang=ja",
    }
    assert translations_of({"summary": "a"}) == {}
    assert translations_of(ANNOTATIONS)[Language.JA].keys() == {"summary", "runbook_url"}


def test_each_receiver_is_told_in_its_own(desk: Desk) -> None:
    alert = replace(firing(desk, "a", site="osaka"), annotations=ANNOTATIONS)
    desk.take(alert)
    sent = {one.receiver: one.document["alerts"][0]["annotations"] for one in desk.sent()}
    assert sent == {"world": in_language(ANNOTATIONS, Language.EN), "osaka": in_language(ANNOTATIONS, Language.JA)}


def test_runs_are_told_in_it_too(desk: Desk) -> None:
    text = {
        Language.EN: NoticeText(title="Load test started", text=""),
        Language.JA: NoticeText(title="負荷試験を開始", text=""),
    }
    notice = Notice(key="run-1", kind=NoticeKind.RUN_STARTED, at_ms=desk.now_ms, texts=text, url="", labels={})
    told = {one.receiver: one.document["title"] for one in desk.dispatcher.notices(notice)}
    assert told == {"world": "Load test started", "osaka": "負荷試験を開始"}


def test_the_file_names_languages() -> None:
    def languages(text: str) -> dict[str, set[Language]]:
        receivers = parse_configuration(text, "n.yml").receivers
        return {name: {one.language for one in receiver.integrations} for name, receiver in receivers.items()}

    assert languages(ROUTES) == {"world": {Language.EN}, "osaka": {Language.JA}}
    assert languages("global: {language: ja}\n" + ROUTES) == {"world": {Language.JA}, "osaka": {Language.JA}}
    with pytest.raises(ConfigurationError, match="language must be one of en, ja"):
        languages(ROUTES.replace("ja", "fr"))


def test_what_people_read() -> None:
    with run_receiver(usually=answer(body=b"ok")) as receiver:
        integration = SlackIntegration(
            id="slack-0", send_resolved=True, api_url=Secret(f"{receiver.url}/T0/B0/x"), language=Language.JA
        )
        assert send(integration).outcome == "delivered"
        shown = "\n".join(texts(receiver.requests[0].json["blocks"]))
    assert "|手順書>" in shown
    assert "2026-11-21 14:20:00 UTC から" in shown
    assert not re.search(r"Runbook|since|Open", shown)


def test_a_test_message_is_in_it() -> None:
    integration = Integration(id="webhook-0", send_resolved=True, language=Language.JA)
    assert "テスト" in trial_envelope("osaka", integration, "", 0).subject

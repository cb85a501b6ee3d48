import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from loadwatch_backend.alerting.notify.file.configuration import (
    BUILT_IN_RECEIVER,
    ConfigurationFile,
    parse_configuration,
    read_configuration,
)
from loadwatch_backend.alerting.notify.file.model import unreadable_secrets
from loadwatch_backend.alerting.notify.model import NoticeKind
from loadwatch_backend.alerting.notify.record import ConfigurationError
from loadwatch_backend.alerting.notify.senders.email import EmailIntegration
from loadwatch_backend.alerting.notify.senders.pagerduty import PagerDutyIntegration
from loadwatch_backend.alerting.notify.senders.slack import SlackIntegration
from loadwatch_backend.alerting.notify.senders.webhook import WebhookIntegration, configured_headers
from loadwatch_backend.core.secret import Secret, SecretError
from structlog.testing import capture_logs

FULL = """
global:
  resolve_timeout: 5m
  smtp_smarthost: 'mail.example.org:587'
  smtp_from: watch@example.org
  smtp_auth_username: watch
  smtp_auth_password: hidden-smtp
  slack_api_url: 'https://hooks.slack.com/services/T/B/hidden-slack'
  pagerduty_url: 'https://events.eu.pagerduty.com/v2/enqueue'
  http_config:
    tls_config: {insecure_skip_verify: true}
route:
  receiver: team
  group_by: [alertname, cluster]
  group_wait: 10s
  routes:
  - receiver: pager
    matchers: [severity="page"]
    active_time_intervals: [office]
receivers:
- name: team
  slack_configs:
  - channel: '#load'
    send_resolved: true
  email_configs:
  - to: 'a@example.org, b@example.org'
    headers: {X-Team: load}
- name: pager
  pagerduty_configs:
  - routing_key: hidden-key
    severity: critical
  webhook_configs:
  - url: 'https://hook.example.org/hidden-path'
    max_alerts: 5
    timeout: 3s
    http_config:
      authorization: {credentials: hidden-token}
  - url_file: hook.url
    send_resolved: false
inhibit_rules:
- source_matchers: [severity="page"]
  target_match: {severity: warn}
  equal: [cluster]
time_intervals:
- name: office
  time_intervals:
  - weekdays: ['monday:friday']
    times: [{start_time: 08:30, end_time: '18:00'}]
    location: Europe/Berlin
"""

NEWER_THAN_AMTOOL = ("    timeout: 3s\n", "  - url_file: hook.url\n    send_resolved: false\n")
"""Debian's amtool is 0.25."""
OURS = """
loadwatch:
  run_notices:
  - {receiver: team, events: [finished], matchers: [verdict="failed"]}
  - {receiver: pager}
"""


def minimal(receiver: str = "", rest: str = "") -> str:
    return f"route: {{receiver: a}}\nreceivers:\n- name: a\n{receiver}{rest}"


def test_everything_that_alertmanager_has_and_we_support() -> None:
    configuration = parse_configuration(FULL, "/etc/loadwatch/notifications.yml")
    slack, mail = configuration.receivers["team"].integrations
    assert isinstance(slack, SlackIntegration)
    assert (slack.id, slack.channel, slack.send_resolved) == ("slack-0", "#load", True)
    assert slack.api_url.reveal().endswith("hidden-slack")
    assert isinstance(mail, EmailIntegration)
    assert (mail.to, mail.smarthost) == (("a@example.org", "b@example.org"), ("mail.example.org", 587))
    assert (mail.sender, mail.headers, mail.send_resolved) == ("watch@example.org", {"X-Team": "load"}, False)
    first, second, pager = configuration.receivers["pager"].integrations
    assert isinstance(pager, PagerDutyIntegration)
    assert (pager.url, pager.severity) == ("https://events.eu.pagerduty.com/v2/enqueue", "critical")
    assert isinstance(first, WebhookIntegration)
    assert (first.id, first.max_alerts, first.timeout_ms) == ("webhook-0", 5, 3_000)
    assert first.http.authorization is not None
    assert not first.http.tls.insecure_skip_verify
    assert isinstance(second, WebhookIntegration)
    assert (second.url.path, second.http.tls.insecure_skip_verify) == (Path("/etc/loadwatch/hook.url"), True)
    assert configuration.time_intervals["office"].lines == (
        "weekdays: monday:friday; times: 08:30-18:00; location: Europe/Berlin",
    )


def test_our_own_keys() -> None:
    configuration = parse_configuration(FULL + OURS, "n.yml")
    finished, both = configuration.notices
    assert finished.events == (NoticeKind.RUN_FINISHED,)
    assert [str(one) for one in finished.matchers] == ['verdict="failed"']
    assert both.events == (NoticeKind.RUN_STARTED, NoticeKind.RUN_FINISHED)


def test_several_signing_secrets_while_one_replaces_another() -> None:
    hook = "  webhook_configs: [{url: 'https://h.example.org', signing_secret: [whsec_new, whsec_old]}]\n"
    (made,) = parse_configuration(minimal(hook), "n.yml").receivers["a"].integrations
    assert isinstance(made, WebhookIntegration)
    assert [secret.reveal() for secret in made.signing_secrets] == ["whsec_new", "whsec_old"]


@pytest.mark.parametrize("config", ["{bearer_token: t}", "{authorization: {credentials: t}}"])
def test_a_token_is_sent_as_bearer(config: str) -> None:
    hook = f"  webhook_configs: [{{url: 'https://h.example.org', http_config: {config}}}]\n"
    (made,) = parse_configuration(minimal(hook), "n.yml").receivers["a"].integrations
    assert configured_headers(made.http) == {"Authorization": "Bearer t"}


def test_no_secret_is_in_any_text_of_the_configuration() -> None:
    assert "hidden" not in repr(parse_configuration(FULL, "n.yml"))
    assert "hidden" not in str(Secret("hidden"))


def test_amtool_accepts_what_we_accept(tmp_path: Path) -> None:
    amtool = shutil.which("amtool")
    assert amtool, "apt-get install prometheus-alertmanager"
    known = FULL
    for newer in NEWER_THAN_AMTOOL:
        known = known.replace(newer, "")
    (tmp_path / "n.yml").write_text(known)
    done = subprocess.run([amtool, "check-config", str(tmp_path / "n.yml")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "the file is empty"),
        ("- a", 1, "must be a mapping"),
        ("route: [", 1, "not YAML"),
        ("route: {receiver: a}\nreceivers: []\n", 1, "there are no receivers"),
        ("receivers: [{name: a}]\n", 1, "there is no route"),
        (minimal(rest="rout: {}\n"), 4, "unknown key 'rout' in the file; did you mean 'route'?"),
        (minimal(rest="templates: [a.tmpl]\n"), 4, "templates are not supported"),
        (minimal(rest="tracing: {}\n"), 4, "does not support tracing"),
        (minimal(rest="global: {opsgenie_api_key: x}\n"), 4, "use email_configs"),
        (minimal(rest="global: {smtp_smarthost: mail}\n"), 4, "must be host:port"),
        (minimal(rest=f"global: {{smtp_smarthost: 'mail:{'1' * 5_000}'}}\n"), 4, "must be host:port"),
        (minimal(rest="global: {http_config: {proxy_url: 'http://p'}}\n"), 4, "connect directly"),
        (minimal("- name: a\n"), 4, "two receivers of the name 'a'"),
        (minimal("  discord_configs: []\n"), 4, "use slack_configs"),
        (minimal("  webhook_configs:\n  - max_alerts: 1\n"), 5, "need a url or a url_file"),
        (minimal("  webhook_configs:\n  - url: 'ftp://secret'\n"), 5, "must be a whole URL"),
        (minimal("  webhook_configs:\n  - {url: 'https://h', url_file: f}\n"), 5, "not both"),
        (minimal("  webhook_configs:\n  - {url: 'https://h/{{ .x }}'}\n"), 5, "holds a template"),
        (minimal("  webhook_configs:\n  - {url: 'https://h', send_resolved: maybe}\n"), 5, "must be true or false"),
        (minimal("  webhook_configs:\n  - {url: 'https://h', max_alerts: -1}\n"), 5, "a whole number"),
        (minimal(f"  webhook_configs:\n  - {{url: 'https://h', max_alerts: {'1' * 5_000}}}\n"), 5, "a whole number"),
        (
            minimal(rest=f"time_intervals: [{{name: a, time_intervals: [{{years: ['{'1' * 5_000}']}}]}}]\n"),
            4,
            "is no year",
        ),
        (minimal("  webhook_configs:\n  - {url: 'https://h', timeout: 5}\n"), 5, "is not a duration"),
        (minimal("  webhook_configs:\n  - {url: 'https://h', http_config: {follow_redirects: on}}\n"), 5, "never"),
        (minimal("  slack_configs:\n  - channel: '#a'\n"), 5, "need an api_url"),
        (minimal("  slack_configs:\n  - {api_url: 'https://h', title: x}\n"), 5, "writes the message itself"),
        (minimal("  pagerduty_configs:\n  - {routing_key: k, severity: page}\n"), 5, "critical, error, warning, info"),
        (minimal("  pagerduty_configs:\n  - service_key: x\n"), 5, "use routing_key"),
        (minimal("  email_configs:\n  - to: a@b.c\n"), 5, "need from, here or as smtp_from"),
        (minimal("  email_configs:\n  - {to: a@b.c, from: d@e.f}\n"), 5, "need smarthost"),
        (minimal("  apprise_configs: [{url: 'ntfy://t'}]\n"), 4, "or webhook_configs with a bridge"),
        (minimal(rest="loadwatch: {run_notices: [{receiver: b}]}\n"), 4, "no receiver of the name 'b'"),
        (minimal(rest="loadwatch: {run_notices: [{receiver: a, events: [over]}]}\n"), 4, "started, finished"),
        (minimal(rest="route: {receiver: a}\n"), 4, "'route' is given twice in this mapping; the first is in line 1"),
        ("route:\n  receiver: a\n  routes:\n  - matchers: ['a=~\"(\"']\nreceivers: [{name: a}]\n", 4, "is not valid"),
        ("route:\n  receiver: b\nreceivers: [{name: a}]\n", 2, "no receiver of the name 'b'"),
        ("route:\n  receiver: tean\nreceivers: [{name: team}]\n", 2, "did you mean 'team'?"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_configuration(text, "n.yml")
    assert words in caught.value.text
    assert caught.value.line == line
    assert str(caught.value).startswith(f"n.yml:{line}: ")


@pytest.mark.parametrize("where", ["url: secret-url", "url: 'https://[secret'", "url: *secret", "url: 'secret\n"])
def test_an_error_shows_no_secret(where: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_configuration(minimal(f"  webhook_configs:\n  - {where}\n"), "n.yml")
    assert "secret" not in str(caught.value).replace("undefined alias 'secret'", "")


def test_anchors_and_merged_mappings() -> None:
    text = minimal("  webhook_configs:\n  - &h {url: 'https://h', max_alerts: 3}\n  - {<<: *h, max_alerts: 4}\n")
    first, second = parse_configuration(text, "n.yml").receivers["a"].integrations
    assert (first.max_alerts, second.max_alerts) == (3, 4)


def test_a_secret_in_a_file_is_read_at_each_use(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    secret = Secret(path=path)
    with pytest.raises(SecretError, match="cannot read"):
        secret.reveal()
    path.write_text("one\n")
    assert secret.reveal() == "one"
    path.write_text(" two ")
    assert secret.reveal() == "two"
    path.write_text("\n")
    with pytest.raises(SecretError, match="is empty"):
        secret.reveal()


def test_secrets_that_cannot_be_read_are_named() -> None:
    (reason,) = unreadable_secrets(parse_configuration(FULL, "/nowhere/n.yml"))
    assert "receiver 'pager', webhook-1" in reason


# The file in force ----------------------------------------------------------------------------------------------------


def test_without_a_file_there_is_the_page_alone() -> None:
    file = ConfigurationFile(None, lambda: 5)
    assert file.current.receivers[BUILT_IN_RECEIVER].integrations == ()
    assert file.reload().error == ""


def test_a_broken_file_at_the_start_is_said_loudly_and_the_built_in_one_is_in_force(tmp_path: Path) -> None:
    path = tmp_path / "n.yml"
    path.write_text("route: {}\n")
    with capture_logs() as logs:
        file = ConfigurationFile(path, lambda: 5)
    assert file.current.root.receiver == BUILT_IN_RECEIVER
    assert file.in_force.error
    assert [entry["log_level"] for entry in logs] == ["error"]
    assert "nobody is told" in logs[0]["in_force"]


def test_a_broken_file_keeps_the_old_configuration_until_it_is_right(tmp_path: Path) -> None:
    path = tmp_path / "n.yml"
    path.write_text(minimal())
    file = ConfigurationFile(path, lambda: 5)
    changes: list[str] = []
    file.subscribe(lambda: changes.append(file.current.digest))
    before = file.current
    path.write_text(minimal() + "nonsense: 1\n")
    assert (file.reload().line, file.current) == (4, before)
    assert file.reload().line == 4
    path.unlink()
    assert "cannot be read" in file.reload().error
    path.write_text(minimal())
    assert file.reload().error == ""
    path.write_text(minimal("  webhook_configs: [{url: 'https://h'}]\n"))
    file.reload()
    assert len(file.current.receivers["a"].integrations) == 1
    assert changes[-1] == file.current.digest != before.digest


def test_a_change_is_seen_without_being_told(tmp_path: Path) -> None:
    path = tmp_path / "n.yml"
    path.write_text(minimal())
    file = ConfigurationFile(path, lambda: 5)
    with file.watch():
        new = tmp_path / "new"
        new.write_text("route: {receiver: b}\nreceivers: [{name: b}]\n")
        os.replace(new, path)
        for _ in range(2_400):
            if "b" in file.current.receivers:
                break
            time.sleep(0.05)
        assert "b" in file.current.receivers


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "n.yml").write_bytes(b"route:\n  receiver: \xff\n")
    with pytest.raises(ConfigurationError, match=r"n\.yml:2: byte 0xff is not UTF-8"):
        read_configuration(tmp_path / "n.yml")

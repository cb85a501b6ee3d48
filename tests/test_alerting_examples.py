"""The example files of alerting: read by us and by the tools of Prometheus and Alertmanager, and routed as they say."""

import subprocess
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from loadwatch_backend.alerting.notify.file.configuration import read_configuration
from loadwatch_backend.alerting.notify.model import NoticeKind
from loadwatch_backend.alerting.notify.routing.routing import match_routes
from loadwatch_backend.app.commands.rules import rules as rules_command

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "alerting"
NOTIFICATIONS = FOLDER / "notifications.yml"
SHOP = {"job": "shop", "instance": "app-1"}


def test_amtool_accepts_what_is_alertmanagers(tmp_path: Path):
    document = yaml.safe_load(NOTIFICATIONS.read_text(encoding="utf-8"))
    del document["loadwatch"]
    for receiver in document["receivers"]:
        for webhook in receiver.get("webhook_configs", []):
            webhook.pop("signing_secret_file", None)
        # Alertmanager knows this key since 0.26; the tool that is packaged may be older.
        for pager in receiver.get("pagerduty_configs", []):
            pager["routing_key"] = pager.pop("routing_key_file")
    file = tmp_path / "alertmanager.yml"
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    done = subprocess.run(["amtool", "check-config", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        ({"alertname": "DatabaseConnectionsRefused", "severity": "critical"}, "pager"),
        ({"alertname": "PoolWaits", "severity": "warning"}, "team-chat"),
        ({"alertname": "DatabaseRestarted", "severity": "info"}, "page-only"),
        ({"alertname": "DatabaseConnectionsRefused", "severity": "critical", "run": "20261121-1"}, "load-tests"),
        ({"alertname": "PoolWaits", "severity": "warning", "run": "20261121-1"}, "load-tests"),
    ],
)
def test_alerts_go_where_the_comments_say(labels: dict[str, str], receiver: str):
    routes = match_routes(read_configuration(NOTIFICATIONS).root, labels | SHOP)
    assert [route.receiver for route in routes] == [receiver]


def test_no_secret_stands_in_the_file():
    assert "Secret(***)" not in repr(
        [
            integration
            for receiver in read_configuration(NOTIFICATIONS).receivers.values()
            for integration in receiver.integrations
            if integration.id != "webhook-0"  # whose address is none; its signing secret is a file
        ]
    )


def test_run_notices_reach_the_team():
    notices = read_configuration(NOTIFICATIONS).notices
    assert [(one.receiver, tuple(one.events)) for one in notices] == [
        ("load-tests", (NoticeKind.RUN_STARTED, NoticeKind.RUN_FINISHED)),
        ("team-chat", (NoticeKind.RUN_FINISHED,)),
    ]


def test_our_own_command_accepts_rules():
    done = CliRunner().invoke(rules_command, ["check", str(FOLDER / "rules.yml")])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    "arguments", [("check", "rules", "rules.yml"), ("test", "rules", "rules.test.yml")], ids=" ".join
)
def test_promtool_accepts_rules_and_their_test(arguments: tuple[str, ...]):
    done = subprocess.run(["promtool", *arguments], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

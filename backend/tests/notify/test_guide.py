"""The examples of the guide are what they say."""

import re
from pathlib import Path

from click.testing import CliRunner
from loadwatch_backend.alerting.notify.file.configuration import parse_configuration
from loadwatch_backend.app.commands.routes import routes

GUIDE = (Path(__file__).parents[3] / "docs" / "guide" / "notifications.md").read_text()
CONSOLE = re.compile(r"^\$ loadwatch routes (.*)\n((?:(?!\$).*\n)*)", re.MULTILINE)


def test_the_example_and_the_answers_of_the_commands(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    for name in ("slack.url", "pagerduty.key", "hook.secret"):
        (secrets / name).write_text("https://hooks.slack.com/services/x")
    example = example.replace("/etc/loadwatch", str(secrets))
    assert parse_configuration(example, "notifications.yml").receivers["quiet"].integrations == ()
    (tmp_path / "notifications.yml").write_text(example)
    (console,) = re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL)
    asked = CONSOLE.findall(console)
    assert len(asked) == console.count("$ ") > 1
    for command, answer in asked:
        arguments = [str(tmp_path / word) if word == "notifications.yml" else word for word in command.split()]
        result = CliRunner().invoke(routes, arguments)
        assert result.output.replace(f"{tmp_path}/", "") == answer

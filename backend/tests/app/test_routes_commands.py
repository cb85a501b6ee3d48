from pathlib import Path

from click.testing import CliRunner
from loadwatch_backend.app.commands.routes import routes

FILE = """route:
  receiver: team
  routes:
  - {receiver: pager, continue: true, matchers: [severity=page]}
  - {receiver: night, matchers: [severity=~"page|warn"]}
receivers: [{name: team}, {name: pager, webhook_configs: [{url_file: gone}]}, {name: night}, {name: spare}]
"""


def test_check_counts_what_is_there_and_warns(tmp_path: Path) -> None:
    path = tmp_path / "n.yml"
    path.write_text(FILE)
    result = CliRunner().invoke(routes, ["check", str(path)])
    assert result.exit_code == 0
    assert "4 receivers, 1 integration, 3 routes" in result.stdout
    assert "without a route: spare" in result.stdout
    assert "receiver 'pager', webhook-0: cannot read the secret's file" in result.stderr


def test_check_says_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "n.yml"
    path.write_text(FILE.replace("receiver: night", "receiver: nihgt"))
    result = CliRunner().invoke(routes, ["check", str(path)])
    assert result.exit_code == 1
    assert f"{path}:5: there is no receiver of the name 'nihgt'; did you mean 'night'?" in result.stderr


def test_test_prints_the_receivers(tmp_path: Path) -> None:
    path = tmp_path / "n.yml"
    path.write_text(FILE)

    def ask(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(routes, ["test", *arguments])
        return result.exit_code, result.stdout

    assert ask(str(path), "severity=page") == (0, "pager,night\n")
    assert ask(str(path), "severity=warn") == (0, "night\n")
    assert ask(str(path)) == (0, "team\n")
    assert ask("--verify-receivers", "team", str(path), "a=b=c") == (0, "team\n")
    assert ask("--verify.receivers=pager", str(path)) == (1, "team\n")
    assert ask(str(path), "severity")[0] == 2

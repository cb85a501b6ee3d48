import pytest
from click.testing import CliRunner
from loadwatch_backend.app.commands.digest import group
from loadwatch_backend.app.commands.digest.group import COMMANDS, digest


def test_every_command_is_there_under_its_name() -> None:
    listed = CliRunner().invoke(digest, ["--help"]).output
    for name, (_, text) in COMMANDS.items():
        assert f"\n  {name}" in listed
        assert text.split()[0] in listed
        assert CliRunner().invoke(digest, [name, "--help"]).exit_code == 0


def test_a_command_whose_libraries_are_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group, "COMMANDS", {"profile": ("no_such_library.here:profile", "Profiles.")})
    result = CliRunner().invoke(digest, ["profile"])
    assert result.exit_code == 1
    assert (
        "`loadwatch digest profile` needs libraries that are not installed (no_such_library); "
        'pip install "loadwatch[server]"' in result.output
    )
    assert "Profiles." in CliRunner().invoke(digest, ["--help"]).output


def test_another_name_is_refused() -> None:
    assert CliRunner().invoke(digest, ["everything"]).exit_code == 2

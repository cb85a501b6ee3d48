from pathlib import Path

import pytest
from loadwatch_backend.core.settings import Settings, SettingsError, known_variables, load_settings, unknown_variables


def test_settings_come_from_the_environment_and_the_command_line_wins(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LOADWATCH_LISTEN", "[::1]:9000")
    monkeypatch.setenv("LOADWATCH_ALLOWED_HOSTS", "a.example, b.example")
    monkeypatch.setenv("LOADWATCH_RETENTION_DAYS", "0.5")
    settings = load_settings()
    assert (settings.listen.host, settings.listen.port) == ("::1", 9000)
    assert settings.allowed_hosts == ("a.example", "b.example")
    assert settings.retention_ms == 12 * 3_600_000
    assert load_settings(listen="127.0.0.1:1").listen.port == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("LISTEN", "8000"), ("RETENTION_DAYS", "-1"), ("LOG_FORMAT", "xml"), ("STORE_SERIES_LIMIT", "many")],
)
def test_a_wrong_value_names_its_variable(monkeypatch: pytest.MonkeyPatch, name: str, value: str):
    monkeypatch.setenv(f"LOADWATCH_{name}", value)
    with pytest.raises(SettingsError, match=f"LOADWATCH_{name}: "):
        load_settings()


def test_an_unknown_variable_is_told_with_the_one_that_was_meant():
    told = unknown_variables({"LOADWATCH_LISTN": "x", "LOADWATCH_TOKEN": "agent's", "PATH": "/", "LOADWATCH_DATA": "d"})
    assert told == ["LOADWATCH_LISTN is not a setting; did you mean LOADWATCH_LISTEN?"]


def test_removed_settings_are_named_in_one_sentence():
    removed = {"LOADWATCH_FLAP_HOLD_SECONDS": "0", "LOADWATCH_STORE_HEAD_BYTES": "1", "LOADWATCH_LISTEN": "x"}
    (told,) = unknown_variables(removed)
    assert told.startswith("LOADWATCH_FLAP_HOLD_SECONDS, LOADWATCH_STORE_HEAD_BYTES: no settings any more")
    assert len(Settings.model_fields) <= 55


def test_a_secret_stands_in_its_variable_or_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    file = tmp_path / "secret"
    monkeypatch.setenv("LOADWATCH_STORE_TOKEN_FILE", str(file))
    with pytest.raises(SettingsError, match=f"LOADWATCH_STORE_TOKEN_FILE: cannot read the secret's file {file}"):
        load_settings()
    file.write_text("hunter2\n")
    settings = load_settings()
    assert settings.store_token is not None
    assert (settings.store_token.reveal(), "hunter2" in repr(settings)) == ("hunter2", False)
    monkeypatch.setenv("LOADWATCH_STORE_TOKEN", "another")
    with pytest.raises(SettingsError, match="LOADWATCH_STORE_TOKEN and LOADWATCH_STORE_TOKEN_FILE are both set"):
        load_settings()


def test_every_setting_has_a_description():
    undescribed = [name for name, info in Settings.model_fields.items() if not info.description]
    assert undescribed == []
    assert known_variables() >= {"LOADWATCH_TOKEN_FILE", "LOADWATCH_HEARTBEAT_URL_FILE"}


def test_a_password_does_not_show():
    settings = Settings.model_validate({"database_url": "mysql+pymysql://u:hunter2@h/d"})
    assert "hunter2" not in repr(settings)
    assert settings.relational_url == "mysql+pymysql://u:hunter2@h/d"

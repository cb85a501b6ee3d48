import pytest
from loadwatch_backend.kit.settings import Settings, SettingsError, known_variables, load_settings, unknown_variables


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


def test_every_setting_has_a_description():
    undescribed = [name for name, info in Settings.model_fields.items() if not info.description]
    assert undescribed == []
    assert "LOADWATCH_TOKEN_FILE" in known_variables()


def test_a_password_does_not_show():
    settings = Settings.model_validate({"database_url": "mysql+pymysql://u:hunter2@h/d"})
    assert "hunter2" not in repr(settings)
    assert settings.relational_url == "mysql+pymysql://u:hunter2@h/d"

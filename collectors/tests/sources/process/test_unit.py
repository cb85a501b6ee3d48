import stat
from pathlib import Path

import pytest
from loadwatch_collectors.sources.process import collector as unit
from loadwatch_collectors.sources.process.collector import UnitLimits, ask_systemd, parse_unit_limits

ANSWER = "LimitNOFILE=524288\nLimitNOFILESoft=1024\n"


def test_limits_of_a_unit() -> None:
    assert parse_unit_limits(ANSWER) == {"hard": 524_288, "soft": 1024}
    assert parse_unit_limits("LimitNOFILE=infinity\nLimitNOFILESoft=[not set]\n") == {"hard": float("inf")}
    assert parse_unit_limits("Failed to connect to bus") == {}


def test_systemd_is_asked_once_a_minute_and_for_a_few_units() -> None:
    asked: list[str] = []
    now = [0.0]

    def ask(name: str) -> str:
        asked.append(name)
        return ANSWER

    limits = UnitLimits(ask, lambda: now[0])
    first = list(limits.read(["app.service", "", "app.service"]))
    assert [(one.name, one.value, dict(one.labels)) for one in first] == [
        ("process_unit_max_fds", 524_288, {"unit": "app.service", "bound": "hard"}),
        ("process_unit_max_fds", 1024, {"unit": "app.service", "bound": "soft"}),
    ]
    now[0] = 59
    assert list(limits.read(["app.service"])) == first
    assert asked == ["app.service"]
    now[0] = 60
    assert list(limits.read(["app.service"])) == first
    assert asked == ["app.service"] * 2
    assert len(list(limits.read(f"{number}.service" for number in range(100)))) == 16


def test_a_unit_that_systemd_does_not_know_has_no_limit() -> None:
    assert list(UnitLimits(lambda _: "", lambda: 0.0).read(["app.service"])) == []


def program(folder: Path, text: str) -> None:
    """A stand-in for systemctl; this host may have no systemd."""
    path = folder / "systemctl"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_systemctl_is_asked_where_systemd_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(unit, "_BOOTED", tmp_path)
    program(tmp_path, 'echo LimitNOFILE=7; echo "$@" >&2; echo "asked=$*"')
    answer = ask_systemd("-app.service")
    assert parse_unit_limits(answer) == {"hard": 7}
    assert "asked=show --property=LimitNOFILESoft --property=LimitNOFILE -- -app.service" in answer
    monkeypatch.setattr(unit, "_DEADLINE_SECONDS", 0.2)
    program(tmp_path, "exec sleep 60")
    assert ask_systemd("app.service") == ""
    (tmp_path / "systemctl").unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ask_systemd("app.service") == ""


def test_without_systemd_nothing_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(unit, "_BOOTED", tmp_path / "none")
    program(tmp_path, "echo LimitNOFILE=7")
    assert ask_systemd("app.service") == ""

"""`make demo` tells whom LOADWATCH_NOTIFICATIONS names, and takes nothing else of the caller's own Loadwatch."""

from pathlib import Path

import httpx
import pytest

from examples.rig.loadwatch import notification_settings, running_server
from tests.ports import free_port

FILE = """
route: {receiver: my-hook}
receivers:
  - name: my-hook
    webhook_configs: [{url: http://127.0.0.1:9/hook}]
"""


def test_the_demos_server_has_the_callers_receivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.yml").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    settings = notification_settings(
        {
            "LOADWATCH_NOTIFICATIONS": "own.yml",
            "LOADWATCH_NOTIFY_NETWORKS": "127.0.0.0/8",
            "LOADWATCH_DATABASE_URL": "mysql://elsewhere/own",
        }
    )
    assert settings == {
        "LOADWATCH_NOTIFICATIONS": str(tmp_path / "own.yml"),
        "LOADWATCH_NOTIFY_NETWORKS": "127.0.0.0/8",
    }
    with running_server(tmp_path / "loadwatch", listen=f"127.0.0.1:{free_port()}", settings=settings) as loadwatch:
        receivers = httpx.get(f"{loadwatch.url}/alertmanager/api/v2/receivers", timeout=120).raise_for_status().json()
    assert receivers == [{"name": "my-hook"}]


def test_without_the_setting_nobody_is_told() -> None:
    assert notification_settings({"LOADWATCH_TOKEN_FILE": "/etc/loadwatch/tokens.json", "HOME": "/root"}) == {}

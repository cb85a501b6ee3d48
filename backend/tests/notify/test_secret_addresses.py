"""The path of a webhook's address is often its only secret: nobody reads it here, whatever the receiver answers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backend.tests.access.people import town
from backend.tests.notify.receiving import answer, run_receiver

PATHS = ("/hooks/abc", "/services/T0/B0/longandsecretword", "/q?key=abcd&sign=zz9")
FILE = """\
route: {{receiver: team}}
receivers:
  - name: team
    webhook_configs: [{{url: "{url}{path}"}}]
  - name: pages
    pagerduty_configs: [{{routing_key: abcdefgh, url: "https://events.example{path}"}}]
"""


def echo(path: str) -> bytes:
    return f"The requested URL {path} was not found on this server: {path.partition('?')[0]}".encode()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("status", [404, 302, 200])
def test_no_answer_shows_the_path(start_server: Callable[..., Any], tmp_path: Path, path: str, status: int):
    moved = {"Location": f"https://elsewhere.example/hook{path}"} if status == 302 else {}
    file = tmp_path / "notify.yml"
    with run_receiver(usually=answer(status, moved, echo("/hook" + path))) as receiver:
        file.write_text(FILE.format(url=receiver.url, path=path))
        settings = {"notifications": file, "notify_networks": ("127.0.0.0/8",), "default_rules": False}
        with town(start_server, tmp_path / "data", **settings) as people:
            editor, viewer = people.signed_in("ed"), people.signed_in("vi")
            seen = ""
            tried = editor.post("/api/receivers/team/test")
            assert tried.status_code == 200, tried.text
            seen += tried.text
            for read in ("/api/receivers", "/api/routes", "/api/deliveries"):
                seen += viewer.get(read).text
            for one in viewer.get("/api/deliveries").json()["deliveries"]:
                seen += viewer.get(f"/api/deliveries/{one['id']}").text
            assert f"http://127.0.0.1:{receiver.port}/***" in seen
            assert "https://events.example/***" in seen
            assert {request.path for request in receiver.requests} == {"/hook" + path}
            words = [word for word in path.replace("?", "/").replace("&", "/").split("/") if word]
            for secret in ("/hook", path, *(word for word in words if "=" in word)):
                assert secret not in seen, secret

"""A real nginx with TLS before a real server: people, agents and live pages come through it, over https alone."""

import http.client
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.alerting import wait_for
from tests.ports import free_port
from tests.serving import LOADWATCH, RealServer

PASSWORD = "four random words here"
CONFIGURATION = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; events {{ worker_connections 256; }}
http {{
  access_log off; client_max_body_size 64m;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} ssl; ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
    location / {{
      proxy_pass {server}; proxy_http_version 1.1; proxy_buffering off; proxy_set_header Connection "";
      proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }}
  }}
}}
"""


@dataclass
class Front:
    """The proxy's address, and the server behind it."""

    url: str
    server: RealServer
    folder: Path
    stack: ExitStack

    def client(self, address: str = "127.0.0.1") -> httpx.Client:
        """A browser at an address of this machine that trusts the proxy's certificate."""
        trusting = ssl.create_default_context(cafile=str(self.folder / "cert.pem"))
        transport = httpx.HTTPTransport(verify=trusting, local_address=address)
        headers = {"origin": self.url}
        return self.stack.enter_context(
            httpx.Client(base_url=self.url, transport=transport, headers=headers, timeout=60)
        )

    def command(self, *arguments: str, words: str = "") -> str:
        """What a command beside the server prints."""
        done = subprocess.run(
            [LOADWATCH, *arguments, "--data", self.server.data], input=words, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    folder, port = tmp_path_factory.mktemp("front"), free_port()
    url = f"https://127.0.0.1:{port}"
    subprocess.run(
        (
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1"
            " -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem"
        ).split(),
        cwd=folder,
        check=True,
        capture_output=True,
    )
    settings = {
        "LOADWATCH_ACCESS": "users",
        "LOADWATCH_EXTERNAL_URL": url,
        "LOADWATCH_PROXY_NETWORKS": "127.0.0.1",
    }
    server = RealServer(folder, settings)
    server.start()
    (folder / "nginx.conf").write_text(CONFIGURATION.format(folder=folder, port=port, server=server.url))
    program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    assert program is not None, "nginx is not installed"
    nginx = subprocess.Popen([program, "-c", folder / "nginx.conf", "-p", folder])
    with ExitStack() as stack:
        front = Front(url, server, folder, stack)
        front.command("user", "create", "--role", "admin", "--name", "ann", words=f"{PASSWORD}\n")
        visitor = front.client()
        wait_for("the proxy answers", lambda: visitor.get("/-/ready").status_code == 200)
        yield front
    nginx.terminate()
    nginx.wait(60)
    server.stop()


def test_people_sign_in_over_https_alone(front: Front) -> None:
    browser = front.client("127.0.0.7")
    signed_in = browser.post("/api/session/password", json={"name": "ann", "password": PASSWORD})
    assert signed_in.status_code == 200, signed_in.text
    [cookie] = [one for one in browser.cookies.jar if "session" in one.name]
    assert cookie.name.startswith("__Host-")
    assert cookie.secure
    assert browser.get("/api/session").json()["principal"]["name"] == "ann"
    note = {"text": "x", "start_ms": 1}
    assert browser.post("/api/annotations", json=note).status_code == 201
    assert browser.post("/api/annotations", json=note, headers={"origin": "https://evil.example"}).status_code == 403
    # Who asked is who came to the proxy.
    logins = browser.get("/api/audit", params={"action": "session.login"}).json()["entries"]
    assert {entry["address"] for entry in logins} == {"127.0.0.7"}


def test_a_live_page_hears_what_an_agent_sends(front: Front, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(front.command("token", "create", "--role", "agent", "--name", "web"))
    config = tmp_path / "loadwatch.yml"
    config.write_text(
        f"server: {{url: '{front.url}', ca_file: '{front.folder / 'cert.pem'}', token_file: '{tmp_path / 'token'}'}}\n"
        f"interval: 500ms\nspool: {{directory: '{tmp_path / 'spool'}'}}\ntargets: [{{job: host, host: {{}}}}]\n"
    )
    browser = front.client()
    browser.post("/api/session/password", json={"name": "ann", "password": PASSWORD}).raise_for_status()
    agent = subprocess.Popen([LOADWATCH, "agent", "--config", config], env={"PATH": ""})
    try:
        with browser.stream("GET", "/api/live") as stream:
            assert stream.status_code == 200
            assert any("newest_ms" in line for line in stream.iter_lines())
        wait_for("its target", lambda: browser.get("/api/targets").json()["targets"] != [])
    finally:
        agent.terminate()
        agent.wait(60)


def test_a_connection_outlives_a_pause_between_two_requests(front: Front) -> None:
    """uvicorn's own 5 s are shorter than what proxies and clients keep, whose next request then fails."""
    reading = http.client.HTTPConnection("127.0.0.1", front.server.port, timeout=60)
    reading.request("GET", "/prometheus/-/healthy")
    reading.getresponse().read()
    connection = reading.sock
    time.sleep(7)
    reading.request("GET", "/prometheus/-/healthy")
    reading.getresponse().read()
    assert reading.sock is connection
    reading.close()

"""A real nginx that serves anything, with the log formats that people use."""

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

FORMATS = {
    "combined": """'$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent '
        '"$http_referer" "$http_user_agent" $request_time'""",
    "ltsv": """'time:$time_iso8601\\thost:$remote_addr\\tmethod:$request_method\\turi:$request_uri\\tstatus:$status\\t'
        'size:$body_bytes_sent\\treqtime:$request_time\\tapptime:$upstream_response_time\\tua:$http_user_agent'""",
    "json": """escape=json '{"time":"$time_iso8601","method":"$request_method","uri":"$request_uri",'
        '"status":$status,"size":$body_bytes_sent,"request_time":$request_time,"ua":"$http_user_agent"}'""",
}
_CONFIGURATION = """
daemon off; master_process on; worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
  log_format form {form};
  access_log {folder}/access.log form{options};
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  keepalive_requests 1000000;
  server {{
    listen 127.0.0.1:{port};
    location / {{ return 200 "served\\n"; }}
    location /missing {{ return 404; }}
    location /unchanged {{ return 304; }}
    location /broken {{ return 502; }}
  }}
}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nginx:
    """A server that runs; its log is `access.log` in the folder."""

    folder: Path
    url: str
    process: "subprocess.Popen[bytes]"

    @property
    def log(self) -> Path:
        """What it writes."""
        return self.folder / "access.log"

    def reopen(self) -> None:
        """Have it open its log anew, as logrotate does after it renamed the file."""
        subprocess.run([_nginx(), "-c", f"{self.folder}/nginx.conf", "-s", "reopen"], check=True, capture_output=True)


def _nginx() -> str:
    found = shutil.which("nginx") or "/usr/sbin/nginx"
    assert Path(found).exists(), "nginx is not here; scripts/apt-install.sh nginx-light"
    return found


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def start_nginx(tmp_path: Path) -> Iterator[Callable[..., Nginx]]:
    started: list[Nginx] = []

    def start(form: str, options: str = "") -> Nginx:
        folder = tmp_path / f"nginx-{len(started)}"
        folder.mkdir()
        port = _free_port()
        text = _CONFIGURATION.format(folder=folder, form=FORMATS[form], port=port, options=options)
        (folder / "nginx.conf").write_text(text)
        process = subprocess.Popen(
            [_nginx(), "-c", f"{folder}/nginx.conf", "-e", f"{folder}/error.log"], stderr=subprocess.DEVNULL
        )
        started.append(Nginx(folder=folder, url=f"http://127.0.0.1:{port}", process=process))
        for _ in range(200):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
                return started[-1]
            time.sleep(0.05)
        raise AssertionError((folder / "error.log").read_text())

    yield start
    for one in started:
        one.process.terminate()
        one.process.wait(60)

"""A real nginx with a page of stub_status, ended by its own process."""

import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.ports import free_port

_CONFIGURATION = """
daemon off; worker_processes {workers}; pid {folder}/nginx.pid; error_log {folder}/error.log;
include {folder}/main.d/*.conf; # worker_connections 7;
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    location = /stub_status {{ stub_status; }}
    location / {{ return 200 "served; }}\\n"; }}
  }}
}}
"""


@dataclass(frozen=True, slots=True)
class Nginx:
    """A server that runs, and its folder."""

    folder: Path
    port: int
    process: "subprocess.Popen[bytes]"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/stub_status"

    @contextmanager
    def flooded(self) -> Generator[None]:
        """By clients that begin a request and do not end it, one after the other, also beyond what it takes."""
        ended = threading.Event()
        thread = threading.Thread(target=self._flood, args=(ended,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(60)

    def _flood(self, ended: threading.Event) -> None:
        held: list[socket.socket] = []
        while not ended.wait(0.01):
            client = socket.create_connection(("127.0.0.1", self.port))
            try:
                client.sendall(b"GET /")
                client.settimeout(0.02)
                client.recv(1)
            except TimeoutError:
                held.append(client)
                continue
            except OSError:
                pass
            client.close()
        for one in held:
            one.close()


def write_connections(folder: Path, connections: int) -> None:
    """In a file that the configuration includes; it holds from the next start of workers on."""
    (folder / "main.d" / "events.conf").write_text(f"events {{ worker_connections {connections}; }}\n")


@contextmanager
def running_nginx(folder: Path, *, workers: int = 1, connections: int = 512) -> Generator[Nginx]:
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    assert Path(program).exists(), "nginx is not here; scripts/apt-install.sh nginx-light"
    (folder / "main.d").mkdir(parents=True)
    port = free_port()
    (folder / "nginx.conf").write_text(_CONFIGURATION.format(folder=folder, port=port, workers=workers))
    write_connections(folder, connections)
    command = [program, "-c", f"{folder}/nginx.conf", "-e", f"{folder}/error.log"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(400):
                with suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
                    break
                time.sleep(0.05)
            else:
                raise AssertionError((folder / "error.log").read_text())
            yield Nginx(folder, port, process)
        finally:
            process.terminate()

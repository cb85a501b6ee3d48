"""Writes nginx.tsv and apache.tsv beside this file: what the real programs log of requests whose truth they tell.

`python -m tests.fuzz.real.capture NGINX APACHE MODULES`: the programs, and the folder of Apache's modules. A column for
each variable, as the program writes it in any format of its default escaping. Both stand before one slow application.
"""

import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

REQUESTS = 200
HERE = Path(__file__).parent
NGINX = (
    "remote_addr remote_user time_local request status body_bytes_sent http_referer http_user_agent request_time"
    " upstream_response_time upstream_connect_time upstream_header_time upstream_addr upstream_status request_length"
    " gzip_ratio msec connection connection_requests pid request_id bytes_sent host http_x_forwarded_for"
    " upstream_cache_status ssl_protocol time_iso8601 upstream_response_length"
).split()
APACHE = (
    "%h %l %u %t %r %>s %b %{Referer}i %{User-Agent}i %D %T %{ms}T %P %{tid}P %I %O %X %k %v %V %p %L %B %s %a %{Host}i"
    " %{X-Request-Time}o %{UNIQUE_ID}e"
).split()
AGENTS = ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36", "curl/8.5.0", 'odd "agent" 1.250', "")


class Application(BaseHTTPRequestHandler):
    """Takes as long as the query says."""

    def do_GET(self) -> None:
        took, status = [*self.path.partition("?")[2].split("&"), "200"][:2]
        time.sleep(float(took or 0))
        text = b"" if status == "304" else b"some words that come again " * random.Random(self.path).randrange(1, 300)
        self.send_response(int(status))
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        del format, args


def ask(port: int) -> None:
    """Requests by chance, some side by side."""
    chance = random.Random(7)
    requests: list[urllib.request.Request] = []
    for number in range(REQUESTS):
        took = chance.choice((0, chance.expovariate(100), chance.expovariate(20)))
        status = chance.choice((200, 200, 200, 200, 201, 304, 404, 500))
        path = chance.choice((f"/users/{number}", "/", "/search", f"/posts/a-{number}", "/static/app.js"))
        headers = {"User-Agent": chance.choice(AGENTS), "Accept-Encoding": chance.choice(("gzip", "identity"))}
        if chance.random() < 0.3:
            headers["Referer"] = "https://shop.example/cart?step=2"
        requests.append(urllib.request.Request(f"http://127.0.0.1:{port}{path}?{took:.4f}&{status}", headers=headers))

    def send(request: urllib.request.Request) -> None:
        with suppress(urllib.error.HTTPError), urllib.request.urlopen(request, timeout=20) as answer:
            answer.read()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(send, requests))


def wait(port: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/ready?0", timeout=2).close()
            return
        time.sleep(0.1)
    raise SystemExit("it does not answer")


def nginx(program: str, folder: Path, backend: int, dead: int, port: int) -> subprocess.Popen[bytes]:
    fields = "\\t".join(f"${name}" for name in NGINX)
    (folder / "nginx.conf").write_text(
        f"daemon off; worker_processes 2; pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
        f"http {{ log_format all '{fields}'; access_log {folder}/nginx.tsv all; gzip on; gzip_types text/plain;\n"
        f"gzip_proxied any; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path\n"
        f"{folder}/c; uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;\n"
        f"upstream app {{ server 127.0.0.1:{dead} max_fails=0; server 127.0.0.1:{backend} weight=3; }}\n"
        f"server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://app; }}\n"
        "location /static/ { return 200 'static'; } } }\n"
    )
    return subprocess.Popen([program, "-c", folder / "nginx.conf", "-p", folder])


def apache(program: str, folder: Path, backend: int, port: int, modules: str) -> subprocess.Popen[bytes]:
    fields = "\\t".join(field.replace('"', '\\"') for field in APACHE)
    loaded = "mpm_event authz_core proxy proxy_http unique_id".split()
    (folder / "apache.conf").write_text(
        "".join(f"LoadModule {name}_module {modules}/mod_{name}.so\n" for name in loaded)
        + f"ServerRoot {folder}\nServerName shop.example\nPidFile {folder}/apache.pid\nListen 127.0.0.1:{port}\n"
        f'ErrorLog {folder}/apache-error.log\nLogFormat "{fields}" all\nCustomLog {folder}/apache.tsv all\n'
        f"ProxyPass / http://127.0.0.1:{backend}/\n"
    )
    return subprocess.Popen([program, "-DFOREGROUND", "-f", folder / "apache.conf"])


def main(nginx_program: str, apache_program: str, modules: str) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Application)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    backend = server.server_address[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for started, port in (
            (nginx(nginx_program, folder, backend, 1, 18_181), 18_181),
            (apache(apache_program, folder, backend, 18_182, modules), 18_182),
        ):
            try:
                wait(port)
                ask(port)
                time.sleep(1)
            finally:
                started.terminate()
                started.wait(20)
        for stem, fields in (("nginx", NGINX), ("apache", APACHE)):
            lines = (folder / f"{stem}.tsv").read_text("latin-1").splitlines()
            whole = [line for line in lines if line.count("\t") == len(fields) - 1 and "/ready" not in line]
            assert len(whole) == REQUESTS, (stem, len(whole))
            text = "\n".join(["\t".join(fields), *whole]) + "\n"
            (HERE / f"{stem}.tsv").write_text(text, "latin-1")


if __name__ == "__main__":
    main(*sys.argv[1:])

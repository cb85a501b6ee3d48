"""nginx by its page stub_status, and by the configuration of its master process how many connections it may have.

While a worker has no connection left it closes new ones at once and takes back idle ones. So ours is never idle: see
`HttpPage`.
"""

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from glob import glob
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

from loadwatch_collectors.collector import Collector, Sample, Source, address_of
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.settings import option
from loadwatch_collectors.sources.process.search import find_ports
from loadwatch_collectors.sources.procfs import command_line, list_pids, read_or_empty, socket_inodes
from loadwatch_collectors.transport.http_page import HttpPage, HttpSettings

STATUS = re.compile(
    r"Active connections: (\d+) *\nserver accepts handled requests(?: request_time)?\n (\d+) (\d+) (\d+)[ \d]*\n"
    r"Reading: (\d+) Writing: (\d+) Waiting: (\d+)"
)
_NAMES = (
    *("nginx_connections_active", "nginx_connections_accepted", "nginx_connections_handled"),
    *("nginx_http_requests_total", "nginx_connections_reading", "nginx_connections_writing"),
    "nginx_connections_waiting",
)
_MASTER, _WORKER = "nginx: master process", "nginx: worker process"
_FILES = ("/etc/nginx/nginx.conf", "/usr/local/nginx/conf/nginx.conf", "/usr/local/etc/nginx/nginx.conf")
"""Where the configuration is compiled to be: Debian and most others, nginx's own default, FreeBSD and Homebrew."""
_USUAL_CONNECTIONS = 512
_RESCAN_SECONDS = 10.0
_MOST_FILES = 64
_MOST_BYTES = 256 * 1024
_TOKEN = re.compile(r"#[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[{};]|[^\s{};]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class NginxSettings(HttpSettings):
    """The page of ngx_http_stub_status_module."""

    url: str = option(help="Address of the page.", metavar="http://127.0.0.1:8080/stub_status")
    proc: str = option(help="Where the host's /proc is mounted.", default="/proc")


class NginxCollector(Collector):
    def __init__(self, settings: NginxSettings) -> None:
        self._page = HttpPage(settings, held=True)
        parts = urlsplit(settings.url)
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._local = settings.address == address_of("localhost", self._port)
        self._proc = Path(settings.proc)
        self._looked = float("-inf")
        self._workers: list[int] = []
        self._limit: float | None = None

    def collect(self) -> Sequence[Sample]:
        page = self._page.get(accept="text/plain")
        found = STATUS.match(page.body.decode("ascii", "replace"))
        if found is None:
            raise CollectorError(
                f"GET {page.url}: this is no page of stub_status ({page.excerpt()}); "
                "url must lead to a location with `stub_status;`"
            )
        if self._local and time.monotonic() >= self._looked + _RESCAN_SECONDS:
            self._look()
            self._looked = time.monotonic()
        limit = [] if self._limit is None else [Sample("nginx_connections_limit", self._limit)]
        values = zip(_NAMES, found.groups(), strict=True)
        return [Sample("nginx_up", 1.0), *(Sample(name, float(value)) for name, value in values), *limit]

    def close(self) -> None:
        self._page.close()

    def _look(self) -> None:
        """Read the configuration again once the workers are others: only new workers run with it."""
        master = find_master(self._proc, self._port)
        workers = [] if master is None else find_workers(self._proc, master)
        if workers != self._workers:
            each = None if master is None else read_connections(self._proc, master)
            self._limit = float(len(workers) * each) if workers and each else None
            self._workers = workers


def find_master(proc: Path, port: int) -> int | None:
    """The master process that listens on the port; of hidden ones the only one; None where that is unclear."""
    masters = [pid for pid in list_pids(proc) if command_line(proc / str(pid)).startswith(_MASTER)]
    listening = [pid for pid in masters if port in find_ports(proc, pid)]
    hidden = [pid for pid in masters if socket_inodes(proc / str(pid) / "fd") is None]
    return listening[0] if listening else hidden[0] if len(masters) == len(hidden) == 1 else None


def find_workers(proc: Path, master: int) -> list[int]:
    """Its workers, without those that are shutting down."""
    workers = [pid for pid in list_pids(proc) if command_line(proc / str(pid)) == _WORKER]
    stats = ((pid, read_or_empty(proc / str(pid) / "stat").rpartition(")")[2].split()) for pid in workers)
    return [pid for pid, fields in stats if fields[1:2] == [str(master)]]


def read_connections(proc: Path, master: int) -> int | None:
    """`worker_connections` in the configuration that the master was started with; None where it cannot be read."""
    folder = proc / str(master)
    words = command_line(folder).split()
    options = {name: value for name, value in pairwise(words) if name in ("-c", "-p")}
    root = folder / "root"
    if not (root / "etc").is_dir():
        # Another user's: its files are ours, unless it is in a container, where it has a second number.
        numbers = re.search(r"^NSpid:(.*)$", read_or_empty(folder / "status"), re.MULTILINE)
        if numbers is None or len(numbers[1].split()) > 1:
            return None
        root = Path("/")
    named = [str(Path(options.get("-p", ""), options["-c"]))] if "-c" in options else list(_FILES)
    for name in named:
        file = root / name.lstrip("/")
        if name.startswith("/") and file.is_file():
            return next(_connections(file, root, file.parent, [], [_MOST_FILES]), _USUAL_CONNECTIONS)
    return None


def _connections(file: Path, root: Path, folder: Path, blocks: list[str], left: list[int]) -> Iterator[int]:
    """Each value of `worker_connections`, in this file and those that it includes."""
    words: list[str] = []
    for token in _TOKEN.findall(_read(file, left)):
        if token.startswith("#"):
            continue
        if token not in ("{", "}", ";"):
            words.append(token.strip("\"'"))
            continue
        match token, words:
            case "{", _:
                blocks = [*blocks, *(words or [""])[:1]]
            case "}", _:
                blocks = blocks[:-1]
            case _, ["worker_connections", number] if blocks == ["events"] and number.isdecimal():
                yield int(number)
            case _, ["include", pattern] if blocks in ([], ["events"]):
                base = root if pattern.startswith("/") else folder
                for name in sorted(glob(pattern.lstrip("/"), root_dir=base)):
                    yield from _connections(base / name, root, folder, blocks, left)
            case _:
                pass
        words = []


def _read(file: Path, left: list[int]) -> str:
    left[0] -= 1
    try:
        with file.open("rb") as opened:
            return opened.read(_MOST_BYTES).decode("utf-8", "replace") if left[0] >= 0 else ""
    except OSError:
        return ""


NGINX = Source(
    name="nginx",
    help="nginx: connections, requests, and how many connections it may have.",
    settings=NginxSettings,
    build=NginxCollector,
    packs=("nginx",),
)

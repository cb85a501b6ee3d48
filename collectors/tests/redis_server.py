"""A real Redis for tests: its own folder and port, ended by its pid."""

import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis

from tests.ports import free_port


@dataclass
class RedisServer:
    """A server that runs; after `stop` and `start` its data is gone."""

    folder: Path
    options: str
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    def client(self, **options: Any) -> Any:
        return redis.Redis(port=self.port, **options)

    def start(self) -> None:
        options = f"--port {self.port} --bind 127.0.0.1 --dir {self.folder} {self.options}"
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(["redis-server", *options.split(), "--save", ""], stdout=log, stderr=log)
        give_up = time.monotonic() + 60
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), 5).close()
            except OSError:
                assert time.monotonic() < give_up, (self.folder / "log").read_text(errors="replace")[-3000:]
                assert self.process.poll() is None, (self.folder / "log").read_text(errors="replace")[-3000:]
                time.sleep(0.02)

    def signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def own_redis(options: str = "") -> Generator[RedisServer]:
    """A server with settings of its own, such as `--maxclients 3`."""
    with tempfile.TemporaryDirectory(prefix="lw-redis-") as folder:
        server = RedisServer(folder=Path(folder), options=options)
        try:
            server.start()
            yield server
        finally:
            server.stop()

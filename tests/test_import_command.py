"""`loadwatch import` against a real server."""

import signal
import subprocess
import time
from pathlib import Path

from backend.tests.runs.sending import vegeta_csv
from tests.serving import LOADWATCH, RealServer


def test_ctrl_c_cancels_the_import(tmp_path: Path) -> None:
    source = tmp_path / "results.csv"
    source.write_bytes(vegeta_csv(1_700_000_000_000, rate=40_000))
    server = RealServer(tmp_path)
    server.start()
    try:
        command = subprocess.Popen(
            [LOADWATCH, "import", "--server", server.url, str(source)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        imports = server.data / "imports"
        deadline = time.monotonic() + 120
        while not list(imports.glob("*/files/.import-*")):
            assert command.poll() is None, command.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        command.send_signal(signal.SIGINT)
        said, _ = command.communicate(timeout=120)
        assert (command.returncode != 0, said) == (True, b"")
        while list(imports.iterdir()):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert not list((server.data / "runs").glob("*"))
    finally:
        server.stop()

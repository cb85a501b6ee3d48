"""The measuring server of `examples/measuring-server`, built and run."""

import re
import shutil
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import urllib3

from examples.rig.database import Database
from examples.rig.processes import ManagedProcess, RigError, wait_until

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
BINARY = BUILD / "measuring-server"
LOAD_BINARY = BUILD / "measuring-load"

_LAST_LINE = re.compile(r"stopped: (accepted=\d+ stored=\d+ failed=\d+ rejected=\d+)")


def build_application() -> None:
    """Build the measuring server and its load generator as `make build-measuring-server` does.

    Raises:
        RigError: Go is missing or the build failed.
    """
    go = shutil.which("go")
    if go is None:
        raise RigError("go is missing: the measuring server needs Go 1.24 or newer in PATH")
    BUILD.mkdir(exist_ok=True)
    done = subprocess.run(
        # Without the revision: asking git for it fails in a checkout that another user owns.
        [go, "build", "-trimpath", "-buildvcs=false", "-o", f"{BUILD}/", ".", "./measuring-load"],
        cwd=ROOT / "examples" / "measuring-server",
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RigError(f"the measuring server does not build:\n{done.stdout}{done.stderr}")


@contextmanager
def running_application(
    folder: Path,
    *,
    name: str,
    flags: Sequence[str],
    port: int,
    database: Database,
    environment: Mapping[str, str] | None = None,
) -> Generator[ManagedProcess]:
    """The measuring server with these flags, until the block ends; the end lets it store what it holds."""
    command = [BINARY, f"-listen=127.0.0.1:{port}", "-stop-timeout=60s", "-log-stats=10s", *flags]
    # The data source name holds a password, which a command line would show to everybody.
    full = {"MEASURING_SERVER_DSN": database.app_dsn, **(environment or {})}
    log = folder / f"measuring-server-{name}.log"
    log.unlink(missing_ok=True)
    with ManagedProcess("measuring server", command, log=log, environment=full, stop_seconds=130) as process:
        wait_until("the measuring server", lambda: _healthy(port), seconds=40, process=process)
        yield process


def _healthy(port: int) -> bool:
    try:
        return urllib3.request("GET", f"http://127.0.0.1:{port}/healthz", retries=False, timeout=2.0).status == 200
    except urllib3.exceptions.HTTPError:
        return False


def final_counts(log: Path) -> str:
    """The counts of the server's last line, as "accepted=9 stored=9 failed=0 rejected=0"; empty without such a line."""
    found = _LAST_LINE.findall(log.read_text(encoding="utf-8", errors="replace"))
    return found[-1] if found else ""

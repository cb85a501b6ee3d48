"""A process that looks like Loadwatch's server to who looks for one by its command line."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def server_stand_in(folder: Path) -> Generator[None]:
    """Run it until the block ends.

    Other tests' servers come and go on this host. With this one there is always one, so that none of them can be
    found at one moment, and be missed at the next.
    """
    program = folder / "loadwatch"
    program.write_text("import sys\nsys.stdin.read()\n")
    with subprocess.Popen([sys.executable, str(program), "server"], stdin=subprocess.PIPE) as process:
        try:
            yield
        finally:
            process.kill()

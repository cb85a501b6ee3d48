"""A server that is killed in the middle of its migration starts again, on every database.

By default a spread of the moments; `LOADWATCH_EVERY_KILL=1` takes all of them, from each earlier revision.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from loadwatch_backend.core.database.migrate import revisions

from backend.tests.databases import DATABASES, make_database

EVERY = bool(os.environ.get("LOADWATCH_EVERY_KILL"))
REVISIONS = revisions()
FROM = ["", *REVISIONS[:-1]] if EVERY else ["", REVISIONS[0]]
STRIDE = 1 if EVERY else 13


@pytest.mark.parametrize("revision", FROM)
@pytest.mark.parametrize("kind", DATABASES)
def test_it_goes_on_after_a_kill(kind: str, revision: str, tmp_path: Path):
    arguments = [make_database(kind, tmp_path), make_database(kind, tmp_path), revision, str(STRIDE)]
    done = subprocess.run(
        [sys.executable, "-m", "backend.tests.store.migration_kills", *arguments],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    kills = json.loads(done.stdout.splitlines()[-1])
    assert sum(kills.values()) >= 3
    if EVERY:
        sys.stdout.write(f"{kind} {revision or 'first start'} {kills}\n")

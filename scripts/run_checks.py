"""Runs every check, as many at once as there are processors, and reports all failures at the end, not only the first.

Usage: run_checks.py [CHECK ...]    (all checks when none is named)
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A command that ends with 0 when all is well."""

    name: str
    command: Sequence[str]
    directory: str = "."


CHECKS: Sequence[Check] = (
    # It takes as long as all others together.
    Check(name="types", command=("node_modules/.bin/pyright", "--threads")),
    Check(name="format", command=(".venv/bin/ruff", "format", "--check", "--quiet")),
    Check(name="lint", command=(".venv/bin/ruff", "check", "--quiet")),
    Check(name="imports", command=(".venv/bin/lint-imports",)),
    Check(name="frontend-lint", command=("node_modules/.bin/biome", "check", "--error-on-warnings")),
    Check(name="frontend-types", command=("npm", "run", "--silent", "check", "--workspace", "frontend")),
    Check(name="go", command=("go", "vet", "./..."), directory="examples/measuring-server"),
    Check(
        name="go-format", command=("bash", "-c", 'test -z "$(gofmt -l examples backend bench | tee -a /dev/stderr)"')
    ),
    Check(name="size", command=(".venv/bin/python", "scripts/size.py")),
    Check(name="generated", command=(".venv/bin/python", "scripts/generate.py", "--check")),
)


def run(check: Check) -> tuple[Check, int, str, float]:
    """Its exit code, what it printed, and how many seconds it took."""
    started = time.monotonic()
    done = subprocess.run(
        check.command,
        cwd=ROOT / check.directory,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return check, done.returncode, done.stdout, time.monotonic() - started


def main(names: Sequence[str]) -> int:
    """Runs the named checks, or all; returns the exit code."""
    unknown = set(names) - {check.name for check in CHECKS}
    if unknown:
        print(f"no check {', '.join(sorted(unknown))}; there are: {', '.join(check.name for check in CHECKS)}")
        return 2
    failed: list[str] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in as_completed(pool.submit(run, check) for check in CHECKS if not names or check.name in names):
            check, code, output, seconds = done.result()
            print(f"{output}{'ok  ' if code == 0 else 'FAIL'} {check.name} ({seconds:.1f} s)", flush=True)
            if code:
                failed.append(check.name)
    if failed:
        print(f"failed: {', '.join(failed)}; `make fix` mends formatting, `make generate` the generated files")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Runs every check and reports all failures at the end, not only the first.

Usage: run_checks.py [CHECK ...]    (all checks when none is named)
"""

import subprocess
import sys
import time
from collections.abc import Sequence
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
    Check(name="format", command=(".venv/bin/ruff", "format", "--check", "--quiet")),
    Check(name="lint", command=(".venv/bin/ruff", "check", "--quiet")),
    Check(name="imports", command=(".venv/bin/lint-imports",)),
    Check(name="types", command=("node_modules/.bin/pyright",)),
    Check(name="frontend-lint", command=("node_modules/.bin/biome", "check", "--error-on-warnings")),
    Check(name="frontend-types", command=("npm", "run", "--silent", "check", "--workspace", "frontend")),
    Check(name="go", command=("go", "vet", "./..."), directory="examples/measuring-server"),
    Check(
        name="go-format", command=("bash", "-c", 'test -z "$(gofmt -l examples backend bench | tee -a /dev/stderr)"')
    ),
    Check(name="size", command=(".venv/bin/python", "scripts/size.py")),
    Check(name="generated", command=(".venv/bin/python", "scripts/generate.py", "--check")),
)


def main(names: Sequence[str]) -> int:
    """Runs the named checks, or all; returns the exit code."""
    unknown = set(names) - {check.name for check in CHECKS}
    if unknown:
        print(f"no check {', '.join(sorted(unknown))}; there are: {', '.join(check.name for check in CHECKS)}")
        return 2
    failed: list[str] = []
    for check in CHECKS:
        if names and check.name not in names:
            continue
        started = time.monotonic()
        code = subprocess.run(check.command, cwd=ROOT / check.directory, check=False).returncode
        print(f"{'ok  ' if code == 0 else 'FAIL'} {check.name} ({time.monotonic() - started:.1f} s)", flush=True)
        if code:
            failed.append(check.name)
    if failed:
        print(f"failed: {', '.join(failed)}; `make fix` mends formatting, `make generate` the generated files")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

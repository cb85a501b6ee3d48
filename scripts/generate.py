"""Writes every generated file again, or tells which ones are out of step.

Usage: generate.py [--check]

With `--check` the files are compared and left as they were; the exit code is 1 when one differs.
"""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ".venv/bin/python"


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """A command and the files it writes (glob patterns, relative to the root)."""

    name: str
    command: Sequence[str]
    writes: Sequence[str]


GENERATORS: Sequence[Generator] = (
    Generator(
        name="remote-write 1.0 messages",
        command=(
            PYTHON, "-m", "grpc_tools.protoc", "-I", "backend/loadwatch_backend/series/store",
            "--python_out=backend/loadwatch_backend/series/store", "--pyi_out=backend/loadwatch_backend/series/store",
            "remote.proto",
        ),
        writes=("backend/loadwatch_backend/series/store/remote_pb2.py*",),
    ),
    Generator(
        name="remote-write 2.0 messages",
        command=(
            PYTHON, "-m", "grpc_tools.protoc", "-I", "backend/loadwatch_backend/series/ingest",
            "--python_out=backend/loadwatch_backend/series/ingest", "--pyi_out=backend/loadwatch_backend/series/ingest",
            "remote_v2.proto",
        ),
        writes=("backend/loadwatch_backend/series/ingest/remote_v2_pb2.py*",),
    ),
    Generator(
        name="OTLP messages",
        command=(
            PYTHON, "-m", "grpc_tools.protoc", "-I", "backend/loadwatch_backend/series/ingest/otlp",
            "--python_out=backend/loadwatch_backend/series/ingest/otlp",
            "--pyi_out=backend/loadwatch_backend/series/ingest/otlp",
            "otlp.proto",
        ),
        writes=("backend/loadwatch_backend/series/ingest/otlp/otlp_pb2.py*",),
    ),
    Generator(
        name="profile messages",
        command=(
            PYTHON, "-m", "grpc_tools.protoc", "-I", "backend/loadwatch_backend/evidence/profiles/reading",
            "--python_out=backend/loadwatch_backend/evidence/profiles/reading",
            "--pyi_out=backend/loadwatch_backend/evidence/profiles/reading",
            "pprof.proto",
        ),
        writes=("backend/loadwatch_backend/evidence/profiles/reading/pprof_pb2.py*",),
    ),
    Generator(
        name="tables of a new SQLite file",
        command=(PYTHON, "scripts/generate_schema.py"),
        writes=("backend/loadwatch_backend/core/database/migrations/schema.sql",),
    ),
    Generator(
        name="API document",
        command=(PYTHON, "-m", "loadwatch_backend.app.openapi", "backend/openapi.json"),
        writes=("backend/openapi.json",),
    ),
    Generator(
        name="API client types",
        command=("npm", "run", "--silent", "generate", "--workspace", "tools/api-types"),
        writes=("frontend/src/api/schema.gen.ts",),
    ),
    Generator(
        name="facts of a run",
        command=(PYTHON, "scripts/generate_facts.py"),
        writes=("frontend/src/api/runs/facts.gen.ts",),
    ),
    Generator(
        name="reference pages",
        command=(PYTHON, "scripts/generate_reference.py"),
        writes=("docs/reference/*.md",),
    ),
)  # fmt: skip


def contents(patterns: Sequence[str]) -> dict[Path, bytes]:
    """What the files that match now hold."""
    return {path: path.read_bytes() for pattern in patterns for path in sorted(ROOT.glob(pattern)) if path.is_file()}


def main(arguments: Sequence[str]) -> int:
    """Runs all generators; returns the exit code."""
    check = "--check" in arguments
    stale: list[str] = []
    for generator in GENERATORS:
        before = contents(generator.writes)
        subprocess.run(generator.command, cwd=ROOT, check=True)
        after = contents(generator.writes)
        changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        stale += [f"{path.relative_to(ROOT)} ({generator.name})" for path in changed]
        if check:
            for path in changed:
                path.write_bytes(before[path]) if path in before else path.unlink()
    if not check:
        print("\n".join(f"written: {name}" for name in stale) or "every generated file was in step")
        return 0
    for name in stale:
        print(f"out of step: {name}; run `make generate` and commit the result")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""One of each is added to a copy, with the files that CONTRIBUTING.md names and no others."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.adding.agent import COLLECTOR, PRESET
from tests.adding.example import Edit, Example
from tests.adding.fact import FACT
from tests.adding.rule import DEFAULT_RULE
from tests.adding.server import ENDPOINT, IMPORTER, NOTIFIER, PACK
from tests.adding.text import SERVER_TEXT, TEXT

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = (COLLECTOR, PRESET, PACK, ENDPOINT, NOTIFIER, IMPORTER, FACT, DEFAULT_RULE, SERVER_TEXT, TEXT)
COPIED = (
    "backend/loadwatch_backend",
    "collectors/loadwatch_collectors",
    "formats/loadwatch_formats",
    "packs/loadwatch_packs",
    "frontend/src",
    "frontend/vite.config.ts",
    "pyproject.toml",
    "scripts/generate_facts.py",
)
PACKAGES = ("backend", "collectors", "formats", "packs")


def rows() -> dict[str, tuple[str, str]]:
    """By the first column: which files are one's own, and which all share."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Adding one\n")[2].partition("\n## ")[0]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    return {kind: (own, shared) for kind, own, shared, _ in cells[2:]}


def paths_in(cell: str, names: Mapping[str, str]) -> set[str]:
    """Paths in a cell, with `<names>` filled in and `{a,b}` written out."""
    found: set[str] = set()
    for path in re.findall(r"`([^`]+)`", cell):
        filled = re.sub(r"<(\w+)>", lambda match: names[match[1]], path)
        head, brace, rest = filled.partition("{")
        inner, _, tail = rest.partition("}")
        found |= {head + part + tail for part in inner.split(",")} if brace else {filled}
    return found


def copy_of(folder: Path) -> Path:
    """The packages without tests, tools and the built page."""
    for name in COPIED:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "assets"))
        else:
            shutil.copyfile(source, target)
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    return folder


def apply(edit: Edit, folder: Path) -> None:
    """Put a text into a file of the copy."""
    text = (folder / edit.path).read_text("utf-8")
    assert text.count(edit.before) == 1, f"{edit.before!r} is not once in {edit.path}"
    (folder / edit.path).write_text(text.replace(edit.before, edit.put + edit.before), "utf-8")


def add(example: Example, folder: Path) -> None:
    """All of an example."""
    for path, text in example.new.items():
        assert not (folder / path).exists(), f"{path} is there already"
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    for edit in example.edits:
        apply(edit, folder)


def run(check: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a program on the packages of the copy."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(str(folder / one) for one in PACKAGES)}
    own = f"import sys, loadwatch_formats\nassert loadwatch_formats.__file__.startswith({str(folder)!r})\n"
    return subprocess.run(
        [sys.executable, "-B", "-c", own + check], cwd=folder, env=environment, capture_output=True, text=True
    )


def test_the_table_lists_what_is_added_here() -> None:
    assert list(rows()) == [example.kind for example in EXAMPLES]


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.kind for example in EXAMPLES])
def test_the_product_knows_it_with_the_files_that_are_named(example: Example, tmp_path: Path) -> None:
    own, shared = (paths_in(cell, example.names) for cell in rows()[example.kind])
    assert set(example.new) == own
    assert {edit.path for edit in example.edits} == shared
    assert len(shared) <= example.most
    folder = copy_of(tmp_path)
    add(example, folder)
    done = run(example.check, folder)
    assert done.returncode == 0, done.stderr


def test_the_programs_fail_where_nothing_was_added(tmp_path: Path) -> None:
    checks = {example.kind: example.check for example in EXAMPLES}
    each = f"""
for kind, check in {checks!r}.items():
    try:
        exec(check, {{}})
    except Exception:
        print(kind)
"""
    done = run(each, copy_of(tmp_path))
    assert done.stdout.splitlines() == list(checks), done.stderr

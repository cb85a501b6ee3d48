"""Two builds have one version only where their files are the same."""

import re
import shutil
from importlib.metadata import version
from pathlib import Path

import loadwatch_formats
from loadwatch_formats.build_version import build_version, digest_of


def test_any_change_of_a_file_is_another_build(tmp_path: Path) -> None:
    source = Path(loadwatch_formats.__file__).parent
    shutil.copytree(source, tmp_path / "a", ignore=shutil.ignore_patterns("__pycache__"))
    same = digest_of([str(tmp_path / "a")])
    assert same == digest_of([str(source)])
    (tmp_path / "a" / "__pycache__").mkdir(exist_ok=True)
    (tmp_path / "a" / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert digest_of([str(tmp_path / "a")]) == same
    path = tmp_path / "a" / "__init__.py"
    path.write_bytes(path.read_bytes() + b"\n")
    changed = digest_of([str(tmp_path / "a")])
    path.rename(path.with_name("other.py"))
    assert len({same, changed, digest_of([str(tmp_path / "a")])}) == 3


def test_the_version_begins_with_the_released_one() -> None:
    assert re.fullmatch(re.escape(version("loadwatch")) + r"\+[0-9a-f]{12}", build_version())

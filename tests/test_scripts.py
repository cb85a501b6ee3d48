"""The gates themselves: counting test cases, noticing a runner that breaks down, comparing generated files."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent

REPORT = """<testsuites><testsuite>
<testcase name="a"/><testcase name="b"><failure>no</failure></testcase>
<testcase name="c"><skipped/></testcase><testcase name="d"><error>broke</error></testcase><testcase name="e"/>
</testsuite></testsuites>"""


def load(name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    if (scripts := str(ROOT / "scripts")) not in sys.path:
        sys.path.append(scripts)  # they import each other
    specification.loader.exec_module(module)
    return module


def test_cases_are_counted_from_the_report(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    assert load("run_tests").count_cases(report) == (2, 2, 1)


def test_a_missing_report_counts_nothing(tmp_path: Path) -> None:
    assert load("run_tests").count_cases(tmp_path / "none.xml") == (0, 0, 0)


@pytest.mark.parametrize(
    ("command", "code", "last_line"),
    [
        ("cp given.xml {report}", 1, "total: 2 passed, 2 failed, 1 skipped"),
        ("exit 3", 1, "total: 0 passed, 1 failed, 0 skipped"),
        ("true", 1, "total: 0 passed, 1 failed, 0 skipped"),
        ("cp good.xml {report}", 0, "total: 1 passed, 0 failed, 0 skipped"),
    ],
)
def test_the_last_line_and_the_exit_code_tell_the_truth(
    command: str,
    code: int,
    last_line: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "given.xml").write_text(REPORT)
    (tmp_path / "good.xml").write_text('<testsuites><testsuite><testcase name="a"/></testsuite></testsuites>')
    module = load("run_tests")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "REPORTS", tmp_path / "reports")
    monkeypatch.setattr(module, "SUITES", (module.Suite(name="sample", command=("bash", "-c", command)),))
    assert module.main([]) == code
    assert capfd.readouterr().out.strip().splitlines()[-1] == last_line


def test_an_unknown_suite_is_named() -> None:
    answer = subprocess.run(
        [sys.executable, ROOT / "scripts" / "run_tests.py", "nonsense"], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 2
    assert "nonsense" in answer.stdout


TEST_SOURCES = {
    "backend/tests/rules/test_read.py": "import loadwatch_backend.alerting.rules.read",
    "backend/tests/notify/test_table.py": "from loadwatch_backend.alerting.rules import read",
    "backend/tests/notify/test_other.py": "",
    "backend/tests/store/test_rows.py": "from tests.shared import rows",
    "tests/shared.py": "from loadwatch_formats.durations import parse_duration",
    "tests/test_guide.py": 'TEXT = "guide/alerts.md"',
}


@pytest.mark.parametrize(
    ("changed", "touched"),
    [
        ("backend/loadwatch_backend/alerting/rules/read.py", ["notify/test_table", "rules/test_read"]),
        ("packs/loadwatch_packs/host/rules.yml", ["rules/test_read"]),
        ("backend/tests/notify/test_other.py", ["notify/test_other"]),
        ("backend/tests/notify/conftest.py", ["notify/test_other", "notify/test_table"]),
        ("backend/tests/notify/fixtures/given.json", ["notify/test_other", "notify/test_table"]),
        ("formats/loadwatch_formats/durations.py", ["store/test_rows"]),
        ("docs/guide/alerts.md", ["tests/test_guide"]),
        ("frontend/src/alerts.md", []),
    ],
)
def test_a_changed_file_touches_what_imports_it_names_it_or_tests_its_room(changed: str, touched: list[str]) -> None:
    found = load("changed_tests").python_tests([changed], TEST_SOURCES)
    assert [path.removeprefix("backend/tests/").removesuffix(".py") for path in found] == touched


def test_a_helper_of_browser_tests_touches_those_that_use_it() -> None:
    sources = {
        "e2e/a.spec.ts": 'import "./b"',
        "e2e/b.ts": 'import { c } from "./c"',
        "e2e/c.ts": "",
        "e2e/d.spec.ts": "",
    }
    assert load("changed_tests").browser_tests(["e2e/c.ts"], sources) == ["e2e/a.spec.ts"]


def test_the_most_expensive_files_are_known(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text('<t><testcase classname="a" time="1.5"/><testcase classname="a" time="2"/></t>')
    assert load("run_tests").seconds_by_file(report) == {"a": 3.5}


def test_a_stale_generated_file_is_named_and_put_back(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = load("generate")
    stale = tmp_path / "made.txt"
    stale.write_text("old")
    made = module.Generator(name="sample", command=("bash", "-c", "echo new > made.txt"), writes=("made.txt",))
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "GENERATORS", (made,))
    assert module.main(["--check"]) == 1
    assert "made.txt (sample)" in capfd.readouterr().out
    assert stale.read_text() == "old"
    assert module.main([]) == 0
    assert stale.read_text() == "new\n"
    assert module.main(["--check"]) == 0


def test_installing_packages_that_are_there_does_nothing() -> None:
    answer = subprocess.run(
        [ROOT / "scripts" / "apt-install.sh", "bash", "coreutils"], capture_output=True, text=True, check=False
    )
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


PYTHON_SOURCE = '''"""What it is."""

import os  # a reason


def name() -> str:
    """What it gives."""
    return f"{os.name} \\n"
'''
SCRIPT_SOURCE = """// a reason
const text = `two
lines`; /* and
more */
"""


def test_code_is_counted_without_comments_and_docstrings() -> None:
    size = load("size")
    assert size.count_python(PYTHON_SOURCE)[0] == 3
    assert size.count_script(SCRIPT_SOURCE) == (2, 5)


def test_a_room_that_grew_fails_the_check_and_one_that_shrank_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    size = load("size")
    monkeypatch.setattr(size, "TABLE", tmp_path / "size.tsv")
    monkeypatch.setattr(size, "measure", lambda: {"room\tlines": 10, "room\ttokens": 50})
    assert size.main(["--write"]) == 0
    monkeypatch.setattr(size, "measure", lambda: {"room\tlines": 9, "room\ttokens": 51})
    assert size.main([]) == 1
    printed = capsys.readouterr().out
    assert "room: 51 tokens, 50 allowed" in printed
    assert "9 lines" not in printed

"""Runs every test suite, one after another, and ends with the counts.

Usage: run_tests.py [--changed] [SUITE ...]    (all suites when none is named; with --changed, of each only the tests
that the difference against the main branch and the working tree touches)

A suite is a command that writes a JUnit report; its cases are counted from there, so that the last line
(`total: N passed, N failed, N skipped`) is what the runners themselves reported. The exit code is 1 when a case failed,
a runner failed without a failed case, or a suite ran nothing at all.
"""

import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from changed_tests import base_commit, browser_tests, changed_files, python_tests, read_sources

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "build" / "test-reports"
EXPENSIVE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A test runner's command; `{report}` stands for the path of its JUnit report."""

    name: str
    command: Sequence[str]
    directory: str = "."
    environment: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteResult:
    """How a suite ended."""

    name: str
    passed: int
    failed: int
    skipped: int
    exit_code: int
    seconds: float
    by_file: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def good(self) -> bool:
        """Everything that ran has passed, and something ran."""
        return self.exit_code == 0 and self.failed == 0 and self.passed > 0


SUITES: Sequence[Suite] = (
    Suite(
        # Whole-system tests wait for processes most of the time: more workers than cores keep two cores busy. Tests of
        # a module stay together, for they share servers, imported runs and builds; the whole-system tests come last,
        # in many short modules.
        name="python",
        command=(
            *(".venv/bin/pytest", "-q", "-m", "not long", "-n", "4", "--dist", "loadscope", "--no-loadscope-reorder"),
            *("--durations=15", "--junitxml={report}"),
        ),
    ),
    Suite(
        name="frontend",
        command=("npx", "vitest", "run", "--reporter=default", "--reporter=junit", "--outputFile.junit={report}"),
        directory="frontend",
    ),
    Suite(
        name="browser",
        command=("npx", "playwright", "test", "--reporter=list,junit"),
        directory="frontend",
        environment=(("PLAYWRIGHT_JUNIT_OUTPUT_FILE", "{report}"),),
    ),
)


def count_cases(report: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped test cases in a JUnit report; all zero when there is none."""
    if not report.exists():
        return 0, 0, 0
    passed = failed = skipped = 0
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def seconds_by_file(report: Path) -> Mapping[str, float]:
    """How long the cases of each file took, from a JUnit report."""
    found: defaultdict[str, float] = defaultdict(float)
    if report.exists():
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            found[case.get("classname", "")] += float(case.get("time") or 0)
    return found


def changed_suites(suites: Sequence[Suite]) -> Sequence[Suite]:
    """The suites with only those tests that a difference touches; those without any are left out."""
    base = base_commit(ROOT)
    changed = changed_files(ROOT, base)
    python = python_tests(changed, read_sources(ROOT, ["*/tests/*.py", "tests/*.py"]))
    browser = browser_tests(changed, read_sources(ROOT, ["frontend/e2e/*.ts"]))
    page = ["--changed", base, "--passWithNoTests"] if any(path.startswith("frontend/src/") for path in changed) else []
    chosen = {"python": python, "frontend": page, "browser": [Path(path).name for path in browser]}
    return [replace(suite, command=(*suite.command, *found)) for suite in suites if (found := chosen[suite.name])]


def run_suite(suite: Suite) -> SuiteResult:
    """Runs one suite in the foreground."""
    report = REPORTS / f"{suite.name}.xml"
    report.unlink(missing_ok=True)
    environment = os.environ | {name: value.format(report=report) for name, value in suite.environment}
    # Some machines forbid it; then each server and agent of a test compiles all sources again, as do the workers.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [part.format(report=report) for part in suite.command]
    print(f"\n==> {suite.name}: {' '.join(suite.command)}", flush=True)
    started = time.monotonic()
    exit_code = subprocess.run(command, cwd=ROOT / suite.directory, env=environment, check=False).returncode
    passed, failed, skipped = count_cases(report)
    return SuiteResult(
        name=suite.name,
        passed=passed,
        failed=failed,
        skipped=skipped,
        exit_code=exit_code,
        seconds=time.monotonic() - started,
        by_file=seconds_by_file(report),
    )


def main(arguments: Sequence[str]) -> int:
    """Runs the named suites, or all; returns the exit code."""
    names = [one for one in arguments if one != "--changed"]
    unknown = set(names) - {suite.name for suite in SUITES}
    if unknown:
        print(f"no suite {', '.join(sorted(unknown))}; there are: {', '.join(suite.name for suite in SUITES)}")
        return 2
    REPORTS.mkdir(parents=True, exist_ok=True)
    named = [suite for suite in SUITES if not names or suite.name in names]
    suites = changed_suites(named) if "--changed" in arguments else named
    if not suites:
        print("no test is touched by what changed")
        return 0
    outcomes = [run_suite(suite) for suite in suites]
    print(f"\nthe {EXPENSIVE} most expensive files, seconds of their tests:")
    by_file = [(seconds, name) for outcome in outcomes for name, seconds in outcome.by_file.items()]
    for seconds, name in sorted(by_file, reverse=True)[:EXPENSIVE]:
        print(f"{seconds:>8.1f}  {name}")
    print()
    for outcome in outcomes:
        remark = "" if outcome.exit_code == 0 else f"  (runner ended with {outcome.exit_code})"
        print(
            f"{outcome.name:>9}  {outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped"
            f"  in {outcome.seconds:.0f} s{remark}"
        )
    # A runner that breaks down before its first case must not read as a success.
    broken = sum(1 for outcome in outcomes if not outcome.good and outcome.failed == 0)
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes) + broken
    skipped = sum(outcome.skipped for outcome in outcomes)
    print(f"total: {passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 0 if all(outcome.good for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

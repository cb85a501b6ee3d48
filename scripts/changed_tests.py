"""Which tests a difference touches: `make test CHANGED=1` runs these only, and continuous integration runs all.

A changed file touches the test files that import it, directly or through what tests share, or that name it, and the
tests of its room, else of its wing: for `alerting/rules/read.py` of the server all below `backend/tests/rules`.
"""

import ast
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath

TEST_TREES = {
    "backend/loadwatch_backend": "backend/tests",
    "collectors/loadwatch_collectors": "collectors/tests",
    "formats/loadwatch_formats": "formats/tests",
    "examples": "tests",
}
"""A room of the first has its tests in the folder of the same name of the second."""
PACKS = tuple(f"backend/tests/{room}/" for room in ("rules", "runbooks", "signals"))
"""Tests of what stands in packs."""
EVERYTHING = ("pyproject.toml", "requirements/", ".ci/")
"""What all tests depend on."""


def git(root: Path, *arguments: str) -> list[str]:
    """Lines that git prints; none where it fails, as for a branch that is not there."""
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def base_commit(root: Path) -> str:
    """Where this branch left `origin/main`, else `main`; else its last commit."""
    return next(
        (found[0] for name in ("origin/main", "main") if (found := git(root, "merge-base", "HEAD", name))), "HEAD"
    )


def changed_files(root: Path, base: str) -> list[str]:
    """Paths that differ from a commit, with those that git does not know yet."""
    return sorted({*git(root, "diff", "--name-only", base), *git(root, "ls-files", "--others", "--exclude-standard")})


def python_tests(changed: Collection[str], sources: Mapping[str, str]) -> list[str]:
    """Test files to run; `sources` holds the text of all Python files below folders of tests, by path."""
    tests = {path for path in sources if PurePosixPath(path).name.startswith("test_")}
    if any(path.startswith(EVERYTHING) for path in changed):
        return sorted(tests)
    imports = {path: _imports(text) for path, text in sources.items()}
    touched = {path for path in changed if path in sources}
    names = {module_name(path) for path in changed if path.endswith(".py")}
    while more := {path for path, names_in in imports.items() if path not in touched and names_in & names}:
        touched |= more
        names |= {module_name(path) for path in more}
    if any(path.startswith("packs/") for path in changed):
        touched |= {test for test in tests if test.startswith(PACKS)}
    for path in set(changed) - tests:
        folder = _folder_of_tests(path, tests)
        touched |= {test for test in tests if folder is not None and test.startswith(folder)}
        if path not in sources and not path.startswith("frontend/"):
            touched |= {test for test in tests if PurePosixPath(path).name in sources[test]}
    return sorted(touched & tests)


def browser_tests(changed: Collection[str], sources: Mapping[str, str]) -> list[str]:
    """Files of Playwright that changed, or that use one that did; `sources` holds all of `frontend/e2e`, by path."""
    touched = {path for path in changed if path in sources}
    while more := {
        path
        for path, text in sources.items()
        if path not in touched and any(f'"./{PurePosixPath(one).stem}"' in text for one in touched)
    }:
        touched |= more
    return sorted(path for path in touched if path.endswith(".spec.ts"))


def module_name(path: str) -> str:
    """`backend/loadwatch_backend/core/clock.py` is `loadwatch_backend.core.clock`; tests are named from the root."""
    name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    first, _, rest = name.partition(".")
    return rest if rest.startswith("loadwatch_") else f"{first}.{rest}"


def _imports(text: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def _folder_of_tests(path: str, tests: Collection[str]) -> str | None:
    """The folder with the tests of a file's room; of a fixture, the nearest folder that has tests."""
    place = PurePosixPath(path)
    if "tests" in place.parts[:2]:
        if place.suffix == ".py" and place.name != "conftest.py":
            return None
        folders = (f"{folder}/" for folder in place.parents)
        return next((folder for folder in folders if any(test.startswith(folder) for test in tests)), None)
    for tree, folder in TEST_TREES.items():
        if path.startswith(f"{tree}/"):
            rooms = (f"{folder}/{room}/" for room in reversed(place.relative_to(tree).parts[:-1][:2]))
            return next((room for room in rooms if any(test.startswith(room) for test in tests)), None)
    return None


def read_sources(root: Path, patterns: Sequence[str]) -> dict[str, str]:
    """Text by path, of files that git knows or will know."""
    paths = git(root, "ls-files", "--cached", "--others", "--exclude-standard", *patterns)
    return {path: (root / path).read_text(encoding="utf-8") for path in paths if (root / path).is_file()}

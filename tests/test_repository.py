"""What must hold for every tracked file."""

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Written in pieces, so that this file does not hold what it looks for.
REGISTRY_HOSTS = [
    "py" + "pi.org",
    "files.python" + "hosted.org",
    "registry." + "npmjs.org",
    "proxy." + "golang.org",
    "deb." + "debian.org",
    "repo1." + "maven.org",
    "static." + "crates.io",
]
LOCKS_WITH_ADDRESSES = re.compile(r"(^|/)(uv\.lock|poetry\.lock|pdm\.lock|pylock.*\.toml)$")
MACHINE_PATH = re.compile(r"(?:^|[^A-Za-z0-9_.])/(?:" + "work|farm" + r")/[a-z.]")


def tracked_files() -> list[str]:
    answer = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in answer.stdout.split("\0") if name]


def text_of(name: str) -> str | None:
    path = ROOT / name
    if not path.is_file() or path.stat().st_size > 5_000_000:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def test_tracked_files_are_found() -> None:
    assert "pyproject.toml" in tracked_files()


@pytest.mark.parametrize("host", REGISTRY_HOSTS)
def test_no_file_holds_a_package_registry_address(host: str) -> None:
    holding = [name for name in tracked_files() if host in (text_of(name) or "")]
    assert holding == []


def test_no_file_holds_a_path_of_the_machine_it_was_written_on() -> None:
    holding = [name for name in tracked_files() if MACHINE_PATH.search(text_of(name) or "")]
    assert holding == []


def test_no_lock_file_stores_download_addresses() -> None:
    assert [name for name in tracked_files() if LOCKS_WITH_ADDRESSES.search(name)] == []
    assert '"resolved": "http' not in (ROOT / "package-lock.json").read_text(encoding="utf-8")


def test_every_locked_python_requirement_has_a_hash() -> None:
    for name in ("agent", "server", "dev"):
        lines = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        pinned = [index for index, line in enumerate(lines) if "==" in line]
        assert pinned
        assert all("--hash=sha256:" in lines[index + 1] for index in pinned)


def test_links_between_documents_lead_somewhere() -> None:
    broken: list[str] = []
    for name in tracked_files():
        text = text_of(name) if name.endswith(".md") else None
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text or ""):
            if not re.match(r"[a-z]+:", target) and not ((ROOT / name).parent / target).exists():
                broken.append(f"{name}: {target}")
    assert broken == []


def sections(page: str) -> set[str]:
    """The anchors of the headings of a Markdown page."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_to_sections_of_the_guide_lead_to_one() -> None:
    guide = {page.resolve(): sections(page.read_text("utf-8")) for page in (ROOT / "docs" / "guide").glob("*.md")}
    broken: list[str] = []
    for name in tracked_files():
        text = text_of(name) if name.endswith(".md") else None
        for target, section in re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", text or ""):
            page = (ROOT / name).parent / target if target else ROOT / name
            if section not in guide.get(page.resolve(), {section}):
                broken.append(f"{name}: {target}#{section}")
    assert broken == []


def test_the_readme_stays_short_and_has_one_picture() -> None:
    english, japanese = ((ROOT / name).read_text("utf-8") for name in ("README.md", "README.ja.md"))
    assert len(english.split()) <= 700
    assert english.count("![") == japanese.count("![") == 1
    assert re.findall(r"^(#+|- |\|)", english, re.MULTILINE) == re.findall(r"^(#+|- |\|)", japanese, re.MULTILINE)


def test_the_changelog_of_the_first_version_stays_short() -> None:
    first = (ROOT / "CHANGELOG.md").read_text("utf-8").partition("\n## [0.1.0]")[2].partition("\n## ")[0]
    assert 20 < len(first.splitlines()) <= 80


def test_the_guide_stays_short() -> None:
    pages = [page.read_text("utf-8") for page in (ROOT / "docs" / "guide").rglob("*.md")]
    assert 20 < len(pages) <= 30
    assert sum(len(page.split()) for page in pages) <= 30_000


def test_the_index_of_the_guide_names_each_page() -> None:
    folder = ROOT / "docs" / "guide"
    linked = re.findall(r"\]\(((?:importers/)?[\w-]+\.md)[)#]", (folder / "README.md").read_text("utf-8"))
    assert set(linked) == {str(page.relative_to(folder)) for page in folder.rglob("*.md")} - {"README.md"}


def test_every_decision_has_a_status_and_its_place_in_the_list() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(
        r"^\| \[\d{4}\]\(([^)]+)\) \|.*\| (.+) \|$", (folder / "README.md").read_text("utf-8"), re.MULTILINE
    )
    stated = {
        path.name: found[1]
        for path in folder.glob("0*.md")
        if (
            found := re.search(
                r"^Date: [\d-]+\. Status: (accepted|replaced by \S+\))[.;]", path.read_text("utf-8"), re.MULTILINE
            )
        )
    }
    assert sorted(listed) == sorted(stated.items())
    assert len(stated) == len(list(folder.glob("0*.md")))
    assert len([status for status in stated.values() if status == "accepted"]) <= 40


def test_what_names_a_decision_names_one_that_there_is() -> None:
    numbers = {path.name[:4] for path in (ROOT / "docs" / "decisions").glob("0*.md")}
    named = [
        (name, number)
        for name in tracked_files()
        for number in re.findall(r"(?:decisions/|[Dd]ecisions? |\[)(0\d{3})\b", text_of(name) or "")
    ]
    assert len(named) > 60
    assert [(name, number) for name, number in named if number not in numbers] == []


def test_the_walk_through_the_code_names_files_that_there_are() -> None:
    homes = {
        "B": ROOT / "backend" / "loadwatch_backend",
        "C": ROOT / "collectors" / "loadwatch_collectors",
        "frontend": ROOT / "frontend",
    }
    named = re.findall(r"`(B|C|frontend)/([\w/.]+)`", (ROOT / "docs" / "code-walk.md").read_text("utf-8"))
    assert len(named) > 30
    assert [f"{home}/{path}" for home, path in named if not (homes[home] / path).exists()] == []


def test_the_glossary_names_what_is_there_and_a_word_means_one_thing() -> None:
    defined = Counter(
        name
        for path in tracked_files()
        if path.endswith(".py") and path.split("/")[1:2] == [f"loadwatch_{path.split('/')[0]}"]
        for name in re.findall(r"^class (\w+)", text_of(path) or "", re.MULTILINE)
    )
    named = set(re.findall(r"`([A-Z]\w+)`", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")))
    assert {name: defined[name] for name in sorted(named) if defined[name] != 1} == {}
    words = ("Answer", "Batch", "Place", "Block", "Delivery", "Outcome", "Series")
    assert [word for word in words if defined[word] > 1] == []


SEES_SESSIONS = re.compile(r"/(repository|tables)\.py$|^backend/loadwatch_backend/(core/database|series/store)/")


def calls_of_sessions(source: str) -> list[str]:
    """Uses of what a transaction gives, by line; to pass it on is none."""
    nodes = list(ast.walk(ast.parse(source)))
    given = {
        node.arg for node in nodes if isinstance(node, ast.arg) and ast.unparse(node.annotation or node) == "Session"
    }
    opened = {
        item.optional_vars.id
        for node in nodes
        if isinstance(node, ast.With)
        for item in node.items
        if isinstance(item.optional_vars, ast.Name)
        and re.search(r"\.transaction\(.*\)$", ast.unparse(item.context_expr))
    }
    return [
        f"{node.lineno}: {ast.unparse(node)}"
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in given | opened
    ]


def test_only_repositories_and_the_store_use_a_session() -> None:
    services = [
        name
        for name in tracked_files()
        if re.match(r"backend/loadwatch_backend/.*\.py$", name) and not SEES_SESSIONS.search(name)
    ]
    assert len(services) > 200
    found = [f"{name}:{call}" for name in services for call in calls_of_sessions(text_of(name) or "")]
    assert found == []


def test_a_use_of_a_session_is_found() -> None:
    source = """
def note(session: Session, row: Row) -> None:
    keep(session, row)
    session.flush()

def read(self) -> Row:
    with suppress(Error), self._relational.transaction(even_if_away=True) as opened:
        return opened.get(Row, 1)
"""
    assert calls_of_sessions(source) == ["4: session.flush", "8: opened.get"]
    assert not calls_of_sessions("def ask(session: OAuth2Session) -> None:\n    session.get('/')\n")


def test_the_name_of_a_test_holds_no_time() -> None:
    """gzip writes the present second into what it makes: two workers would collect tests of different names."""
    wrong = [
        f"{name}:{call.lineno}"
        for name in tracked_files()
        if re.search(r"(^|/)test_\w+\.py$", name)
        for node in ast.walk(ast.parse(text_of(name) or ""))
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        for call in ast.walk(decorator)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "gzip.compress"
        if "mtime" not in {keyword.arg for keyword in call.keywords}
    ]
    assert wrong == []

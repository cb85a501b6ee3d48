"""The change that was not committed: whole, bounded, and without secrets."""

import os
import subprocess
from pathlib import Path

import pytest
from loadwatch_collectors.runs.facts import patch
from loadwatch_collectors.runs.facts.patch import find_patch, mask_line, may_hold_secrets


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    names = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.quotepath=off"]
    return subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True, input=stdin).stdout


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.go").write_text("package main\n\nvar pool = 10\n")
    (tmp_path / "図.bin").write_bytes(bytes(range(256)))
    (tmp_path / ".env").write_text("DB_PASSWORD=old\n")
    (tmp_path / "config.yml").write_text("pool: 10\n")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "one")
    return tmp_path


def test_outside_of_a_repository_and_without_a_change_there_is_none(repository: Path, tmp_path: Path):
    assert find_patch(repository) is None
    (repository / "new.go").write_text("package main\n")
    assert find_patch(repository) is None
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    assert find_patch(outside) is None


def test_a_patch_brings_the_change_to_another_clone(repository: Path, tmp_path: Path):
    (repository / "src" / "main.go").write_text("package main\n\nvar pool = 30\n")
    (repository / "図.bin").write_bytes(bytes(reversed(range(256))))
    (repository / "src" / "more.go").write_text("package main\n")
    git(repository, "add", "src/more.go")
    (repository / "notes.txt").write_text("mine\n")
    found = find_patch(repository / "src")
    assert found is not None
    assert (found.files, found.named, found.untracked, found.masked) == (3, 0, 1, 0)
    assert b"# not tracked, not sent: notes.txt\n" in found.content
    clone = tmp_path.parent / f"{tmp_path.name}-clone"
    git(tmp_path, "clone", "-q", str(repository), str(clone))
    git(clone, "apply", stdin=found.content)
    for name in ("src/main.go", "src/more.go", "図.bin"):
        assert (clone / name).read_bytes() == (repository / name).read_bytes()


def test_files_that_may_hold_secrets_are_named_only(repository: Path):
    (repository / ".env").write_text("DB_PASSWORD=hunter2-in-env\n")
    (repository / "tls.pem").write_text("hunter2-in-pem\n")
    (repository / "api_key.txt").write_text("hunter2-in-key\n")
    (repository / "config.yml").write_text(
        "pool: 30\npassword: hunter2 in yaml # of the shop\nurl: mysql://app:hunter2@db/shop\n"
    )
    (repository / "src" / "main.go").write_text('package main\n\nvar dbPassword = "hunter2"\nvar pool = cfg.Password\n')
    git(repository, "add", "-A")
    found = find_patch(repository)
    assert found is not None
    assert b"hunter2" not in found.content
    assert (found.files, found.named, found.masked) == (2, 3, 3)
    for name in (b".env", b"api_key.txt", b"tls.pem"):
        assert b"# not sent, may hold secrets: " + name + b"\n" in found.content
    assert b"+pool: 30\n+password: *** # of the shop\n+url: mysql://app:***@db/shop\n" in found.content
    assert b'+var dbPassword = "***"\n+var pool = cfg.Password\n' in found.content


def test_a_patch_is_bounded_at_whole_files(repository: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(patch, "MOST_BYTES", 20_000)
    for number in range(4):
        (repository / f"{number}.txt").write_text("".join(f"{number} {line}\n" for line in range(1_000)))
    git(repository, "add", "-A")
    found = find_patch(repository)
    assert found is not None
    assert (found.files, found.named) == (2, 2)
    assert b"2 changed files" in found.content
    assert len(found.content) < 21_000
    git(repository, "stash", "-q")
    git(repository, "apply", "--check", stdin=found.content)


def test_bytes_that_are_no_text_and_odd_names_come_through(repository: Path):
    (repository / "src" / "main.go").write_bytes(b"package main\n// caf\xe9 \x1b[31m\r\n")
    odd = os.fsencode(repository) + b"/a\nb \xff.txt"
    Path(os.fsdecode(odd)).write_text("x\n")
    git(repository, "add", "-A")
    found = find_patch(repository)
    assert found is not None
    assert b"+// caf\xe9 \x1b[31m\r\n" in found.content
    assert found.files == 2


@pytest.mark.parametrize(
    "name",
    [".env", ".env.production", "prod.env", "deploy/key.json", "id_rsa", "a.pem", "secrets.yml", ".ssh/config",
     ".aws/credentials", "db_password.txt", "token", "API_KEY", "terraform.tfstate", ".npmrc"],
)  # fmt: skip
def test_names_of_secrets(name: str):
    assert may_hold_secrets(name)


OTHER_NAMES = ("main.go", "src/keys.go", "environment.yml", "tokenizer.json", "README.md", "envoy.yaml")


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_other_names(name: str):
    assert not may_hold_secrets(name)


@pytest.mark.parametrize(
    ("line", "code", "expected"),
    [
        ('password := "hunter2"', True, 'password := "***"'),
        ("token: hunter2.with.dots", False, "token: ***"),
        ("  - secret=hunter2", False, "  - secret=***"),
        ("password: ${DB_PASSWORD}", False, "password: ${DB_PASSWORD}"),
        ("Password: cfg.Password,", True, "Password: cfg.Password,"),
        ("max_tokens: 30", False, "max_tokens: 30"),
        ("docker run -e DB_PASSWORD=hunter2 -e RATE=5 app", False, "docker run -e DB_PASSWORD=*** -e RATE=5 app"),
        ("ENV DB_PASSWORD hunter2", False, "ENV DB_PASSWORD ***"),
        ("  app --password hunter2 --token=hunter2 --rate 5", False, "  app --password *** --token=*** --rate 5"),
        ("app --password $PW --password-file /run/p", False, "app --password $PW --password-file /run/p"),
        ('"hash": "sha512-Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZ"', False, '"hash": "sha512-Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZ"'),
        ("key := AKIA" + "ABCDEFGHIJKLMNOP", True, "key := ***"),
        ('db, err := sql.Open("mysql", "app:hunter2@tcp(db:3306)/shop")', True,
         'db, err := sql.Open("mysql", "app:***@tcp(db:3306)/shop")'),
    ],
)  # fmt: skip
def test_lines(line: str, code: bool, expected: str):
    assert mask_line(line, code=code) == expected


HOSTILE = ("a", "password", "x=", 'a="', "://", " ", "a:b@", "-----BEGIN PRIVATE KEY-----")


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_line_ends(piece: str):
    for code in (True, False):
        mask_line(piece * 200_000, code=code)

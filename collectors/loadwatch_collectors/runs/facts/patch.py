"""The change that was not committed when a run began, as a patch that git takes, without secrets.

Files that may hold secrets are named and not sent; in others, what is a secret by its looks is masked, and how much was
is said at the patch's head, which git passes over.
"""

import os
import re
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from loadwatch_collectors.runs.facts.lines import MASK, is_secret_name, mask_commands, mask_known

MOST_BYTES = 4 << 20
MOST_NAMES = 200
_GIT_SECONDS = 10.0
_GIT = ("git", "-c", "core.quotepath=off", "-c", "core.fsmonitor=false")
_DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--binary")

_SECRET_NAME = re.compile(
    r"(^|[._-])(env|netrc|htpasswd|pgpass|npmrc|pypirc|kubeconfig|credentials?|secrets?|passwords?|tokens?)($|[._-])"
    r"|key"
    r"|^id_(rsa|dsa|ecdsa|ed25519)"
    r"|\.(pem|p12|pfx|jks|keystore|kdbx|crt|cer|der|asc|gpg|age|tfvars|tfstate|ovpn)$",
    re.I,
)
_SECRET_FOLDER = re.compile(r"^(\.ssh|\.aws|\.gnupg|\.kube|secrets?|credentials?|private)$", re.I)
_CODE = frozenset(
    ".c .cc .cpp .cs .css .go .h .html .java .js .jsx .kt .lua .md .mod .php .pl .proto .py .rb .rs .scala .sql .sum"
    " .swift .ts .tsx .vue".split()
)
"""Suffixes of code, which is sent even if its name says secret; its literals are masked."""
_ASSIGNED = re.compile(
    r"(?<![\w.-])(?P<name>[A-Za-z_][\w.-]{0,100})(?P<equals>[\"']?\s{0,20}(?::=|=>|=|:)\s{0,20})"
    r"(?P<value>\"(?:[^\"\\]|\\.)+\"|'(?:[^'\\]|\\.)+'|`[^`]+`)"
)
_BARE = re.compile(
    r"^(?P<name>[\s-]{0,200}(?:export\s+)?[A-Za-z_][\w.-]{0,100})(?P<equals>\s{0,20}[=:]\s{0,20})(?P<value>[^\s#\"'`{\[<$][^#]*?)(?P<end>\s*(?:#.*)?)$"
)
"""A value without quotes: in configuration; in code an expression stands there."""
_OPTION = re.compile(
    r"(?<![\w.$-])(?P<name>ENV\s{1,20}[A-Za-z_]\w{0,60}(?=\s)|[A-Za-z_]\w{0,60}(?==))"
    r"(?P<equals>=|\s{1,20})(?P<value>[^\s#\"'`{\[<$|;&=-][^\s\"'`|;&]{0,500})(?P<end>)"
)
"""The same in the middle of a line: of a command, of a Dockerfile."""
_USER = re.compile(r"(?P<before>\b[a-z][a-z0-9+.-]{0,30}://[^/\s:@]{0,200}):[^/\s@]{1,500}@", re.I)
_DSN = re.compile(r"(?P<before>(?<![\w/:.@-])[\w.+-]{1,100}):[^\s@/\"']{1,500}@(?=[\w\[(])")


class Patch(NamedTuple):
    """A patch and what is said of it.

    Attributes:
        content: for `git apply`; begins with what was left out.
        files: changed files that are in it.
        named: changed files that may hold secrets, or did not fit, and are named only.
        untracked: how many files git does not know.
        masked: values that were replaced.
    """

    content: bytes
    files: int
    named: int
    untracked: int
    masked: int


def find_patch(directory: Path) -> Patch | None:
    """What differs from the commit; None where nothing does, or git cannot tell."""
    top = git(directory, "rev-parse", "--show-toplevel")
    if top is None:
        return None
    root = Path(os.fsdecode(top.rstrip(b"\n")))
    listed = git(root, "diff", "--no-ext-diff", "--name-only", "-z", "HEAD")
    names = _names(listed)
    if not names:
        return None
    hidden = [name for name in names if may_hold_secrets(name)]
    untracked = _names(git(root, "ls-files", "--others", "--exclude-standard", "-z"))
    excluded = [f":(top,exclude,literal){name}" for name in hidden]
    found = _bounded(root, [*_DIFF, "HEAD", "--", ":(top)", *excluded])
    if found is None:
        return None
    pieces, cut = found
    sent = pieces[:-1] if cut else pieces
    left = len(names) - len(hidden) - len(sent)
    masked, body = mask_patch(b"".join(sent))
    head = _head(hidden, untracked, masked, left)
    return Patch(
        content=head + body, files=len(sent), named=len(hidden) + max(left, 0), untracked=len(untracked), masked=masked
    )


def may_hold_secrets(name: str) -> bool:
    path = PurePosixPath(name)
    if any(_SECRET_FOLDER.match(part) for part in path.parts[:-1]) and path.suffix not in _CODE:
        return True
    return _SECRET_NAME.search(path.name) is not None and path.suffix.lower() not in _CODE


def mask_patch(patch: bytes) -> tuple[int, bytes]:
    """How many lines were masked, and the patch; binary parts stay as they are."""
    count = 0
    lines: list[bytes] = []
    binary = code = False
    for line in patch.splitlines(keepends=True):
        if line.startswith(b"diff --git "):
            binary, code = False, PurePosixPath(os.fsdecode(line).strip()).suffix.lower() in _CODE
        elif line.startswith(b"GIT binary patch"):
            binary = True
        if binary or line[:1] not in (b"+", b"-", b" ") or line.startswith((b"+++ ", b"--- ")):
            lines.append(line)
            continue
        # Bytes that are no UTF-8 come out as they went in.
        text = line[1:].decode("utf-8", "surrogateescape")
        shown = mask_line(text.rstrip("\r\n"), code=code) + text[len(text.rstrip("\r\n")) :]
        count += shown != text
        lines.append(line[:1] + shown.encode("utf-8", "surrogateescape"))
    return count, b"".join(lines)


def mask_line(line: str, *, code: bool) -> str:
    line = _ASSIGNED.sub(_mask_assigned, mask_commands(line))
    if not code:
        line = _OPTION.sub(_mask_bare, _BARE.sub(_mask_bare, line))
    line = _USER.sub(rf"\g<before>:{MASK}@", line)
    line = _DSN.sub(rf"\g<before>:{MASK}@", line)
    return mask_known(line)


def _mask_assigned(found: re.Match[str]) -> str:
    value = found["value"]
    if not is_secret_name(found["name"], value[1:-1]):
        return found[0]
    return f"{found['name']}{found['equals']}{value[0]}{MASK}{value[-1]}"


def _mask_bare(found: re.Match[str]) -> str:
    if not is_secret_name(found["name"].split()[-1], found["value"]):
        return found[0]
    return f"{found['name']}{found['equals']}{MASK}{found['end']}"


def _head(hidden: Sequence[str], untracked: Sequence[str], masked: int, left: int) -> bytes:
    lines = [f"# not sent, may hold secrets: {name}" for name in hidden[:MOST_NAMES]]
    if left > 0:
        lines.append(f"# not sent, more than {MOST_BYTES} bytes together: {left} changed files")
    lines += [f"# not tracked, not sent: {name}" for name in untracked[:MOST_NAMES]]
    if len(untracked) > MOST_NAMES:
        lines.append(f"# not tracked, not sent: {len(untracked) - MOST_NAMES} more files")
    if masked:
        lines.append(f"# masked with {MASK}: {masked} lines that held what looks like a secret")
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


def _names(listed: bytes | None) -> list[str]:
    return [] if listed is None else [os.fsdecode(name) for name in listed.split(b"\0") if name]


def _bounded(root: Path, arguments: Sequence[str]) -> tuple[list[bytes], bool] | None:
    """The diff of each file, and whether the last one was cut off at the bound."""
    try:
        process = subprocess.Popen(
            [*_GIT, *arguments],
            cwd=root,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
    deadline = threading.Timer(_GIT_SECONDS, process.kill)
    deadline.start()
    with process:
        assert process.stdout is not None
        content = process.stdout.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            process.kill()
    deadline.cancel()
    if len(content) > MOST_BYTES:
        return list(_pieces(content)), True
    return (list(_pieces(content)), False) if process.returncode == 0 else None


def _pieces(diff: bytes) -> Iterator[bytes]:
    starts = [found.start() for found in re.finditer(rb"^diff --git ", diff, re.M)]
    for start, end in zip(starts, [*starts[1:], len(diff)], strict=True):
        yield diff[start:end]


def git(directory: Path, *arguments: str) -> bytes | None:
    """What git says; None where it fails, or there is none."""
    try:
        done = subprocess.run(
            [*_GIT, *arguments],
            cwd=directory,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}

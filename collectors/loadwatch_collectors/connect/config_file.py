"""Adds a target to loadwatch.yml as text, so that comments and the order of keys stay what they were."""

import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from loadwatch_formats.yaml_nodes import pairs
from yaml.nodes import MappingNode, Node, SequenceNode

from loadwatch_collectors.config import CollectorSettings, load_config
from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.settings_loader import Document, parse_document
from loadwatch_collectors.sources.registry import sources_by_name

_OWNER_AND_GROUP = 0o770
_NOTHING_SAID = re.compile(r"\s*(#.*)?")
BACKUP_SUFFIX = ".bak"


def read_text(path: Path) -> str:
    """The file as it stands.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error


class TargetAdded(NamedTuple):
    """A file's text with one more target; the collectors of that target, and those that were there."""

    text: str
    added: tuple[CollectorSettings, ...]
    others: tuple[CollectorSettings, ...]


def with_target(text: str, lines: str, name: str) -> TargetAdded:
    """The text of a file with one more target at the end of `targets:`, read anew.

    Raises:
        ConfigError: the file is wrong as it stands, is written in a way that lines cannot be added to, or would be
            wrong with them; nothing is ever written in such a case.
    """
    before = load_config(parse_document(text, name), sources_by_name())
    document = parse_document(text, name)
    targets = _targets_of(document)
    if targets is None or targets.flow_style:
        raise ConfigError(f"{name}: `targets:` is not written as a list of lines with dashes; add the target by hand")
    rows = text.split("\n")
    at = min(targets.end_mark.line, len(rows))
    while at > targets.start_mark.line + 1 and _NOTHING_SAID.fullmatch(rows[at - 1].rstrip("\r")):
        at -= 1
    indent = " " * targets.start_mark.column
    added = [(indent + line if line else line) for line in lines.rstrip("\n").split("\n")]
    whole = "\n".join([*rows[:at], *added, *(rows[at:] or [""])])
    after = load_config(parse_document(whole, name), sources_by_name())
    count = len(before.collectors)
    if [_meaning(one) for one in after.collectors[:count]] != [_meaning(one) for one in before.collectors]:
        raise ConfigError(f"{name}: the lines cannot be added without changing others; add the target by hand")
    return TargetAdded(text=whole, added=after.collectors[count:], others=after.collectors[:count])


def replace_file(path: Path, text: str, known: str | None) -> Path | None:
    """Put the text in the place of the file in one step; the backup's path, or None where there was no file.

    `known` is what the file held when it was read; None for a file that is not there. The file, its copy, and what is
    written meanwhile are never readable by all.

    Raises:
        ConfigError: the file has changed meanwhile, is another user's, or cannot be written.
    """
    path = path.resolve()
    try:
        there = path.stat() if path.exists() else None
        if (None if there is None else read_text(path)) != known:
            raise ConfigError(f"{path}: was changed meanwhile, so nothing was written; look again")
        if there is not None and there.st_uid != os.geteuid() and os.geteuid() != 0:
            raise ConfigError(f"{path}: belongs to another user, so nothing was written; add the lines by hand")
        mode = stat.S_IMODE(there.st_mode) & _OWNER_AND_GROUP if there is not None else 0o600
        backup = None
        if known is not None:
            backup = path.with_name(path.name + BACKUP_SUFFIX)
            _write(backup, known, mode, there)
        _write(path, text, mode, there)
    except OSError as error:
        raise ConfigError(f"{error.filename or path}: cannot be written: {error.strerror}") from error
    return backup


def _write(path: Path, text: str, mode: int, owner: os.stat_result | None) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
            if owner is not None and (owner.st_uid, owner.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
            os.fchmod(file.fileno(), mode)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _targets_of(document: Document) -> SequenceNode | None:
    root: Node | None = document.root
    if not isinstance(root, MappingNode):
        return None
    found = next((value for key, value in pairs(root) if key.value == "targets"), None)
    return found if isinstance(found, SequenceNode) else None


def _meaning(one: CollectorSettings) -> tuple[object, ...]:
    """All of a collector but the line where it stands, which is the same: lines are added behind it."""
    return one.source.name, one.settings, one.identity, one.interval_seconds, one.timeout_seconds, one.where

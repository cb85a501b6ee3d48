"""Adds a target to loadwatch.yml as text, so that comments and the order of keys stay what they were."""

import hashlib
import json
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from loadwatch_formats.yaml_nodes import pairs
from yaml.nodes import MappingNode, Node, SequenceNode

from loadwatch_collectors.config import AgentConfig, CollectorSettings, load_config
from loadwatch_collectors.connect.find import (
    PATHS,
    SYSTEM_PROGRAMS,
    Found,
    FoundListener,
    Seeming,
    loopback_addresses,
    user_name,
)
from loadwatch_collectors.errors import CollectorError, ConfigError
from loadwatch_collectors.settings_loader import Document, parse_document
from loadwatch_collectors.sources.mysql.collector import MySQLSettings
from loadwatch_collectors.sources.process.search import ProcessSettings, find_pids
from loadwatch_collectors.sources.registry import sources_by_name
from loadwatch_collectors.transport.postgresql_session import PostgreSQLLogin

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


# Each listener with the lines that are offered for it, as the command and the page show them.

DATABASES = ("mysql", "postgresql", "pgbouncer")
DATABASE_USER = "loadwatch"
PAGES = {"dbstats": "dbstats", "metrics": "prometheus", "nginx": "nginx"}
_LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1", "0.0.0.0")
_URL_PORTS = {"http": 80, "https": 443, "redis": 6379, "rediss": 6379}
_DEFAULT_JOB = "app"
_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9._/-]*|\d+(\.\d+){3}")
_NO_TEXT = ("null", "true", "false", "yes", "no", "on", "off", "y", "n")


class Watched(NamedTuple):
    source: str
    job: str
    instance: str
    where: str


def find_watched(listener: FoundListener, config: AgentConfig) -> list[Watched]:
    return [
        Watched(one.source.name, one.identity.job, one.identity.instance, one.where)
        for one in config.collectors
        if _watches(one.settings, listener)
    ]


def target_lines(
    listener: FoundListener, watched: Sequence[Watched], config: AgentConfig, secrets_folder: Path, host: str
) -> str:
    """A target with the blocks that are still missing, as an item of `targets:`; empty when nothing is.

    Secrets are never in it: the password of a database is expected in a file of `secrets_folder`.
    """
    blocks = _blocks(listener, {one.source for one in watched}, secrets_folder)
    if not blocks:
        return ""
    job, instance = _identity(listener, watched, config, [name for name, _ in blocks], host)
    lines = [f"- job: {_text(job)}", *([f"  instance: {_text(instance)}"] if instance != host else [])]
    for name, settings in blocks:
        inner = ", ".join(f"{key}: {_text(value)}" for key, value in settings.items())
        lines.append(f"  {name}: {{{inner}}}")
    return "\n".join(lines) + "\n"


def digest(lines: str) -> str:
    """Short hash that tells the lines that were shown from others."""
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def _blocks(listener: FoundListener, there: set[str], secrets_folder: Path) -> list[tuple[str, dict[str, Any]]]:
    of_the_system = listener.program is not None and listener.program.kernel_name in SYSTEM_PROGRAMS
    if of_the_system or any(seen.kind in ("loadwatch", "ssh") for seen in listener.seems):
        return []
    given = there | {source for seen in listener.seems for source in seen.gives}
    blocks: list[tuple[str, dict[str, Any]]] = []
    if "process" not in given and listener.program is not None:
        by_port = listener.owner_seen
        blocks.append(("process", {"port": listener.port} if by_port else {"name": listener.program.kernel_name}))
    address = next(iter(loopback_addresses(listener.addresses)), None)
    if address is None:
        return blocks
    for seen in listener.seems:
        host = f"[{address}]" if ":" in address else address
        if seen.kind in PAGES:
            source = PAGES[seen.kind]
            path = seen.path or next(path for path, kind in PATHS.items() if kind == seen.kind)
            if source not in given:
                blocks.append((source, {"url": f"http://{host}:{listener.port}{path}"}))
        elif seen.kind == "redis" and "redis" not in given:
            blocks.append(("redis", {"url": f"redis://{host}:{listener.port}"}))
        elif seen.kind in DATABASES and seen.kind not in given:
            password = secrets_folder / f"{seen.kind}-{listener.port}.password"
            login = {"host": address, "port": listener.port, "user": DATABASE_USER, "password_file": str(password)}
            blocks.append((seen.kind, login))
    return blocks


def _identity(
    listener: FoundListener, watched: Sequence[Watched], config: AgentConfig, sources: Sequence[str], host: str
) -> tuple[str, str]:
    """Job and instance: those of what is watched already, so that it stays one target, else the program's name."""
    name = listener.program.name if listener.program else ""
    job = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or _DEFAULT_JOB
    job = next((seen.kind for seen in listener.seems if seen.kind in (*DATABASES, "redis")), job)
    wished = [(one.job, one.instance) for one in watched] + [(job, host), (job, f"{host}:{listener.port}")]
    taken = {(one.source.name, one.identity.job, one.identity.instance) for one in config.collectors}
    free = (pair for pair in wished if not any((source, *pair) in taken for source in sources))
    return next(free, (f"{job}-{listener.port}", host))


def _watches(settings: Any, listener: FoundListener) -> bool:
    if isinstance(settings, ProcessSettings):
        try:
            found = settings.port is not None and settings.port == listener.port
            return found or not set(find_pids(settings)).isdisjoint(listener.pids)
        except CollectorError:
            return False
    if isinstance(settings, MySQLSettings | PostgreSQLLogin):
        here = settings.host in _LOCAL_HOSTS or settings.host.startswith("/")
        return settings.port == listener.port and here and not getattr(settings, "discover", None)
    try:
        parts = urlsplit(getattr(settings, "url", ""))
        port = parts.port or _URL_PORTS.get(parts.scheme)
    except ValueError:
        return False
    return port == listener.port and (parts.hostname or "") in (*_LOCAL_HOSTS, *listener.addresses)


def _text(value: str | int) -> str:
    """A value as YAML takes it in a line: JSON's quotes wherever a plain word could be read as something else."""
    if isinstance(value, int):
        return str(value)
    plain = _PLAIN.fullmatch(value) and value.lower() not in _NO_TEXT
    return value if plain else json.dumps(value, ensure_ascii=False)


_MOST_PIDS = 8
_KINDS = {
    "dbstats": "a Go program that shows its connection pool",
    "metrics": "a program with a page of metrics",
    "nginx": "nginx with its status page",
    "http": "an HTTP server",
    "mysql": "MySQL or MariaDB",
    "postgresql": "PostgreSQL",
    "pgbouncer": "PgBouncer",
    "redis": "Redis or Valkey",
    "memcached": "memcached",
    "ssh": "SSH",
    "tls": "a server that wants TLS",
    "loadwatch": "Loadwatch itself",
}


class Offer(NamedTuple):
    """A listener, what of it is watched, and the lines that watch the rest; empty where nothing is left."""

    listener: FoundListener
    watched: Sequence[Watched]
    lines: str

    @property
    def digest(self) -> str:
        return digest(self.lines)

    def document(self) -> dict[str, Any]:
        one = self.listener
        return {
            "port": one.port,
            "addresses": list(one.addresses),
            "program": one.program.name if one.program else None,
            "owner_seen": one.owner_seen,
            "user": user_name(one.uid),
            "pids": list(one.pids[:_MOST_PIDS]),
            "asked": one.asked,
            "seems": [{"kind": seen.kind, "told": seen.told, "path": seen.path} for seen in one.seems],
            "watched": [{"source": seen.source, "job": seen.job, "where": seen.where} for seen in self.watched],
            "lines": self.lines,
            "digest": self.digest,
        }

    def render(self) -> str:
        one = self.listener
        name = one.program.name if one.program else "a program that this user may not see"
        told = "" if one.owner_seen else f", user {user_name(one.uid)}"
        seems = "; ".join(_words(seen) for seen in one.seems) or (
            "does not say what it is" if one.asked else "not asked"
        )
        watched = [f"  watched: {seen.source} ({seen.where})" for seen in self.watched]
        lines = [f"    {line}" for line in self.lines.splitlines()]
        return "\n".join([f"{one.port} · {name}{told} · {seems}   ({', '.join(one.addresses)})", *watched, *lines])


def make_offers(found: Found, config: AgentConfig, secrets_folder: Path, host: str) -> list[Offer]:
    """An offer for each listener. `host` is the instance that targets of this host have."""
    return [
        Offer(one, watched, target_lines(one, watched, config, secrets_folder, host))
        for one in found.listeners
        for watched in [find_watched(one, config)]
    ]


def _words(seen: Seeming) -> str:
    how = {
        "program": "by its name",
        "greeting": "by what it says first",
        "answer": f"by its answer to GET {seen.path}" if seen.path else "by its answer",
    }
    return f"seems {_KINDS[seen.kind]}, {how[seen.told]}"

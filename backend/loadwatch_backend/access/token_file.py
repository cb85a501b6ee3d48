"""A file of tokens of agents, tools and people.

The file is JSON: `{"version": 1, "tokens": [{"name", "role", "sha256", "created"}]}`. A token has 256 random bits, so a
plain SHA-256 is enough: there is nothing to guess.
"""

import fcntl
import hashlib
import hmac
import json
import os
import re
import secrets
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import structlog

from loadwatch_backend.access.principal import Principal, PrincipalKind, Role, principal_with_role

logger = structlog.get_logger(__name__)

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
SHA256 = re.compile(r"[0-9a-f]{64}")


class TokenFileError(Exception):
    """The token file cannot be used; the text says where and why, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRecord:
    """What is kept of a token; `created` is aware UTC."""

    name: str
    role: Role
    sha256: str
    created: datetime


def generate_token(role: Role | None) -> str:
    """A new token; the prefix lets people and secret scanners recognise it. Without a role it has scopes of its own."""
    return f"lw_{role.value if role else 'api'}_{secrets.token_urlsafe(32)}"


def hash_token(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def parse_tokens(text: str, where: str) -> list[TokenRecord]:
    """Read a token file's text.

    Raises:
        TokenFileError: names the entry that is wrong.
    """
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TokenFileError(f"{where} is not JSON: {error}. Make one with `loadwatch token create`.") from error
    document = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    entries: Any = document.get("tokens")
    if document.get("version") != 1 or not isinstance(entries, list):
        raise TokenFileError(f'{where} is not a token file: it needs "version": 1 and a list "tokens".')
    return [_parse_entry(entry, f"{where}, token {index}") for index, entry in enumerate(cast("list[Any]", entries))]


def _parse_entry(entry: Any, where: str) -> TokenRecord:
    try:
        name, role, sha256 = str(entry["name"]), Role(entry["role"]), str(entry["sha256"])
        created = datetime.fromisoformat(entry["created"])
    except (KeyError, TypeError, ValueError) as error:
        raise TokenFileError(f"{where}: {error!r}; it needs name, role, sha256 and created.") from error
    if not NAME.fullmatch(name) or not SHA256.fullmatch(sha256) or created.tzinfo is None:
        raise TokenFileError(f"{where}: name, sha256 or created (which needs a time zone) is malformed.")
    return TokenRecord(name=name, role=role, sha256=sha256, created=created)


def format_tokens(records: Sequence[TokenRecord]) -> str:
    entries = [
        {"name": r.name, "role": r.role.value, "sha256": r.sha256, "created": r.created.isoformat()} for r in records
    ]
    return json.dumps({"version": 1, "tokens": entries}, indent=2) + "\n"


def match_token(records: Sequence[TokenRecord], token_hash: str) -> TokenRecord | None:
    """The record of a token, compared in constant time with all of them."""
    found = None
    for record in records:
        if hmac.compare_digest(record.sha256, token_hash):
            found = record
    return found


class TokenFile:
    """The file on disk, read again when it changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, int, int] | None = None
        self._records: list[TokenRecord] = []
        self._broken = ""

    def records(self) -> Sequence[TokenRecord]:
        """All tokens.

        Raises:
            TokenFileError: the file is missing, unreadable or malformed.
        """
        try:
            status = self.path.stat()
            seen = (status.st_ino, status.st_mtime_ns, status.st_size)
            if seen != self._seen:
                self._records = parse_tokens(self.path.read_text(), str(self.path))
                self._seen = seen
        except OSError as error:
            raise TokenFileError(
                f"cannot read the token file {self.path}: {error.strerror}. "
                f"Make one with `loadwatch token create --role admin --name NAME --token-file {self.path}`."
            ) from error
        return self._records

    def usable(self) -> Sequence[TokenRecord]:
        """All tokens; none while the file cannot be read, so that a damaged one lets nobody in."""
        try:
            records, broken = self.records(), ""
        except TokenFileError as error:
            records, broken = (), str(error)
        if broken and broken != self._broken:
            logger.error("token file unusable; every token is refused", reason=broken)
        self._broken = broken
        return records

    def is_private(self) -> bool:
        return not stat.S_IMODE(self.path.stat().st_mode) & 0o077

    def create(self, name: str, role: Role, now: datetime) -> str:
        """Add a token and return it; it cannot be read again.

        Raises:
            TokenFileError: the name is taken or malformed, or the file cannot be written.
        """
        if not NAME.fullmatch(name):
            raise TokenFileError(
                f"{name!r} is no name for a token: use up to 63 letters, digits, dots, dashes and underscores."
            )
        token = generate_token(role)
        with self._locked() as records:
            if any(record.name == name for record in records):
                raise TokenFileError(
                    f"{self.path} already holds a token named {name!r}. "
                    f"Choose another name, or `loadwatch token revoke --name {name}` first."
                )
            record = TokenRecord(name=name, role=role, sha256=hash_token(token), created=now.astimezone(UTC))
            self._write([*records, record])
        return token

    def revoke(self, name: str) -> None:
        """Remove a token; a running server refuses it from its next request on.

        Raises:
            TokenFileError: there is no such token, or the file cannot be written.
        """
        with self._locked() as records:
            kept = [record for record in records if record.name != name]
            if len(kept) == len(records):
                raise TokenFileError(f"{self.path} holds no token named {name!r}; see `loadwatch token list`.")
            self._write(kept)

    @contextmanager
    def _locked(self) -> Generator[Sequence[TokenRecord]]:
        """Lock the file and yield its tokens, so that concurrent commands do not lose each other's token."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.path.with_name(self.path.name + ".lock"), os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise TokenFileError(f"cannot write next to the token file {self.path}: {error.strerror}.") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield self.records() if self.path.exists() else []
        finally:
            os.close(lock)

    def _write(self, records: Sequence[TokenRecord]) -> None:
        fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        try:
            with os.fdopen(os.open(fresh, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
                file.write(format_tokens(records))
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path)
        except OSError as error:
            raise TokenFileError(f"cannot write the token file {self.path}: {error.strerror}.") from error


def principal_of(record: TokenRecord, session_id: str | None = None) -> Principal:
    bearer = principal_with_role(record.name, record.role, PrincipalKind.TOKEN)
    return replace(bearer, file_token=record.sha256, session_id=session_id)

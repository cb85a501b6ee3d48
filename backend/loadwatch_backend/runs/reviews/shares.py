"""Links that show one run's report to whoever has them, until they expire. Only a hash of the secret is kept."""

import hashlib
import secrets
from dataclasses import dataclass

import orjson

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.schemas import LAST_MILLISECOND
from loadwatch_backend.evidence.files.repository import find_files
from loadwatch_backend.runs.errors import RunRuleError, ShareNotFoundError
from loadwatch_backend.runs.registry.repository import find_run
from loadwatch_backend.runs.registry.tables import RunShareRow
from loadwatch_backend.runs.reviews.repository import add, delete_share, find_share, find_shares, forget_shares
from loadwatch_backend.runs.reviews.schemas import ShareIn, ShareList, ShareOut

SECRET_BYTES = 32
DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenShare:
    """What a link shows: a run, and those of its files that were chosen."""

    run: str
    files: tuple[str, ...]


class Shares:
    """Safe to use from any thread."""

    def __init__(self, relational: Relational, clock: Clock) -> None:
        self._relational = relational
        self._clock = clock

    def list(self, run_id: str) -> ShareList:
        """Links of a run that have not expired, the newest first; without their secrets."""
        with self._relational.transaction() as session:
            find_run(session, run_id)
            return ShareList(shares=[_out(row, None) for row in find_shares(session, run_id, self._clock())])

    def create(self, run_id: str, given: ShareIn) -> ShareOut:
        """Make a link; this is the only time that its secret is told.

        Raises:
            RunNotFoundError: there is no such run.
            RunRuleError: a file is not the run's.
        """
        secret = secrets.token_urlsafe(SECRET_BYTES)
        now_ms = self._clock()
        row = RunShareRow(
            id=secrets.token_hex(8),
            run_id=run_id,
            note=given.note,
            created_ms=now_ms,
            expires_ms=min(now_ms + round(given.days * DAY_MS), LAST_MILLISECOND),
            secret_hash=_hash(secret),
            files=orjson.dumps(given.files).decode() if given.files else None,
        )
        with self._relational.transaction() as session:
            find_run(session, run_id)
            foreign = set(given.files) - {file.id for file in find_files(session, run_id, None)}
            if foreign:
                raise RunRuleError(f"files: {min(foreign)} is no file of this run; it may have been deleted.")
            forget_shares(session, now_ms)
            add(session, row)
        return _out(row, secret)

    def delete(self, share_id: str) -> None:
        """The link opens nothing from now on.

        Raises:
            ShareNotFoundError: there is none.
        """
        with self._relational.transaction() as session:
            if not delete_share(session, share_id):
                raise ShareNotFoundError(f"There is no link {share_id[:64]!r}; it may have expired or been revoked.")

    def open(self, secret: str) -> OpenShare:
        """What a link shows.

        Raises:
            ShareNotFoundError: wrong, expired and revoked links look alike.
        """
        with self._relational.transaction() as session:
            row = find_share(session, _hash(secret))
            if row is None or row.expires_ms <= self._clock():
                raise ShareNotFoundError("This link shows nothing, or nothing any more. Ask who sent it for a new one.")
            return OpenShare(run=row.run_id, files=_files(row))


def _hash(secret: str) -> str:
    """The secret has 256 random bits: a slow hash would protect nothing more."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _files(row: RunShareRow) -> tuple[str, ...]:
    return tuple(orjson.loads(row.files)) if row.files else ()


def _out(row: RunShareRow, secret: str | None) -> ShareOut:
    return ShareOut(
        id=row.id,
        run=row.run_id,
        note=row.note,
        created_ms=row.created_ms,
        expires_ms=row.expires_ms,
        files=list(_files(row)),
        path=None if secret is None else f"/share/{secret}",
    )

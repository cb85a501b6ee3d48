"""Tokens of agents, tools and people, in the database; those of a file are in `token_file`."""

from loadwatch_backend.access.credentials import new_id
from loadwatch_backend.access.principal import SCOPES_OF, Role, Scope
from loadwatch_backend.access.repository import add_token, delete_token, list_tokens
from loadwatch_backend.access.schemas import TokenCreated, TokenIn, TokenList, TokenOut
from loadwatch_backend.access.tables import ApiTokenRow
from loadwatch_backend.access.token_file import TokenFile, TokenRecord, generate_token, hash_token
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.outages import ConstraintError
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.errors import InvalidError, NotFoundError

FILE_ID = "file-"
"""Prefix of the ids of tokens in the file, before the head of the hash: ids may not hold dots."""


class TokenNotFoundError(NotFoundError, code="token-not-found"):
    """There is no token with this id or name."""


class TokenNameTakenError(InvalidError, code="token-name-taken"):
    """There is a token of this name."""


class TokenInFileError(InvalidError, code="token-in-file"):
    """The token stands in the token file."""


class TokenExpiryError(InvalidError, code="token-expiry"):
    """The token would be over before it begins."""


class TokenJobsError(InvalidError, code="token-jobs"):
    """Only a token that does nothing but send samples can be limited to jobs."""


class TokenService:
    def __init__(self, relational: Relational, clock: Clock, file: TokenFile | None = None) -> None:
        self._relational = relational
        self._clock = clock
        self._file = file

    def list(self) -> TokenList:
        with self._relational.transaction() as session:
            stored = [_out(row) for row in list_tokens(session)]
        filed = [] if self._file is None else [_file_out(record) for record in self._file.usable()]
        return TokenList(tokens=sorted([*stored, *filed], key=lambda token: (token.name, token.id)))

    def create(self, given: TokenIn, created_by: str, role: Role | None = None) -> TokenCreated:
        """Make one.

        Raises:
            TokenNameTakenError: choose another name.
            TokenExpiryError: the end has passed.
            TokenJobsError: it is limited to jobs and may do more than send samples.
        """
        now_ms = self._clock()
        if given.expires_ms is not None and given.expires_ms <= now_ms:
            raise TokenExpiryError("The token would be over already; give an end in the future, or none.")
        token = generate_token(role)
        scopes = SCOPES_OF[role] if role is not None else frozenset(given.scopes)
        if given.jobs and scopes - {Scope.SAMPLES_WRITE}:
            raise TokenJobsError("Only a token with the scope samples:write and no other can be limited to jobs.")
        row = ApiTokenRow(
            id=new_id(),
            name=given.name,
            token_hash=hash_token(token),
            role=None if role is None else role.value,
            scopes=" ".join(sorted(scopes)),
            created_ms=now_ms,
            created_by=created_by,
            last_used_ms=None,
            expires_ms=given.expires_ms,
            jobs="\n".join(given.jobs),
        )
        try:
            with self._relational.transaction() as session:
                add_token(session, row)
        except ConstraintError as error:
            raise TokenNameTakenError(
                f"There is a token named {given.name!r} already; choose another name, or revoke it first."
            ) from error
        return TokenCreated(token=token, record=_out(row))

    def revoke(self, token_id: str) -> str:
        """Forget one and end its sessions; returns the name.

        Raises:
            TokenInFileError: it stands in the token file.
            TokenNotFoundError: there is none.
        """
        if token_id.startswith(FILE_ID):
            raise TokenInFileError("This token stands in the token file; `loadwatch token revoke` removes it there.")
        with self._relational.transaction() as session:
            name = delete_token(session, id=token_id)
        if name is None:
            raise TokenNotFoundError(f"There is no token {token_id}; it may have been revoked.")
        return name

    def revoke_by_name(self, name: str) -> bool:
        with self._relational.transaction() as session:
            return delete_token(session, name=name) is not None


def _out(row: ApiTokenRow) -> TokenOut:
    scopes = sorted(Scope(scope) for scope in row.scopes.split())
    return TokenOut.from_object(row, scopes=scopes, jobs=row.jobs.splitlines(), from_file=False)


def _file_out(record: TokenRecord) -> TokenOut:
    return TokenOut(
        id=FILE_ID + record.sha256[:16],
        name=record.name,
        scopes=sorted(SCOPES_OF[record.role]),
        created_ms=int(record.created.timestamp() * 1_000),
        created_by="",
        last_used_ms=None,
        expires_ms=None,
        jobs=[],
        from_file=True,
    )

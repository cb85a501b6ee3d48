"""The tables of users, sessions, tokens and the audit log; made by the migrations, and a test holds both together."""

from sqlalchemy import BigInteger, Boolean, ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from loadwatch_backend.core.database.relational import BINARY_TEXT, Base, Identity

NAME_LENGTH = 100
TEXT_LENGTH = 200
JOBS_LENGTH = 2_000
KEY_LENGTH = 40
HASH_LENGTH = 64
SHORT_LENGTH = 20


class UserRow(Base):
    """A user. `name_key` is the name in lower case, so that no two users look alike."""

    __tablename__ = "users"
    __table_args__ = ({"sqlite_autoincrement": True, **BINARY_TEXT},)

    id: Mapped[int] = mapped_column(Identity, primary_key=True, autoincrement=True)
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    name_key: Mapped[str] = mapped_column(String(NAME_LENGTH), unique=True)
    full_name: Mapped[str] = mapped_column(String(TEXT_LENGTH))
    role: Mapped[str] = mapped_column(String(SHORT_LENGTH))
    role_source: Mapped[str] = mapped_column(String(SHORT_LENGTH), server_default="unknown")
    source: Mapped[str] = mapped_column(String(SHORT_LENGTH))
    disabled: Mapped[bool] = mapped_column(Boolean())
    password_hash: Mapped[str | None] = mapped_column(String(TEXT_LENGTH))
    external_id: Mapped[str | None] = mapped_column(String(HASH_LENGTH), unique=True)
    created_ms: Mapped[int] = mapped_column(BigInteger)
    last_seen_ms: Mapped[int | None] = mapped_column(BigInteger)


class ApiTokenRow(Base):
    """A token; `scopes` are separated by spaces, `jobs` by line feeds, `token_hash` is its SHA-256."""

    __tablename__ = "api_tokens"
    __table_args__ = BINARY_TEXT

    id: Mapped[str] = mapped_column(String(KEY_LENGTH), primary_key=True)
    name: Mapped[str] = mapped_column(String(NAME_LENGTH), unique=True)
    token_hash: Mapped[str] = mapped_column(String(HASH_LENGTH), unique=True)
    role: Mapped[str | None] = mapped_column(String(SHORT_LENGTH))
    scopes: Mapped[str] = mapped_column(String(TEXT_LENGTH))
    created_ms: Mapped[int] = mapped_column(BigInteger)
    created_by: Mapped[str] = mapped_column(String(NAME_LENGTH))
    last_used_ms: Mapped[int | None] = mapped_column(BigInteger)
    expires_ms: Mapped[int | None] = mapped_column(BigInteger)
    jobs: Mapped[str] = mapped_column(String(JOBS_LENGTH), server_default="")


class UserSessionRow(Base):
    """A browser that is signed in, by a user or with a token; `secret_hash` is the SHA-256 of its cookie.

    `file_token` is the hash of a token of the token file.
    """

    __tablename__ = "user_sessions"
    __table_args__ = BINARY_TEXT

    id: Mapped[str] = mapped_column(String(KEY_LENGTH), primary_key=True)
    secret_hash: Mapped[str] = mapped_column(String(HASH_LENGTH), unique=True)
    user_id: Mapped[int | None] = mapped_column(Identity, ForeignKey("users.id", ondelete="CASCADE"), index=True)
    token_id: Mapped[str | None] = mapped_column(
        String(KEY_LENGTH), ForeignKey("api_tokens.id", ondelete="CASCADE"), index=True
    )
    file_token: Mapped[str | None] = mapped_column(String(HASH_LENGTH))
    created_ms: Mapped[int] = mapped_column(BigInteger)
    last_seen_ms: Mapped[int] = mapped_column(BigInteger)
    expires_ms: Mapped[int] = mapped_column(BigInteger, index=True)
    address: Mapped[str] = mapped_column(String(NAME_LENGTH))
    browser: Mapped[str] = mapped_column(String(TEXT_LENGTH))

    user: Mapped[UserRow | None] = relationship(lazy="joined")
    token: Mapped[ApiTokenRow | None] = relationship(lazy="joined")


class LockoutRow(Base):
    """Wrong passwords for one name, whether there is such a user or not; `key_hash` hides what was typed as a name."""

    __tablename__ = "login_lockouts"
    __table_args__ = BINARY_TEXT

    key_hash: Mapped[str] = mapped_column(String(HASH_LENGTH), primary_key=True)
    name_hash: Mapped[str] = mapped_column(String(HASH_LENGTH), index=True)
    failures: Mapped[int] = mapped_column(Integer)
    last_failure_ms: Mapped[int] = mapped_column(BigInteger, index=True)
    locked_until_ms: Mapped[int] = mapped_column(BigInteger)


class SetupRow(Base):
    """The secret of the link that makes the first administrator; at most one row."""

    __tablename__ = "access_setup"
    __table_args__ = BINARY_TEXT

    secret_hash: Mapped[str] = mapped_column(String(HASH_LENGTH), primary_key=True)
    expires_ms: Mapped[int] = mapped_column(BigInteger)


class AuditRow(Base):
    """Something that somebody did or tried to do; `detail` is a JSON object."""

    __tablename__ = "audit_entries"
    __table_args__ = (
        Index("ix_audit_entries_at_ms", "at_ms"),
        Index("ix_audit_entries_actor", "actor"),
        Index("ix_audit_entries_action", "action"),
        {"sqlite_autoincrement": True, **BINARY_TEXT},
    )

    id: Mapped[int] = mapped_column(Identity, primary_key=True, autoincrement=True)
    at_ms: Mapped[int] = mapped_column(BigInteger)
    actor: Mapped[str] = mapped_column(String(NAME_LENGTH))
    actor_kind: Mapped[str | None] = mapped_column(String(SHORT_LENGTH))
    action: Mapped[str] = mapped_column(String(NAME_LENGTH))
    subject: Mapped[str] = mapped_column(String(TEXT_LENGTH))
    outcome: Mapped[str] = mapped_column(String(NAME_LENGTH))
    address: Mapped[str] = mapped_column(String(NAME_LENGTH))
    detail: Mapped[str] = mapped_column(Text())

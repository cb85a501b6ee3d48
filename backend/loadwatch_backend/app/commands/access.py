"""`loadwatch token` and `loadwatch user`: access from the machine that the server runs on, whoever is locked out.

They work on the token file, or on the database itself, beside a server that runs or without one.
"""

import os
import re
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click
from loadwatch_formats.terminal import echo
from pydantic import ValidationError

from loadwatch_backend.access.audit import AuditEvent, AuditLog
from loadwatch_backend.access.principal import LOCAL, SCOPES_OF, Role, Scope
from loadwatch_backend.access.schemas import TokenIn, UserIn, UserPatch
from loadwatch_backend.access.sign_in.passwords import Passwords
from loadwatch_backend.access.token_file import TokenFile, TokenFileError
from loadwatch_backend.access.tokens import TokenService
from loadwatch_backend.access.users.service import UserService
from loadwatch_backend.app.commands.start import data_option, settings_of
from loadwatch_backend.core.clock import system_clock
from loadwatch_backend.core.data_directory import open_data_directory
from loadwatch_backend.core.database.relational import Relational, RelationalError, default_url, open_relational
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.logs import configure_logs

DAY_MS = 86_400_000
PEOPLE = [Role.VIEWER.value, Role.EDITOR.value, Role.ADMIN.value]

token_file_option = click.option(
    "--token-file",
    "token_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file of tokens instead of the database; also read from LOADWATCH_TOKEN_FILE.",
)
name_option = click.option("--name", required=True)


@click.group()
def token() -> None:
    """Make, list and revoke the tokens that agents, programs and administrators use."""


@token.command("create")
@click.option("--role", type=click.Choice([role.value for role in Role]), help="All that the role may do.")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice([scope.value for scope in Scope]),
    multiple=True,
    help="One thing that it may do; may be given several times. Instead of --role, in the database only.",
)
@click.option(
    "--job",
    "jobs",
    multiple=True,
    help="Send samples of this job only; may be given several times. With --role agent, in the database only.",
)
@click.option("--name", required=True, help="What the token is for; shown in lists, never secret.")
@click.option("--expires-days", type=click.FloatRange(min=0, min_open=True), help="In the database only.")
@token_file_option
@data_option
def create_token(
    role: str | None,
    scopes: tuple[str, ...],
    jobs: tuple[str, ...],
    name: str,
    expires_days: float | None,
    token_file: Path | None,
    data: Path | None,
) -> None:
    """Make a token and print it, once. A running server takes it from its next request on."""
    if (role is None) == (not scopes):
        raise click.UsageError("Give either --role or --scope.")
    file = _file(token_file)
    if file is not None and not scopes and not jobs and expires_days is None:
        _create_in_file(file, name, Role(role))
        return
    if token_file is not None:
        raise click.UsageError("A token file holds roles without an end or jobs; leave --token-file out.")
    chosen = Role(role) if role else None
    try:
        given = TokenIn(
            name=name,
            jobs=list(jobs),
            scopes=sorted(SCOPES_OF[chosen]) if chosen else sorted({Scope(scope) for scope in scopes}),
            expires_ms=None if expires_days is None else system_clock() + int(expires_days * DAY_MS),
        )
    except ValidationError as error:
        [first, *_] = error.errors()
        raise click.UsageError(f"--{str(first['loc'][0]).removesuffix('s')}: {first['msg']}.") from error
    with _database(data) as relational:
        made = TokenService(relational, system_clock).create(given, LOCAL.name, chosen)
        _note(relational, "token.create", name)
    echo(made.token)
    echo("Kept as a hash in the database; this is the only time that the token is shown.", err=True)


def _create_in_file(file: Path, name: str, role: Role) -> None:
    with _token_file_errors():
        secret = TokenFile(file).create(name, role, datetime.now(UTC))
    echo(secret)
    echo(f"Kept as a hash in {file}; this is the only time that the token is shown.", err=True)
    if os.environ.get("LOADWATCH_TOKEN_FILE") is None:
        echo(f"The server uses the file when LOADWATCH_TOKEN_FILE={file} is set.", err=True)


@token.command("list")
@token_file_option
@data_option
def list_tokens(token_file: Path | None, data: Path | None) -> None:
    """List names, roles or scopes, and ages; never the tokens."""
    file = _file(token_file)
    if file is not None:
        with _token_file_errors():
            for record in TokenFile(file).records():
                echo(f"{record.name}\t{record.role.value}\t{record.created.isoformat(timespec='seconds')}")
    if token_file is not None:
        return
    with _database(data) as relational:
        for one in TokenService(relational, system_clock).list().tokens:
            what = ",".join(scope.value for scope in one.scopes)
            until = "" if one.expires_ms is None else f"\tuntil {_iso(one.expires_ms)}"
            jobs = f"\tjobs {', '.join(one.jobs)}" if one.jobs else ""
            echo(f"{one.name}\t{what}\t{_iso(one.created_ms)}{until}{jobs}")


@token.command("revoke")
@name_option
@token_file_option
@data_option
def revoke_token(name: str, token_file: Path | None, data: Path | None) -> None:
    """Forget a token; a running server refuses it, and its sessions, from the next request on."""
    file = _file(token_file)
    if file is not None:
        with _token_file_errors():
            found = any(record.name == name for record in TokenFile(file).records())
            if found or token_file is not None:
                TokenFile(file).revoke(name)
                echo(f"{name} is revoked.", err=True)
                return
    with _database(data) as relational:
        if not TokenService(relational, system_clock).revoke_by_name(name):
            raise click.ClickException(f"there is no token named {name!r}; see `loadwatch token list`.")
        _note(relational, "token.revoke", name)
    echo(f"{name} is revoked.", err=True)


@click.group()
def user() -> None:
    """Make, list and let in users, also when nobody can sign in any more."""


@user.command("create")
@name_option
@click.option("--role", type=click.Choice(PEOPLE), required=True)
@click.option("--full-name", default="", help="Shown beside the name.")
@data_option
def create_user(name: str, role: str, full_name: str, data: Path | None) -> None:
    """Add a user who signs in with a password, which is asked for or read from standard input."""
    password = _password()
    try:
        given = UserIn(name=name, role=Role(role), full_name=full_name, password=password)
    except ValueError as error:
        raise click.ClickException(
            "a name has letters, digits and . _ @ + - and begins with a letter or digit; a password has at least 12 "
            "characters."
        ) from error
    with _database(data) as relational:
        made = _users(relational).create(given)
        _note(relational, "user.create", made.name)
    echo(f"{made.name} is {made.role.value}.", err=True)


@user.command("list")
@data_option
def list_users(data: Path | None) -> None:
    """List names, roles and states."""
    with _database(data) as relational:
        for one in _users(relational).list().users:
            state = "disabled" if one.disabled else "locked" if one.locked_until_ms else "active"
            seen = "never" if one.last_seen_ms is None else _iso(one.last_seen_ms)
            echo(f"{one.name}\t{one.role.value}\t{one.source.value}\t{state}\t{seen}")


@user.command("password")
@name_option
@data_option
def change_password(name: str, data: Path | None) -> None:
    """Give a user a new password; it ends their sessions and lifts a lock-out."""
    password = _password()
    try:
        patch = UserPatch(password=password)
    except ValueError as error:
        raise click.ClickException("a password has at least 12 characters.") from error
    _update(data, name, patch, "has a new password")


@user.command("unlock")
@name_option
@data_option
def unlock_user(name: str, data: Path | None) -> None:
    """Lift the lock-out that wrong passwords brought."""
    _update(data, name, UserPatch(unlock=True), "can sign in again")


@user.command("role")
@name_option
@click.option("--role", type=click.Choice(PEOPLE), required=True)
@data_option
def change_role(name: str, role: str, data: Path | None) -> None:
    """Give a user another role."""
    _update(data, name, UserPatch(role=Role(role)), f"is {role}")


@user.command("disable")
@name_option
@data_option
def disable_user(name: str, data: Path | None) -> None:
    """Keep a user out; sessions end."""
    _update(data, name, UserPatch(disabled=True), "is disabled")


@user.command("enable")
@name_option
@data_option
def enable_user(name: str, data: Path | None) -> None:
    """Let a disabled user in again."""
    _update(data, name, UserPatch(disabled=False), "can sign in again")


# ----------------------------------------------------------------------------------------------------------------------


def _update(data: Path | None, name: str, patch: UserPatch, remark: str) -> None:
    with _database(data) as relational:
        users = _users(relational)
        changed = users.update(users.find(name).id, patch)
        _note(relational, "user.update", changed.name)
    echo(f"{changed.name} {remark}.", err=True)


def _users(relational: Relational) -> UserService:
    return UserService(relational, system_clock, Passwords())


def _note(relational: Relational, action: str, subject: str) -> None:
    AuditLog(relational, system_clock).write(
        AuditEvent(action=action, actor=LOCAL, subject=subject, detail={"way": "command line"})
    )


def _password() -> str:
    """Asked for twice at a terminal; a line of standard input anywhere else. Never an argument: those can be seen."""
    if sys.stdin.isatty():
        text: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return text
    return sys.stdin.readline().rstrip("\r\n")


def _file(given: Path | None) -> Path | None:
    named = os.environ.get("LOADWATCH_TOKEN_FILE")
    return given if given is not None else Path(named) if named else None


@contextmanager
def _token_file_errors() -> Generator[None]:
    try:
        yield
    except TokenFileError as error:
        raise click.ClickException(str(error)) from error


@contextmanager
def _database(data: Path | None) -> Generator[Relational]:
    """The database of the settings, migrated; made where there is none."""
    try:
        settings = settings_of(data=data)
        # Standard output is for what was asked for: a token may be read from there.
        configure_logs(settings.log_format)
        open_data_directory(settings.data)
        relational = open_relational(settings.relational_url or default_url(settings.data))
    except (RelationalError, OSError) as error:
        raise click.ClickException(str(error)) from error
    try:
        yield relational
    except ProblemError as error:
        raise click.ClickException(error.detail) from error
    finally:
        relational.close()


def make_agent_token(data: Path) -> Path:
    """A file with a new token of `loadwatch up`'s agent, which may write samples only; the one before is revoked.

    Raises:
        ClickException: the database cannot be used.
    """
    name = "up-" + re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())[:60]
    with _database(data) as relational:
        tokens = TokenService(relational, system_clock)
        tokens.revoke_by_name(name)
        made = tokens.create(TokenIn(name=name, scopes=[Scope.SAMPLES_WRITE]), LOCAL.name, Role.AGENT)
    path = data / "agent.token"
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(made.token + "\n")
    return path


def _iso(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1_000, UTC).isoformat(timespec="seconds")

"""The tables on the databases that there are, and what they must not let happen."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.access.audit import KEPT_MS, AuditEvent, AuditLog
from loadwatch_backend.access.credentials import Visit
from loadwatch_backend.access.lookup import Lookup
from loadwatch_backend.access.principal import LOCAL, Role, Scope
from loadwatch_backend.access.repository import SessionOwner, open_session
from loadwatch_backend.access.schemas import TokenIn, UserIn, UserPatch
from loadwatch_backend.access.sign_in.passwords import Passwords
from loadwatch_backend.access.sign_in.sign_in import SetupLinkError, begin_setup, use_setup
from loadwatch_backend.access.tables import ApiTokenRow, AuditRow, SetupRow, UserRow, UserSessionRow
from loadwatch_backend.access.token_file import TokenFile
from loadwatch_backend.access.tokens import TokenService
from loadwatch_backend.access.users.service import LastAdministratorError, UserService
from loadwatch_backend.core.database.relational import Relational, open_relational
from sqlalchemy import delete

PASSWORD = "four random words here"
VISIT = Visit(address="192.0.2.1", browser="葵😀", secure=True)


@pytest.fixture
def relational(database_url: str) -> Iterator[Relational]:
    relational = open_relational(database_url)
    with relational.transaction() as session:  # one database serves all tests of the module
        for row in (UserSessionRow, ApiTokenRow, UserRow, SetupRow, AuditRow):
            session.execute(delete(row))
    yield relational
    relational.close()


def test_users_sessions_and_tokens_on_a_real_database(relational: Relational):
    clock = [1_000_000]
    users = UserService(relational, lambda: clock[0], Passwords())
    tokens = TokenService(relational, lambda: clock[0])
    lookup = Lookup(relational, lambda: clock[0])
    made = users.create(UserIn(name="Ann", role=Role.ADMIN, password=PASSWORD, full_name="葵😀"))
    assert users.find("aNN") == made
    with relational.transaction() as session:
        session_id, secret = open_session(session, SessionOwner(user_id=made.id), VISIT, now_ms=clock[0])
    found = lookup.by_session(secret)
    assert found is not None
    assert (found.name, found.role, found.session_id) == ("Ann", Role.ADMIN, session_id)
    token = tokens.create(TokenIn(name="ci", scopes=[Scope.READ], expires_ms=2_000_000), "Ann")
    bearer = lookup.by_token(token.token)
    assert bearer is not None
    assert bearer.scopes == {Scope.READ}
    clock[0] = 2_000_000
    assert lookup.by_token(token.token) is None
    assert tokens.revoke(token.record.id) == "ci"
    users.create(UserIn(name="bo", role=Role.ADMIN, password=PASSWORD))
    users.delete(made.id)
    assert lookup.by_session(secret) is None


def test_one_lookup_finds_tokens_of_the_file_and_of_the_database(relational: Relational, tmp_path: Path):
    file = TokenFile(tmp_path / "tokens.json")
    lookup = Lookup(relational, lambda: 1_000, file)
    filed = file.create("agent", Role.AGENT, datetime.now(UTC))
    stored = TokenService(relational, lambda: 1_000, file).create(TokenIn(name="ci", scopes=[Scope.READ]), "Ann").token
    found = [lookup.by_token(filed), lookup.by_token(filed, file_only=True), lookup.by_token(stored)]
    assert [one and one.name for one in found] == ["agent", "agent", "ci"]
    assert lookup.by_token(stored, file_only=True) is None
    assert lookup.by_token(stored + "x") is None
    # A file that cannot be read lets nobody in, and keeps nobody of the database out.
    file.path.write_text("no JSON")
    assert lookup.by_token(filed) is None
    assert lookup.by_token(stored) is not None


def test_of_two_who_demote_each_other_at_once_one_stays_administrator(relational: Relational):
    users = UserService(relational, lambda: 1, Passwords())
    made = [users.create(UserIn(name=name, role=Role.ADMIN, password=PASSWORD)).id for name in ("one", "two")]

    def demote(user_id: int) -> bool:
        try:
            users.update(user_id, UserPatch(role=Role.VIEWER))
        except LastAdministratorError:
            return False
        return True

    for _ in range(5):
        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(demote, made)) == [False, True]
        for user_id in made:
            users.update(user_id, UserPatch(role=Role.ADMIN))


def test_of_many_who_use_the_link_at_once_one_succeeds(relational: Relational):
    secret = begin_setup(relational, lambda: 1)
    assert secret is not None

    def use(number: int) -> bool:
        try:
            with relational.transaction() as session:
                use_setup(session, secret, 2 + number)
        except SetupLinkError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(use, range(4))) == [False, False, False, True]


def test_audit_entries_are_found_by_who_what_and_when_and_forgotten_after_400_days(relational: Relational):
    clock = [1_000]
    log = AuditLog(relational, lambda: clock[0])

    def write(**event: Any) -> None:
        log.write(AuditEvent(actor=LOCAL, **event))
        clock[0] += 1

    for number in range(5):
        write(action="silence.create", subject=str(number), detail={"葵": "😀"})
    write(action="silences")
    write(action="user_update", outcome="forbidden", subject="x" * 999)
    first = log.list(0, 10**13, "", "silence", None, 3)
    assert [entry.subject for entry in first.entries] == ["4", "3", "2"]
    second = log.list(0, 10**13, "local", "silence.", first.next_before, 3)
    assert [entry.subject for entry in second.entries] == ["1", "0"]
    assert second.next_before is None
    assert second.entries[0].detail == {"葵": "😀"}
    assert [entry.action for entry in log.list(1_005, 1_006, "", "", None, 9).entries] == ["user_update", "silences"]
    assert log.list(0, 10**13, "", "user%", None, 9).entries == []
    assert log.list(0, 10**13, "nobody", "", None, 9).entries == []
    clock[0] += KEPT_MS + 2
    write(action="silence.create")
    assert len(log.list(0, 10**14, "", "", None, 9).entries) == 1

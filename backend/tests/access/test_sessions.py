import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from loadwatch_backend.access.principal import Role
from loadwatch_backend.access.sessions import load_session_key, sign_session, verify_session
from loadwatch_backend.access.tokens import TokenRecord

KEY = b"k" * 32
RECORD = TokenRecord(name="me.or-you", role=Role.ADMIN, sha256="ab" * 32, created=datetime(2027, 1, 1, tzinfo=UTC))


def test_a_session_holds_until_its_end():
    value = sign_session(KEY, RECORD, 1_000)
    assert verify_session(KEY, value, [RECORD], 999) == RECORD
    assert verify_session(KEY, value, [RECORD], 1_000) is None


def test_a_revoked_or_renewed_token_ends_its_sessions():
    value = sign_session(KEY, RECORD, 1_000)
    renewed = TokenRecord(name=RECORD.name, role=RECORD.role, sha256="cd" * 32, created=RECORD.created)
    assert verify_session(KEY, value, [], 0) is None
    assert verify_session(KEY, value, [renewed], 0) is None


@pytest.mark.parametrize("value", ["", ".", "...", "a.b.c.d", "é.b.1.d", "a.b.c.é", "x" * 9999])
def test_garbage_is_no_session(value: str):
    assert verify_session(KEY, value, [RECORD], 0) is None


def test_a_change_of_any_character_breaks_it():
    value = sign_session(KEY, RECORD, 1_000)
    for index, character in enumerate(value):
        forged = value[:index] + ("b" if character != "b" else "c") + value[index + 1 :]
        assert verify_session(KEY, forged, [RECORD], 0) is None
    assert verify_session(b"other" * 7, value, [RECORD], 0) is None


def test_the_key_is_made_once_and_private(tmp_path: Path):
    path = tmp_path / "session.key"
    key = load_session_key(path)
    assert len(key) == 32
    assert load_session_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_bytes(b"short")
    assert len(load_session_key(path)) == 32

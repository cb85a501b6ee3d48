import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from loadwatch_backend.access.principal import Role
from loadwatch_backend.access.token_file import (
    TokenFile,
    TokenFileError,
    format_tokens,
    hash_token,
    match_token,
    parse_tokens,
)

NOW = datetime(2026, 1, 16, 8, tzinfo=UTC)


def test_a_token_is_recognisable_kept_as_a_hash_and_found_again(tmp_path: Path):
    file = TokenFile(tmp_path / "tokens.json")
    agent, admin = file.create("a1", Role.AGENT, NOW), file.create("me", Role.ADMIN, NOW)
    assert agent.startswith("lw_agent_")
    assert admin.startswith("lw_admin_")
    assert len(agent) - len("lw_agent_") >= 43  # 256 bits
    text = file.path.read_text()
    assert agent not in text
    assert admin not in text
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    found = match_token(file.records(), hash_token(agent))
    assert found is not None
    assert (found.name, found.role, found.created) == ("a1", Role.AGENT, NOW)
    assert match_token(file.records(), hash_token(agent + "x")) is None
    assert match_token(file.records(), hash_token("")) is None


def test_the_file_is_read_again_when_it_changes(tmp_path: Path):
    file, other = TokenFile(tmp_path / "t"), TokenFile(tmp_path / "t")
    file.create("one", Role.ADMIN, NOW)
    assert [record.name for record in other.records()] == ["one"]
    file.create("two", Role.ADMIN, NOW)
    assert [record.name for record in other.records()] == ["one", "two"]
    file.revoke("one")
    assert [record.name for record in other.records()] == ["two"]


def test_names_are_unique_and_plain(tmp_path: Path):
    file = TokenFile(tmp_path / "t")
    file.create("one", Role.ADMIN, NOW)
    with pytest.raises(TokenFileError, match="already holds"):
        file.create("one", Role.AGENT, NOW)
    for name in ("", "a b", "-x", "a" * 64, "é"):
        with pytest.raises(TokenFileError, match="no name for a token"):
            file.create(name, Role.AGENT, NOW)
    with pytest.raises(TokenFileError, match="no token named"):
        file.revoke("two")


def test_texts_are_read_back(tmp_path: Path):
    file = TokenFile(tmp_path / "t")
    file.create("one", Role.ADMIN, NOW)
    assert parse_tokens(format_tokens(file.records()), "here") == file.records()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("[]", '"version": 1'),
        ('{"version": 2, "tokens": []}', '"version": 1'),
        ('{"version": 1, "tokens": {}}', "list"),
        ('{"version": 1, "tokens": [{"name": "x"}]}', "token 0"),
        ('{"version": 1, "tokens": ["x"]}', "token 0"),
        ('{"version": 1, "tokens": [{"name":"x","role":"god","sha256":"0","created":"2027-01-01T00:00Z"}]}', "god"),
        (
            '{"version": 1, "tokens": [{"name":"x","role":"admin","sha256":"0","created":"2027-01-01T00:00Z"}]}',
            "malformed",
        ),
    ],
)
def test_a_damaged_file_is_told_apart(text: str, says: str):
    with pytest.raises(TokenFileError, match=says):
        parse_tokens(text, "tokens.json")


def test_a_missing_file_says_how_to_make_one(tmp_path: Path):
    with pytest.raises(TokenFileError, match="loadwatch token create"):
        TokenFile(tmp_path / "none").records()


def test_a_file_that_others_can_read_is_noticed(tmp_path: Path):
    file = TokenFile(tmp_path / "t")
    file.create("one", Role.ADMIN, NOW)
    assert file.is_private()
    file.path.chmod(0o644)
    assert not file.is_private()

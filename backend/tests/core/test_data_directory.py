import os
import stat
from pathlib import Path

from loadwatch_backend.core.data_directory import open_data_directory
from structlog.testing import capture_logs


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def events(directory: Path, user_id: int | None = None) -> list[str]:
    with capture_logs() as entries:
        open_data_directory(directory, user_id=user_id)
    return [entry["event"] for entry in entries]


def test_a_new_one_is_private_and_so_is_an_empty_one(tmp_path: Path):
    assert events(tmp_path / "a" / "data") == []
    assert mode(tmp_path / "a" / "data") == 0o700
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty").chmod(0o755)
    events(tmp_path / "empty")
    assert mode(tmp_path / "empty") == 0o700
    assert events(tmp_path / "empty") == []


def test_links_and_shared_folders_stay_as_they_are(tmp_path: Path):
    outside = tmp_path / "outside"
    outside.write_text("")
    outside.chmod(0o644)
    data = tmp_path / "data"
    data.mkdir()
    (data / "loadwatch.lock").write_text("")
    (data / "link").symlink_to(outside)
    data.chmod(0o1777)
    assert "holds other things" in events(data)[0]
    assert mode(data) == 0o777 | stat.S_ISVTX
    data.chmod(0o775)
    assert "closed to them now" in events(data)[0]
    assert (mode(data), mode(data / "loadwatch.lock"), mode(outside)) == (0o700, 0o600, 0o644)


def test_one_of_another_user_says_so(tmp_path: Path):
    (tmp_path / "data").mkdir(mode=0o755)
    assert "belongs to another user" in events(tmp_path / "data", os.geteuid() + 1)[0]

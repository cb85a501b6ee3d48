"""What `loadwatch backup` makes of what a server sends: a whole backup, or none."""

import io
import tarfile
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import IO

import pytest
from loadwatch_collectors.commands.backup import receive_backup
from loadwatch_formats.backups import BackupError, BackupFile, Manifest, manifest_bytes, whole_backups

NOW = datetime(2026, 11, 28, 5, tzinfo=UTC)
CONTENT = b"what a run left behind\n" * 3_000


def manifest(content: bytes = CONTENT, path: str = "runs/1/result.json") -> bytes:
    file = BackupFile(path, len(content), sha256(content).hexdigest())
    return manifest_bytes(Manifest("0.1.0", 1, 2, "sqlite", 0, [file]))


def archive(members: Mapping[str, bytes], *, cut_off: int = 0) -> IO[bytes]:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as file:
        for name, member in members.items():
            head = tarfile.TarInfo(name)
            head.size = len(member)
            file.addfile(head, io.BytesIO(member))
    return io.BytesIO(content.getvalue()[: len(content.getvalue()) - cut_off])


def test_what_arrives_whole_is_a_backup_and_what_was_killed_is_removed(tmp_path: Path) -> None:
    (tmp_path / "20261127T050000Z.partial").mkdir()
    (tmp_path / "20261127T050000Z.partial" / "manifest.json").write_bytes(manifest())
    members = {"runs/1/result.json": CONTENT, "manifest.json": manifest()}
    target, found = receive_backup(tmp_path, lambda: archive(members), NOW)
    assert whole_backups(tmp_path) == [target] == [tmp_path / "20261128T050000Z"]
    assert (target / "runs/1/result.json").read_bytes() == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    assert found.files[0].bytes == len(CONTENT)
    with pytest.raises(BackupError, match="is one backup"):
        receive_backup(target, lambda: archive(members), NOW)


@pytest.mark.parametrize(
    ("members", "cut_off", "says"),
    [
        ({"runs/1/result.json": CONTENT, "failure.txt": b"The disk is full"}, 0, "^The disk is full$"),
        ({"runs/1/result.json": CONTENT, "manifest.json": manifest(b"other")}, 0, "runs/1/result.json did not arrive"),
        ({"manifest.json": manifest()}, 0, "runs/1/result.json did not arrive"),
        ({"runs/1/result.json": CONTENT}, 0, "manifest.json cannot be read"),
        ({"runs/1/result.json": CONTENT, "manifest.json": manifest()}, 20_000, "broke off"),
        ({"../other": CONTENT, "manifest.json": manifest()}, 0, "which is no file of a backup"),
        ({"/other": CONTENT, "manifest.json": manifest()}, 0, "which is no file of a backup"),
        ({"other": CONTENT, "manifest.json": manifest(path="../other")}, 0, "outside of the backup"),
        ({"other": CONTENT, "manifest.json": b"[]"}, 0, "manifest.json is damaged"),
        ({"other": CONTENT, "manifest.json": b'{"format": 3, "loadwatch": "9.0"}'}, 0, "has format 3.*9.0"),
    ],
)
def test_nothing_is_left_of_what_is_not_whole(
    tmp_path: Path, members: Mapping[str, bytes], cut_off: int, says: str
) -> None:
    directory = tmp_path / "backups"
    directory.mkdir()
    with pytest.raises(BackupError, match=says):
        receive_backup(directory, lambda: archive(members, cut_off=cut_off), NOW)
    assert list(directory.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["backups"]

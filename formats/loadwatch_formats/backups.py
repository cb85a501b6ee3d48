"""What a backup is: files below one directory, and `manifest.json`, which names each with its size and SHA-256.

The server sends a backup as a tar archive whose last member is the manifest, or `failure.txt` with the reason for which
there is none. A directory without a manifest is no backup.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FORMAT = 2
"""Format 1 had a tag beside each file, by which a server knew what it need not send again."""
MANIFEST = "manifest.json"
FAILURE = "failure.txt"
PARTIAL = ".partial"
SAMPLES = "samples/"
SERIES = "samples/series.parquet"
METADATA = "samples/metadata.parquet"
WHOLE = "samples/whole.parquet"
"""The spans of time in which no sample was deleted for its age."""
RELATIONS = "loadwatch.sqlite"
SQLITE = "sqlite"
PIECE_BYTES = 1 << 20
HOUR = re.compile(r"samples/(\d{4})(\d\d)(\d\d)T(\d\d)Z\.parquet")
"""Samples of one hour."""
DAY = re.compile(r"samples/rollups-(\d{4})(\d\d)(\d\d)\.parquet")
"""Rollups of one day that has not all its samples any more."""


class BackupError(Exception):
    """A backup is not whole, or is none; the text says what is wrong with which file."""


@dataclass(frozen=True, slots=True)
class BackupFile:
    """One file of a backup; the path is below the backup's directory, with slashes."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """All of a backup.

    Attributes:
        loadwatch: version of the server that made it.
        begun_ms: all that was acknowledged before is in it.
        relational: what runs, alerts and users are kept in: they are in the backup if that is `sqlite`.
        rows: samples in it.
    """

    loadwatch: str
    begun_ms: int
    ended_ms: int
    relational: str
    rows: int
    files: Sequence[BackupFile]

    def summary(self) -> str:
        size, hours = sum(file.bytes for file in self.files), sum(bool(HOUR.fullmatch(one.path)) for one in self.files)
        return (
            f"{self.rows} samples of {hours} hours and {len(self.files)} files, {size / 1e6:.1f} MB; all"
            f" that was stored before {datetime.fromtimestamp(self.begun_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC by"
            f" Loadwatch {self.loadwatch}"
        )


def is_path(path: str) -> bool:
    """Whether it leads to a place below the directory that it is joined to."""
    return all(part not in ("", ".", "..") for part in path.split("/"))


def manifest_bytes(manifest: Manifest) -> bytes:
    """As a JSON text."""
    return json.dumps({"format": FORMAT, **asdict(manifest)}, indent=1).encode() + b"\n"


def read_manifest(backup: Path) -> Manifest:
    """Raise BackupError when there is none, or none that can be read."""
    path = backup / MANIFEST
    try:
        found: Any = json.loads(path.read_bytes())
        form = found.pop("format")
        if form not in (1, FORMAT):
            raise BackupError(f"{path} has format {form!r}; take the version that made it ({found.get('loadwatch')})")
        files = [BackupFile(str(one["path"]), int(one["bytes"]), str(one["sha256"])) for one in found.pop("files")]
        if not all(is_path(file.path) for file in files) or len({file.path for file in files}) < len(files):
            raise BackupError(f"{path} is damaged: it names a file twice, or one outside of the backup")
        return Manifest(**found, files=files)
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror}") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BackupError(f"{path} is damaged: {error!r}") from error


def whole_backups(directory: Path) -> list[Path]:
    """The directory itself if it is a backup, else those in it, the oldest first."""
    if (directory / MANIFEST).is_file():
        return [directory]
    return sorted(path.parent for path in directory.glob(f"*/{MANIFEST}") if path.parent.suffix != PARTIAL)


def damages(backup: Path, manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Read every file, and give the paths of those that are not as the manifest says, with what is wrong."""
    for file in manifest.files:
        try:
            with (backup / file.path).open("rb") as content:
                if hashlib.file_digest(content, "sha256").hexdigest() != file.sha256:
                    yield file.path, "has another content than the one that was written"
        except OSError as error:
            yield file.path, f"cannot be read: {error.strerror}"

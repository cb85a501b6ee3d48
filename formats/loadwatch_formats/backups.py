"""What a backup is: files below one directory, and a manifest that names each with its size and SHA-256.

`<stamp>/manifest.json` is written last: a directory without it is no backup. The server sends a backup as a tar archive
whose last member is the manifest, or `failure.txt` with the reason for which there is none.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

FORMAT = 1
MANIFEST = "manifest.json"
FAILURE = "failure.txt"
PARTIAL = ".partial"
SAMPLES = "samples"
SERIES = "samples/series.parquet"
METADATA = "samples/metadata.parquet"
WHOLE = "samples/whole.parquet"
"""The spans of time in which no sample was deleted for its age."""
RELATIONS = "loadwatch.sqlite"
SQLITE = "sqlite"
PIECE_BYTES = 1 << 20
MANIFEST_BYTES = 64 << 20
"""Of a manifest at most: some 300,000 files."""
STAMP = "%Y%m%dT%H%M%SZ"

_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+=@~-]*(/[A-Za-z0-9_][A-Za-z0-9_.+=@~-]*)*")
_HOUR = re.compile(r"samples/(\d{4})(\d\d)(\d\d)T(\d\d)Z\.parquet")
_DAY = re.compile(r"samples/rollups-(\d{4})(\d\d)(\d\d)\.parquet")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class BackupError(Exception):
    """A backup is not whole, or is none; the text says what is wrong with which file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupFile:
    """One file of a backup.

    Attributes:
        path: below the backup's directory, with slashes.
        bytes: its size.
        sha256: of its content, in hex; empty on the way, for a file that the receiver has already.
        tag: what the server knows its content by: the same tag is the same content.
    """

    path: str
    bytes: int
    sha256: str
    tag: str


@dataclass(frozen=True, slots=True, kw_only=True)
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

    def hours(self) -> list[BackupFile]:
        """The files of samples, the oldest hour first."""
        return sorted((file for file in self.files if hour_of(file.path)), key=lambda file: file.path)

    def days(self) -> list[BackupFile]:
        """The files of rollups, the oldest day first."""
        return sorted((file for file in self.files if day_of(file.path)), key=lambda file: file.path)


def is_path(path: str) -> bool:
    """Whether it names a file of a backup, below its directory."""
    return len(path) < 1_000 and _PATH.fullmatch(path) is not None


def hour_of(path: str) -> str | None:
    """The hour that a file has samples of, for people; None for other files."""
    found = _HOUR.fullmatch(path)
    return found and "{}-{}-{} {}:00 UTC".format(*found.groups())


def day_of(path: str) -> str | None:
    """The day that a file has rollups of, for people; None for other files."""
    found = _DAY.fullmatch(path)
    return found and "{}-{}-{}".format(*found.groups())


def manifest_bytes(manifest: Manifest) -> bytes:
    """As a JSON text."""
    document = {"format": FORMAT, **asdict(manifest), "files": [asdict(file) for file in manifest.files]}
    return json.dumps(document, indent=1).encode() + b"\n"


def parse_manifest(content: bytes) -> Manifest:
    """Raise BackupError when it is none of ours."""
    try:
        document: Any = json.loads(content)
    except ValueError as error:
        raise BackupError(f"{MANIFEST} is damaged: {error}") from error
    if not isinstance(document, dict):
        raise BackupError(f"{MANIFEST} is damaged: no object")
    entries = cast("dict[str, Any]", document)
    if entries.get("format") != FORMAT:
        raise BackupError(
            f"{MANIFEST} has format {entries.get('format')!r} and this version of Loadwatch reads {FORMAT}; take the "
            f"version that made it ({entries.get('loadwatch')}) or a newer one"
        )
    try:
        files = [_file(entry) for entry in entries["files"]]
        if len({file.path for file in files}) < len(files):
            raise BackupError(f"{MANIFEST} is damaged: it names a file twice")
        return Manifest(
            loadwatch=str(entries["loadwatch"]),
            begun_ms=int(entries["begun_ms"]),
            ended_ms=int(entries["ended_ms"]),
            relational=str(entries["relational"]),
            rows=int(entries["rows"]),
            files=files,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BackupError(f"{MANIFEST} is damaged: {error!r}") from error


def _file(entry: Mapping[str, Any]) -> BackupFile:
    file = BackupFile(
        path=str(entry["path"]), bytes=int(entry["bytes"]), sha256=str(entry["sha256"]), tag=str(entry["tag"])
    )
    if not is_path(file.path) or file.bytes < 0 or not (file.sha256 == "" or _SHA256.fullmatch(file.sha256)):
        raise BackupError(f"{MANIFEST} is damaged: {file.path[:200]!r} is no file of a backup")
    return file


# On the disk ----------------------------------------------------------------------------------------------------------


def whole_backups(directory: Path) -> list[Path]:
    """The directory itself if it is a backup, else those in it, the oldest first."""
    if (directory / MANIFEST).is_file():
        return [directory]
    if not directory.is_dir():
        return []
    found = (path for path in directory.iterdir() if path.suffix != PARTIAL and (path / MANIFEST).is_file())
    return sorted(found, key=lambda path: path.name)


def read_manifest(backup: Path) -> Manifest:
    """Raise BackupError when there is none, or none that can be read."""
    path = backup / MANIFEST
    try:
        if path.stat().st_size > MANIFEST_BYTES:
            raise BackupError(f"{path} is larger than {MANIFEST_BYTES} bytes")
        return parse_manifest(path.read_bytes())
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror}") from error


def damages(backup: Path, files: Sequence[BackupFile]) -> Iterator[tuple[BackupFile, str]]:
    """Read every file, and give those that are not as the manifest says, with what is wrong."""
    for file in files:
        path = backup / file.path
        try:
            size = path.stat().st_size
            if size != file.bytes:
                yield file, f"has {size} bytes instead of {file.bytes}"
            elif sha256_of(path) != file.sha256:
                yield file, "has another content than the one that was written"
        except OSError as error:
            yield file, f"cannot be read: {error.strerror}"


def sha256_of(path: Path) -> str:
    """In hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

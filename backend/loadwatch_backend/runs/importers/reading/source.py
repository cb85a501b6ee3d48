"""From the file as it was sent to the parts inside it: compression and archives taken off, progress counted."""

import io
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from loadwatch_backend.runs.importers.errors import ImportLimitError, UnreadableFileError
from loadwatch_backend.runs.importers.importer import HEAD_BYTES, Part
from loadwatch_backend.runs.importers.reading.compression import Decompressed, compression_of
from loadwatch_backend.runs.importers.reading.unpacked import Unpacked

MAX_MEMBERS = 1_000
_LAYERS = 3
_BUFFER = 1 << 20
_SPILL = 1 << 15
"""Bytes of one read: a read of a truncated archive returns nothing, so small reads lose little."""
_BOM = b"\xef\xbb\xbf"
"""The UTF-8 byte order mark, which Windows editors and shells write; no known format begins with it."""
_TAR_MAGIC = slice(257, 262)


class Source:
    """One file as it was sent.

    Attributes:
        damage: what was wrong with compression or archive, found while reading.
        bytes_read: how far the reading of the sent file is.
    """

    def __init__(self, path: Path, name: str, scratch: Path, account: Unpacked) -> None:
        self._account = account
        self._path = path
        self._name = name
        self._scratch = scratch
        self._streams: list[Decompressed] = []
        self._problems: list[str] = []
        self.bytes_total = path.stat().st_size
        self.bytes_read = 0

    @property
    def damage(self) -> list[str]:
        return self._problems + [stream.damage for stream in self._streams if stream.damage is not None]

    def parts(self) -> list[Part]:
        """One part, or the regular files of an archive.

        Raises:
            ImportLimitError: for an archive with too many or too large files, and for a bomb.
            UnreadableFileError: for an archive whose list of files is damaged.
        """
        layers = 0
        while layers < _LAYERS and compression_of(_read_head(self._opener(layers))):
            layers += 1
        opener = self._opener(layers)
        head = _read_head(opener)
        if not head and self.damage:
            raise UnreadableFileError(f"The compressed file is damaged: {self.damage[-1]}. Send it again.")
        self._streams.clear()
        if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return self._zip(opener, layers)
        if head[_TAR_MAGIC] == b"ustar":
            return self._tar(opener)
        name = _base(self._name)
        return [Part(name=name, head=head, open=opener, account=self._account)]

    def _opener(self, layers: int) -> Callable[[], BinaryIO]:
        def start() -> BinaryIO:
            stream: BinaryIO = io.BufferedReader(_Progress(self, self._path), _BUFFER)
            for layer in range(layers):
                kind = compression_of(stream.peek(4)[:4])  # type: ignore[attr-defined] - a BufferedReader
                inner = Decompressed(stream, kind or "gzip", (self._path, layer), self._account)
                self._streams.append(inner)
                stream = io.BufferedReader(inner, _BUFFER)
            if stream.peek(len(_BOM)).startswith(_BOM):  # type: ignore[attr-defined] - a BufferedReader
                stream.read(len(_BOM))
            return stream

        return start

    def _zip(self, opener: Callable[[], BinaryIO], layers: int) -> list[Part]:
        path = self._path if layers == 0 else self._spill(opener(), "archive")
        try:
            archive = zipfile.ZipFile(path)
            members = [member for member in archive.infolist() if not member.is_dir()]
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise UnreadableFileError(f"The ZIP archive is damaged ({error}). Pack it again.") from error
        self._bound(len(members))
        parts: list[Part] = []
        for member in members:
            with _opened(archive, member) as stream:
                file = self._spill(stream, f"part-{len(parts)}")
            parts.append(self._inside(file, member.filename))
        return parts

    def _tar(self, opener: Callable[[], BinaryIO]) -> list[Part]:
        parts: list[Part] = []
        try:
            with opener() as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
                for member in archive:
                    if not member.isreg():
                        continue
                    self._bound(len(parts) + 1)
                    inner = archive.extractfile(member)
                    if inner is not None:
                        parts.append(self._inside(self._spill(inner, f"part-{len(parts)}"), member.name))
        except (tarfile.TarError, EOFError) as error:
            if not parts:
                raise UnreadableFileError(f"The tar archive is damaged ({error}). Pack it again.") from error
            self._problems.append(f"The tar archive is cut off after {len(parts)} files: {error}")
        return parts

    def _inside(self, file: Path, name: str) -> Part:
        """A member, itself perhaps compressed. Its name is only shown: the file has a number of ours."""
        inner = Source(file, _base(name), self._scratch, self._account)
        opener = inner._opener(1 if compression_of(_read_head(inner._opener(0))) else 0)
        inner._streams = self._streams
        return Part(name=_base(name), head=_read_head(opener), open=opener, account=self._account)

    def _spill(self, stream: Any, name: str) -> Path:
        path = self._scratch / name
        try:
            self._account.copy(stream, path, _SPILL)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, tarfile.TarError, NotImplementedError) as error:
            self._problems.append(f"{name} of the archive is damaged after {path.stat().st_size} bytes: {error}")
        return path

    @staticmethod
    def _bound(members: int) -> None:
        if members > MAX_MEMBERS:
            raise ImportLimitError(f"The archive has over {MAX_MEMBERS} files. Send the result files alone.")


class _Progress(io.FileIO):
    """Counts what is read of the file as it was sent."""

    def __init__(self, source: Source, path: Path) -> None:
        super().__init__(path)
        self._source = source

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer) or 0
        self._source.bytes_read = max(self._source.bytes_read, self.tell())
        return count

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(-1 if size is None else size) or b""
        self._source.bytes_read = max(self._source.bytes_read, self.tell())
        return data


def _opened(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Any:
    try:
        return archive.open(member)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError) as error:
        raise UnreadableFileError(f"{_base(member.filename)} in the ZIP archive cannot be read: {error}.") from error


def _read_head(opener: Callable[[], BinaryIO]) -> bytes:
    with opener() as stream:
        return stream.read(HEAD_BYTES)


def _base(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name

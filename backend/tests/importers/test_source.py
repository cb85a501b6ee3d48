import gzip
import io
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from loadwatch_backend.importers import compression, source
from loadwatch_backend.importers.errors import ImportLimitError, UnknownFormatError, UnreadableFileError
from loadwatch_backend.records.model import RemarkKind

from backend.tests.importers.conftest import FIXTURES, Importing, unpacked

CSV = "vegeta/control/vegeta.csv.gz"


def zstd_of(data: bytes, path: Path) -> bytes:
    arrow: Any = pa
    with arrow.OSFile(str(path), "wb") as raw, arrow.CompressedOutputStream(raw, "zstd") as stream:
        stream.write(data)
    return path.read_bytes()


def zipped(members: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()


def tarred(members: dict[str, bytes], mode: str = "w:gz") -> bytes:
    target = io.BytesIO()
    opened: Any = tarfile.open
    with opened(fileobj=target, mode=mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return target.getvalue()


def test_compression_by_magic_whatever_the_name(imported: Importing, tmp_path: Path) -> None:
    data = unpacked(CSV)
    whole = imported(data, filename="results.csv.gz")
    forms = {
        "gzip": gzip.compress(data),
        "members": gzip.compress(data[:50_000]) + gzip.compress(data[50_000:]) + b"\0" * 100,
        "zstd": zstd_of(data, tmp_path / "z"),
        "twice": gzip.compress(gzip.compress(data)),
        "frames": zstd_of(data[:50_000], tmp_path / "a") + zstd_of(data[50_000:], tmp_path / "b"),
    }
    for name, sent in forms.items():
        found = imported(sent, filename="results.csv")
        assert found.result.figures == whole.result.figures, name
        assert found.progress[-1].bytes_read == found.progress[-1].bytes_total == len(sent)


@pytest.mark.parametrize("form", ["gzip", "zstd"])
def test_cut_off_and_damaged_compression(imported: Importing, tmp_path: Path, form: str) -> None:
    data = unpacked("vegeta/pool-waits/vegeta.csv.gz")
    sent = gzip.compress(data) if form == "gzip" else zstd_of(data, tmp_path / "z")
    for broken in (sent[: len(sent) * 2 // 3], sent[: len(sent) // 2] + bytes(200) + sent[len(sent) // 2 + 200 :]):
        found = imported(broken)
        assert 0 < found.result.figures.requests < 9_000
        assert any(remark.kind is RemarkKind.DAMAGE for remark in found.result.remarks)
        assert "byte" in found.remark("compression").text


@pytest.mark.parametrize("form", ["gzip", "zstd"])
def test_bombs_are_refused(imported: Importing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setattr(compression, "FREE_BYTES", 1 << 20)
    data = unpacked(CSV)[:1_000] + bytes(50_000_000)
    sent = gzip.compress(data) if form == "gzip" else zstd_of(data, tmp_path / "z")
    with pytest.raises(ImportLimitError, match="unpacks to more than"):
        imported(sent)
    assert not list((tmp_path / "run-1").iterdir())


def test_archives(imported: Importing) -> None:
    one, two = unpacked(CSV), unpacked("vegeta/pool-waits/vegeta.csv.gz")
    members = {"load/a.csv": one, "load/b.csv": two, "load/notes.txt": b"hello\n"}
    for sent in (zipped(members), tarred(members), tarred(members, "w"), gzip.compress(zipped(members))):
        found = imported(sent)
        assert found.result.figures.requests == 11_000
        assert "notes.txt" in found.remark("other-files").text
    inside = imported(zipped({"a.csv.gz": (FIXTURES / CSV).read_bytes()}))
    assert inside.result.figures.requests == 2_000


def test_names_in_archives_are_never_paths(imported: Importing, tmp_path: Path) -> None:
    members = {"../../escape.csv": unpacked(CSV), "/etc/x.csv": unpacked(CSV), "..\\win.csv": unpacked(CSV)}
    before = {path for path in tmp_path.parent.rglob("*") if "escape" in path.name or "win" in path.name}
    for sent in (zipped(members), tarred(members)):
        found = imported(sent)
        assert found.result.figures.requests == 6_000
        assert {path.name for path in found.directory.iterdir()} == {"records.parquet"}
    assert {path for path in tmp_path.parent.rglob("*") if "escape" in path.name or "win" in path.name} == before


def test_links_in_archives_are_left_alone(imported: Importing) -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        link = tarfile.TarInfo("results.csv")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with pytest.raises(UnknownFormatError, match="no files"):
        imported(target.getvalue())


def test_too_many_files(imported: Importing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_MEMBERS", 10)
    members = {f"{at}.csv": b"x" for at in range(11)}
    for sent in (zipped(members), tarred(members)):
        with pytest.raises(ImportLimitError, match="over 10 files"):
            imported(sent)


def test_large_members(imported: Importing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_MEMBER_BYTES", 1_000)
    for sent in (zipped({"a": bytes(2_000)}), tarred({"a": bytes(2_000)})):
        with pytest.raises(ImportLimitError, match="over 1000 bytes"):
            imported(sent)


def test_damaged_archives(imported: Importing) -> None:
    sent = zipped({"a.csv": unpacked(CSV)})
    with pytest.raises(UnreadableFileError, match="ZIP"):
        imported(sent[:-30])
    found = imported(tarred({"a.csv": unpacked(CSV), "b.csv": unpacked(CSV)}, "w")[:700_000])
    assert 2_000 < found.result.figures.requests < 4_000
    assert any(remark.kind is RemarkKind.DAMAGE for remark in found.result.remarks)

import gc
import gzip
import io
import tarfile
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from loadwatch_backend.core.room import DiskFullError
from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_backend.runs.importers.errors import ImportLimitError, UnknownFormatError, UnreadableFileError
from loadwatch_backend.runs.importers.reading import source
from loadwatch_backend.runs.importers.reading import unpacked as budget

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
    monkeypatch.setattr(budget, "FREE_BYTES", 1 << 20)
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


def test_one_budget_for_all_members_and_all_layers(imported: Importing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "FREE_BYTES", 5_000_000)
    monkeypatch.setattr(budget, "MAX_RATIO", 2)
    member = unpacked(CSV)[:1_000] + bytes(999_000)
    inner = {f"{n}.csv.gz": gzip.compress(member) for n in range(8)}
    few, many = {"0.csv": member, "1.csv": member}, {f"{n}.csv": member for n in range(8)}
    for sent in (zipped(few), tarred(few)):
        with suppress(UnreadableFileError):
            imported(sent)
    for sent in (zipped(many), tarred(many), zipped(inner), tarred(inner), gzip.compress(zipped(many))):
        assert len(sent) < 100_000
        with pytest.raises(ImportLimitError, match=r"unpacks to more than .*Send it unpacked, or in parts"):
            imported(sent)


def test_what_is_read_twice_counts_once(tmp_path: Path) -> None:
    account = budget.Unpacked(1_000, 5_000)
    for _ in range(10):
        account.reach("a", 2_000)
        account.reach("a", 4_000)
    account.reach("b", 1_000)
    with pytest.raises(ImportLimitError):
        account.reach("b", 1_001)


def test_room_is_looked_at_while_writing(tmp_path: Path) -> None:
    free = iter([budget.RESERVE_BYTES + 2 * budget.CHECK_BYTES, budget.RESERVE_BYTES])
    account = budget.Unpacked(1 << 40, free=lambda _: next(free))
    account.check_room(tmp_path, 1)
    account.check_room(tmp_path, budget.CHECK_BYTES - 1)
    with pytest.raises(DiskFullError, match="stay free for samples"):
        account.check_room(tmp_path, 1)


def test_what_the_disk_refuses_is_no_damage_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(DiskFullError, match="No space left"):
        budget.Unpacked(1 << 30).copy(io.BytesIO(b"x" * 100), Path("/dev/full"))


def test_damaged_archives(imported: Importing) -> None:
    sent = zipped({"a.csv": unpacked(CSV)})
    with pytest.raises(UnreadableFileError, match="ZIP"):
        imported(sent[:-30])
    found = imported(tarred({"a.csv": unpacked(CSV), "b.csv": unpacked(CSV)}, "w")[:700_000])
    assert 2_000 < found.result.figures.requests < 4_000
    assert any(remark.kind is RemarkKind.DAMAGE for remark in found.result.remarks)


def test_members_that_were_read_give_their_memory_back(imported: Importing, tmp_path: Path) -> None:
    content = zstd_of(b"timestamp\n" * 10, tmp_path / "member.zst")
    arrow: Any = pa
    before = arrow.total_allocated_bytes()
    for _ in range(3):
        with suppress(UnknownFormatError):
            imported(zipped({f"{number}.zst": content for number in range(10)}))
    gc.collect()
    # A megabyte for each was kept until the process ended.
    assert arrow.total_allocated_bytes() - before < 1 << 20

from pathlib import Path

import pytest
from loadwatch_backend.importers.errors import UnknownFormatError, UnknownImporterError, UnreadableFileError
from loadwatch_backend.importers.importer import HEAD_BYTES
from loadwatch_backend.importers.registry import IMPORTERS

from backend.tests.importers.conftest import FIXTURES, Importing, unpacked

CSV = "vegeta/control/vegeta.csv.gz"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"hello world\n", "text beginning with 'hello world'"),
        (b'{"a": 1}\n', "JSON beginning with"),
        (b"<html></html>", "HTML"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "PNG"),
        (b"\x00\x01\x02" * 100, "binary"),
        (b"BZh91AY", "bzip2"),
        (b"\xff\xfe\x00", "binary"),
    ],
)
def test_a_wrong_file_is_named_and_the_formats_too(
    imported: Importing, tmp_path: Path, data: bytes, words: str
) -> None:
    with pytest.raises(UnknownFormatError, match=words) as caught:
        imported(data, filename="results.bin")
    if data:
        assert "vegeta CSV" in caught.value.detail
    assert caught.value.status == 422
    assert not list((tmp_path / "run-1").iterdir())


def test_a_format_can_be_forced(imported: Importing) -> None:
    assert imported(unpacked(CSV), format="vegeta-csv").result.figures.requests == 2_000
    with pytest.raises(UnknownImporterError, match="vegeta-gob"):
        imported(unpacked(CSV), format="vega")
    with pytest.raises(UnreadableFileError, match=r"vegeta JSON.*line 1"):
        imported(unpacked(CSV), format="vegeta-json")


def test_progress_grows_to_the_size_of_the_file_as_sent(imported: Importing) -> None:
    found = imported(FIXTURES / CSV)
    size = (FIXTURES / CSV).stat().st_size
    assert [progress.bytes_total for progress in found.progress] == [size] * len(found.progress)
    read = [progress.bytes_read for progress in found.progress]
    assert read == sorted(read)
    assert found.progress[-1].bytes_read == size
    assert found.progress[-1].records == 2_000


def test_nothing_stays_but_the_records(imported: Importing) -> None:
    found = imported(FIXTURES / CSV)
    assert [path.name for path in found.directory.iterdir()] == ["records.parquet"]


def test_absurd_times_are_damage_with_a_place(imported: Importing) -> None:
    lines = unpacked(CSV).splitlines(keepends=True)
    lines[10] = b"0000000001" + lines[10][10:]
    found = imported(b"".join(lines))
    assert found.result.figures.requests == 1_999
    remark = found.remark("absurd-time")
    assert (remark.place, remark.figures) == ("record 11", {"requests": 1.0})
    assert found.result.seconds is not None
    assert len(found.result.seconds.outcomes) < 30


def test_many_endpoints_are_a_limit(imported: Importing) -> None:
    line = "1795252714{:09},200,5,0,3,,,,{},GET,http://a/user/{},\n"
    found = imported("".join(line.format(at, at, at) for at in range(12_000)).encode())
    assert found.remark("endpoints").kind == "limit"
    assert len(found.result.endpoints) == 1_000
    assert found.result.endpoints[-1].name == "(other)"
    assert sum(endpoint.figures.requests for endpoint in found.result.endpoints) == 12_000
    fewer = imported("".join(line.format(at, at, at) for at in range(2_000)).encode())
    assert fewer.remark("endpoints-shown").kind == "limit"
    assert sum(endpoint.figures.requests for endpoint in fewer.result.endpoints) == 2_000


def test_names_are_unique_and_stable() -> None:
    names = [importer.name for importer in IMPORTERS]
    assert len(set(names)) == len(names)
    assert all(name == name.lower() and " " not in name for name in names)


def test_every_importer_refuses_noise_calmly() -> None:
    heads = [
        b"",
        b"\n",
        b"\0" * HEAD_BYTES,
        b"\xff" * HEAD_BYTES,
        b"{" * 1_000,
        b"[" * HEAD_BYTES,
        b'"' * 999,
        b"," * 999,
    ]
    for importer in IMPORTERS:
        for head in heads:
            assert importer.recognise(head, "results.csv") == 0, importer.name

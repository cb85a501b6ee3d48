from collections.abc import Sequence
from pathlib import Path

import pytest
from loadwatch_backend.evidence.records import result_file
from loadwatch_backend.evidence.records.contract import ImportOptions
from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_backend.runs.importers.errors import UnknownFormatError, UnknownImporterError, UnreadableFileError
from loadwatch_backend.runs.importers.importer import HEAD_BYTES, Importer, Part, Sink
from loadwatch_backend.runs.importers.pipeline import read_result
from loadwatch_backend.runs.importers.registry import IMPORTERS
from loadwatch_formats.outcomes import Outcome

from backend.tests.importers.conftest import FIXTURES, Importing, assert_same, unpacked

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
        (b"\xff\xfe\x00", "UTF-16"),
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


def test_a_file_of_requests_that_cannot_be_is_refused(imported: Importing, tmp_path: Path) -> None:
    late = b"".join(b"92233" + line[5:] for line in unpacked(CSV).splitlines(keepends=True))
    with pytest.raises(UnreadableFileError, match=r"none of its 2000 requests.*2000 have a date.*clock"):
        imported(late)
    assert not list((tmp_path / "run-1").iterdir())


def test_bytes_that_no_request_has_are_left_out_and_said(imported: Importing) -> None:
    lines = [line.split(b",") for line in unpacked(CSV).splitlines(keepends=True)]
    whole = imported(unpacked(CSV)).result.figures.bytes_in
    assert whole is not None
    for line in lines[5:8]:
        whole -= int(line[4])
        line[4] = b"%d" % 2**62
    found = imported(b"".join(b",".join(line) for line in lines))
    assert (found.result.figures.requests, found.result.figures.bytes_in) == (2_000, whole)
    assert found.result.seconds is not None
    assert found.result.seconds.bytes_in is not None
    assert int(found.result.seconds.bytes_in.sum()) == whole
    assert (found.remark("absurd-bytes").place, found.remark("absurd-bytes").figures) == ("record 6", {"requests": 3.0})


@pytest.mark.parametrize(
    "error", [OverflowError("too large"), IndexError("gone"), UnicodeDecodeError("u", b"", 0, 1, "")]
)
def test_a_parser_that_trips_keeps_what_it_read(tmp_path: Path, error: Exception) -> None:
    def read(parts: Sequence[Part], sink: Sink) -> None:
        with parts[0].open() as stream:
            stream.read(100)
        rows = sink.rows()
        for number in range(count):
            rows.append(1_795_252_714_000_000_000 + number, 5, 200, "a")
        raise error

    def recognise(_head: bytes) -> int:
        return 100

    importer = Importer("x", "X", recognise, read)
    source, made = tmp_path / "source", tmp_path / "made"
    source.write_bytes(b"x" * 200)
    made.mkdir()
    count = 7
    result = read_result(source, made, ImportOptions(), lambda _progress: None, importers=[importer])
    (remark,) = result.remarks
    assert (result.figures.requests, remark.kind, remark.code) == (7, RemarkKind.DAMAGE, "broken-off")
    assert type(error).__name__ in remark.text
    count = 0
    with pytest.raises(UnreadableFileError, match="could not be read any further"):
        read_result(source, made, ImportOptions(), lambda _progress: None, importers=[importer])


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
            assert importer.recognise(head) == 0, importer.name


@pytest.mark.parametrize(
    "content",
    [
        b'{"metrics": {"ws_sessions": {"type": "counter", "values": {"count": 9}}}, "state": {"testRunDurationMs": 9}}',
        b"timeStamp,elapsed,label,responseCode,success\n" + b"\n" * 9 + b"x" * 9 + b"\n",
        b"RUN\ta.B\ta\t1700000000000\tx\t3.9.5\n" + b"USER\tAll\tSTART\t1700000000000\n" * 9,
    ],
)
def test_content_that_gives_no_request_is_refused(imported: Importing, content: bytes) -> None:
    with pytest.raises((UnreadableFileError, UnknownFormatError)):
        imported(content)


def test_a_run_may_last_31_days(imported: Importing) -> None:
    soak = imported(FIXTURES / "jmeter" / "soak-9-days.jtl.gz").result
    assert soak.figures.requests == 25_920
    assert [remark for remark in soak.remarks if remark.kind is RemarkKind.DAMAGE] == []
    assert (soak.end_ms or 0) - (soak.start_ms or 0) > 8 * 86_400_000
    row = "{},66,L,200,OK,t 1-1,true,100,5,5,9,h\n"
    head = (
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,grpThreads,allThreads,Latency,H"
    )
    run = imported(
        (head + "\n" + "".join(row.format(1_700_000_000_000 + day * 86_400_000) for day in range(33))).encode()
    )
    assert run.result.figures.requests == 32
    assert "more than 31 days from the others" in run.remark("absurd-time").text
    assert run.result.seconds is not None
    saved = run.directory / "saved"
    saved.mkdir()
    result_file.save(run.result, RunFiles(saved))
    assert_same(result_file.load(RunFiles(saved)), run.result)


@pytest.mark.parametrize(
    ("name", "requests", "ok", "rate"),
    [("jmeter/low-rate-last-fails.jtl.gz", 11, 10, 11 / 300), ("vegeta/one-request.json", 1, 1, None)],
)
def test_runs_of_few_requests(imported: Importing, name: str, requests: int, ok: int, rate: float | None) -> None:
    figures = imported(FIXTURES / name).result.figures
    assert (figures.requests, figures.outcomes[Outcome.OK]) == (requests, ok)
    assert figures.rate == (None if rate is None else pytest.approx(rate))

"""Every format's fixtures before every importer: each knows its own, by content, and refuses the others' in words."""

import gzip
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.runs.importers.errors import UnknownFormatError
from loadwatch_backend.runs.importers.importer import HEAD_BYTES
from loadwatch_backend.runs.importers.pipeline import describe, importer_named
from loadwatch_backend.runs.importers.registry import IMPORTERS

from backend.tests.importers.conftest import FIXTURES, Imported, Importing, assert_same

FORMATS = {
    "vegeta-gob": "vegeta/*/vegeta.gob.gz",
    "vegeta-csv": "vegeta/*/vegeta.csv.gz",
    "vegeta-json": "vegeta/one-request.json",
    "k6-json": "k6/*.json.gz",
    "k6-csv": "k6/*.csv.gz",
    "k6-summary": "k6/*.json",
    "locust-csv": "locust/*/run[._]*",
    "gatling-binary": "gatling/binary.log.gz",
    "gatling-text": "gatling/t*.log*",
    "jmeter-csv": "jmeter/*.[cj][st][vl].gz",
    "jmeter-xml": "jmeter/[rw]e*",
    "hey-csv": "hey/*.csv",
    "hey-text": "hey/*.txt",
    "oha-json": "oha/*.json",
    "oha-csv": "oha/*.csv",
    "oha-sqlite": "oha/*.db",
    "wrk-text": "wrk/*.txt",
    "wrk-json": "wrk/*.json",
    "artillery-json": "artillery/*.json",
}
"""Where the fixtures of a format are."""
VEGETA_JSON = (
    b'{"attack":"","seq":0,"code":200,"timestamp":"2026-11-21T14:54:59.076845573Z","latency":3089450,"bytes_out":0,'
    b'"bytes_in":1000,"error":"","body":"","method":"GET","url":"http://127.0.0.1/ok","headers":{}}\n'
)
FILES = sorted(path for path in FIXTURES.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def format_of(path: Path) -> str | None:
    name = path.relative_to(FIXTURES).as_posix()
    return next((kind for kind, pattern in FORMATS.items() if fnmatch(name, pattern)), None)


def content(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def one_of_each() -> dict[str, bytes]:
    found = {kind: content(path) for path in reversed(FILES) if (kind := format_of(path))}
    # The alphabetically last Locust and hey files hold no requests that could be mistaken.
    found["locust-csv"] = content(FIXTURES / "locust/full/run_stats.csv")
    found["hey-csv"] = content(FIXTURES / "hey/mixed.csv")
    return {**found, "vegeta-json": VEGETA_JSON}


def attempted(imported: Importing, data: bytes, kind: str) -> Imported | None:
    """The result, or None after an error of the kind that reaches people."""
    try:
        return imported(data, format=kind)
    except ProblemError:
        return None


SAMPLES = one_of_each()


def test_every_format_is_here() -> None:
    assert set(SAMPLES) == {importer.name for importer in IMPORTERS}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(FIXTURES).as_posix())
def test_exactly_the_right_importer_knows_a_file(path: Path) -> None:
    head = content(path)[:HEAD_BYTES]
    claims = {importer.name for importer in IMPORTERS if importer.recognise(head)}
    expected = format_of(path)
    assert claims == ({expected} if expected else set())


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("lies", ["result.csv", "simulation.log", "x.json", "results.bin", "run_stats_history.csv"])
def test_names_do_not_mislead(imported: Importing, kind: str, lies: str) -> None:
    assert imported(SAMPLES[kind], filename=lies).result.format == kind


@pytest.mark.parametrize("kind", SAMPLES)
def test_gzip_and_zstd_read_the_same(imported: Importing, kind: str) -> None:
    data = SAMPLES[kind]
    plain = imported(data).result
    arrow: Any = pa
    squeezed: bytes = arrow.compress(data, codec="zstd", asbytes=True)
    for packed in (gzip.compress(data), squeezed):
        run = imported(packed).result
        assert run.format == plain.format == kind
        assert (run.figures, run.endpoints, run.errors) == (plain.figures, plain.endpoints, plain.errors)


@pytest.mark.parametrize("kind", SAMPLES)
def test_an_importer_forced_upon_another_format_refuses_or_finds_nothing(imported: Importing, kind: str) -> None:
    for other, data in SAMPLES.items():
        if other == kind:
            continue
        run = attempted(imported, data, kind)
        if run is None:
            continue
        assert run.result.figures.requests == 0, f"{kind} took requests from {other}"
        assert run.result.remarks, f"{kind} was silent about {other}"


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_file_cut_anywhere_gives_a_result_or_an_error_in_words(imported: Importing, kind: str) -> None:
    data = SAMPLES[kind]
    for share in (0.02, 0.3, 0.61, 0.97):
        run = attempted(imported, data[: int(len(data) * share)], kind)
        assert run is None or run.result.format == kind


@pytest.mark.parametrize("kind", SAMPLES)
def test_bytes_overwritten_in_the_middle(imported: Importing, kind: str) -> None:
    data = bytearray(SAMPLES[kind])
    middle = len(data) // 2
    data[middle : middle + 40] = bytes(range(150, 190))
    run = attempted(imported, bytes(data), kind)
    assert run is None or run.result.format == kind


BINARY = {"vegeta-gob", "gatling-binary", "oha-sqlite"}


@pytest.mark.parametrize("kind", [kind for kind in SAMPLES if kind not in BINARY])
def test_a_byte_order_mark_costs_nothing(imported: Importing, kind: str) -> None:
    """As editors and shells of Windows put one before every text."""
    plain, marked = imported(SAMPLES[kind]), imported(b"\xef\xbb\xbf" + SAMPLES[kind])
    assert_same(marked.result, plain.result)
    packed = imported(gzip.compress(b"\xef\xbb\xbf" + SAMPLES[kind]))
    assert_same(packed.result, plain.result)


def test_a_stranger_is_told_what_can_be_read(imported: Importing) -> None:
    with pytest.raises(UnknownFormatError, match="hey CSV") as caught:
        imported(b"name,age\nx,1\n")
    for importer in IMPORTERS:
        assert importer.title in caught.value.detail
        assert importer_named(IMPORTERS, importer.name) is importer


@pytest.mark.parametrize("head", [b"\xef", b"\xef\xbb\xbf", b"\n", b"\r\n", b" "])
def test_the_shortest_of_files_are_described(head: bytes) -> None:
    assert describe(head).startswith("is ")

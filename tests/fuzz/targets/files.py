"""Files that people import: results of load tools, archives and compression around them, and runs of other servers."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import cramjam
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.evidence.records.contract import ImportOptions
from loadwatch_backend.evidence.records.parquet import check_records
from loadwatch_backend.runs.archive.check import RECORDS_PER_BYTE, check_archive
from loadwatch_backend.runs.archive.format import MANIFEST, RUN, SAMPLES, check_ratio, read_samples, write_samples
from loadwatch_backend.runs.importers.pipeline import read_result

from backend.tests.rules.promtool_format.store import MemoryStore
from tests.fuzz.target import Run, Target

_FIXTURES = Path(__file__).parents[3] / "backend" / "tests" / "importers" / "fixtures"
_STARTED_MS = 1_750_000_000_000


def _import(format: str | None = None) -> Callable[[], Run]:
    """As the worker reads a file; without a format it is recognised."""

    def opened() -> Run:
        def run(data: bytes) -> None:
            with TemporaryDirectory() as directory:
                source, target = Path(directory) / "upload", Path(directory) / "run"
                source.write_bytes(data)
                target.mkdir()
                options = ImportOptions(filename="result", started_ms=_STARTED_MS, format=format)
                read_result(source, target, options, lambda _: None)

        return run

    return opened


def _fixtures(*names: str) -> Callable[[], Sequence[bytes]]:
    def read() -> Sequence[bytes]:
        found = [path for name in names for path in sorted(_FIXTURES.glob(name))]
        assert found, names
        return [
            (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())[:64_000]
            for path in found
        ]

    return read


@cache
def _containers() -> Sequence[bytes]:
    texts = [path.read_bytes() for path in sorted(_FIXTURES.glob("locust/full/*.csv"))]
    hey = (_FIXTURES / "hey" / "mixed.csv").read_bytes()
    zipped, tarred = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in zip(sorted(_FIXTURES.glob("locust/full/*.csv")), texts, strict=True):
            archive.writestr(path.name, text)
    with tarfile.open(fileobj=tarred, mode="w:gz") as archive:
        for path in sorted(_FIXTURES.glob("locust/full/*.csv")):
            archive.add(path, path.name)
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as archive:
        archive.writestr("mixed.csv", hey)
    return [
        zipped.getvalue(),
        stored.getvalue(),
        tarred.getvalue(),
        gzip.compress(hey),
        gzip.compress(gzip.compress(hey)),
        bytes(cramjam.zstd.compress(hey)),
        bytes(cramjam.bzip2.compress(hey)),
        bytes(cramjam.zstd.compress(bytes(20_000_000))),
        gzip.compress(bytes(20_000_000)),
    ]


@cache
def _records() -> bytes:
    with TemporaryDirectory() as directory:
        target = Path(directory) / "run"
        target.mkdir()
        read_result(_FIXTURES / "hey" / "mixed.csv", target, ImportOptions(started_ms=_STARTED_MS), lambda _: None)
        return (target / "records.parquet").read_bytes()


@cache
def _samples() -> bytes:
    store = MemoryStore()
    for number in range(5):
        times = range(_STARTED_MS, _STARTED_MS + 60_000, 1_000)
        store.put({"__name__": "up", "n": str(number)}, [(time, time * 0.5) for time in times])
    target = io.BytesIO()
    write_samples(store, (_STARTED_MS, _STARTED_MS + 60_000), target)
    return target.getvalue()


@cache
def _archives() -> Sequence[bytes]:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, '{"format": "loadwatch-run", "version": 1, "made_by": "x", "run": "r1"}')
        archive.writestr(RUN, '{"id": "r1", "state": "finished"}')
        archive.writestr("snapshots.json", "[]")
        archive.writestr("reviews.json", "[]")
        archive.writestr("records.parquet", _records())
        archive.writestr(SAMPLES, _samples())
    return [target.getvalue(), *_containers()[:2]]


def _on_disk(read: Callable[[Path, Path], object]) -> Callable[[], Run]:
    def opened() -> Run:
        def run(data: bytes) -> None:
            with TemporaryDirectory() as directory:
                path, scratch = Path(directory) / "file", Path(directory) / "scratch"
                path.write_bytes(data)
                scratch.mkdir()
                read(path, scratch)

        return run

    return opened


def _read_samples(path: Path, _scratch: Path) -> None:
    check_ratio(path, RECORDS_PER_BYTE)
    for _ in read_samples(path):
        pass


_TEXT = (
    "\n",
    ",",
    ";",
    "\t",
    '"',
    "'",
    "{",
    "}",
    "[",
    "]",
    ":",
    "null",
    "1e999",
    "NaN",
    "-1",
    "0",
    "9" * 400,
    "\x00",
    "é",
    "ms",
    "%",
)


def _importer(name: str, format: str, *fixtures: str, words: Sequence[str | bytes] = _TEXT) -> Target:
    return Target(
        name=f"import, {name}",
        open=_import(format),
        expected=(ProblemError,),
        corpus=_fixtures(*fixtures),
        words=words,
        longest=128 * 1024,
    )


FILES: tuple[Target, ...] = (
    _importer(
        "vegeta gob", "vegeta-gob", "vegeta/control/vegeta.gob.gz", words=(b"\xfe", b"\xf8", b"\xff", b"\x00", b"\x7f")
    ),
    _importer("vegeta CSV", "vegeta-csv", "vegeta/control/vegeta.csv.gz"),
    _importer("vegeta JSON", "vegeta-json", "vegeta/control/report.json", "k6/run.json.gz"),
    _importer("k6 JSON", "k6-json", "k6/run.json.gz", "k6/vu-iter.json.gz"),
    _importer("k6 CSV", "k6-csv", "k6/*.csv.gz"),
    _importer("k6 summary", "k6-summary", "k6/*.json"),
    _importer("Locust", "locust", "locust/full/*.csv"),
    _importer(
        "Gatling binary",
        "gatling-binary",
        "gatling/binary.log.gz",
        words=(b"\x00", b"\x01", b"\xff\xff\xff\xff", b"\x7f"),
    ),
    _importer("Gatling text", "gatling-text", "gatling/text.log.gz"),
    _importer("JMeter CSV", "jmeter-csv", "jmeter/*.csv.gz", "jmeter/default.jtl.gz"),
    _importer(
        "JMeter XML",
        "jmeter-xml",
        "jmeter/results.xml.gz",
        words=("<httpSample ", "</", "<!DOCTYPE a [", "<!ENTITY a '&a;'>", "&a;", "]]>", *_TEXT),
    ),
    _importer("hey CSV", "hey-csv", "hey/*.csv"),
    _importer(
        "hey text",
        "hey-text",
        "hey/*.txt",
        words=("Status code distribution:\n", "Latency distribution:\n", "  [200] ", " responses\n", *_TEXT),
    ),
    _importer("oha JSON", "oha-json", "oha/*.json"),
    _importer("oha CSV", "oha-csv", "oha/*.csv"),
    _importer(
        "oha database", "oha-database", "oha/mixed.db", words=(b"SQLite format 3\x00", b"CREATE TABLE ", b"\xff")
    ),
    _importer(
        "wrk text", "wrk-text", "wrk/*.txt", words=("Latency ", "requests in ", "Socket errors: ", "us", "k", *_TEXT)
    ),
    _importer("wrk JSON", "wrk-json", "wrk/*.json"),
    _importer("Artillery", "artillery", "artillery/report.json"),
    Target(
        name="import, anything",
        open=_import(),
        expected=(ProblemError,),
        corpus=lambda: [
            one for read in (_fixtures("hey/*"), _fixtures("wrk/*.txt"), _fixtures("k6/*.json")) for one in read()
        ],
        words=_TEXT,
    ),
    Target(
        name="import, ZIP, tar, gzip, zstd, bzip2",
        open=_import(),
        expected=(ProblemError,),
        corpus=_containers,
        words=(
            b"PK\x03\x04",
            b"PK\x01\x02",
            b"PK\x05\x06",
            b"\x1f\x8b\x08",
            b"\x28\xb5\x2f\xfd",
            b"BZh9",
            b"\xff\xff\xff\xff",
        ),
    ),
    Target(
        name="records of runs, Parquet",
        open=_on_disk(lambda path, _: check_records(path)),
        expected=(ProblemError,),
        corpus=lambda: [_records()],
        words=(b"PAR1", b"\xff\xff\xff\xff", b"\x15\x00", b"\x80" * 5),
    ),
    Target(
        name="samples of runs, Parquet and Arrow",
        open=_on_disk(_read_samples),
        expected=(ProblemError,),
        corpus=lambda: [_samples()],
        words=(b"PAR1", b"\xff\xff\xff\xff", b"\x15\x00", b"ARROW:schema"),
    ),
    Target(
        name="archives of runs",
        open=_on_disk(check_archive),
        expected=(ProblemError,),
        corpus=_archives,
        words=(b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"\xff\xff\xff\xff", b"../a"),
    ),
)

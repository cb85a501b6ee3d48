"""What the agent reads: pages of other programs, /proc, its own spool and configuration."""

import gzip
import json
import re
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from loadwatch_collectors.config import load_config
from loadwatch_collectors.errors import AgentError
from loadwatch_collectors.pipeline.spool import SegmentReader, SpoolFolder, encode_frame
from loadwatch_collectors.runs.streams import (
    GatlingBinaryReader,
    GatlingTextReader,
    StreamError,
    StreamReader,
    VegetaGobReader,
)
from loadwatch_collectors.series import SampleRow, Series
from loadwatch_collectors.settings_loader import parse_document
from loadwatch_collectors.sources import host, sockets
from loadwatch_collectors.sources.dbstats import DocumentError, find_pools, parse_log_line, read_pool
from loadwatch_collectors.sources.process import collector as process
from loadwatch_collectors.sources.prometheus import ExpositionError, ExpositionParser
from loadwatch_collectors.sources.registry import sources_by_name

from tests.fuzz.target import Run, Target
from tests.fuzz.targets.documents import YAML_WORDS
from tests.fuzz.targets.queries import text_of

_ROOT = Path(__file__).parents[3]
_FIXTURES = _ROOT / "collectors" / "tests" / "fixtures"
_NOTHING = re.compile("^$")
_PAGE = b"""# HELP up Whether it is up
# TYPE up gauge
up{job="a",instance="b\\\\n\\"c"} 1 1700000000000
http_request_duration_seconds_bucket{le="+Inf"} 3.5e3
go_gc_duration_seconds{quantile="0.5"} NaN
# EOF
"""


def _exposition() -> Run:
    parser = ExpositionParser(max_samples=50_000)

    def run(data: bytes) -> None:
        text = text_of(data)
        for openmetrics in (False, True):
            try:
                parser.parse(text, openmetrics=openmetrics)
            except ExpositionError:
                continue

    return run


def _dbstats() -> Run:
    def run(data: bytes) -> None:
        for line in text_of(data).splitlines()[:100]:
            parse_log_line(line)
        document = json.loads(data)
        for where, pool in find_pools(document, "main").items():
            read_pool(pool, where)

    return run


def _proc() -> Run:
    readers: tuple[Callable[[str], object], ...] = (
        host.parse_stat,
        host.parse_meminfo,
        host.parse_vmstat,
        host.parse_loadavg,
        host.parse_file_nr,
        process.parse_limits,
        process.parse_unit_limits,
        process.parse_membership,
        process.parse_unit,
        process.parse_cpu_max,
        process.parse_cpu_stat,
        sockets.parse_sockstat,
        sockets.parse_netstat,
        sockets.parse_proc_tcp,
        lambda text: host.parse_diskstats(text, _NOTHING),
        lambda text: host.parse_network(text, _NOTHING),
        lambda text: host.parse_pressure("cpu", text),
        lambda text: process.parse_process_stat(text.encode(errors="replace")),
    )

    def run(data: bytes) -> None:
        text = text_of(data)
        for read in readers:
            # The runner reports whatever a collector raises, and goes on.
            with suppress(Exception):
                read(text)

    return run


def _sockets() -> Run:
    return lambda data: _done(sockets.parse_messages([data]))


def _growing(reader: Callable[[], StreamReader]) -> Callable[[], Run]:
    def run(data: bytes) -> None:
        opened = reader()
        for at in range(0, len(data), 4_096):
            opened.feed(data[at : at + 4_096])

    return lambda: run


def _unpacked(name: str) -> Callable[[], Sequence[bytes]]:
    path = _ROOT / "backend" / "tests" / "importers" / "fixtures" / name
    return lambda: [gzip.decompress(path.read_bytes())[:100_000]]


def _spool() -> Run:
    folder = SpoolFolder(Path("spool"))
    path = Path("spool") / f"{1:020d}.frames"

    def run(data: bytes) -> None:
        path.write_bytes(data)
        for segment in folder.find_segments():
            reader = SegmentReader(segment)
            try:
                for _ in reader.read(segment.last):
                    pass
            finally:
                reader.close()

    return run


def _frames() -> Sequence[bytes]:
    series = [Series(b"\x0a\x0e\x0a\x08__name__\x12\x02up") for _ in range(3)]
    row = SampleRow(1_700_000_000_000, series, array("d", (1.0, 2.0, 3.0)))
    return [b"".join(encode_frame(number, [row], series if number == 1 else []) for number in range(1, 4))]


def _configuration() -> Run:
    return lambda data: _done(load_config(parse_document(text_of(data), "loadwatch.yml"), sources_by_name()))


def _done(value: object) -> None:
    del value


def _files(*patterns: str) -> Callable[[], Sequence[bytes]]:
    return lambda: [path.read_bytes() for pattern in patterns for path in sorted(_ROOT.glob(pattern)) if path.is_file()]


_LINES = (
    "\n",
    " ",
    ":",
    "kB",
    "cpu ",
    "btime ",
    "TCP: inuse ",
    "unlimited",
    "-1",
    "9" * 400,
    "some avg10=",
    "(",
    ")",
    "\x00",
)

_PAGE_WORDS = (
    "# HELP ",
    "# TYPE ",
    "# UNIT ",
    "# EOF",
    "{",
    "}",
    '="',
    '",',
    "\\",
    "\n",
    " ",
    "NaN",
    "+Inf",
    "1e999",
    "#",
    "a:b",
)

AGENT: tuple[Target, ...] = (
    Target(
        name="agent, pages of exporters",
        open=_exposition,
        expected=(),
        corpus=lambda: [_PAGE, _PAGE.replace(b"up", b"a_total")],
        words=_PAGE_WORDS,
        longest=1 << 20,
    ),
    Target(
        name="agent, sql.DBStats",
        open=_dbstats,
        # What `_parse_json` of the collector turns into its own error, and what the runner reports.
        expected=(DocumentError, ValueError, RecursionError),
        corpus=lambda: [
            *_files("collectors/tests/fixtures/dbstats/*.json")(),
            b"2026/01/01 {MaxOpenConnections:10 OpenConnections:5 InUse:3 Idle:2 WaitCount:7 WaitDuration:1m2.5s}",
        ],
        words=(
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            '"InUse"',
            '"Idle"',
            '"WaitDuration"',
            "1m2s",
            "9" * 400,
            "1e999",
            "null",
            "NaN",
        ),
    ),
    Target(
        name="agent, /proc",
        open=_proc,
        expected=(),
        corpus=_files(
            "collectors/tests/fixtures/proc/*",
            "collectors/tests/fixtures/proc/net/*",
            "collectors/tests/fixtures/proc/4242/*",
        ),
        words=_LINES,
    ),
    Target(
        name="agent, messages of the kernel",
        open=_sockets,
        # The runner reports whatever a collector raises, and goes on.
        expected=(Exception,),
        corpus=lambda: [(b"\x58\x00\x00\x00\x14\x00" + bytes(82)) * 20, b"\x14\x00\x00\x00\x03\x00" + bytes(14)],
        words=(b"\x58\x00\x00\x00\x14\x00", b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\x03\x00"),
    ),
    *(
        Target(
            name=f"agent, {name}", open=_growing(reader), expected=(StreamError,), corpus=_unpacked(path), words=words
        )
        for name, reader, path, words in (
            (
                "growing vegeta gob",
                VegetaGobReader,
                "vegeta/control/vegeta.gob.gz",
                (b"\xfe", b"\xf8", b"\xff", b"\x00"),
            ),
            ("growing Gatling, bytes", GatlingBinaryReader, "gatling/binary.log.gz", (b"\x00", b"\x01", b"\xff" * 4)),
            (
                "growing Gatling, text",
                GatlingTextReader,
                "gatling/text.log.gz",
                ("\n", "\t", "OK", "REQUEST\t", "9" * 20),
            ),
        )
    ),
    Target(name="agent, spool", open=_spool, expected=(), corpus=_frames, words=(b"\xff\xff\xff\xff", b"\x00" * 8)),
    Target(
        name="agent, configuration",
        open=_configuration,
        expected=(AgentError,),
        corpus=_files("loadwatch.example.yml", "deploy/loadwatch.yml"),
        words=(*YAML_WORDS, "server", "targets", "interval", "mysql", "process", "labels", "5s"),
    ),
)

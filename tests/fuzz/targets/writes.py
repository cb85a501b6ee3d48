"""Remote write: protobuf in snappy, by the service that the endpoint calls, into a real store."""

import base64
import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import cramjam
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.series.ingest.decode import IngestLimits, decode, decompress
from loadwatch_backend.series.ingest.decode_v2 import decode_v2
from loadwatch_backend.series.ingest.otlp.service import OtlpService
from loadwatch_backend.series.ingest.otlp.translate import OtlpRules
from loadwatch_backend.series.ingest.remote_v2_pb2 import Request, Sample, TimeSeries
from loadwatch_backend.series.ingest.service import IngestService
from loadwatch_backend.series.store.embedded.engine import open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.remote_pb2 import MetricMetadata

from backend.tests.ingest.writing import NOW_MS, body, compress, request, series
from tests.fuzz.target import Run, Target

_LIMITS = IngestLimits()
_GOLDEN = Path(__file__).parents[3] / "backend" / "tests" / "ingest" / "golden"


def _requests() -> Sequence[bytes]:
    labels = {"__name__": "up", "job": "api", "instance": "10.0.0.1:9100"}
    known = [series({**labels, "n": str(number)}, (NOW_MS, 1.0), (NOW_MS + 1000, 0.0)) for number in range(20)]
    metadata = [MetricMetadata(type=1, metric_family_name=b"up", help=b"h" * 50, unit=b"s")]
    return [
        request(*known),
        request(series(labels, (NOW_MS, 1.5))),
        request(series(labels, (0, 0.0), (-1, -1.0), (2**62, float("nan")))),
        request(metadata=metadata * 20),
        request(),
        b"\x1a\x00" * 20_000,
        b"\x0a\x00" * 20_000,
        b"\x0a\x02\x12\x00" * 10_000,
    ]


def _service() -> Callable[[bytes], None]:
    store = open_embedded(EmbeddedSettings(data_directory=Path("data")), lambda: NOW_MS)
    service = IngestService(store, _LIMITS, lambda: NOW_MS)

    def push(data: bytes) -> None:
        done = service.push_if_quick(data) or service.push(data)
        if done.stored is not None:
            done.stored.result(60)
        done.raise_for_rejected()

    return push


def _compressed() -> Run:
    push = _service()
    return lambda data: push(compress(data))


def _scan() -> Run:
    def run(data: bytes) -> None:
        columns = decode(data, {}, _LIMITS)
        assert len(columns.series) == len(columns.timestamps) == len(columns.values)

    return run


def _second_version() -> Run:
    def run(data: bytes) -> None:
        columns = decode_v2(data, {}, _LIMITS)
        assert len(columns.series) == len(columns.timestamps) == len(columns.values)

    return run


def _otlp(*, json: bool) -> Callable[[], Run]:
    def open_service() -> Run:
        store = open_embedded(EmbeddedSettings(data_directory=Path("data")), lambda: NOW_MS)
        service = OtlpService(IngestService(store, _LIMITS, lambda: NOW_MS), store, OtlpRules(scope=True))

        def run(data: bytes) -> None:
            taken = service.take(data, json=json, gzip=False)
            if taken.push.stored is not None:
                taken.push.stored.result(60)

        return run

    return open_service


def _otlp_cases(key: str) -> Sequence[bytes]:
    cases = json.loads(gzip.decompress((_GOLDEN / "translations.json.gz").read_bytes()))
    whole = [base64.b64decode(case[key] or "") if key == "proto" else json.dumps(case[key]).encode() for case in cases]
    return [one for one in whole if len(one) < 20_000]


def _snappy() -> Run:
    def run(data: bytes) -> None:
        decompress(data, 1 << 20)
        decompress(data, _LIMITS.decompressed_bytes)

    return run


def _symbols_service() -> Run:
    store = open_embedded(EmbeddedSettings(data_directory=Path("data")), lambda: NOW_MS)
    service = IngestService(store, _LIMITS, lambda: NOW_MS)

    def run(data: bytes) -> None:
        done = service.push(compress(data), decode_v2)
        if done.stored is not None:
            done.stored.result(60)
        done.raise_for_rejected()

    return run


def _symbols(random: Random) -> bytes:
    """Few symbols, short and long, that very many labels of many series name."""
    symbols = [b"", b"__name__", *(b"%d" % number for number in range(60))]
    symbols += [random.choice((b"x", "葵".encode(), b"\xff")) * random.choice((1, 1_300, 4_000)) for _ in range(6)]
    made = Request(symbols=symbols)
    for number in range(random.choice((1, 50, 3_000))):
        names = random.sample(range(2, 62), random.choice((1, 5, 60)))
        pairs = [1, 2 + number % 60]
        for name in names:
            pairs += [name, random.choice((random.randrange(len(symbols)), len(symbols) - 1))]
        sample = Sample(timestamp=NOW_MS + random.choice((0, 0, number, -(10**12))), value=1.0)
        made.timeseries.append(TimeSeries(labels_refs=pairs, samples=[sample]))
    return made.SerializeToString()


def _many(random: Random) -> bytes:
    """One small message again and again."""
    return random.choice((b"\x0a\x00", b"\x1a\x00", b"\x12\x00", b"\x0a\x02\x0a\x00", b"\x1a\x02\x12\x00")) * 30_000


WRITES: tuple[Target, ...] = (
    Target(
        name="remote write",
        open=_service,
        expected=(ProblemError,),
        corpus=lambda: [compress(one) for one in _requests()] + [body()],
        longest=256 * 1024,
    ),
    Target(
        name="remote write, protobuf",
        open=_compressed,
        expected=(ProblemError,),
        corpus=_requests,
        words=(b"\x0a", b"\x12", b"\x1a", b"\x12\x10\x09", b"\x12\x07\x10", b"\xff\xff\xff\xff\x0f", b"\x0b", b"\x0c"),
        generate=_many,
        longest=256 * 1024,
    ),
    Target(
        name="protobuf, scanned",
        open=_scan,
        expected=(ProblemError,),
        corpus=_requests,
        words=(b"\x0a", b"\x12", b"\x1a", b"\x12\x10\x09", b"\x12\x07\x10", b"\x80" * 9, b"\xff\xff\xff\xff\x0f"),
        generate=_many,
        longest=256 * 1024,
    ),
    Target(
        name="remote write 2.0, protobuf",
        open=_second_version,
        expected=(ProblemError,),
        corpus=lambda: [(_GOLDEN / "write_v2.binpb").read_bytes()],
        words=(b"\x22\x00", b"\x2a\x00", b"\x0a\x04\x00\x01\x00\x02", b"\xff\xff\xff\xff\x0f"),
        generate=_many,
        longest=256 * 1024,
    ),
    Target(
        name="remote write 2.0, symbols",
        open=_symbols_service,
        expected=(ProblemError,),
        corpus=lambda: [_symbols(Random(seed)) for seed in range(12)],
        generate=_symbols,
        longest=2 << 20,
    ),
    Target(
        name="OTLP, protobuf",
        open=_otlp(json=False),
        expected=(ProblemError,),
        corpus=lambda: _otlp_cases("proto"),
        words=(b"\x0a", b"\x12", b"\x2a\x02\x0a\x00", b"\x80" * 9, b"\xff\xff\xff\xff\x0f"),
        generate=_many,
        longest=256 * 1024,
    ),
    Target(
        name="OTLP, JSON",
        open=_otlp(json=True),
        expected=(ProblemError,),
        corpus=lambda: _otlp_cases("request"),
        words=(b"[" * 50, b'"NaN"', b"null", b"1e999", b'{"arrayValue":{"values":[', b"\\ud800"),
        longest=256 * 1024,
    ),
    Target(
        name="snappy",
        open=_snappy,
        expected=(ProblemError,),
        corpus=lambda: [bytes(cramjam.snappy.compress_raw(b"ab" * size)) for size in (0, 1, 100, 50_000)],
        words=(b"\xff\xff\xff\xff\x0f", b"\x80\x80\x80\x80\x08", b"\xfe\x01\x00", b"\xf0\x00"),
    ),
)

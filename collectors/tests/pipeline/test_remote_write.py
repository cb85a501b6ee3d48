import importlib.util
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import cramjam
import pytest
from grpc_tools import protoc
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loadwatch_collectors.pipeline.sender import compress, encode_metadata, encode_rows
from loadwatch_collectors.series import STALE_NAN, SampleRow, Series, encode_labels
from loadwatch_formats.metrics.model import MetricInfo

PROTO = """
syntax = "proto3";
package loadwatch_test_prometheus;
message WriteRequest { repeated TimeSeries timeseries = 1; reserved 2; repeated MetricMetadata metadata = 3; }
message MetricMetadata {
  enum MetricType {
    UNKNOWN = 0; COUNTER = 1; GAUGE = 2; HISTOGRAM = 3; GAUGEHISTOGRAM = 4; SUMMARY = 5; INFO = 6; STATESET = 7;
  }
  MetricType type = 1; string metric_family_name = 2; string help = 4; string unit = 5;
}
message Sample { double value = 1; int64 timestamp = 2; }
message Label { string name = 1; string value = 2; }
message TimeSeries { repeated Label labels = 1; repeated Sample samples = 2; }
"""


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """Protobuf's own classes for the messages, made by the reference compiler."""
    folder: Path = tmp_path_factory.mktemp("proto")
    (folder / "loadwatch_test_remote.proto").write_text(PROTO)
    main = cast("Callable[[list[str]], int]", protoc.main)  # pyright: ignore[reportUnknownMemberType] - untyped
    assert main(["protoc", f"-I{folder}", f"--python_out={folder}", "loadwatch_test_remote.proto"]) == 0
    spec = importlib.util.spec_from_file_location("loadwatch_test_remote_pb2", folder / "loadwatch_test_remote_pb2.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def bits(value: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def parsed(remote: ModuleType, body: bytes) -> Any:
    request: Any = remote.WriteRequest()
    request.ParseFromString(body)
    return request


LABELS = st.dictionaries(st.text(min_size=1, max_size=8), st.text(max_size=40), min_size=1, max_size=4)
VALUES = st.floats(width=64, allow_nan=True) | st.just(STALE_NAN) | st.just(0.0) | st.just(-0.0)
TIMES = st.integers(-(2**63), 2**63 - 1) | st.integers(1_600_000_000_000, 2_000_000_000_000)


@given(data=st.data())
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_protobuf_reads_back_what_was_encoded(remote: ModuleType, data: st.DataObject) -> None:
    names = data.draw(st.lists(LABELS, min_size=1, max_size=4))
    series = [Series(encode_labels(labels)) for labels in names]
    wanted: dict[int, list[tuple[int, int]]] = {}
    rows: list[SampleRow] = []
    for time_ms in sorted(data.draw(st.sets(TIMES, min_size=1, max_size=4))):
        drawn = data.draw(st.lists(st.integers(0, len(series) - 1), min_size=1, unique=True))
        values = [data.draw(VALUES) for _ in drawn]
        rows.append(SampleRow(time_ms, [series[one] for one in drawn], values))
        for one, value in zip(drawn, values, strict=True):
            wanted.setdefault(one, []).append((time_ms, bits(value)))

    request = parsed(remote, encode_rows(rows))

    assert [
        (
            [(label.name, label.value) for label in item.labels],
            [(sample.timestamp, bits(sample.value)) for sample in item.samples],
        )
        for item in request.timeseries
    ] == [(sorted(names[row].items()), samples) for row, samples in wanted.items()]


@given(
    st.lists(
        st.builds(
            MetricInfo,
            name=st.text(max_size=20),
            type=st.sampled_from(["counter", "gauge", "histogram", "summary", "info", "unknown"]),
            help=st.text(max_size=300),
            unit=st.text(max_size=10),
        ),
        max_size=5,
    )
)
@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_protobuf_reads_back_the_metadata(remote: ModuleType, metrics: list[MetricInfo]) -> None:
    request = parsed(remote, encode_metadata(metrics))
    names = remote.MetricMetadata.MetricType.Name
    assert [(item.metric_family_name, names(item.type).lower(), item.help, item.unit) for item in request.metadata] == [
        (metric.name, metric.type, metric.help, metric.unit) for metric in metrics
    ]


def test_metadata_can_follow_series_in_one_request(remote: ModuleType) -> None:
    row = SampleRow(1_700_000_000_000, [Series(encode_labels({"__name__": "up"}))], [1.0])
    body = encode_rows([row]) + encode_metadata([MetricInfo(name="up", type="gauge", help="whether")])
    request = parsed(remote, body)
    assert (len(request.timeseries), len(request.metadata)) == (1, 1)


def test_compressed_body_is_a_snappy_block() -> None:
    body = b"loadwatch" * 1000
    packed = compress(body)
    assert len(packed) < len(body) // 10
    assert bytes(cast("bytes", cramjam.snappy.decompress_raw(packed))) == body


def test_the_stale_marker_keeps_its_bits(remote: ModuleType) -> None:
    series = Series(encode_labels({"__name__": "up"}))
    one = parsed(remote, encode_rows([SampleRow(1, [series], [STALE_NAN])]))
    usual = encode_rows([SampleRow(1_700_000_000_000, [series], [STALE_NAN])])
    assert bits(one.timeseries[0].samples[0].value) == 0x7FF0000000000002
    assert (0x7FF0000000000002).to_bytes(8, "little") in usual

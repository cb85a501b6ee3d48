import gzip
import io

import pytest
from loadwatch_backend.importers import gob
from loadwatch_backend.importers.errors import UnknownFormatError
from loadwatch_backend.importers.vegeta_gob import recognise
from loadwatch_backend.records.model import RemarkKind

from backend.tests.importers.conftest import FIXTURES, Importing, unpacked

GOB = "vegeta/control/vegeta.gob.gz"
COLUMNS = ("time_ns", "latency_ns", "status", "outcome", "bytes_in", "bytes_out")


@pytest.mark.parametrize("attack", ["control", "pool-waits"])
def test_gob_holds_the_same_records_as_csv(imported: Importing, attack: str) -> None:
    from_gob = imported(FIXTURES / f"vegeta/{attack}/vegeta.gob.gz")
    from_csv = imported(FIXTURES / f"vegeta/{attack}/vegeta.csv.gz")
    assert from_gob.result.format == "vegeta-gob"
    for name in COLUMNS:
        assert (from_gob.column(name) == from_csv.column(name)).all(), name
    assert from_gob.texts("endpoint") == from_csv.texts("endpoint")
    assert from_gob.texts("error") == from_csv.texts("error")
    assert from_gob.result.figures == from_csv.result.figures


def test_truncated_stream_keeps_whole_records(imported: Importing) -> None:
    data = unpacked(GOB)
    whole = imported(data)
    for cut in (len(data) - 1, len(data) - 50, len(data) // 2, 700):
        found = imported(data[:cut])
        requests = found.result.figures.requests
        assert 0 < requests < whole.result.figures.requests
        assert (found.column("latency_ns") == whole.column("latency_ns")[:requests]).all()
        (damage,) = [r for r in found.result.remarks if r.kind is RemarkKind.DAMAGE]
        assert damage.place is not None
        offset = int(damage.place.removeprefix("byte "))
        assert offset + damage.figures["skipped_bytes"] == cut


def test_gzip_cut_off(imported: Importing) -> None:
    sent = (FIXTURES / GOB).read_bytes()
    found = imported(sent[: len(sent) // 2])
    assert 500 < found.result.figures.requests < 2_000
    assert "cut off" in found.remark("compression").text


def test_damaged_record_costs_only_itself(imported: Importing) -> None:
    data = bytearray(unpacked(GOB))
    at = [message.offset for message in gob.messages(io.BytesIO(bytes(data)), gob.Ending()) if message.type > 0]
    data[at[10] + 5] = 0x7F  # the distance to a field that does not exist
    found = imported(bytes(data))
    assert found.result.figures.requests in (1_999, 2_000)
    whole = imported(bytes(unpacked(GOB)))
    kept = set(found.column("time_ns").tolist())
    assert len(set(whole.column("time_ns").tolist()) - kept) <= 1


def test_absurd_length_ends_the_reading(imported: Importing) -> None:
    data = unpacked(GOB)
    found = imported(data + b"\xf8" + b"\xff" * 8 + b"x" * 100)
    assert found.result.figures.requests == 2_000
    assert "claims" in found.remark("damaged").text


def test_definitions_alone_are_a_run_of_zero_requests(imported: Importing) -> None:
    data = unpacked(GOB)
    first = next(m for m in gob.messages(io.BytesIO(data), gob.Ending()) if m.type > 0)
    found = imported(data[: first.offset])
    assert found.result.figures.requests == 0
    assert not found.result.has_records
    assert found.result.seconds is None


def test_two_streams_one_after_the_other(imported: Importing) -> None:
    found = imported(unpacked(GOB) + unpacked("vegeta/pool-waits/vegeta.gob.gz"))
    assert found.result.figures.requests == 11_000


def test_other_content_is_not_recognised() -> None:
    assert recognise(unpacked(GOB)[:65_536], "x") == 100
    for other in (
        b"",
        b"\0" * 100,
        b"\xff" * 100,
        unpacked("vegeta/control/vegeta.csv.gz")[:1000],
        gzip.compress(b"x"),
    ):
        assert recognise(other, "results.gob") == 0


def test_noise_is_refused(imported: Importing) -> None:
    with pytest.raises(UnknownFormatError, match="Formats"):
        imported(bytes(range(256)) * 10)


def test_time_with_and_without_an_offset_in_seconds() -> None:
    raw = bytes([1, 0, 0, 0, 0x0E, 0xE2, 0x93, 0x58, 0xEA, 0x39, 0xA4, 0x78, 0x6A, 0, 0])
    assert gob.time_ns(raw) == 1795252714967080042
    assert gob.time_ns(b"\2" + raw[1:] + b"\x1e") == 1795252714967080042
    with pytest.raises(gob.GobError):
        gob.time_ns(b"\3" + raw[1:])


@pytest.mark.parametrize(
    ("raw", "value"),
    [(b"\x00", 0), (b"\x01", -1), (b"\x02", 1), (b"\xff\x80", 64), (b"\xfe\x01\x00", 128), (b"\xff\xff", -128)],
)
def test_integers(raw: bytes, value: int) -> None:
    assert gob.read_int(raw, 0) == (value, len(raw))


def test_values_of_every_type_are_passed_over() -> None:
    types: gob.Types = {
        64: gob.GobType("map", "Header", key=gob.STRING, element=65),
        65: gob.GobType("slice", "", element=gob.STRING),
        66: gob.GobType("struct", "S", (gob.Field("A", gob.COMPLEX), gob.Field("B", 64))),
        67: gob.GobType("struct", "Loop", (gob.Field("Self", 67),)),
    }
    value = b"\x01\x00\x00" + b"\x01\x01" + b"\x01k" + b"\x02\x01a\x01b" + b"\x00"
    assert gob.skip(types, 66, value, 0) == len(value)
    with pytest.raises(gob.GobError, match="deep"):
        gob.skip(types, 67, b"\x01" * 100, 0)
    with pytest.raises(gob.GobError, match="not defined"):
        gob.skip(types, 99, b"\x01", 0)

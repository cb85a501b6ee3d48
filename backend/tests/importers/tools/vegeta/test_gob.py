import gzip
import random
from pathlib import Path

import pytest
from loadwatch_backend.evidence.records.accumulator import Accumulator
from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_backend.runs.importers.errors import UnknownFormatError
from loadwatch_backend.runs.importers.importer import Sink
from loadwatch_backend.runs.importers.tools.vegeta import recognise_gob as recognise
from loadwatch_formats.gob import GobStream

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
    at = [message.offset for message in GobStream().feed(bytes(data)) if message.type > 0]
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
    first = next(m for m in GobStream().feed(data) if m.type > 0)
    found = imported(data[: first.offset])
    assert found.result.figures.requests == 0
    assert not found.result.has_records
    assert found.result.seconds is None


def test_two_streams_one_after_the_other(imported: Importing) -> None:
    found = imported(unpacked(GOB) + unpacked("vegeta/pool-waits/vegeta.gob.gz"))
    assert found.result.figures.requests == 11_000


def test_other_content_is_not_recognised() -> None:
    assert recognise(unpacked(GOB)[:65_536]) == 100
    for other in (
        b"",
        b"\0" * 100,
        b"\xff" * 100,
        unpacked("vegeta/control/vegeta.csv.gz")[:1000],
        gzip.compress(b"x"),
    ):
        assert recognise(other) == 0


def test_noise_is_refused(imported: Importing) -> None:
    with pytest.raises(UnknownFormatError, match="Formats"):
        imported(bytes(range(256)) * 10)


def test_numbers_beyond_every_type_are_absurd_and_counted(tmp_path: Path) -> None:
    # A gob holds unsigned numbers of 64 bits.
    accumulator = Accumulator(tmp_path / "records.parquet")
    rows = Sink(accumulator).rows()
    rows.append(1_700_000_000 * 10**9, 2**64 - 1, 200, "a")
    rows.append(1_700_000_000 * 10**9, 5, 200, "a", bytes_in=2**64 - 1)
    rows.flush()
    accumulator.finish()
    assert (accumulator.records, accumulator.bad_latencies.count) == (1, 1)


def test_flipped_bits_cost_what_they_hit_and_no_more(imported: Importing) -> None:
    """Each damage by itself: a time beyond all dates, bytes beyond all sums, a type that is defined as another."""
    data = unpacked(GOB)
    found = [message for message in GobStream().feed(data) if message.type > 0]
    hit = found[1_000]

    def change(old: bytes, new: bytes) -> bytes:
        at = hit.offset + data[hit.offset :].index(old)
        return data[:at] + new + data[at + len(old) :]

    stamp = hit.data.index(b"\x01\x00\x00\x00\x0e")
    far = imported(change(hit.data[stamp : stamp + 9], b"\x01\x7f" + hit.data[stamp + 2 : stamp + 9]))
    assert far.result.figures.requests == 1_999
    assert "2262" in far.remark("damaged").text
    assert far.remark("damaged").place == f"byte {hit.offset}"
    first = next(message for message in GobStream().feed(data) if message.type < 0)
    again = data[first.offset : first.offset + len(first.data) + 2].replace(b"Result", b"Rasult")
    known = imported(data[: hit.offset] + again + data[hit.offset :])
    assert known.result.figures.requests == 2_000
    assert "defined anew" in known.remark("damaged").text


@pytest.mark.parametrize("seed", range(6))
def test_bits_flipped_by_chance_keep_what_came_before(imported: Importing, seed: int) -> None:
    data = bytearray(unpacked(GOB))
    chance = random.Random(seed)
    places = sorted(chance.randrange(len(data) // 2, len(data)) for _ in range(50))
    for place in places:
        data[place] ^= 1 << chance.randrange(8)
    whole = [message for message in GobStream().feed(bytes(data[: places[0]])) if message.type > 0]
    found = imported(bytes(data))
    assert found.result.figures.requests >= len(whole)
    assert found.result.figures.bytes_in is not None
    assert 0 <= found.result.figures.bytes_in < 2**60

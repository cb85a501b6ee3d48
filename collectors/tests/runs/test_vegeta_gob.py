import gzip
import json
import random
from contextlib import suppress
from pathlib import Path

import pytest
from loadwatch_collectors.runs.streams import AnyReader, RequestEvent, StreamError, VegetaGobReader, VegetaJsonReader
from loadwatch_formats.outcomes import Outcome

FIXTURES = Path(__file__).parents[1] / "fixtures" / "vegeta"


def read_all(name: str, piece: int) -> tuple[str | None, list[RequestEvent]]:
    data = gzip.decompress((FIXTURES / name).read_bytes())
    reader = AnyReader()
    events: list[RequestEvent] = []
    for at in range(0, len(data), piece):
        events += [event for event in reader.feed(data[at : at + piece]) if isinstance(event, RequestEvent)]
    return reader.format, events


def test_gob_and_csv_tell_the_same_whatever_the_pieces() -> None:
    form, rows = read_all("pool-waits.csv.gz", 1 << 20)
    assert form == "vegeta-csv"
    assert len(rows) == 2500
    assert {event.outcome for event in rows} == {"ok", "timeout"}
    for piece in (1, 997, 1 << 20):
        form, events = read_all("pool-waits.gob.gz", piece)
        assert form == "vegeta-gob"
        assert events == rows


def test_a_stream_after_a_stream_is_read_on() -> None:
    data = gzip.decompress((FIXTURES / "pool-waits.gob.gz").read_bytes())
    assert len(VegetaGobReader().feed(data + data)) == 5000


def test_a_damaged_stream_is_an_error_with_its_place() -> None:
    data = bytearray(gzip.decompress((FIXTURES / "pool-waits.gob.gz").read_bytes()))
    generator = random.Random(1)
    for _ in range(200):
        damaged = bytearray(data[:20_000])
        damaged[generator.randrange(500, len(damaged))] ^= 1 << generator.randrange(8)
        with suppress(StreamError):  # any other error would be a fault of the reader
            VegetaGobReader().feed(bytes(damaged))


def test_json_lines() -> None:
    document = {"attack": "", "seq": 0, "code": 503, "timestamp": "1970-01-01T00:00:02.5+00:00", "latency": 1_500_000}
    line = json.dumps(document | {"bytes_in": 4, "bytes_out": 2, "error": "503 Service Unavailable"}) + "\n"
    reader = VegetaJsonReader()
    assert reader.feed(line[:20].encode()) == []
    assert reader.feed(line[20:].encode()) == [RequestEvent(2500, 0.0015, Outcome.HTTP_5XX, 4, 2)]
    with pytest.raises(StreamError, match="line 2"):
        reader.feed(b"{}\n")

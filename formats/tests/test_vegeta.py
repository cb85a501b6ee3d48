import gzip
from pathlib import Path

from loadwatch_formats.vegeta import Hit, VegetaStream, is_vegeta

FIXTURES = Path(__file__).parents[2] / "backend" / "tests" / "importers" / "fixtures" / "vegeta"
DATA = gzip.decompress((FIXTURES / "control" / "vegeta.gob.gz").read_bytes())


def read(data: bytes, size: int) -> tuple[list[Hit], list[tuple[int, str]]]:
    damages: list[tuple[int, str]] = []
    stream = VegetaStream(lambda offset, text: damages.append((offset, text)))
    return [hit for at in range(0, len(data), size) for hit in stream.feed(data[at : at + size])], damages


def test_hits_are_the_same_whatever_the_pieces() -> None:
    whole, damages = read(DATA, len(DATA))
    assert len(whole) == 2_000
    assert whole[0] == Hit(
        1_795_252_714_967_080_042, 4_257_976, 200, 3, 0, "", b"GET", b"http://127.0.0.1:18081/?name=hoge&value=1", b""
    )
    assert not damages
    for size in (1, 997):
        assert read(DATA[:20_000], size) == (read(DATA[:20_000], 20_000)[0], [])


def test_a_value_that_is_no_result_is_told_with_its_place() -> None:
    assert read(b"\x02\x02\x07" + DATA[:2_000], 100)[1] == [(0, "A value of type 1, which is no Result")]


def test_the_definition_must_be_there_as_a_whole() -> None:
    assert is_vegeta(DATA[:400])
    assert not is_vegeta(DATA[:100])
    assert not is_vegeta(b"")

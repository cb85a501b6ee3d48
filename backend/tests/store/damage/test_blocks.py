"""Blocks of DuckDB's file: what is whole, and which wrong byte can be put right."""

import random
from pathlib import Path

import duckdb
import pytest
from loadwatch_backend.store.embedded.damage.blocks import (
    BLOCK_BYTES,
    HEADERS_BYTES,
    BlockFile,
    checksum,
    empty_strings,
    is_whole,
    mended,
)


@pytest.fixture(scope="module")
def blocks(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Of a file that DuckDB wrote: those of its contents, and some of data."""
    path = tmp_path_factory.mktemp("blocks") / "file.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT hash(range) AS a, md5(range::VARCHAR) AS b FROM range(200000)")
    content = path.read_bytes()[HEADERS_BYTES:]
    return [content[place : place + BLOCK_BYTES] for place in range(0, len(content), BLOCK_BYTES)]


def test_what_duckdb_wrote_is_whole(blocks: list[bytes]) -> None:
    assert len(blocks) > 10
    assert all(is_whole(block) for block in blocks)


def test_a_wrong_byte_is_put_right_or_left_alone(blocks: list[bytes]) -> None:
    chosen = random.Random(1)
    right = 0
    for _ in range(200):
        block = chosen.choice(blocks)
        wrong = bytearray(block)
        wrong[chosen.randrange(len(wrong))] ^= chosen.randrange(1, 256)
        assert not is_whole(bytes(wrong))
        found = mended(bytes(wrong))
        assert found in (block, None)
        right += found == block
    assert right > 60


def test_more_wrong_bytes_are_left_alone(blocks: list[bytes]) -> None:
    chosen = random.Random(2)
    for _ in range(100):
        wrong = bytearray(chosen.choice(blocks))
        for place in chosen.sample(range(len(wrong)), chosen.randrange(2, 20)):
            wrong[place] ^= chosen.randrange(1, 256)
        assert mended(bytes(wrong)) is None


def test_a_block_that_was_never_written_is_whole() -> None:
    assert is_whole(bytes(BLOCK_BYTES))


def test_a_block_of_empty_strings_is_whole() -> None:
    block = empty_strings(BLOCK_BYTES)
    assert (is_whole(block), int.from_bytes(block[:8], "little")) == (True, checksum(block))


def test_a_part_of_a_file_is_looked_at(tmp_path: Path, blocks: list[bytes]) -> None:
    path = tmp_path / "file"
    wrong = bytes([blocks[1][0] ^ 1, blocks[1][1] ^ 1, *blocks[1][2:]])
    path.write_bytes(bytes(HEADERS_BYTES) + blocks[0] + wrong + blocks[2])
    file = BlockFile(path)
    assert len(file) == 3
    assert (file.damaged(0, 1), file.damaged(0, 9), file.damaged_still([0, 1, 7])) == ([], [1], [1])
    file.put(1, blocks[1])
    assert file.damaged(0, 3) == []
    file.close()

"""A log that is rotated, cut, compressed and followed by one process after another loses no line and repeats none."""

import bz2
import gzip
import lzma
import os
import shutil
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import cramjam
import pytest
from loadwatch_collectors.sources.log_tail import AWAY_SECONDS, LogPosition, LogTail

PACKERS: Mapping[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: bytes(cramjam.zstd.compress(bytearray(data))),
}


def pack(path: Path, suffix: str) -> Path:
    """What a rotation's compressor leaves in the file's place."""
    packed = path.with_name(f"{path.name}.{suffix}")
    packed.write_bytes(PACKERS[suffix](path.read_bytes()))
    path.unlink()
    return packed


class Writer:
    """Numbered lines, as long as those of an access log, so that a file is known by its first ones."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.written = 0

    def write(self, count: int, path: Path | None = None) -> None:
        with (path or self.path).open("a") as file:
            for _ in range(count):
                file.write(f"192.0.2.1 - - [23/Nov/2026:10:00:00 +0000] line {self.written:09d}\n")
                self.written += 1


@pytest.fixture
def log(tmp_path: Path) -> Writer:
    writer = Writer(tmp_path / "access.log")
    writer.write(100)
    return writer


def numbers(tail: LogTail) -> Iterator[int]:
    while (block := tail.read_block()) is not None:
        for line in block.splitlines():
            yield int(line.rpartition(b" ")[2])


def resumed(tail: LogTail, path: Path) -> LogTail:
    """As another process goes on: from what was kept, and nothing else."""
    kept = [LogPosition.from_json(position.to_json()) for position in tail.positions()]
    tail.close()
    return LogTail(str(path), first_read=0, positions=kept)


def begun(log: Writer) -> LogTail:
    tail = LogTail(str(log.path), first_read=1 << 20)
    assert list(numbers(tail)) == list(range(100))
    return tail


def test_an_agent_that_starts_anew_repeats_nothing_and_loses_nothing(log: Writer) -> None:
    tail = begun(log)
    log.write(50)
    tail = resumed(tail, log.path)
    assert list(numbers(tail)) == list(range(100, 150))
    tail = resumed(tail, log.path)
    assert list(numbers(tail)) == []
    tail.close()


def test_a_begun_line_is_read_once_it_is_whole_by_whoever_follows_then(log: Writer) -> None:
    tail = begun(log)
    with log.path.open("a") as file:
        file.write("192.0.2.1 - - half of line ")
    assert list(numbers(tail)) == []
    tail = resumed(tail, log.path)
    with log.path.open("a") as file:
        file.write("000000100\n")
    assert list(numbers(tail)) == [100]
    tail.close()


def test_lines_written_to_the_old_file_after_the_new_one_is_there(log: Writer) -> None:
    tail = begun(log)
    old = log.path.with_name("access.log.1")
    log.path.rename(old)
    log.path.touch()
    assert list(numbers(tail)) == []
    # The server has not been told yet; then it has.
    log.write(10, old)
    assert list(numbers(tail)) == list(range(100, 110))
    log.write(10)
    log.write(5, old)
    assert sorted(numbers(tail)) == list(range(110, 125))
    tail.close()


@pytest.mark.parametrize("compress", ["", *PACKERS])
def test_rotated_while_nobody_followed(log: Writer, compress: str) -> None:
    tail = begun(log)
    log.write(20)
    for number in (1, 2):
        for older in range(2, 0, -1):
            there = log.path.with_name(f"access.log.{older}")
            if there.exists():
                there.rename(log.path.with_name(f"access.log.{older + 1}"))
        log.path.rename(log.path.with_name("access.log.1"))
        log.path.touch()
        os.utime(log.path.with_name("access.log.1"), (4e9 + number, 4e9 + number))
        log.write(20)
    if compress:
        oldest = log.path.with_name("access.log.2")
        os.utime(pack(oldest, compress), (4e9 + 1, 4e9 + 1))
    tail = resumed(tail, log.path)
    assert list(numbers(tail)) == list(range(100, 160))
    assert tail.lost_files == 0
    tail.close()


def test_another_log_beside_it_is_not_taken_for_a_part_of_it(log: Writer) -> None:
    tail = begun(log)
    log.write(5)
    shutil.copy(log.path, log.path.with_name("access.log.backup"))
    other = Writer(log.path.with_name("access-api.log"))
    other.written = 9_000
    other.write(30)
    log.path.rename(log.path.with_name("access.log.1"))
    log.write(5)
    tail = resumed(tail, log.path)
    assert list(numbers(tail)) == list(range(100, 110))
    tail.close()


@pytest.mark.parametrize("compress", ["", *PACKERS])
def test_copied_and_cut_with_lines_that_were_not_read_yet(log: Writer, compress: str) -> None:
    tail = begun(log)
    log.write(30)
    copy = log.path.with_name("access.log.1")
    shutil.copy(log.path, copy)
    os.truncate(log.path, 0)
    if compress:
        pack(copy, compress)
    log.write(10)
    assert list(numbers(tail)) == list(range(100, 140))
    assert tail.lost_files == 0
    tail.close()


@pytest.mark.parametrize("compress", ["", *PACKERS])
def test_copied_and_cut_more_than_once_between_two_looks(log: Writer, compress: str) -> None:
    now = time.time()
    os.utime(log.path, (now - 100, now - 100))
    tail = begun(log)
    for turn in (3, 2, 1):
        log.write(30)
        copy = log.path.with_name(f"access.log.{turn}")
        shutil.copy(log.path, copy)
        copied = pack(copy, compress) if compress and turn > 1 else copy
        os.utime(copied, (now - turn, now - turn))
        os.truncate(log.path, 0)
    log.write(10)
    assert list(numbers(tail)) == list(range(100, 200))
    log.write(10)
    shutil.copy(log.path, log.path.with_name("access.log.0"))
    os.truncate(log.path, 0)
    assert list(numbers(tail)) == list(range(200, 210)), "and none of the copies of before again"
    assert tail.lost_files == 0
    tail.close()


@pytest.mark.parametrize("name", ["access.log-audit", "access.log.json"])
def test_another_log_of_a_like_name_is_no_copy_of_one_that_is_cut(log: Writer, name: str) -> None:
    now = time.time()
    os.utime(log.path, (now - 100, now - 100))
    tail = begun(log)
    log.write(30)
    shutil.copy(log.path, log.path.with_name("access.log-20261126"))
    os.truncate(log.path, 0)
    log.path.with_name(name).write_text("10.0.0.1 - - a line of something else, long enough 999999999\n" * 20)
    log.write(10)
    assert list(numbers(tail)) == list(range(100, 140))
    tail.close()


def test_a_compressed_file_that_is_cut_off_gives_what_is_there(log: Writer) -> None:
    tail = begun(log)
    log.write(40_000)
    rotated = Path(f"{log.path}.1.gz")
    log.path.rename(rotated.with_suffix(""))
    whole = gzip.compress(rotated.with_suffix("").read_bytes())
    rotated.write_bytes(whole[: len(whole) // 2])
    rotated.with_suffix("").unlink()
    there = zlib.decompressobj(31).decompress(rotated.read_bytes()).count(b"\n")
    positions = tail.positions()
    tail.close()
    log.write(1)
    tail = LogTail(str(log.path), first_read=0, positions=positions)
    assert list(numbers(tail)) == [*range(100, there), 40_100]
    tail.close()


def test_copied_and_cut_while_nobody_followed(log: Writer) -> None:
    tail = begun(log)
    log.write(30)
    shutil.copy(log.path, log.path.with_name("access.log.1"))
    os.truncate(log.path, 0)
    log.write(10)
    tail = resumed(tail, log.path)
    assert list(numbers(tail)) == list(range(100, 140))
    tail.close()


def test_cut_and_grown_beyond_the_old_end_before_anybody_looks(log: Writer) -> None:
    tail = begun(log)
    os.truncate(log.path, 0)
    with log.path.open("a") as file:
        file.write("203.0.113.9 - - [23/Nov/2026:11:00:00 +0000] line 000000100\n")
    log.written = 101
    log.write(300)
    assert list(numbers(tail)) == list(range(100, 401))
    assert tail.lost_files == 1, "whether there was more before it was cut nobody can tell"
    tail.close()


def test_a_log_that_is_away_is_an_error_only_after_a_while(log: Writer) -> None:
    now = [0.0]
    tail = LogTail(str(log.path), first_read=1 << 20, clock=lambda: now[0])
    assert len(list(numbers(tail))) == 100
    log.path.unlink()
    assert list(numbers(tail)) == []
    now[0] = AWAY_SECONDS + 1
    with pytest.raises(FileNotFoundError):
        list(numbers(tail))
    log.write(3)
    assert list(numbers(tail)) == [100, 101, 102]
    tail.close()


def test_a_log_that_was_not_there_at_first_is_read_from_its_start(tmp_path: Path) -> None:
    log = Writer(tmp_path / "access.log")
    tail = LogTail(str(log.path), first_read=0)
    with pytest.raises(FileNotFoundError):
        tail.read_block()
    log.write(4)
    assert list(numbers(tail)) == [0, 1, 2, 3]
    tail.close()


def test_whoever_begins_at_the_end_begins_with_a_whole_line(log: Writer) -> None:
    with log.path.open("a") as file:
        file.write("192.0.2.1 - - half of line ")
    tail = LogTail(str(log.path), first_read=0)
    assert list(numbers(tail)) == []
    with log.path.open("a") as file:
        file.write("000000100\n")
    assert list(numbers(tail)) == [100]
    tail.close()


def test_lines_of_a_megabyte_are_left_out_and_counted(log: Writer) -> None:
    tail = begun(log)
    with log.path.open("a") as file:
        for _ in range(3):
            file.write("x" * 1_500_000 + "\n")
    log.write(5)
    assert list(numbers(tail)) == list(range(100, 105))
    assert tail.cut_lines == 3
    tail.close()


def test_what_is_no_position_is_refused() -> None:
    documents: list[object] = [None, [], {"device": 1}, {"device": "x", "inode": 1}]
    for document in documents:
        with pytest.raises(ValueError, match=r"position|invalid literal"):
            LogPosition.from_json(document)

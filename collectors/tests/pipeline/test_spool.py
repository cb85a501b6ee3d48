import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from loadwatch_collectors.errors import SpoolError
from loadwatch_collectors.pipeline.spool import (
    HEAD,
    Spool,
    WriteRequest,
    decode_definitions,
    decode_head,
    decode_rows,
    encode_frame,
    is_whole,
)
from loadwatch_collectors.series import SampleRow, Series

NOW_MS = 1_700_000_000_000
SERIES = [Series(b"label-bytes-of-%d" % index) for index in range(50)]


def open_spool(folder: Path, *, max_bytes: int = 50_000_000, now_ms: int = NOW_MS) -> Spool:
    return Spool(folder, max_bytes=max_bytes, max_age_seconds=3600, clock=lambda: now_ms / 1000)


def row(tick: int, *, now_ms: int = NOW_MS) -> SampleRow:
    return SampleRow(now_ms + tick, SERIES, [float(tick * 100 + index) for index in range(len(SERIES))])


def drain(spool: Spool, max_samples: int = 120) -> list[WriteRequest]:
    found: list[WriteRequest] = []
    while (batch := spool.read(max_samples)) is not None:
        spool.acknowledge(batch)
        found.append(batch)
    return found


def ticks(batches: list[WriteRequest]) -> list[int]:
    return [item.timestamp_ms - NOW_MS for batch in batches for item in batch.rows]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "spool"


def test_first_in_first_out(folder: Path) -> None:
    spool = open_spool(folder)
    for tick in range(30):
        spool.append([row(tick)])
    assert spool.waiting()[0] == 30 * 50
    batches = drain(spool)
    assert ticks(batches) == list(range(30))
    assert all(100 <= batch.samples <= 150 for batch in batches)
    assert spool.waiting() == (0, 0)
    assert spool.dropped_samples == 0
    spool.close()


def test_what_is_not_acknowledged_is_read_again(folder: Path) -> None:
    spool = open_spool(folder)
    spool.append([row(0)])
    first = spool.read(100)
    assert first == spool.read(100)
    spool.close()


def test_the_next_agent_goes_on_where_the_last_one_was_killed(folder: Path) -> None:
    spool = open_spool(folder)
    for tick in range(20):
        spool.append([row(tick)])
    batch = spool.read(300)
    assert batch is not None
    spool.acknowledge(batch)
    spool.close()

    again = open_spool(folder)
    assert again.waiting()[0] == 14 * 50
    again.append([row(20)])
    batches = drain(again)
    assert ticks(batches) == list(range(6, 21))
    first = batches[0].rows[0]
    assert [series.labels for series in first.series] == [series.labels for series in SERIES]
    assert list(first.values) == [600.0 + index for index in range(50)]
    again.close()


def test_kill_9_loses_nothing_that_was_appended(folder: Path) -> None:
    script = f"""
        import sys
        from pathlib import Path
        from loadwatch_collectors.series import SampleRow, Series
        from loadwatch_collectors.pipeline.spool import Spool
        spool = Spool(Path({str(folder)!r}), max_bytes=50_000_000, max_age_seconds=3600, clock=lambda: {NOW_MS / 1000})
        series = [Series(b"one")]
        for tick in range(1_000_000):
            spool.append([SampleRow({NOW_MS} + tick, series, [float(tick)])])
            print(tick, flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        seen = [int(next(process.stdout)) for _ in range(200)]
        process.send_signal(signal.SIGKILL)
        seen += [int(line) for line in process.stdout if line.endswith("\n")]
    assert process.wait() == -signal.SIGKILL
    spool = open_spool(folder)
    found = ticks(drain(spool, 10_000))
    assert found == list(range(len(found)))
    assert len(found) >= len(seen)
    spool.close()


def test_a_torn_end_is_left_out(folder: Path) -> None:
    spool = open_spool(folder)
    for tick in range(3):
        spool.append([row(tick)])
    spool.close()
    [file] = folder.glob("*.frames")
    os.truncate(file, file.stat().st_size - 7)
    again = open_spool(folder)
    again.append([row(9)])
    assert ticks(drain(again)) == [0, 1, 9]
    again.close()


def test_a_damaged_frame_costs_the_rest_of_its_file_and_is_counted(folder: Path) -> None:
    spool = open_spool(folder)
    for tick in range(4):
        spool.append([row(tick)])
    spool.close()
    [file] = folder.glob("*.frames")
    data = bytearray(file.read_bytes())
    data[-3 * (len(data) // 8)] ^= 0xFF
    file.write_bytes(data)
    again = open_spool(folder)
    again.append([row(9)])
    found = ticks(drain(again))
    assert found[-1] == 9
    assert found[:-1] == list(range(len(found) - 1))
    assert again.dropped_samples == (4 - (len(found) - 1)) * 50 > 0
    again.close()


def test_size_drops_the_oldest_and_counts(folder: Path) -> None:
    spool = open_spool(folder, max_bytes=100_000)
    for tick in range(500):
        spool.append([row(tick)])
    assert sum(file.stat().st_size for file in folder.glob("*.frames")) <= 100_000
    found = ticks(drain(spool))
    assert found == list(range(500 - len(found), 500))
    assert 50 < len(found) < 500
    assert spool.dropped_samples == (500 - len(found)) * 50
    spool.close()


def test_age_drops_the_oldest_and_counts(folder: Path) -> None:
    spool = open_spool(folder)
    spool.append([row(0)])
    spool.close()
    later = open_spool(folder, now_ms=NOW_MS + 3_600_001)
    assert later.dropped_samples == 50
    assert later.read(100) is None
    later.close()


def test_delivered_files_are_removed(folder: Path) -> None:
    spool = open_spool(folder, max_bytes=200_000)
    for tick in range(200):
        spool.append([row(tick)])
        drain(spool)
    assert len(list(folder.glob("*.frames"))) == 1
    assert sum(file.stat().st_size for file in folder.glob("*.frames")) < 25_000
    assert spool.dropped_samples == 0
    spool.close()


def test_two_agents_cannot_share_a_folder(folder: Path) -> None:
    spool = open_spool(folder)
    with pytest.raises(SpoolError, match=r"another agent uses the spool .* `spool.directory`"):
        open_spool(folder)
    spool.close()
    open_spool(folder).close()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SpoolError, match=r"cannot be used.*`spool.directory`"):
        open_spool(tmp_path / "file" / "spool")


@pytest.fixture
def full_disk() -> Iterator[None]:
    """No file of this process may grow beyond 6,000 bytes: the kernel refuses as it does on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_holds_samples_in_memory_in_order(folder: Path, full_disk: None) -> None:
    # A first frame of a new file always fits, so one batch larger than the limit stands for the full disk.
    large = [row(tick) for tick in range(20)]
    spool = open_spool(folder)
    spool.append([row(0)])
    spool.append(large[1:])
    assert spool.disk_error is not None
    assert "File too large" in spool.disk_error
    assert spool.waiting()[0] == 20 * 50
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    spool.append([row(20)])
    assert spool.disk_error is None
    spool.close()
    again = open_spool(folder)
    assert ticks(drain(again)) == list(range(21))
    again.close()


def test_memory_is_bounded_while_the_disk_is_full(folder: Path, full_disk: None) -> None:
    many = [Series(b"wide-%d" % index) for index in range(5_000)]
    spool = open_spool(folder)
    for tick in range(50):
        spool.append([SampleRow(NOW_MS + tick, many, [1.0] * len(many))])
    assert spool.dropped_samples == 50_000
    found = ticks(drain(spool))
    assert found == list(range(10, 50))
    spool.close()


WIDE = [Series(b"wide-%d" % index) for index in range(20_000)]
"""One tick of a large agent: ten of them are all that is held in memory."""


def wide(tick: int) -> SampleRow:
    return SampleRow(NOW_MS + tick, WIDE, [1.0] * len(WIDE))


def test_what_comes_after_a_gap_is_delivered_and_the_gap_is_counted(folder: Path, full_disk: None) -> None:
    """More than memory holds while the disk is full, then room again: the frames after it follow a gap."""
    spool = open_spool(folder)
    spool.append([row(0)])
    for tick in range(1, 14):
        spool.append([wide(tick)])
    dropped = spool.dropped_samples
    assert dropped == 3 * len(WIDE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    for tick in range(14, 20):
        spool.append([wide(tick)])
    assert spool.disk_error is None
    assert spool.waiting()[0] == 50 + 16 * len(WIDE)
    spool.close()

    again = open_spool(folder)
    assert again.waiting()[0] == 50 + 16 * len(WIDE)
    assert ticks(drain(again)) == [0, *range(4, 20)]
    assert again.dropped_samples == dropped  # it goes on counting where the last agent ended
    again.close()


def test_a_file_with_a_gap_of_an_older_agent_is_read_to_its_end(folder: Path) -> None:
    folder.mkdir()
    frames = [encode_frame(number, [row(number)], SERIES if number == 1 else []) for number in (1, 2, 7, 8)]
    (folder / f"{1:020d}.frames").write_bytes(b"".join(frames))
    spool = open_spool(folder)
    assert spool.waiting()[0] == 4 * 50
    spool.append([row(9)])
    assert ticks(drain(spool)) == [1, 2, 7, 8, 9]
    assert spool.dropped_samples == 0
    spool.close()


def test_what_memory_held_at_the_end_is_counted_by_the_next_agent(folder: Path, full_disk: None) -> None:
    spool = open_spool(folder)
    spool.append([row(0)])
    spool.append([wide(1)])
    spool.close()
    again = open_spool(folder)
    assert again.dropped_samples == len(WIDE)
    assert ticks(drain(again)) == [0]
    again.close()


def test_what_is_given_up_while_it_is_sent_is_not_counted_when_it_arrives(folder: Path) -> None:
    spool = open_spool(folder, max_bytes=100_000)
    spool.append([row(0)])
    arrives = spool.read(50)
    for tick in range(1, 400):
        spool.append([row(tick)])
    assert arrives is not None
    spool.acknowledge(arrives)
    found = [0, *ticks(drain(spool))]
    assert spool.dropped_samples == (400 - len(found)) * 50 > 0
    spool.close()


class FaultySpool:
    """A spool in a process of its own, and what became of each tick that was appended to it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._produced = 0
        self._delivered: set[int] = set()
        self._killed = 0
        """Samples that only a killed agent's memory held: nobody is left to count them."""
        self._now = self._start()

    def do(self, operation: str, count: int) -> None:
        """One step: `append`, `deliver`, `deliver late`, `fail`, `refuse`, `room`, `no room`, `restart` or `kill`."""
        if operation not in ("kill", "restart"):
            self._now = self._ask(operation, count)
        else:
            if operation == "kill":
                self._process.kill()
            # else its input ends, upon which it closes the spool
            self._process.communicate(timeout=240)
            before, self._now = self._now, self._start()
            lost = before.waiting - self._now.waiting - (self._now.dropped - before.dropped)
            assert lost == (before.held if operation == "kill" else 0)
            self._killed += lost

    def end(self) -> None:
        """Let the disk have room and the server take all: what was produced is delivered or counted."""
        self.do("room", 0)
        self.do("deliver", 1_000)
        assert self._now.waiting == 0
        assert (self._produced - len(self._delivered)) * self._now.width == self._now.dropped + self._killed
        self.do("restart", 0)
        self.close()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _start(self) -> "State":
        script = Path(__file__).with_name("spool_process.py")
        command = [sys.executable, str(script), str(self._folder), str(self._produced)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self._listen()

    def _ask(self, operation: str, count: int) -> "State":
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps([operation, count])}\n")
        self._process.stdin.flush()
        return self._listen()

    def _listen(self) -> "State":
        assert self._process.stdout is not None
        answer = json.loads(self._process.stdout.readline())
        self._produced = answer.pop("produced")
        self._delivered.update(answer.pop("delivered"))
        return State(**answer)


@dataclass(frozen=True, kw_only=True)
class State:
    """Samples that wait, that only memory holds, and that were counted as dropped; samples of one tick."""

    waiting: int
    held: int
    dropped: int
    width: int


FAULTS = ("append", "deliver", "deliver late", "fail", "refuse", "room", "no room", "restart", "kill")


@given(
    steps=st.lists(st.tuples(st.sampled_from(FAULTS), st.integers(1, 14)), min_size=5, max_size=25),
)
@example(steps=[("append", 2), ("no room", 0), ("append", 14), ("room", 0), ("append", 6), ("restart", 0)])
@example(steps=[("append", 9), ("deliver late", 14), ("append", 14), ("fail", 14), ("kill", 0), ("deliver", 1)])
@example(steps=[("no room", 0), ("append", 12), ("kill", 0), ("append", 3), ("room", 0), ("append", 1), ("kill", 0)])
@settings(max_examples=int(os.environ.get("LOADWATCH_SPOOL_FAULTS", "4")), deadline=None)
def test_every_sample_is_delivered_or_counted(steps: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        spool = FaultySpool(Path(folder))
        try:
            for operation, count in steps:
                spool.do(operation, count)
            spool.end()
        finally:
            spool.close()


def test_one_thread_appends_while_another_reads(folder: Path) -> None:
    spool = open_spool(folder, max_bytes=100_000_000)
    total = 1_500
    found: list[int] = []

    def read() -> None:
        while len(found) < total:
            batch = spool.read(300)
            if batch is None:
                spool.wait(1.0)
            elif len(found) % 7:
                spool.acknowledge(batch)
                found.extend(ticks([batch]))
            else:  # Some are read again before they are acknowledged.
                again = spool.read(300)
                assert again is not None
                assert again.rows[0].timestamp_ms == batch.rows[0].timestamp_ms
                spool.acknowledge(again)
                found.extend(ticks([again]))

    reader = threading.Thread(target=read)
    reader.start()
    for tick in range(total):
        spool.append([row(tick)])
        if tick % 100 == 0:
            reader.join(0.01)
    reader.join(240)
    assert found == list(range(total))
    assert spool.dropped_samples == 0
    spool.close()


def test_damage_to_the_file_in_use_costs_only_what_it_holds(folder: Path) -> None:
    spool = open_spool(folder)
    for tick in range(20):
        spool.append([row(tick)])
    [file] = folder.glob("*.frames")
    with file.open("r+b") as open_file:
        open_file.write(b"damage" * 100)
    assert ticks([batch for batch in [spool.read(100)] if batch]) == []
    for tick in range(20, 40):
        spool.append([row(tick)])
    assert ticks(drain(spool)) == list(range(20, 40))
    assert spool.dropped_samples == 20 * 50
    spool.close()


@given(
    values=st.lists(st.lists(st.floats(allow_nan=False), max_size=5), max_size=5),
    sequence=st.integers(0, 2**63),
    cut=st.integers(1, 10_000),
)
@settings(max_examples=100, deadline=None)
def test_a_frame_reads_back_and_a_cut_one_does_not(values: list[list[float]], sequence: int, cut: int) -> None:
    rows = [SampleRow(NOW_MS + index, SERIES[: len(row)], row) for index, row in enumerate(values)]
    frame = encode_frame(sequence, rows, SERIES[:5])
    head = decode_head(frame)
    assert head is not None
    body = frame[HEAD.size :]
    assert is_whole(frame[: HEAD.size], head, body)
    assert (head.sequence, head.samples) == (sequence, sum(len(row) for row in values))
    definitions, offset = decode_definitions(body)
    known = {number: Series(labels) for number, labels in definitions.items()}
    found = list(decode_rows(body, offset, known))
    assert [(item.timestamp_ms, list(item.values)) for item in found] == [
        (item.timestamp_ms, list(item.values)) for item in rows
    ]
    assert not is_whole(frame[: HEAD.size], head, body[: -min(cut, len(body))])

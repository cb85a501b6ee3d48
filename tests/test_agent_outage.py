"""The agent through the worst: killed, and without a server for a long time. Real processes, small intervals."""

import operator
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from loadwatch_collectors.pipeline.spool import HEAD, decode_definitions, decode_head, decode_rows, is_whole
from loadwatch_collectors.series import Series

from collectors.tests.receiver import Received, Receiver, read_fields, running
from tests.ports import free_port

INTERVAL_MS = 100


@contextmanager
def agent(folder: Path, receiver: Receiver, spool: str = "") -> Generator["subprocess.Popen[bytes]"]:
    config = folder / "loadwatch.yml"
    config.write_text(
        f"server: {{url: '{receiver.url}', timeout: 60s}}\n"
        f"interval: {INTERVAL_MS}ms\n"
        f"spool: {{directory: '{folder / 'spool'}'{spool}}}\n"
        f"targets: [{{job: outage, process: {{pid: {os.getpid()}}}, host: {{}}}}]\n"
    )
    command = "from loadwatch_collectors.commands.cli import main; main()"
    with (folder / "agent.log").open("ab") as log:
        process = subprocess.Popen([sys.executable, "-c", command, "agent", "--config", str(config)], stderr=log)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()


def wait_for_disk(folder: Path, condition: Callable[[int], bool], process: "subprocess.Popen[bytes]") -> None:
    """Wait until the bytes in the spool meet a condition; they change with each tick."""

    def size() -> int:
        found = 0
        for file in (folder / "spool").glob("*.frames"):
            with suppress(FileNotFoundError):  # The agent deletes files in the meantime.
                found += file.stat().st_size
        return found

    for _ in range(3_600):
        if condition(size()):
            return
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
        raise AssertionError((folder / "agent.log").read_text())
    raise AssertionError(f"the spool has {size()} bytes")


def times_of(samples: list[Received], name: str) -> list[int]:
    return [sample.timestamp_ms for sample in samples if sample.name == name and not sample.is_stale]


def spooled(folder: Path) -> set[tuple[str, int]]:
    """Series and time of every sample that is on disk and not delivered, by the file format and not by the spool."""
    delivered = int.from_bytes((folder / "spool" / "delivered").read_bytes()[:8], "little")
    found: set[tuple[str, int]] = set()
    for file in (folder / "spool").glob("*.frames"):
        data, position = file.read_bytes(), 0
        named: dict[int, Series] = {}
        while (head := decode_head(data[position:])) is not None:
            body = data[position + HEAD.size : position + HEAD.size + head.length]
            if not is_whole(data[position : position + HEAD.size], head, body):
                break  # The frame that the agent was writing when it was killed.
            definitions, offset = decode_definitions(body)
            named.update((number, Series(labels)) for number, labels in definitions.items())
            for block in decode_rows(body, offset, named):
                if head.sequence > delivered:
                    found.update((series_text(series.labels), block.timestamp_ms) for series in block.series)
            position += HEAD.size + head.length
    return found


def series_text(labels: bytes) -> str:
    pairs = [dict(read_fields(pair)) for _, pair in read_fields(labels)]
    return "|".join(f"{pair[1].decode()}={pair[2].decode()}" for pair in pairs)


def received(receiver: Receiver) -> Counter[tuple[str, int]]:
    with receiver.changed:
        return Counter(
            ("|".join(f"{name}={value}" for name, value in sample.labels.items()), sample.timestamp_ms)
            for sample in receiver.samples
        )


def test_a_server_that_is_away_gets_everything_in_order(tmp_path: Path) -> None:
    receiver = Receiver(port=free_port())
    with agent(tmp_path, receiver) as process:
        # Some 60 ticks, as many as an agent at 1 minute has in an hour.
        wait_for_disk(tmp_path, lambda size: size > 100_000, process)
        waiting = spooled(tmp_path)
        with running(receiver):
            receiver.wait_for(lambda: len(receiver.samples) > len(waiting))
            have = len(receiver.named("node_load1"))
            receiver.wait_for(lambda: len(receiver.named("node_load1")) >= have + 3)
            process.send_signal(signal.SIGTERM)
            assert process.wait(120) == 0
        times = times_of(receiver.samples, "node_load1")
    assert times == sorted(set(times)), "each tick once, in order"
    assert len(waiting) > 5_000
    assert waiting <= received(receiver).keys()
    assert max(received(receiver).values()) == 1
    assert max(receiver.sizes) > 1_000, "the backlog came in large requests"
    assert {sample.value for sample in receiver.named("agent_spool_dropped_samples_total") if not sample.is_stale} == {
        0
    }
    assert max(sample.value for sample in receiver.named("agent_spool_bytes") if not sample.is_stale) > 50_000


def test_kill_9_of_the_agent_loses_nothing_that_was_read(tmp_path: Path) -> None:
    receiver = Receiver(port=free_port())
    with running(receiver), agent(tmp_path, receiver) as process:
        receiver.wait_for(lambda: len(receiver.named("node_load1")) >= 5)
        process.kill()
        process.wait()
    for least in (45_000, 75_000, 105_000):  # Killed again and again while the server is away.
        with agent(tmp_path, receiver) as process:
            wait_for_disk(tmp_path, partial(operator.lt, least), process)
            process.kill()
            process.wait()
    waiting = spooled(tmp_path)
    assert len(waiting) > 500
    with running(receiver), agent(tmp_path, receiver):
        receiver.wait_for(lambda: waiting <= received(receiver).keys())
        have = len(receiver.named("node_load1"))
        receiver.wait_for(lambda: len(receiver.named("node_load1")) >= have + 3)
    values: dict[tuple[str, int], set[int]] = {}
    for sample in receiver.samples:
        key = ("|".join(f"{name}={value}" for name, value in sample.labels.items()), sample.timestamp_ms)
        values.setdefault(key, set()).add(sample.bits)
    assert all(len(bits) == 1 for bits in values.values()), "what was sent twice is the same sample twice"
    # What the server had answered and the agent had not noted on disk when it was killed is sent again.
    times = list(dict.fromkeys(times_of(receiver.samples, "node_load1")))
    assert times == sorted(times)
    own = [sample for sample in receiver.named("process_start_time_seconds") if "agent" in sample.labels["job"]]
    assert len({sample.value for sample in own}) == 5, "all five agents are seen, also those that never saw the server"


def test_a_spool_at_its_limit_keeps_the_newest_and_counts_the_rest(tmp_path: Path) -> None:
    receiver = Receiver(port=free_port())
    with agent(tmp_path, receiver, spool=", max_bytes: 150KB") as process:
        wait_for_disk(tmp_path, lambda size: size > 120_000, process)
        first = min(file.name for file in (tmp_path / "spool").glob("*.frames"))
        wait_for_disk(tmp_path, lambda _: not (tmp_path / "spool" / first).exists(), process)
        with running(receiver):
            receiver.wait_for(
                lambda: any(sample.value > 0 for sample in receiver.named("agent_spool_dropped_samples_total"))
            )
            times = times_of(receiver.named("node_load1"), "node_load1")
    assert times == sorted(set(times))
    assert "samples are dropped" in (tmp_path / "agent.log").read_text()

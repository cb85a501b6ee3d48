import os
from pathlib import Path

import pytest
from loadwatch_collectors.runs.session import (
    CpuTimes,
    Machine,
    parse_cpu,
    parse_resident,
    parse_retransmits,
    parse_ticks,
)


def test_parsers() -> None:
    assert parse_cpu("cpu  10 20 30 400 50 6 7 8 9 10\ncpu0 1") == CpuTimes(81, 531)
    assert parse_retransmits("Ip: A\nIp: 1\nTcp: InSegs RetransSegs\nTcp: 5 42\n") == 42
    assert parse_retransmits("Tcp: InSegs\nTcp: 5\n") is None
    assert parse_retransmits("") is None
    assert parse_resident("Name:\tx\nVmRSS:\t  100 kB\n") == 102_400
    assert parse_resident("Name:\tkthreadd\n") == 0


def test_this_machine() -> None:
    machine = Machine()
    machine.sample(os.getpid())
    found = machine.describe()
    assert found["cpu_cores"] == os.cpu_count()
    assert found["memory_max_bytes"] > 1_000_000
    assert found["process_cpu_seconds"] >= 0
    assert found["retransmits"] >= 0
    assert found["cpu_mean"] is None or 0 <= found["cpu_mean"] <= 1


def test_a_machine_that_tells_nothing(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.sample(1)
    found = machine.describe()
    assert found["cpu_mean"] is found["cpu_max"] is found["retransmits"] is found["memory_max_bytes"] is None


def test_cpu_between_two_looks(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  0 0 0 100 0 0 0 0\n")
    machine = Machine(tmp_path)
    stat.write_text("cpu  90 0 0 110 0 0 0 0\n")
    assert machine.sample(None) == 0.9
    assert machine.sample(None) is None  # no time has passed
    stat.write_text("cpu  90 0 0 210 0 0 0 0\n")
    found = machine.describe()
    assert (found["cpu_mean"], found["cpu_max"]) == (0.45, 0.9)


def test_the_busiest_thread_of_a_process_and_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)

    def at(passed: int, threads: dict[str, int]) -> None:
        (tmp_path / "stat").write_text(f"cpu  0 0 0 {2 * passed} 0 0 0 0\n")
        for thread, ticks in threads.items():
            folder = tmp_path / thread
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "stat").write_text(f"1 (a) b) S {'0 ' * 10}{ticks} 5 0\n")
            (folder / "children").write_text("9" if thread == "7/task/7" else "")

    at(0, {})
    machine = Machine(tmp_path)
    for second in (1, 2, 3):
        at(100 * second, {"7/task/7": 10 * second, "7/task/8": 20 * second, "9/task/9": 96 * second - 5})
        machine.sample(7)
    assert machine.describe()["thread_cpu"] == pytest.approx(0.96)
    assert parse_ticks("") == 0

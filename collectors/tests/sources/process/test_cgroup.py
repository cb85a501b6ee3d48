import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from loadwatch_collectors.collector import Labels
from loadwatch_collectors.sources.process.collector import (
    Membership,
    ProcessCollector,
    Quota,
    Throttling,
    parse_cpu_max,
    parse_cpu_stat,
    parse_membership,
    parse_unit,
    read_quotas,
)
from loadwatch_collectors.sources.process.search import ProcessSettings

HYBRID = """\
9:name=systemd:/system.slice/app.service
4:memory:/jobs/7
1:cpu,cpuacct:/jobs/7
0::/system.slice/app.service
"""
UNIFIED = "0::/system.slice/system-app.slice/app@1.service/workers\n"
STAT = """\
usage_usec 9000000
nr_periods 600
nr_throttled 150
throttled_usec 7500000
"""
OLD_STAT = """\
nr_periods 600
nr_throttled 150
throttled_time 7500000000
"""
BURN = "import sys\nsys.stdin.readline()\nwhile True: pass"
REAL = Path("/sys/fs/cgroup/cpu")


def group(sys: Path, path: str, **files: str) -> Path:
    """A group's folder with the files given as cpu_max, cpu_stat and so on."""
    folder = sys / "fs" / "cgroup" / path.strip("/")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".", 1)).write_text(text)
    return folder


def told(sys: Path, *memberships: Membership) -> dict[tuple[str, Labels], float]:
    return {(sample.name, sample.labels): sample.value for sample in read_quotas(sys, memberships)}


def test_the_group_that_decides_on_cpu_time() -> None:
    assert parse_membership(HYBRID) == Membership(controller="cpu,cpuacct", path="/jobs/7")
    assert parse_membership(UNIFIED) == Membership(controller="", path=UNIFIED[3:].rstrip())
    assert parse_membership("3:cpuset:/a\n") is None
    assert parse_membership("") is None


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        (HYBRID, "app.service"),
        (UNIFIED, "app@1.service"),
        ("0::/user.slice/user-1000.slice/session-4.scope\n", ""),
        ("4:memory:/system.slice/app.service\n", ""),
        ("", ""),
    ],
)
def test_the_unit_of_a_process(text: str, unit: str) -> None:
    assert parse_unit(text) == unit


def test_quotas_and_counters_of_both_versions() -> None:
    assert parse_cpu_max("150000 100000\n") == Quota(quota=150_000, period=100_000)
    for text in ("max 100000\n", "", "1 2 3", "-1 100000", "0 100000", "100000 0"):
        assert parse_cpu_max(text) is None, text
    expected = Throttling(periods=600, throttled_periods=150, throttled_seconds=7.5)
    assert parse_cpu_stat(STAT) == parse_cpu_stat(OLD_STAT) == expected
    assert parse_cpu_stat("usage_usec 9000000\n") is None
    assert parse_cpu_stat("nr_periods x\nnr_throttled 1\nthrottled_usec 1\n") is None


def test_the_tightest_quota_of_those_above_is_told(tmp_path: Path) -> None:
    group(tmp_path, "/pods", cpu_max="100000 100000", cpu_stat=STAT)
    group(tmp_path, "/pods/app", cpu_max="400000 100000", cpu_stat=STAT.replace("600", "700"))
    group(tmp_path, "/pods/app/worker", cpu_max="max 100000")
    labels = (("id", "/pods"),)
    assert told(tmp_path, Membership(controller="", path="/pods/app/worker")) == {
        ("container_spec_cpu_quota", labels): 100_000,
        ("container_spec_cpu_period", labels): 100_000,
        ("container_cpu_cfs_periods_total", labels): 600,
        ("container_cpu_cfs_throttled_periods_total", labels): 150,
        ("container_cpu_cfs_throttled_seconds_total", labels): 7.5,
    }


def test_the_lowest_limit_of_memory_is_told(tmp_path: Path) -> None:
    for path, limit in (("/pods", "1073741824"), ("/pods/app", "536870912"), ("/pods/app/worker", "max")):
        (group(tmp_path, path) / "memory.max").write_text(limit + "\n")
    assert told(tmp_path, Membership(controller="", path="/pods/app/worker")) == {
        ("container_spec_memory_limit_bytes", (("id", "/pods/app"),)): 536_870_912
    }


def test_a_group_of_several_processes_is_told_once(tmp_path: Path) -> None:
    group(tmp_path, "/pods", cpu_max="100000 100000", cpu_stat=STAT)
    one, other = Membership(controller="", path="/pods/a"), Membership(controller="", path="/pods/b")
    assert len(list(read_quotas(tmp_path, (one, other)))) == 5


def test_the_older_version(tmp_path: Path) -> None:
    folder = group(tmp_path, "cpu,cpuacct/jobs/7")
    (folder / "cpu.cfs_quota_us").write_text("50000\n")
    (folder / "cpu.cfs_period_us").write_text("100000\n")
    (folder / "cpu.stat").write_text(OLD_STAT)
    membership = Membership(controller="cpu,cpuacct", path="/jobs/7")
    assert told(tmp_path, membership)["container_spec_cpu_quota", (("id", "/jobs/7"),)] == 50_000
    (folder / "cpu.cfs_quota_us").write_text("-1\n")
    assert told(tmp_path, membership) == {}


def test_what_is_not_limited_or_not_here_is_not_told(tmp_path: Path) -> None:
    group(tmp_path, "/", cpu_stat=STAT)
    for path in ("/", "/nowhere", "/../other", "/" + "a/" * 40):
        assert told(tmp_path, Membership(controller="", path=path)) == {}


@pytest.fixture
def limited() -> Iterator[Path]:
    """A control group of this host with a tenth of a core."""
    folder = REAL / f"loadwatch-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made in {REAL}: {error}")
    try:
        (folder / "cpu.cfs_period_us").write_text("20000")
        (folder / "cpu.cfs_quota_us").write_text("2000")
        yield folder
    finally:
        folder.rmdir()


def test_a_process_that_is_held_back(limited: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", BURN], stdin=subprocess.PIPE, text=True) as burner:
        assert burner.stdin is not None
        try:
            (limited / "cgroup.procs").write_text(str(burner.pid))
            collector = ProcessCollector(ProcessSettings(pid=burner.pid))
            before = {one.name: one.value for one in collector.collect()}
            burner.stdin.write("burn\n")
            burner.stdin.flush()
            give_up = time.monotonic() + 120
            after = before
            while after["container_cpu_cfs_throttled_periods_total"] < 5 and time.monotonic() < give_up:
                time.sleep(0.05)
                after = {one.name: one.value for one in collector.collect()}
        finally:
            burner.kill()
            burner.wait()
    assert (before["container_spec_cpu_quota"], before["container_spec_cpu_period"]) == (2000, 20_000)
    assert after["container_cpu_cfs_throttled_periods_total"] >= 5
    assert after["container_cpu_cfs_periods_total"] >= 5
    assert after["container_cpu_cfs_throttled_seconds_total"] > before["container_cpu_cfs_throttled_seconds_total"]

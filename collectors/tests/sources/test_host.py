import re
import shutil
from pathlib import Path

import pytest
from loadwatch_collectors.collector import Sample
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.host import HOST, HostCollector, HostSettings, parse_diskstats, parse_network

FIXTURES = Path(__file__).parents[1] / "fixtures"
NOTHING = re.compile(r"(?!)")


def as_text(samples: list[Sample]) -> str:
    lines = (
        f"{sample.name}{{{','.join(f'{name}={value}' for name, value in sample.labels)}}} {sample.value!r}"
        for sample in samples
        if sample.name != "node_time_seconds"
    )
    return "\n".join(lines) + "\n"


def test_fixture_gives_the_golden_samples() -> None:
    samples = list(HostCollector(HostSettings(proc=str(FIXTURES / "proc"), sys=str(FIXTURES / "nothing"))).collect())
    assert as_text(samples) == (FIXTURES / "host.golden").read_text()
    # Of the kernel's page of memory all lines are sent; the catalogue has those that are looked at.
    undescribed = {sample.name for sample in samples} - {metric.name for metric in HOST.metrics}
    assert {name for name in undescribed if not name.startswith("node_memory_")} == set()


def test_real_host() -> None:
    collector = HostCollector(HostSettings())
    first = {(sample.name, sample.labels): sample.value for sample in collector.collect()}
    sum(index * index for index in range(300_000))
    Path("/proc/self/status").read_text()
    second = {(sample.name, sample.labels): sample.value for sample in collector.collect()}
    names = {name for name, _ in first}
    missing = {metric.name for metric in HOST.metrics} - names - {"node_vmstat_oom_kill"}
    elsewhere = ("node_disk_", "node_pressure_", "node_filesystem_", "node_network_speed_")
    assert not {name for name in missing if not name.startswith(elsewhere)}
    assert first["node_memory_MemTotal_bytes", ()] > first["node_memory_MemAvailable_bytes", ()] > 0
    assert ("node_network_receive_bytes_total", (("device", "lo"),)) in first
    for (name, labels), value in first.items():
        # Idle and iowait may go back by a tick when a CPU is woken, as proc(5) says.
        if name.endswith("_total") and ("mode", "idle") not in labels and ("mode", "iowait") not in labels:
            # A device may have gone: containers of others bring theirs and take them away.
            assert second.get((name, labels), value) >= value, (name, labels)


def test_devices_can_be_left_out() -> None:
    disks = "   8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n   8 1 sda1 1 2 3 4 5 6 7 8 9 10 11\n"
    assert {sample.labels for sample in parse_diskstats(disks, re.compile(r"sda\d+"))} == {(("device", "sda"),)}
    values = {sample.name: sample.value for sample in parse_diskstats(disks, re.compile(r"sda\d+"))}
    assert values["node_disk_read_bytes_total"] == 3 * 512
    assert values["node_disk_read_time_seconds_total"] == 0.004
    assert values["node_disk_io_time_weighted_seconds_total"] == 0.011
    text = "a\nb\n  lo: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n eth0:9 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n"
    assert {sample.labels[0][1] for sample in parse_network(text, re.compile("lo"))} == {"eth0"}
    assert len(parse_network(text, NOTHING)) == 16


def test_a_host_that_shows_a_part_of_proc_has_that_part(tmp_path: Path) -> None:
    """OpenVZ, gVisor."""
    proc = tmp_path / "proc"
    shutil.copytree(FIXTURES / "proc", proc)
    (proc / "vmstat").unlink()
    (proc / "sys" / "fs" / "file-nr").unlink()
    collector = HostCollector(HostSettings(proc=str(proc), sys=str(FIXTURES / "nothing")))
    found = as_text(list(collector.collect())).splitlines()
    whole = (FIXTURES / "host.golden").read_text().splitlines()
    assert found == [line for line in whole if not line.startswith(("node_vmstat_", "node_filefd_"))]
    assert len(found) < len(whole)
    assert collector.explain() == [
        f"left out, since this host does not show it: {proc}/vmstat, {proc}/sys/fs/file-nr",
    ]
    assert HostCollector(HostSettings(proc=str(FIXTURES / "proc"))).explain() == []


def test_a_missing_proc_is_named(tmp_path: Path) -> None:
    with pytest.raises(CollectorError, match=rf"{tmp_path}/stat cannot be read: No such file"):
        list(HostCollector(HostSettings(proc=str(tmp_path))).collect())


def test_an_unknown_shape_is_named(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu0 one two\n")
    with pytest.raises(CollectorError, match=r"stat has a shape that is not known"):
        list(HostCollector(HostSettings(proc=str(tmp_path))).collect())

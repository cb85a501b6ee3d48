"""File systems and links: of this host, of made-up ones, and where the kernel does not answer."""

import os
import re
import threading
from pathlib import Path

import pytest
from loadwatch_collectors.sources import host
from loadwatch_collectors.sources.host import Filesystems, parse_mounts, parse_speed

NOTHING = re.compile(r"(?!)")
MOUNTS = r"""proc /proc proc rw 0 0
/dev/sda1 / ext4 rw,relatime 0 0
/dev/sdb1 /var/lib/my\040sql xfs rw 0 0
/dev/sda1 /var/lib/docker/volumes ext4 rw 0 0
nas:/export /mnt/nas nfs4 rw,hard 0 0
//nas/share /mnt/share cifs rw 0 0
overlay /var/lib/docker/overlay2/x overlay rw 0 0
tmpfs /run tmpfs rw 0 0
/dev/sdc1 /backup btrfs rw 0 0
""".replace("\\\\", "\\")


def made_up(folder: Path) -> Filesystems:
    """A host with one disk at `/data` and one link of 100 Mbit/s, one that is down, and one of no speed."""
    (folder / "proc" / "self").mkdir(parents=True)
    (folder / "proc" / "self" / "mounts").write_text("/dev/sdb1 /data ext4 rw 0 0\nnas:/x /nas nfs4 rw 0 0\n")
    (folder / "root" / "data").mkdir(parents=True)
    for name, speed in (("eth0", "100"), ("eth1", "-1"), ("veth9", "10000")):
        (folder / "sys" / "class" / "net" / name / "device").mkdir(parents=True)
        (folder / "sys" / "class" / "net" / name / "speed").write_text(f"{speed}\n")
    (folder / "sys" / "class" / "net" / "tun0").mkdir()
    (folder / "sys" / "class" / "net" / "tun0" / "speed").write_text("10\n")
    (folder / "sys" / "class" / "net" / "lo").mkdir()
    return Filesystems(
        proc=folder / "proc",
        sys=folder / "sys",
        root=folder / "root",
        exclude=NOTHING,
        links=re.compile("veth.*"),
    )


def test_only_what_lies_on_disks_of_this_host_each_device_once() -> None:
    found = parse_mounts(MOUNTS, re.compile("/backup"))
    assert [(mount.device, mount.mountpoint, mount.fstype) for mount in found] == [
        ("/dev/sda1", "/", "ext4"),
        ("/dev/sdb1", "/var/lib/my sql", "xfs"),
    ]


def test_there_is_a_bound_of_mounts() -> None:
    many = "".join(f"/dev/d{number} /m{number} ext4 rw 0 0\n" for number in range(1_000))
    assert len(parse_mounts(many, NOTHING)) == host.MOST_MOUNTS


def test_speeds() -> None:
    assert parse_speed("1000\n") == 125e6
    assert (parse_speed("-1"), parse_speed("0"), parse_speed("fast")) == (None, None, None)


def test_room_is_that_of_the_real_file_system(tmp_path: Path) -> None:
    samples = {(one.name, dict(one.labels)["device"]): one.value for one in made_up(tmp_path).samples()}
    real = os.statvfs(tmp_path)
    assert samples["node_filesystem_size_bytes", "/dev/sdb1"] == real.f_blocks * real.f_frsize
    assert 0 <= samples["node_filesystem_avail_bytes", "/dev/sdb1"] <= real.f_blocks * real.f_frsize
    assert samples["node_network_speed_bytes", "eth0"] == 12.5e6
    assert {device for _, device in samples} == {"/dev/sdb1", "eth0"}


def test_a_disk_that_does_not_answer_keeps_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer, asked = threading.Event(), threading.Event()
    real = os.statvfs

    def hangs(path: Path) -> os.statvfs_result:
        asked.set()
        answer.wait(60)
        return real(path)

    monkeypatch.setattr(host.os, "statvfs", hangs)
    monkeypatch.setattr(host, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(host, "EVERY_SECONDS", 0.0)
    found = made_up(tmp_path)
    assert [list(found.samples()) for _ in range(5)] == [[]] * 5
    assert asked.wait(60)
    (looking,) = (thread for thread in threading.enumerate() if thread.name == "filesystems")  # one at a time
    answer.set()
    looking.join(60)
    assert found.samples()


def test_what_is_old_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = made_up(tmp_path)
    assert found.samples()
    monkeypatch.setattr(host, "OLD_SECONDS", -1.0)
    assert not found.samples()

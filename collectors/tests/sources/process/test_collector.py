import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from loadwatch_collectors.collector import Sample
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.process.collector import (
    ProcessCollector,
    has_open_file_count,
    parse_limits,
    parse_process_stat,
)
from loadwatch_collectors.sources.process.search import ProcessSettings, find_pids
from loadwatch_collectors.sources.procfs import CLOCK_TICKS, LISTEN, parse_boot_time, parse_tcp

from collectors.tests.postgresql import running_postgresql
from tests.ports import free_port

PROC = Path(__file__).parents[2] / "fixtures" / "proc"

CHILD = """
    import os, resource, socket, sys, threading
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    server = socket.create_server(("127.0.0.1", 0))
    files = [os.dup(0) for _ in range(100)]
    for _ in range(3):
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    print(server.getsockname()[1], flush=True)
    sys.stdin.read()
"""


@contextmanager
def child(*arguments: str) -> Generator[tuple[subprocess.Popen[str], int]]:
    """A process with a port, about 100 files of at most 300, and four threads."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CHILD), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    with process.stdout, process.stdin:
        port = int(process.stdout.readline())
        yield process, port
        process.kill()
        process.wait()


FORKING = """
    import os, sys
    if os.fork() == 0:
        if os.fork() == 0:
            print("ready", flush=True)
    sys.stdin.read()
"""


@contextmanager
def forking(*arguments: str) -> Generator[int]:
    """A process with a child and a grandchild of the same command line."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(FORKING), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdin is not None
    with process.stdout, process.stdin:
        process.stdout.readline()
        yield process.pid
        # The end of their input ends all three.
        process.stdin.close()
        process.wait()


def program(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().rstrip("\n")


def started(pid: int) -> str:
    boot = parse_boot_time(Path("/proc/stat").read_text())
    ticks = parse_process_stat(Path(f"/proc/{pid}/stat").read_bytes()).start_ticks
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(boot + ticks / CLOCK_TICKS)) + " UTC"


def by_name(samples: list[Sample]) -> dict[str, float]:
    samples = [sample for sample in samples if sample.name != "collector_target_info"]
    assert all(sample.labels == () for sample in samples)
    return {sample.name: sample.value for sample in samples}


def test_real_process_with_many_files() -> None:
    with child() as (process, _):
        values = by_name(ProcessCollector(ProcessSettings(pid=process.pid)).collect())
        assert values["process_open_fds"] == len(os.listdir(f"/proc/{process.pid}/fd")) >= 104
        assert values["process_max_fds"] == 300
        assert values["process_max_fds_hard"] == resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        assert values["process_threads"] == 4
        assert values["process_resident_memory_bytes"] > 1_000_000
        assert values["process_max_processes"] == resource.getrlimit(resource.RLIMIT_NPROC)[0] or float("inf")
        assert abs(values["process_start_time_seconds"] - time.time()) < 60
        assert values["process_cpu_seconds_total"] >= 0.0


def test_old_kernels_are_counted_by_listing() -> None:
    with child() as (process, _):
        listed = ProcessCollector(ProcessSettings(pid=process.pid, proc="/proc/"))
        told = ProcessCollector(ProcessSettings(pid=process.pid))
        counts = {by_name(collector.collect())["process_open_fds"] for collector in (listed, told)}
        assert counts == {len(os.listdir(f"/proc/{process.pid}/fd"))}


def test_every_way_to_find_a_process(tmp_path: Path) -> None:
    mark = f"find-me-{tmp_path.name}-{os.getpid()}"
    with child(mark) as (process, port):
        pid_file = tmp_path / "pid"
        pid_file.write_text(f"{process.pid}\n")
        for settings in (
            ProcessSettings(pid=process.pid),
            ProcessSettings(pid_file=str(pid_file)),
            ProcessSettings(command=mark),
            ProcessSettings(port=port),
        ):
            assert find_pids(settings) == [process.pid], settings.describe()
        assert process.pid in find_pids(ProcessSettings(name=Path(sys.executable).name))
        unit = Path(f"/proc/{process.pid}/cgroup").read_text().strip().rpartition("/")[2]
        if unit:
            assert process.pid in find_pids(ProcessSettings(systemd_unit=unit))


def test_a_port_finds_the_whole_program_though_its_workers_close_the_socket() -> None:
    server = running_postgresql()
    with server.connect() as connection:
        (backend,) = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        settings = ProcessSettings(port=server.port)
        assert backend in find_pids(settings)
        collector = ProcessCollector(settings)
        samples = collector.collect()
        assert collector.fault() is None, "one program, not several"
        pids = {dict(sample.labels)["pid"] for sample in samples if sample.name == "process_threads"}
        assert str(backend) in pids
        assert len(pids) > 2
        assert str(os.getpid()) not in pids


def test_another_program_that_it_started_is_no_part_of_it() -> None:
    code = """
        import socket, subprocess, sys
        server = socket.create_server(("127.0.0.1", 0))
        other = subprocess.Popen(["sleep", "60"])
        print(server.getsockname()[1], flush=True)
        sys.stdin.read()
        other.kill()
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdout, process.stdin:
        port = int(process.stdout.readline())
        assert find_pids(ProcessSettings(port=port)) == [process.pid]
        process.stdin.close()
        process.wait()


def test_several_processes_are_told_apart_by_pid(tmp_path: Path) -> None:
    mark = f"several-{tmp_path.name}-{os.getpid()}"
    with child(mark) as (one, _), child(mark) as (two, _):
        samples = ProcessCollector(ProcessSettings(command=mark)).collect()
        pids = {dict(sample.labels)["pid"] for sample in samples if sample.name == "process_open_fds"}
        assert pids == {str(one.pid), str(two.pid)}


def test_independent_processes_are_told_and_never_summed(tmp_path: Path) -> None:
    mark = f"ambiguous-{tmp_path.name}-{os.getpid()}"
    collector = ProcessCollector(ProcessSettings(command=mark))
    with child(mark) as (one, _):
        collector.collect()
        assert collector.fault() is None
        assert collector.explain() == [f"finds {program(one.pid)} (pid {one.pid}), started {started(one.pid)}"]
        with child(mark) as (two, _):
            collector = ProcessCollector(ProcessSettings(command=mark))
            samples = collector.collect()
            fault = collector.fault()
            assert fault is not None
            assert not fault.total
            assert fault.text == (
                f"command {mark!r} is ambiguous: 2 independent processes, each measured on its own (pid {one.pid}, "
                f"{two.pid}); port, pid_file or systemd_unit name one"
            )
            # Signals add up what has the same job, instance and name.
            names = {dict(sample.labels)["name"] for sample in samples if sample.name == "process_threads"}
            assert names == {f"{program(pid)} (pid {pid})" for pid in (one.pid, two.pid)}
            assert [f"pid {one.pid})" in line for line in collector.explain()] == [True, False]
        collector.collect()
        assert collector.fault() is None


def test_a_process_and_its_workers_are_one(tmp_path: Path) -> None:
    mark = f"workers-{tmp_path.name}-{os.getpid()}"
    with forking(mark) as parent:
        collector = ProcessCollector(ProcessSettings(command=mark))
        samples = [sample for sample in collector.collect() if sample.name == "process_threads"]
        assert collector.fault() is None
        assert [[name for name, _ in sample.labels] for sample in samples] == [["pid"]] * 3
        assert str(parent) in {dict(sample.labels)["pid"] for sample in samples}


def test_processes_of_one_unit_are_one(tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    shutil.copytree(PROC, proc)
    shutil.copytree(proc / "4242", proc / "4243")
    collector = ProcessCollector(ProcessSettings(systemd_unit="measuring.service", proc=str(proc)))
    assert {name for sample in collector.collect() for name, _ in sample.labels} == {"pid"}
    assert collector.fault() is None
    assert [line.endswith(", with 1 more") for line in collector.explain()] == [True]
    by_program = ProcessCollector(ProcessSettings(name="measuring-server", proc=str(proc)))
    by_program.collect()
    assert by_program.fault() is not None


def test_a_process_that_vanishes_is_missed_and_its_successor_found(tmp_path: Path) -> None:
    mark = f"vanish-{tmp_path.name}-{os.getpid()}"
    collector = ProcessCollector(ProcessSettings(command=mark))
    with child(mark):
        collector.collect()
    with pytest.raises(CollectorError, match=rf"no process is found by command '{mark}'; is it running"):
        collector.collect()
    with child(mark) as (process, _):
        assert by_name(collector.collect())["process_max_fds"] == 300
        process.send_signal(signal.SIGKILL)


def test_a_reused_pid_is_another_process(tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    shutil.copytree(PROC, proc)
    pid_file = tmp_path / "pid"
    pid_file.write_text("4242")
    collector = ProcessCollector(ProcessSettings(name="measuring-server", proc=str(proc)))
    collector.collect()
    stat = proc / "4242" / "stat"
    stat.write_text(stat.read_text().replace(" 12345 ", " 99999 "))
    (proc / "4242" / "cmdline").write_text("/bin/other\0")
    (proc / "4242" / "comm").write_text("other\n")
    with pytest.raises(CollectorError, match="no process is found by name 'measuring-server'"):
        collector.collect()


def test_fixture() -> None:
    values = by_name(ProcessCollector(ProcessSettings(systemd_unit="measuring.service", proc=str(PROC))).collect())
    assert values["process_open_fds"] == 3
    assert values["process_max_fds"] == 1024
    assert values["process_cpu_seconds_total"] == 2.0
    assert values["process_threads"] == 9
    assert values["process_resident_memory_bytes"] == 4096 * resource.getpagesize()
    assert values["process_virtual_memory_max_bytes"] == float("inf")


def test_a_program_whose_name_has_blanks_and_brackets() -> None:
    stat = parse_process_stat((PROC / "4242" / "stat").read_bytes())
    assert (stat.state, stat.threads, stat.start_ticks, stat.major_faults) == ("S", 9, 12345, 7)


def test_limits() -> None:
    limits = parse_limits((PROC / "4242" / "limits").read_text())
    assert (limits["process_max_fds"], limits["process_max_fds_hard"]) == (1024, 524_288)
    assert parse_limits(f"{'Max open files':<25} {10**19} {10**19} files")["process_max_fds_hard"] == 10**19
    # A pattern took 45 s for it.
    assert parse_limits(f"Max open files{' ' * 60_000}unlimited\n" * 4) == {"process_max_fds": float("inf")}


def test_listening_sockets_are_found_by_port() -> None:
    table = (PROC / "net" / "tcp").read_text()
    ports = {row.inode: row.port for row in parse_tcp(table, only=LISTEN)}
    assert ports[71001] == 8080
    assert 8081 not in ports.values()


def test_where_a_process_listens_is_sent_beside_the_port_by_which_it_was_found() -> None:
    def addresses(settings: ProcessSettings) -> set[str]:
        samples = ProcessCollector(settings).collect()
        return {dict(one.labels)["address"] for one in samples if one.name == "collector_target_info"}

    with child() as (process, port):
        assert addresses(ProcessSettings(pid=process.pid)) == {f"{socket.gethostname().lower()}:{port}"}
        assert ProcessSettings(port=port).address == f"{socket.gethostname().lower()}:{port}"
        assert addresses(ProcessSettings(port=port)) == set(), "the agent sends that one itself, as of each source"


@pytest.mark.parametrize(
    ("release", "known"), [("6.2.0", True), ("6.18.44-x", True), ("5.15.0-91", False), ("4.9", False), ("?", False)]
)
def test_which_kernels_tell_the_number_of_files(release: str, known: bool) -> None:
    assert has_open_file_count(release) is known


@pytest.mark.parametrize("settings", [{}, {"name": "a", "pid": 1}, {"port": 0}, {"command": "("}])
def test_settings_that_cannot_work(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"exactly one of|port must be|not a regular expression"):
        ProcessSettings(**settings)


def test_a_pid_file_that_is_missing_or_broken(tmp_path: Path) -> None:
    with pytest.raises(CollectorError, match="pid cannot be read: No such file"):
        find_pids(ProcessSettings(pid_file=str(tmp_path / "pid")))
    (tmp_path / "pid").write_text("soon")
    with pytest.raises(CollectorError, match="does not begin with a number"):
        find_pids(ProcessSettings(pid_file=str(tmp_path / "pid")))


# Its modules are imported before it becomes another user, who may not be able to read them.
UNPRIVILEGED = """
    import os, sys
    from loadwatch_collectors.errors import PrivilegeError
    from loadwatch_collectors.sources.process.collector import ProcessCollector
    from loadwatch_collectors.sources.process.search import ProcessSettings, find_pids
    pid, port = int(sys.argv[1]), int(sys.argv[2])
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    for proc in ("/proc/", "/proc"):
        collector = ProcessCollector(ProcessSettings(pid=pid, proc=proc))
        names = {sample.name for sample in collector.collect()}
        print("process_open_fds" in names, "process_max_fds" in names, len(collector.missing_privileges()))
    try:
        print(find_pids(ProcessSettings(port=port)))
    except PrivilegeError as error:
        print(error)
"""


def test_another_users_process_says_what_is_missing() -> None:
    with child() as (process, port):
        # The first process belongs to root, who alone can become another user to be refused by its own child.
        pid = process.pid if os.geteuid() == 0 else 1
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(UNPRIVILEGED), str(pid), str(port)],
            capture_output=True,
            text=True,
            check=True,
        )
        listed, told, found = done.stdout.splitlines()
        assert listed == "False True 1"
        assert told == ("True True 0" if has_open_file_count(os.uname().release) else "False True 1")
        if os.geteuid() == 0:
            assert found.startswith(f"something listens on port {port}, but its process is hidden from this user: run")
        else:
            assert found == f"[{process.pid}]"


def test_a_port_that_nobody_has() -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        assert find_pids(ProcessSettings(port=port)) == [os.getpid()]
    assert find_pids(ProcessSettings(port=port)) == []

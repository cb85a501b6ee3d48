import os
from pathlib import Path

import pytest
from loadwatch_collectors.errors import CollectorError, PrivilegeError
from loadwatch_collectors.sources.procfs import parse_boot_time, read_bytes, read_text


def test_a_file_that_comes_in_pages_is_read_to_its_end() -> None:
    # Its symbols change as others load programs into the kernel, so it is read until nobody did in between.
    lines = [0, 1]
    while len(set(lines)) > 1 and lines[0] != lines[-1]:
        lines = [expected_lines(), actual_lines(), expected_lines()]
    assert len(set(lines)) == 1


def expected_lines() -> int:
    return len(Path("/proc/kallsyms").read_text().splitlines())


def actual_lines() -> int:
    return read_text("/proc/kallsyms").count("\n")


def test_large_and_empty_files(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 200_000)
    (tmp_path / "empty").touch()
    assert read_bytes(tmp_path / "large") == b"x" * 200_000
    assert read_bytes(tmp_path / "empty") == b""


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "odd").write_bytes(b"a\xffb")
    assert read_text(tmp_path / "odd") == "a\\xffb"


def test_errors_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(CollectorError, match=rf"{tmp_path}/none cannot be read: No such file"):
        read_bytes(tmp_path / "none")
    (tmp_path / "secret").write_text("x")
    (tmp_path / "secret").chmod(0)
    if os.geteuid() != 0:
        with pytest.raises(PrivilegeError, match="secret cannot be read as this user"):
            read_bytes(tmp_path / "secret")


def test_boot_time() -> None:
    assert parse_boot_time("cpu 1 2\nbtime 1795255837\n") == 1795255837.0
    with pytest.raises(CollectorError, match="no btime line"):
        parse_boot_time("cpu 1 2\n")

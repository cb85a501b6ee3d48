import os
from pathlib import Path

import pytest
from loadwatch_collectors.sources.log_tail import LogTail


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "app.log"
    path.write_text("one\ntwo\n")
    return path


def test_only_new_and_whole_lines(log: Path) -> None:
    tail = LogTail(str(log))
    assert tail.read_lines() == ["one", "two"]
    append(log, "three\nfo")
    assert tail.read_lines() == ["three"]
    append(log, "ur\r\n")
    assert tail.read_lines() == ["four"]
    assert tail.read_lines() == []
    tail.close()


def test_the_first_reading_is_bounded(log: Path) -> None:
    append(log, "x" * 1000 + "\nlast\n")
    tail = LogTail(str(log), first_read=20)
    assert tail.read_lines() == ["x" * 14, "last"]
    tail.close()


def test_rotation_by_renaming_loses_nothing(log: Path) -> None:
    tail = LogTail(str(log))
    tail.read_lines()
    append(log, "before\n")
    log.rename(log.with_suffix(".1"))
    append(log.with_suffix(".1"), "late\n")
    log.write_text("after\n")
    assert tail.read_lines() == ["before", "late", "after"]
    tail.close()


def test_between_the_steps_of_a_rotation(log: Path) -> None:
    tail = LogTail(str(log))
    tail.read_lines()
    log.rename(log.with_suffix(".1"))
    assert tail.read_lines() == []
    log.write_text("after\n")
    assert tail.read_lines() == ["after"]
    tail.close()


def test_truncation_in_place(log: Path) -> None:
    tail = LogTail(str(log))
    tail.read_lines()
    os.truncate(log, 0)
    append(log, "new\n")
    assert tail.read_lines() == ["new"]
    tail.close()


def test_a_huge_backlog_is_skipped(log: Path) -> None:
    tail = LogTail(str(log))
    tail.read_lines()
    append(log, "y" * 99 + "\n")
    append(log, ("z" * 999 + "\n") * 6000)
    lines = tail.read_lines()
    assert lines[-1] == "z" * 999
    assert 4000 < len(lines) < 4200
    append(log, "end\n")
    assert tail.read_lines()[-1] == "end"
    tail.close()


def test_a_line_without_end_is_dropped(log: Path) -> None:
    tail = LogTail(str(log))
    tail.read_lines()
    append(log, "w" * 2_000_000)
    assert tail.read_lines() == []
    append(log, "\nnext\n")
    assert tail.read_lines()[-1] == "next"
    tail.close()


def test_a_missing_file_is_an_error_until_it_is_there(tmp_path: Path) -> None:
    path = tmp_path / "later.log"
    tail = LogTail(str(path))
    with pytest.raises(FileNotFoundError):
        tail.read_lines()
    path.write_text("hello\n")
    assert tail.read_lines() == ["hello"]
    tail.close()

import json
import re
from pathlib import Path

import pytest
from loadwatch_collectors.commands.synchronise import end_killed
from loadwatch_collectors.runs.delivery import (
    Lock,
    default_directory,
    find_run,
    find_runs,
    make_run_id,
    open_journal,
    read_journal,
)
from loadwatch_collectors.runs.errors import RunsError, UsageError


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    journal, lock = open_journal(tmp_path / "runs", server="http://s", facts={"name": "n"}, run="20261121-000000-aaaa")
    journal.finish = {"ended_ms": 5}
    journal.result = "/r"
    journal.save()
    again = read_journal(journal.directory)
    assert again == journal
    assert not again.delivered
    again.created = again.finished = again.imported = True
    assert again.delivered
    assert Lock.take(journal.directory) is None
    lock.release()
    taken = Lock.take(journal.directory)
    assert taken is not None
    taken.release()
    assert oct(journal.directory.stat().st_mode & 0o777) == "0o700"
    journal.remove()
    assert list(find_runs(tmp_path / "runs")) == []


def test_runs_are_found_in_the_order_of_their_start(tmp_path: Path) -> None:
    for run in ("20261121-000002-aaaa", "20261121-000001-zzzz"):
        open_journal(tmp_path, server="s", facts={}, run=run)[1].release()
    assert [path.name for path in find_runs(tmp_path)] == ["20261121-000001-zzzz", "20261121-000002-aaaa"]
    assert find_run(tmp_path, "20261121-000001-zzzz").is_dir()
    for wrong in ("20261121-000003-aaaa", "../x", ""):
        with pytest.raises(UsageError):
            find_run(tmp_path, wrong)


def test_damage_and_other_versions_are_said(tmp_path: Path) -> None:
    journal, lock = open_journal(tmp_path, server="s", facts={}, run="20261121-000001-aaaa")
    lock.release()
    path = journal.directory / "run.json"
    document = json.loads(path.read_text())
    for text in ("{", "[]", '{"id": "x"}', json.dumps(document | {"version": 99})):
        path.write_text(text)
        with pytest.raises(RunsError, match=r"run\.json"):
            read_journal(journal.directory)
    (tmp_path / "file").write_text("")
    with pytest.raises(RunsError, match="--state-directory"):
        open_journal(tmp_path / "file", server="s", facts={}, run="x")


def test_a_killed_run_ends_at_its_last_sign_of_life(tmp_path: Path) -> None:
    journal, lock = open_journal(tmp_path, server="s", facts={}, run="20261121-000001-aaaa")
    lock.release()
    result = journal.directory / "result.gob"
    result.write_bytes(b"x")
    journal.alive_ms, journal.expected = 123, str(result)
    end_killed(journal)
    again = read_journal(journal.directory)
    assert again.finish is not None
    assert (again.finish["ended_ms"], again.finish["aborted"]) == (123, True)
    assert (again.result, again.own_result) == (str(result), True)
    again.finish["ended_ms"] = 1
    end_killed(again)
    assert again.finish["ended_ms"] == 1, "a run that has ended keeps its end"


def test_names(monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.fullmatch(r"20261121-142053-[a-z2-7]{4}", make_run_id(1_795_270_853.9))
    monkeypatch.setenv("XDG_STATE_HOME", "/var/state")
    assert default_directory() == Path("/var/state/loadwatch/runs")

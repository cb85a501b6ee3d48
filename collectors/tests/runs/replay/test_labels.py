import json
from pathlib import Path
from typing import Any

import pytest
from loadwatch_collectors.runs.errors import UsageError
from loadwatch_collectors.runs.replay import MOST_BYTES, find_recordings, parse_label, read_label

LABEL: dict[str, Any] = {
    "format": "loadwatch-scenario",
    "version": 1,
    "case": "pool-too-small",
    "run": "20261123-100000-abcd",
    "purpose": "judge",
    "kind": "pair",
    "expected": ["pool-exhausted", "time-wait-overflow|keep-alive-off"],
    "allowed": ["pool-churn"],
}


def write(folder: Path, name: str, label: Any = LABEL) -> Path:
    (folder / f"{name}.json").write_text(json.dumps(label))
    (folder / f"{name}.zip").write_bytes(b"PK")
    return folder / f"{name}.zip"


def test_a_label_is_read(tmp_path: Path) -> None:
    label = read_label(write(tmp_path, "a"))
    assert label.expected == (frozenset({"pool-exhausted"}), frozenset({"time-wait-overflow", "keep-alive-off"}))
    assert (label.case, label.run, label.purpose, label.kind) == (
        "pool-too-small",
        "20261123-100000-abcd",
        "judge",
        "pair",
    )
    assert label.allowed == {"pool-churn"}
    assert not label.healthy


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": "other"}, "no label of a recording in format loadwatch-scenario 1"),
        ({"version": 2}, "no label of a recording in format"),
        ({"run": ""}, "run is missing"),
        ({"case": 3}, "case is missing"),
        ({"expected": "pool-exhausted"}, "expected is no list"),
        ({"allowed": [1]}, "allowed is no list"),
        ({"kind": "bad"}, "kind is one of single, pair, healthy, noisy"),
        ({"purpose": "both"}, "purpose one of tune, judge"),
    ],
)
def test_what_no_label_says_is_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse_label({**LABEL, **change}, where="x.json")


def test_a_label_is_an_object() -> None:
    with pytest.raises(UsageError, match=r"x.json is no label"):
        parse_label([LABEL], where="x.json")


def test_what_is_no_json_or_too_long_is_refused(tmp_path: Path) -> None:
    archive = write(tmp_path, "a")
    archive.with_suffix(".json").write_text("{")
    with pytest.raises(UsageError, match=r"a\.json is not JSON"):
        read_label(archive)
    archive.with_suffix(".json").write_text(" " * (MOST_BYTES + 1))
    with pytest.raises(UsageError, match="is larger than"):
        read_label(archive)


def test_recordings_are_found_by_folder_and_by_name_each_once(tmp_path: Path) -> None:
    b, a = write(tmp_path, "b"), write(tmp_path, "a")
    (tmp_path / "unlabelled.zip").write_bytes(b"PK")
    assert find_recordings([tmp_path, b]) == [a, b]
    assert find_recordings([a.with_suffix(".json")]) == [a]


def test_a_file_without_its_label_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "alone.zip").write_bytes(b"PK")
    with pytest.raises(UsageError, match=r"no label alone\.json beside it"):
        find_recordings([tmp_path / "alone.zip"])
    with pytest.raises(UsageError, match="there is no recording"):
        find_recordings([tmp_path / "folder"])

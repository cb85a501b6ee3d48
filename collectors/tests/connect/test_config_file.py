from pathlib import Path

import pytest
from loadwatch_collectors.connect.config_file import replace_file, with_target
from loadwatch_collectors.errors import ConfigError

LINES = "- job: shop\n  process: {port: 8080}\n"
FILE = """# Ours, written by hand.
server: {url: http://127.0.0.1:8000}
targets:
  - job: host          # this machine
    host: {}
  # the database
  - job: db
    labels: {team: "a"}
    process:
      name: mariadbd   # Debian's
  # the end of the list

interval: 2s   # slower
"""


def test_a_target_is_added_at_the_end_of_the_list_and_nothing_else_changes() -> None:
    added = with_target(FILE, LINES, "f.yml")
    assert added.text == FILE.replace(
        "      name: mariadbd   # Debian's\n",
        "      name: mariadbd   # Debian's\n  - job: shop\n    process: {port: 8080}\n",
    )
    assert [(one.identity.job, one.interval_seconds) for one in added.added] == [("shop", 2.0)]
    assert [one.identity.job for one in added.others] == ["host", "db"]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("targets:\n- job: a\n  host: {}", "targets:\n- job: a\n  host: {}\n- job: shop\n  process: {port: 8080}\n"),
        (
            "targets:\n    - job: a\n      host:\n\n\n",
            "targets:\n    - job: a\n      host:\n    - job: shop\n      process: {port: 8080}\n\n\n",
        ),
    ],
)
def test_the_files_own_way_of_writing_is_kept(text: str, whole: str) -> None:
    assert with_target(text, LINES, "f.yml").text == whole


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("targets: [{job: a, host: {}}]\n", "is not written as a list of lines"),
        ("targets:\n  - job: a\n    hots: {}\n", "f.yml:3: unknown key 'hots'"),
        ("targets:\n  - job: shop\n    process: {port: 1}\n", "is there twice"),
        ("", "the file is empty"),
        ("targets:\n  - job: a\n    process:\n      command: |-\n        x\n        # y\n", "without changing others"),
    ],
)
def test_a_file_that_lines_cannot_be_added_to_stays_as_it_is(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        with_target(text, LINES, "f.yml")


def test_a_file_is_replaced_with_a_copy_of_what_it_was_and_is_never_for_all_to_read(tmp_path: Path) -> None:
    path = tmp_path / "loadwatch.yml"
    assert replace_file(path, "one", None) is None
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o664)
    link = tmp_path / "link.yml"
    link.symlink_to(path)
    backup = replace_file(link, "two", "one")
    assert backup == tmp_path / "loadwatch.yml.bak"
    assert (path.read_text(), path.with_name("loadwatch.yml.bak").read_text()) == ("two", "one")
    assert link.is_symlink()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link.yml", "loadwatch.yml", "loadwatch.yml.bak"]
    assert {one.stat().st_mode & 0o777 for one in tmp_path.iterdir()} == {0o660}


def test_what_somebody_wrote_meanwhile_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "loadwatch.yml"
    path.write_text("theirs")
    for known in ("ours", None):
        with pytest.raises(ConfigError, match="was changed meanwhile"):
            replace_file(path, "new", known)
    assert path.read_text() == "theirs"


def test_an_error_says_what_and_where(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=str(tmp_path / "none")):
        replace_file(tmp_path / "none" / "loadwatch.yml", "a", None)

import os
import threading
from collections.abc import Generator
from pathlib import Path

import pytest
import structlog.testing
from loadwatch_backend.alerting.rules.files import RuleFiles, shipped_rules
from loadwatch_backend.alerting.rules.model import RuleFileState, RuleSet
from loadwatch_backend.catalogue.packs.library import Library

GOOD = "groups:\n- name: {name}\n  rules:\n  - alert: A\n    expr: up == 0\n"
BROKEN = "groups:\n- name: a\n  rules:\n  - alert: A\n    expr: [up\n"
PARTIAL = """\
groups:
- name: a
  rules:
  - alert: A
    expr: up == 0
  - alert: Mistyped
    expr: up ==
    for: 5
  - {record: a:b, expr: sum(up)}
- name: c
  rules:
  - alert: C
    expr: up == 0
    annotations: {summary: "{{ $label }}"}
"""


def write(path: Path, text: str) -> None:
    """As a careful editor does."""
    temporary = path.with_suffix(".new")
    temporary.write_text(text)
    os.replace(temporary, path)


def names(rules: RuleSet) -> list[str]:
    return [group.name for group in rules.groups]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "a.yml", GOOD.format(name="a"))
    (tmp_path / "deep").mkdir()
    write(tmp_path / "deep" / "b.yml", GOOD.format(name="b"))
    return tmp_path


@pytest.fixture
def files(folder: Path) -> Generator[RuleFiles]:
    opened = RuleFiles([folder / "**" / "*.yml"], lambda: 5_000, built_in=False)
    try:
        yield opened
    finally:
        opened.close()


def test_several_files_by_pattern(files: RuleFiles) -> None:
    assert names(files.current()) == ["a", "b"]
    assert all(one.state is RuleFileState.OK and one.loaded_ms == 5_000 for one in files.current().files)


def test_nothing_changes_without_a_change(files: RuleFiles) -> None:
    first = files.current()
    assert files.reload() is first


def test_new_and_deleted_files(folder: Path, files: RuleFiles) -> None:
    write(folder / "c.yml", GOOD.format(name="c"))
    (folder / "a.yml").unlink()
    after = files.reload()
    assert sorted(names(after)) == ["b", "c"]
    assert after.generation == 2


def test_a_broken_file_keeps_its_old_rules_and_says_which_line(folder: Path, files: RuleFiles) -> None:
    write(folder / "a.yml", BROKEN)
    after = files.reload()
    assert names(after) == ["a", "b"]
    broken = after.files[0]
    assert (broken.state, broken.line) == (RuleFileState.BROKEN, 6)
    assert broken.error.startswith(f"{folder / 'a.yml'}:6:1: ")
    write(folder / "a.yml", GOOD.format(name="mended"))
    assert names(files.reload()) == ["mended", "b"]
    assert files.current().files[0].state is RuleFileState.OK


def test_a_rule_that_cannot_be_read_leaves_out_that_rule_alone(folder: Path, files: RuleFiles) -> None:
    path = folder / "a.yml"
    write(path, PARTIAL)
    with structlog.testing.capture_logs() as logs:
        after = files.reload()
    assert [(group.name, [rule.name for rule in group.rules]) for group in after.groups] == [
        ("a", ["A", "a:b"]),
        ("c", []),
        ("b", ["A"]),
    ]
    partial = after.files[0]
    assert (partial.state, partial.line) == (RuleFileState.PARTIAL, 7)
    first, second, third = partial.error.splitlines()
    assert first.startswith(f"{path}:7:11: invalid PromQL")
    assert second.startswith(f"{path}:8:10: '5' is not a duration")
    assert third.startswith(f"{path}:14:28: the template of annotation 'summary'")
    assert [(one["path"], one["left_out"], one["error"]) for one in logs] == [(str(path), 2, partial.error)]
    # Alerts of these may be of rules that stand there and cannot be read, those of others are of rules that are gone.
    assert partial.may_have("a", "Mistyped")
    assert partial.may_have("c", "C")
    assert not partial.may_have("a", "Removed")
    assert files.reload() is after


def test_a_file_goes_back_to_what_it_was(folder: Path, files: RuleFiles) -> None:
    write(folder / "a.yml", BROKEN)
    files.reload()
    write(folder / "a.yml", GOOD.format(name="a"))
    after = files.reload()
    assert (after.files[0].state, names(after)) == (RuleFileState.OK, ["a", "b"])


def test_a_file_that_is_broken_from_the_start_has_no_rules(tmp_path: Path) -> None:
    write(tmp_path / "x.yml", BROKEN)
    files = RuleFiles([tmp_path / "x.yml", tmp_path / "none.yml"], lambda: 1, built_in=False)
    broken, missing = files.current().files
    assert not files.current().groups
    assert broken.state is missing.state is RuleFileState.BROKEN
    assert broken.line == 6
    assert missing.error == "there is no such file"


def test_a_named_file_that_goes_takes_its_rules_along(tmp_path: Path) -> None:
    write(tmp_path / "x.yml", GOOD.format(name="x"))
    files = RuleFiles([tmp_path / "x.yml"], lambda: 1, built_in=False)
    (tmp_path / "x.yml").unlink()
    assert not files.reload().groups


def test_built_in_files_come_first_and_can_be_left_out(folder: Path, tmp_path: Path) -> None:
    pack = tmp_path / "packs" / "shop"
    pack.mkdir(parents=True)
    write(pack / "rules.yml", GOOD.format(name="shop"))
    library = Library([tmp_path / "packs"])
    *shipped, of_pack, own = RuleFiles([folder / "a.yml"], lambda: 1, library=library).current().files
    assert [one.path for one in shipped if one.path.endswith("/rules.yml")] == list(shipped_rules())
    assert all(one.built_in for one in shipped)
    assert [(one.groups[0].name, one.built_in) for one in (of_pack, own)] == [("shop", False), ("a", False)]
    without = RuleFiles([folder / "a.yml"], lambda: 1, built_in=False, library=library).current()
    assert names(without) == ["shop", "a"]


def test_rules_of_a_users_pack_are_read_again_and_kept_when_they_break(tmp_path: Path) -> None:
    files = RuleFiles([], lambda: 1, built_in=False, library=Library([tmp_path]))
    assert not files.current().files
    (tmp_path / "shop").mkdir()
    write(tmp_path / "shop" / "rules.yml", GOOD.format(name="shop"))
    assert names(files.reload()) == ["shop"]
    write(tmp_path / "shop" / "rules.yml", BROKEN)
    assert names(files.reload()) == ["shop"]
    assert files.current().files[0].state is RuleFileState.BROKEN


def test_the_defaults_are_whole() -> None:
    rules = RuleFiles([], lambda: 1).current()
    assert rules.files
    assert [one.error for one in rules.files if one.state is not RuleFileState.OK] == []


def test_a_change_counts_when_it_has_held_still(folder: Path, files: RuleFiles) -> None:
    files.check()
    (folder / "a.yml").write_text("")  # An editor that empties a file before it writes it.
    files.check()
    assert names(files.current()) == ["a", "b"]
    (folder / "a.yml").write_text(GOOD.format(name="new"))
    files.check()
    assert names(files.current()) == ["a", "b"]
    files.check()
    assert names(files.current()) == ["new", "b"]


def test_changes_are_told(folder: Path, files: RuleFiles) -> None:
    told = threading.Event()
    seen: list[list[str]] = []

    def listener(rules: RuleSet) -> None:
        seen.append(names(rules))
        told.set()

    files.watch(listener)
    write(folder / "a.yml", GOOD.format(name="watched"))
    assert told.wait(120)
    assert seen == [["watched", "b"]]

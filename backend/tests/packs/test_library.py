"""Packs of a user: what is wrong is said with its place and stops nothing else; files are read again."""

from pathlib import Path

import pytest
from loadwatch_backend.catalogue.packs import library as module
from loadwatch_backend.catalogue.packs.library import MOST_BYTES, MOST_PACKS, MOST_SIGNALS, Library

from backend.tests.packs.texts import PACK, put, small_pack

SHIPPED = {one.id for one in Library().current().packs}


@pytest.fixture(autouse=True)
def look_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.0)


def swapped(before: str, after: str) -> str:
    assert PACK.count(before) == 1, before
    return PACK.replace(before, after)


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        pytest.param("pack: [", 1, 1, "this is not YAML", id="no YAML"),
        pytest.param("- a\n", 1, 1, "the file must be a mapping of keys", id="a list"),
        pytest.param(
            swapped("title: Broker\nthere", "title: !!python/name:os.system x\nthere"), 2, 8, "python/name", id="tag"
        ),
        pytest.param(swapped("title: Broker\nthere", "title: 2026-13-45\nthere"), 2, 8, "no timestamp", id="no date"),
        pytest.param("a: " + "[" * 200, 1, 103, "nested too deeply", id="too deep"),
        pytest.param("", 1, 1, "the file must be a mapping of keys", id="empty"),
        pytest.param(PACK + "title: Twice\n", 26, 1, "'title' is given twice", id="a key twice"),
        pytest.param(swapped("there_when", "there_wen"), 3, 1, "there_when", id="an unknown key"),
        pytest.param(swapped("            legend", "            legnd"), 15, 13, "legend", id="of a signal"),
        pytest.param(swapped("    kind: queue", "    kind: qeue"), 18, 11, "'pool'", id="no such kind"),
        pytest.param(swapped("there_when: [mq_used]\n", ""), 1, 1, "there_when is missing", id="a key is missing"),
        pytest.param(
            swapped("title: {en: Queue, ja: キュー}", "title: {ja: キュー}"),
            19,
            12,
            "no English",
            id="no English",
        ),
        pytest.param(
            swapped("title: {en: Held, ja: 保持}", "title: {en: Held, now}"),
            12,
            20,
            "quote a text",
            id="a comma",
        ),
        pytest.param(
            swapped("expr: sum by (job, instance, queue) (mq_used)", "expr: sum by (job"),
            14,
            19,
            "PromQL",
            id="no PromQL",
        ),
        pytest.param(
            swapped("limit: sum by (job, instance, queue) (mq_limit)", "limit: {small: 5, broken: 'sum('}"),
            22,
            31,
            "PromQL",
            id="no PromQL among limits",
        ),
        pytest.param(swapped("(mq_rejected_total[$window])", "(mq_rejected_total["), 23, 36, "PromQL", id="demand"),
        pytest.param(
            swapped("    demand: [", "    demand: [{what: errors, log: '(a'}, "), 23, 34, "not valid", id="no pattern"
        ),
        pytest.param(
            swapped("    demand: [", "    demand: [{what: errors, log: '(?=a)'}, "),
            23,
            34,
            "RE2",
            id="not RE2",
        ),
        pytest.param(swapped("id: mq_used", "id: Mq used"), 11, 17, "match pattern", id="no id"),
        pytest.param(swapped("id: mq_used", "id: redis_commands"), 11, 17, "redis and broker", id="not own"),
        pytest.param(
            PACK.replace("sum by (job, instance, queue) (mq_used)", "${held}").replace(
                "pack:", "define: {x: y}\npack:"
            ),
            15,
            19,
            "${held} is not defined",
            id="not defined",
        ),
        pytest.param(
            swapped("    limit: sum by (job, instance, queue) (mq_limit)\n", ""), 17, 5, "needs a limit", id="no limit"
        ),
        pytest.param(
            swapped("alert: {warning: 0.8}", "alert: {warning: 0.8, for: soon}"), 25, 32, "a duration", id="no duration"
        ),
        pytest.param("change: nothing\n", 1, 9, "no pack 'nothing'", id="a change of nothing"),
        pytest.param(
            "change: redis\nresources: [{id: redis_clients, neer: 0.7}]\n",
            2,
            33,
            "near",
            id="of a change",
        ),
    ],
)
def test_a_fault_has_its_place(text: str, line: int, column: int, says: str, tmp_path: Path) -> None:
    file = put(tmp_path, "broker", text)
    put(tmp_path, "other", small_pack(1))
    catalogue = Library([tmp_path]).current()
    (fault, *_) = [one for one in catalogue.faults if (one.line, one.column) == (line, column)]
    assert fault.file == str(file)
    assert says in fault.text
    assert {one.id for one in catalogue.packs} == {*SHIPPED, "p1"}


def test_all_faults_of_a_file_are_said(tmp_path: Path) -> None:
    put(tmp_path, "broker", PACK.replace("unit: count", "unit: pieces"))
    assert [one.line for one in Library([tmp_path]).current().faults] == [13, 20]


def test_a_broken_pack_stays_as_it_was(tmp_path: Path) -> None:
    file, library = put(tmp_path, "broker"), Library([tmp_path])
    assert not library.current().faults
    file.write_text(PACK.replace("Messages held", "Held messages").replace("kind: queue", "kind: qeue"))
    put(tmp_path, "other", small_pack(1))
    catalogue = library.current()
    assert [one.line for one in catalogue.faults] == [18]
    assert {one.id for one in catalogue.packs} == {*SHIPPED, "broker", "p1"}
    assert "Messages held" in {panel.title.en for group in catalogue.groups for panel in group.panels}
    file.write_text(PACK.replace("Messages held", "Held messages"))
    catalogue = library.current()
    assert not catalogue.faults
    assert "Held messages" in {panel.title.en for group in catalogue.groups for panel in group.panels}
    file.unlink()
    assert "broker" not in {one.id for one in library.current().packs}


def test_what_did_not_change_is_not_read_again(tmp_path: Path) -> None:
    put(tmp_path, "broker")
    library = Library([tmp_path])
    assert library.current() is library.current()


def test_a_file_that_cannot_be_read_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "broker" / "pack.yml").mkdir(parents=True)
    put(tmp_path, "other", small_pack(1))
    library = Library([tmp_path])
    assert ["Is a directory"] == [one.text for one in library.current().faults]
    assert "p1" in {one.id for one in library.current().packs}
    assert library.current() is library.current()


def test_a_change_merges_by_id_replaces_keys_and_removes_by_null(tmp_path: Path) -> None:
    put(
        tmp_path,
        "mine",
        """change: redis
title: Caches
detect: null
groups:
  - id: redis
    panels:
      - id: redis-hits
        signals: [{id: redis_hits, better: neutral}]
      - id: own
        signals: [{id: own, title: Own, unit: count, expr: own, legend: ''}]
resources:
  - {id: redis_clients, near: 0.5, demand: null}
""",
    )
    catalogue = Library([tmp_path]).current()
    assert not catalogue.faults
    before = next(one for one in Library().current().packs if one.id == "redis")
    after = next(one for one in catalogue.packs if one.id == "redis")
    assert after.title.en == "Caches"
    assert before.detect.ports
    assert not after.detect.ports
    assert [panel.id for panel in after.groups[0].panels] == [*(panel.id for panel in before.groups[0].panels), "own"]
    clients = next(one for one in after.resources if one.id == "redis_clients")
    assert (clients.near, clients.demands, clients.legend) == (0.5, (), "{{instance}}")
    assert [one.id for one in after.resources] == [one.id for one in before.resources]


def test_a_later_folder_wins_and_a_folder_may_be_a_pack(tmp_path: Path) -> None:
    put(tmp_path / "a", "broker")
    file = put(tmp_path / "b", "broker", PACK.replace("title: Broker\nthere", "title: Second\nthere"))
    for folders in ([tmp_path / "a", tmp_path / "b"], [tmp_path / "a", file.parent], [tmp_path / "none", file.parent]):
        catalogue = Library(folders).current()
        assert not catalogue.faults
        assert [one.title.en for one in catalogue.packs if one.id == "broker"] == ["Second"]


def test_bounds(tmp_path: Path) -> None:
    for number in range(MOST_PACKS + 1):
        put(tmp_path, f"{number:03}", small_pack(number))
    catalogue = Library([tmp_path]).current()
    assert [(Path(one.file).parent.name, one.line) for one in catalogue.faults] == [(str(MOST_PACKS), 1)]
    assert len(catalogue.packs) == len(SHIPPED) + MOST_PACKS

    large = put(tmp_path / "large", "large", PACK + "#" * MOST_BYTES)
    assert [one.text for one in Library([large.parent]).current().faults] == ["the file has more than 1024 KiB"]

    put(tmp_path / "many", "many", small_pack(1, MOST_SIGNALS))
    (fault,) = Library([tmp_path / "many"]).current().faults
    assert (fault.line, "more than 2000 signals" in fault.text) == (5, True)


def test_a_bomb_of_aliases_is_a_fault(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{one}: &a{one} [{', '.join([f'*a{one - 1}'] * 10)}]" for one in range(1, 9)]
    put(tmp_path, "bomb", "\n".join(lines))
    (fault,) = Library([tmp_path]).current().faults
    assert "aliases" in fault.text

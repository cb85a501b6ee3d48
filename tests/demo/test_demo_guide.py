"""docs/guide/demo.md names every option and every stage, and none that does not exist."""

import re
from pathlib import Path

from examples.demo.__main__ import main
from examples.demo.stages import MAX_CONNECTIONS, STAGES

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "guide" / "demo.md").read_text(encoding="utf-8")


def rows() -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in GUIDE.splitlines() if line[:1] == "|"]


def test_every_option_is_described() -> None:
    described = {match[1] for row in rows() if (match := re.match(r"`--([a-z-]+)", row[0]))}
    assert described == {option.removeprefix("--") for parameter in main.params for option in parameter.opts}


def test_every_stage_is_described_in_order() -> None:
    names = [stage.name for stage in STAGES]
    assert [row[0] for row in rows() if row[0] in names] == names
    assert f"The database allows {MAX_CONNECTIONS} connections" in GUIDE


def test_alerts_of_every_stage_are_default_rules_and_stand_in_the_guide() -> None:
    default_rules = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "default-rules.md").read_text("utf-8")
    cells = {row[0]: row[-1] for row in rows()}
    for stage in STAGES:
        assert cells[stage.name].split(":")[0] == ", ".join(stage.alerts)
        assert all(f"[{name}](" in default_rules for name in stage.alerts)


def test_every_stage_gives_its_own_limit_and_an_annotation_that_the_server_takes() -> None:
    assert len({stage.limit for stage in STAGES}) == len(STAGES)
    assert all(stage.limit in stage.note and stage.look_at in stage.note for stage in STAGES)
    # The server's limit for an annotation's text.
    assert max(len(stage.note) for stage in STAGES) <= 4_000

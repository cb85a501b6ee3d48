"""A field of a run that lists show and filter by, and that people type and read on the page."""

from pathlib import Path

from tests.adding.example import Edit, Example

RUNS = "backend/loadwatch_backend/runs/registry"
VERSIONS = "backend/loadwatch_backend/core/database/migrations/versions"
LOCALES = "frontend/src/app/locales"
LAST = max(path.name[:4] for path in (Path(__file__).parents[2] / VERSIONS).glob("0*.py"))
REVISION = f"{int(LAST) + 1:04}"

PAGE = """
import { expect, it } from "vitest";
import { en } from "@/app/locales/en";
import { ja } from "@/app/locales/ja";
import { differences } from "@/features/compare/model/difference-rows";
import { factRows, factsOf, factsPatch, importFacts, OTHER_FACTS } from "@/features/runs/model/facts";
import { FILTER_FACTS } from "@/features/runs/list/filters";
import { decodeRunList } from "@/features/runs/list/list-state";
import { comparison, group, run } from "@/testing/compare-fixtures";

it("is typed, sent, read, compared and filtered by", () => {
  expect(factRows(true).flat().map(({ name }) => name)).toContain("colour");
  expect(factsPatch(factsOf({}), factsOf({ colour: "blue" }))).toEqual({ colour: "blue" });
  expect(importFacts(factsOf({ colour: "blue" }))).toEqual({ colour: "blue" });
  expect(OTHER_FACTS.map(({ name }) => name)).toEqual(["colour"]);
  const groups = [group("a", ["a"], true), group("b", ["b"])];
  const runs = [run("a", { colour: "blue" }), run("b", { colour: "green" })];
  const { facts } = differences(comparison({ groups, runs }));
  expect(facts.map(({ fact, values }) => [fact, ...values])).toEqual([["colour", "blue", "green"]]);
  expect(FILTER_FACTS.map(({ name, facet }) => [name, facet])).toContainEqual(["colour", "colours"]);
  expect(decodeRunList(new URLSearchParams("colour=blue")).filters.values).toEqual({ colour: "blue" });
  expect([en.runs.fact_colour, ja.runs.fact_colour]).toEqual(["Colour", "色"]);
});
"""

FACT = Example(
    kind="field of a run",
    most=4,
    names={"revision": f"{REVISION}_run_colour"},
    new={
        f"{VERSIONS}/{REVISION}_run_colour.py": f'''"""Which of two deployments a run was against.

Revision: {REVISION}
"""

import sqlalchemy as sa
from alembic import op

revision = "{REVISION}"
down_revision = "{LAST}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("colour", sa.String(200), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("runs", "colour")
''',
    },
    edits=[
        Edit(
            path="formats/loadwatch_formats/run_facts.py",
            before="    links: list[Link] = field(",
            put="""    colour: str = field(
        default_factory=str,
        metadata={
            "description": "Of the deployment.",
            "option": "--colour",
            "help": "Blue or green.",
            "listed": True,
            "typed": True,
            "facet": "colours",
        },
    )
""",
        ),
        Edit(
            path=f"{RUNS}/tables.py",
            before="    host: Mapped[str] =",
            put='    colour: Mapped[str] = mapped_column(String(NAME_LENGTH), server_default="")\n',
        ),
        Edit(path=f"{LOCALES}/runs.en.ts", before='  fact_links: "', put='  fact_colour: "Colour",\n'),
        Edit(path=f"{LOCALES}/runs.ja.ts", before='  fact_links: "', put='  fact_colour: "色",\n'),
    ],
    check=f"""
import runpy, subprocess
from pathlib import Path
from click.testing import CliRunner
from loadwatch_backend.app.application import create_app
from loadwatch_backend.core.settings import Settings
from loadwatch_backend.runs.archive.archives import _archived, _row
from loadwatch_backend.runs.registry.documents import summary_out
from loadwatch_backend.runs.registry.repository import add_run, contexts, find_facets, find_runs
from loadwatch_backend.runs.registry.rows import running_row
from loadwatch_backend.runs.schemas import RunIn, RunQuery
from loadwatch_backend.core.database.relational import open_relational
from loadwatch_collectors.commands.import_result import make_query
from loadwatch_collectors.commands.runs import import_result, list_runs, run
from loadwatch_formats.run_facts import OPTIONS

for command in (run, import_result):
    assert "Blue or green." in CliRunner().invoke(command, ["--help"]).output
options = {{fact.name: () if fact.several else None for fact in OPTIONS}}
asked = options | {{"colour": "blue", "started_at": None, "run_id": None, "format_name": None}}
assert "Only this colour." in CliRunner().invoke(list_runs, ["--help"]).output
assert make_query(asked) == {{"colour": "blue"}}
document = create_app(Settings()).openapi()
assert "colour" in {{one["name"] for one in document["paths"]["/api/imports"]["post"]["parameters"]}}
for name in ("RunIn", "RunPatch", "RunOut", "RunSummary"):
    assert "colour" in document["components"]["schemas"][name]["properties"]
row = running_row("a-run", RunIn(colour="blue"), 1)
row.state, row.ended_ms = "finished", 2
kept = _archived(row)
assert kept.colour == "blue"
assert _archived(_row(kept, "another", None, 3)).colour == "blue"
relational = open_relational("sqlite:///runs.sqlite")
with relational.transaction() as session:
    add_run(session, row)
with relational.transaction() as session:
    found = [find_runs(session, RunQuery(colour=colour))[0] for colour in ("blue", "green")]
    facets = find_facets(session)
    (row,) = [row for rows in found for row in rows]
    line = summary_out(row, contexts(session, [row])[row.id], lambda id, labels: False, 3)
relational.close()
assert line.colour == "blue"
assert [one.value for one in facets.colours] == ["blue"]
runpy.run_path("scripts/generate_facts.py", run_name="__main__")
Path("frontend/src/colour.test.ts").write_text({PAGE!r}, "utf-8")
vitest = ["node", "../node_modules/vitest/vitest.mjs", "run", "--environment", "node", "src/colour.test.ts"]
done = subprocess.run(vitest, cwd="frontend", capture_output=True, text=True)
assert done.returncode == 0, done.stdout + done.stderr
""",
)

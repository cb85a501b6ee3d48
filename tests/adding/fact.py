"""A field of a run."""

from tests.adding.example import Edit, Example

FACT = Example(
    kind="field of a run",
    most=1,
    names={},
    new={},
    edits=[
        Edit(
            path="formats/loadwatch_formats/run_facts.py",
            before="    links: list[Link] = field(",
            put="""    colour: str = field(
        default_factory=str,
        metadata={"description": "Of the deployment.", "option": "--colour", "help": "Blue or green."},
    )
""",
        ),
    ],
    check="""
from click.testing import CliRunner
from loadwatch_backend.app.application import create_app
from loadwatch_backend.kit.settings import Settings
from loadwatch_backend.runs.archive.archives import _archived, _row
from loadwatch_backend.runs.registry.rows import running_row
from loadwatch_backend.runs.schemas import RunIn
from loadwatch_collectors.commands.import_result import make_query
from loadwatch_collectors.commands.runs import import_result, run
from loadwatch_formats.run_facts import OPTIONS

for command in (run, import_result):
    assert "Blue or green." in CliRunner().invoke(command, ["--help"]).output
options = {fact.name: () if fact.several else None for fact in OPTIONS}
asked = options | {"colour": "blue", "started_at": None, "run_id": None, "format_name": None}
assert make_query(asked) == {"colour": "blue"}
document = create_app(Settings()).openapi()
assert "colour" in {one["name"] for one in document["paths"]["/api/imports"]["post"]["parameters"]}
for name in ("RunIn", "RunPatch", "RunOut"):
    assert "colour" in document["components"]["schemas"][name]["properties"]
row = running_row("a-run", RunIn(colour="blue"), 1)
row.state, row.ended_ms = "finished", 2
kept = _archived(row)
assert kept.colour == "blue"
assert _archived(_row(kept, "another", None, 3)).colour == "blue"
""",
)

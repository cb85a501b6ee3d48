"""A text of the server, and one of the page."""

from tests.adding.example import Edit, Example

LOCALES = "frontend/src/app/locales"

SERVER_TEXT = Example(
    kind="text of the server",
    most=1,
    names={"subject": "reasons"},
    new={},
    edits=[
        Edit(
            path="backend/loadwatch_backend/core/texts/messages/reasons.yml",
            before="between: ",
            put="too-short: {en: the run was too short, ja: 実行時間が短すぎる}\n",
        ),
    ],
    check="""
from types import SimpleNamespace
from loadwatch_backend.core.language import Language
from loadwatch_backend.runs.report.findings import verdict_reasons

run = SimpleNamespace(generator=None, verdict_reasons=["too-short"])
assert verdict_reasons(run, Language.EN) != ["too-short"] != verdict_reasons(run, Language.JA)
""",
)

TEXT = Example(
    kind="text of the page",
    most=2,
    names={},
    new={},
    edits=[
        Edit(path=f"{LOCALES}/en.ts", before='    runs: "Runs",\n', put='    guide: "Guide",\n'),
        Edit(path=f"{LOCALES}/ja.ts", before='    runs: "', put='    guide: "手引き",\n'),
    ],
    check="""
import re
from pathlib import Path

for language in ("en", "ja"):
    text = Path(f"frontend/src/app/locales/{language}.ts").read_text(encoding="utf-8")
    (navigation,) = re.findall(r"^  nav: \\{\\n(.*?)^  \\},", text, re.MULTILINE | re.DOTALL)
    assert re.search(r'^    guide: ".+",$', navigation, re.MULTILINE)
""",
)

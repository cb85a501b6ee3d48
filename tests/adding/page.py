"""A text of the page."""

from tests.adding.example import Edit, Example

LOCALES = "frontend/src/app/locales"

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

"""Every error has its Japanese on the page."""

import re
from pathlib import Path

import loadwatch_backend
from loadwatch_backend.core.texts.words import read_entries

BACKEND = Path(loadwatch_backend.__file__).parent
CATALOGUE = BACKEND.parents[1] / "frontend/src/app/locales/faults.ja.ts"
CODE = re.compile(r'^(?:class [^:]*\bcode=|    code: ClassVar\[str\] = )"([a-z-]+)"', re.MULTILINE)


def test_each_code_of_an_error_has_a_sentence():
    codes = {code for path in BACKEND.rglob("*.py") for code in CODE.findall(path.read_text("utf-8"))}
    known = set(re.findall(r'^  "?([a-z-]+)"?: "', CATALOGUE.read_text("utf-8"), re.MULTILINE))
    assert len(codes) > 100
    assert codes == known


def test_each_remark_on_a_file_is_made():
    importers = BACKEND / "runs/importers"
    keys = {key for texts in read_entries(importers / "remarks.yml").values() for key in texts}
    sources = "".join(path.read_text("utf-8") for path in importers.rglob("*.py"))
    made = {key for key in keys if f'"{key}"' in sources}
    assert keys - made == {"absurd-time", "absurd-latency", "absurd-bytes"}


def test_each_remark_on_a_file_has_a_japanese_sentence():
    texts = read_entries(BACKEND / "runs/importers/remarks.yml").values()
    codes = {key.partition("/")[0] for group in texts for key in group}
    page = (CATALOGUE.parent / "remarks.ja.ts").read_text("utf-8")
    assert codes <= set(re.findall(r'^  "?([\w-]+)"?:', page, re.MULTILINE))

"""Every error has its Japanese on the page."""

import re
from pathlib import Path

import loadwatch_backend

BACKEND = Path(loadwatch_backend.__file__).parent
CATALOGUE = BACKEND.parents[1] / "frontend/src/app/locales/faults.ja.ts"
CODE = re.compile(r'^(?:class [^:]*\bcode=|    code: ClassVar\[str\] = )"([a-z-]+)"', re.MULTILINE)


def test_each_code_of_an_error_has_a_sentence():
    codes = {code for path in BACKEND.rglob("*.py") for code in CODE.findall(path.read_text("utf-8"))}
    known = set(re.findall(r'^  "?([a-z-]+)"?: "', CATALOGUE.read_text("utf-8"), re.MULTILINE))
    assert len(codes) > 100
    assert codes == known

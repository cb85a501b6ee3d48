"""Counts the product's code and holds it to docs/size.tsv: a room may shrink, and grows only where the file says so.

Usage: size.py [--write]

Code lines are those of the formatted source without blank lines, comments and docstrings. Tokens are those of the
language; a text is one token.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "size.tsv"
PYTHON = ("formats/loadwatch_formats", "collectors/loadwatch_collectors", "backend/loadwatch_backend")
PAGE = "frontend/src"
GENERATED = re.compile(r"_pb2\.pyi?$|\.gen\.ts$|\.test\.tsx?$|/testing/")
UNCOUNTED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
SCRIPT_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|`(?:\\.|[^`\\])*`|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\w+|[^\w\s]""", re.S
)


def count_python(text: str) -> tuple[int, int]:
    """Code lines and tokens of a Python source."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docstrings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines: set[int] = set()
    tokens = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in UNCOUNTED and token.start[0] not in docstrings:
            lines.update(range(token.start[0], token.end[0] + 1))
            tokens += 1
    return len(lines), tokens


def count_script(text: str) -> tuple[int, int]:
    """Code lines and tokens of a TypeScript source or a style sheet."""
    lines: set[int] = set()
    tokens, line, at = 0, 1, 0
    for match in SCRIPT_TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        if not match.group().startswith(("//", "/*")):
            lines.update(range(line, line + match.group().count("\n") + 1))
            tokens += 1
    return len(lines), tokens


def sources() -> Iterator[str]:
    """Paths of the product's own sources that exist in the working tree."""
    listed = subprocess.run(
        ("git", "ls-files", "--cached", "--others", "--exclude-standard", *PYTHON, PAGE),
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    for path in listed:
        if path.endswith((".py", ".ts", ".tsx", ".css")) and not GENERATED.search(path) and (ROOT / path).is_file():
            yield path


def measure() -> dict[str, int]:
    """Each figure by `room<TAB>what`."""
    figures: Counter[str] = Counter()
    for path in sources():
        text = (ROOT / path).read_text(encoding="utf-8")
        parts = path.split("/")
        room = "/".join(parts[:3] if len(parts) > 3 else parts[:2])
        lines, tokens = count_python(text) if path.endswith(".py") else count_script(text)
        if path.endswith(".css"):
            figures[f"{PAGE}\tcss_lines"] += lines
            figures[f"{PAGE}\tcss_modules"] += path.endswith(".module.css")
            continue
        figures[f"{room}\tlines"] += lines
        figures[f"{room}\ttokens"] += tokens
        figures[f"{PAGE}\ttables_outside_ui"] += 0 if path.startswith(f"{PAGE}/ui/") else text.count("<table")
        uses = len(re.findall(r"\buseSearchParams\(", text))
        figures[f"{PAGE}\tuse_search_params_outside_lib"] += 0 if path.startswith(f"{PAGE}/lib/") else uses
    return dict(sorted(figures.items()))


def main(arguments: list[str]) -> int:
    """Compares or writes; returns the exit code."""
    now = measure()
    if "--write" in arguments:
        rows = "".join(f"{name}\t{figure}\n" for name, figure in now.items())
        TABLE.write_text("room\twhat\tfigure\n" + rows, encoding="utf-8")
    allowed = dict(row.rsplit("\t", 1) for row in TABLE.read_text(encoding="utf-8").splitlines()[1:])
    grown = [
        (name, int(allowed.get(name, "0")), figure)
        for name, figure in now.items()
        if figure > int(allowed.get(name, "0"))
    ]
    for what in ("lines", "tokens"):
        total = sum(figure for name, figure in now.items() if name.endswith(f"\t{what}"))
        before = sum(int(figure) for name, figure in allowed.items() if name.endswith(f"\t{what}"))
        print(f"{what}: {total:,} ({total - before:+,} against docs/size.tsv)")
    for name, before, figure in grown:
        room, what = name.split("\t")
        print(
            f"{room}: {figure:,} {what}, {before:,} allowed; make it smaller, "
            "or run scripts/size.py --write and give the reason in the commit"
        )
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

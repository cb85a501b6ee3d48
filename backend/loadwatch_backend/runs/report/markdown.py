"""A report as Markdown, for a pull request, a wiki or a chat."""

import re

from loadwatch_backend.core.language import Language
from loadwatch_backend.runs.report.html import render
from loadwatch_backend.runs.report.model import Report


def render_markdown(report: Report, language: Language) -> str:
    """The whole document; GitHub's tables, whose columns but the first are set to the right."""
    return render("report.md.j2", report, language, cell=escape_cell, text=escape_text, fenced=_fenced) + "\n"


_SIGNS = str.maketrans({sign: "\\" + sign for sign in "\\|*_`<>[]&~$"})
_BEGINNING = re.compile(r"(\d*)([-+=#.):])")
"""Signs that make a heading, a list or a rule of a line that begins with them, or with a number before them."""


def escape_cell(text: str) -> str:
    """Text on one line that breaks no table and starts no markup, links that GitHub makes of addresses included."""
    flat = " ".join(text.split()).translate(_SIGNS).replace("://", "\\://").replace("www.", "www\\.")
    return _BEGINNING.sub(r"\1\\\2", flat, count=1) if _BEGINNING.match(flat) else flat


def escape_text(text: str) -> str:
    """Text of several lines that stays what was written: its lines and paragraphs, and no markup."""
    paragraphs = re.split(r"\n\s*\n", text.strip().replace("\r\n", "\n").replace("\r", "\n"))
    return "\n\n".join("\\\n".join(escape_cell(line) for line in one.splitlines()) for one in paragraphs)


def _fenced(text: str) -> str:
    """The text as a block of code, whatever it holds."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"

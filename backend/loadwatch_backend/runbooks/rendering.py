"""Runbooks from Markdown to HTML pages that load nothing."""

import base64
import hashlib
import html
import re
from collections.abc import Mapping
from pathlib import Path

import markdown

from loadwatch_backend.kit.errors import NotFoundError

PAGES = Path(__file__).with_name("pages")
"""A link to `docs/runbooks` in the repository; a wheel holds the pages themselves."""

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")
STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
LINK = re.compile(r'href="([a-z0-9-]+)\.md(#[^"]*)?"')
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · Loadwatch</title>
<style>{style}</style>
</head>
<body>
<nav><a href="/alerts">Alerts</a> <a href="/">Live</a> <a href="/runbooks">Runbooks</a></nav>
<main>
{body}
</main>
</body>
</html>
"""


class RunbookNotFoundError(NotFoundError):
    """There is no such runbook."""

    code = "runbook-not-found"


class Runbooks:
    """The pages of one directory; read when they are asked for."""

    def __init__(self, directory: Path = PAGES) -> None:
        self._directory = directory

    def names(self) -> list[str]:
        """Names of all runbooks, as they stand in addresses."""
        return sorted(path.stem for path in self._directory.glob("*.md") if NAME.fullmatch(path.stem))

    def page(self, name: str) -> str:
        """One runbook as an HTML page.

        Raises:
            RunbookNotFoundError: there is none of the name.
        """
        if name not in self.names():
            raise RunbookNotFoundError(f"There is no runbook {name!r}; /runbooks lists those there are.")
        text = (self._directory / f"{name}.md").read_text(encoding="utf-8")
        return _page(_title(text, name), _body(text))

    def index(self) -> str:
        """All runbooks as a list of links."""
        items = [
            f'<li><a href="/runbooks/{name}">'
            f"{html.escape(_title((self._directory / f'{name}.md').read_text(encoding='utf-8'), name))}</a></li>"
            for name in self.names()
        ]
        return _page("Runbooks", "<h1>Runbooks</h1>\n<ul>\n" + "\n".join(items) + "\n</ul>")


def page_headers() -> Mapping[str, str]:
    """Nothing may be loaded, and only this very style applies."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    return {
        "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'",
        "Cache-Control": "no-cache",
    }


def _page(title: str, body: str) -> str:
    return PAGE.format(title=html.escape(title), style=STYLE, body=body)


def _title(text: str, name: str) -> str:
    found = TITLE.search(text)
    return found[1].replace("`", "") if found else name


def _body(text: str) -> str:
    """Our own pages, not a user's: raw HTML in them is ours too. Links between them lose `.md`."""
    rendered = markdown.markdown(text, extensions=["fenced_code", "tables"], output_format="html")
    rendered = rendered.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
    return LINK.sub(r'href="/runbooks/\1\2"', rendered)

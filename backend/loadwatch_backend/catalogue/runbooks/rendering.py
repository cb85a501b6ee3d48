"""Runbooks from Markdown to HTML pages that load nothing."""

import base64
import hashlib
import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from loadwatch_packs import FOLDER

from loadwatch_backend.catalogue.runbooks.steps import Part, first_steps
from loadwatch_backend.core.deferred import Deferred
from loadwatch_backend.core.errors import NotFoundError
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts, message_of

markdown = Deferred("markdown")

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")
STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
LINK = re.compile(r'href="(?:\.\./\.\./[a-z0-9._-]+/runbooks/)?([a-z0-9-]+)(?:\.ja)?\.md(#[^"]*)?"')
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)

PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · Loadwatch</title>
<style>{style}</style>
</head>
<body>
<nav>{nav}</nav>
<main>
{body}
</main>
</body>
</html>
"""


class RunbookNotFoundError(NotFoundError, code="runbook-not-found"):
    """There is no such runbook."""


class Runbooks:
    """The pages in the folders `runbooks` of packs, `NAME.ja.md` beside `NAME.md`; read when they are asked for."""

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        """`folders` are those of a user's packs; what stands in a later one wins."""
        self._folders = (FOLDER, *folders)

    def names(self) -> list[str]:
        found = {path.stem for folder in self._folders for path in folder.glob("*/runbooks/*.md")}
        return sorted(name for name in found if NAME.fullmatch(name))

    def page(self, name: str, language: Language = Language.EN) -> str:
        """One runbook as an HTML page; in English where there is no translation.

        Raises:
            RunbookNotFoundError: there is none of the name.
        """
        text, spoken = self._text(name, language)
        return _page(_title(text, name), _body(text, spoken), spoken, f"/runbooks/{name}")

    def steps(self, name: str, language: Language) -> Sequence[Sequence[Part]]:
        """What to look at first; nothing of a runbook that is not there. The language is not another one's."""
        try:
            text, spoken = self._text(name, language)
        except RunbookNotFoundError:
            return []
        return first_steps(text) if spoken is language else []

    def index(self, language: Language = Language.EN) -> str:
        items = [
            f'<li><a href="{_address(f"/runbooks/{name}", language)}">'
            f"{html.escape(_title(self._text(name, language)[0], name))}</a></li>"
            for name in self.names()
        ]
        heading = message_of("runbooks", "runbooks").read(language)
        return _page(heading, f"<h1>{heading}</h1>\n<ul>\n" + "\n".join(items) + "\n</ul>", language, "/runbooks")

    def _text(self, name: str, language: Language) -> tuple[str, Language]:
        folders = self._folders if NAME.fullmatch(name) else ()
        pages = [page for folder in folders for page in sorted(folder.glob(f"*/runbooks/{name}.md"))]
        if not pages:
            raise RunbookNotFoundError(f"There is no runbook {name!r}; /runbooks lists those there are.")
        translation = pages[-1].with_suffix(f".{language}.md")
        if language is not Language.EN and translation.is_file():
            return translation.read_text(encoding="utf-8"), language
        return pages[-1].read_text(encoding="utf-8"), Language.EN


def page_headers() -> Mapping[str, str]:
    """Nothing may be loaded, and only this very style applies."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    return {
        "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'",
        "Cache-Control": "no-cache",
    }


def _address(path: str, language: Language) -> str:
    """Its language is always named: the link must not depend on the browser that opens it."""
    return f"{path}?lang={language}"


def _page(title: str, body: str, language: Language, path: str) -> str:
    texts = Texts("runbooks", language)
    other = next(one for one in Language if one is not language)
    links = (
        f'<a href="/alerts">{texts("alerts")}</a>',
        f'<a href="/">{texts("live")}</a>',
        f'<a href="{_address("/runbooks", language)}">{texts("runbooks")}</a>',
        f'<a href="{_address(path, other)}" lang="{other}">{texts("other_language")}</a>',
    )
    return PAGE.format(title=html.escape(title), style=STYLE, body=body, nav=" ".join(links), language=language)


def _title(text: str, name: str) -> str:
    found = TITLE.search(text)
    return found[1].replace("`", "") if found else name


def _body(text: str, language: Language) -> str:
    """Raw HTML in a page is of who may write packs, and loads nothing. Links between pages keep the language."""
    rendered = markdown.markdown(text, extensions=["fenced_code", "tables"], output_format="html")
    rendered = rendered.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
    return LINK.sub(rf'href="/runbooks/\1?lang={language}\2"', rendered)

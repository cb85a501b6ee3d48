"""What to look at first, of a runbook, as texts with code and links: for who reads it beside the alert. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

MOST_STEPS = 3
HEADING = re.compile(r"^## ", re.MULTILINE)
ITEM = re.compile(r"^(?:-|\d+\.)\s+(.*)$")
INLINE = re.compile(r"`(?P<code>[^`]+)`|\[(?P<text>[^\]]+)\]\((?P<href>[^)\s]+)\)")
PAGE = re.compile(r"(?:\.\./\.\./[a-z0-9._-]+/runbooks/)?(?P<name>[a-z0-9-]+)(?:\.ja)?\.md(?P<part>#.*)?")
ADDRESS = re.compile(r"/runbooks/(?P<name>[a-z0-9-]+)/?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of a step. `href` is a path of this server or an address; empty of what is no link."""

    text: str
    code: bool = False
    href: str = ""


def runbook_name(url: str) -> str | None:
    """The name in the address of one of our own pages; None of any other."""
    found = ADDRESS.search(urlsplit(url).path)
    return None if found is None or found.end() != len(urlsplit(url).path) else found["name"]


def first_steps(page: str) -> Sequence[Sequence[Part]]:
    """Items of the first list of a page: what to check first. A page begins with what the alert means, as prose."""
    for section in HEADING.split(page):
        items = list(_items(section))
        if items:
            return [list(_parts(item)) for item in items[:MOST_STEPS]]
    return []


def _items(section: str) -> Iterator[str]:
    item = ""
    for line in section.splitlines():
        found = ITEM.match(line)
        if found:
            if item:
                yield item
            item = found[1].strip()
        elif item and line.startswith("  ") and line.strip():
            item = f"{item} {line.strip()}"
        elif item:
            yield item
            item = ""
    if item:
        yield item


def _parts(item: str) -> Iterator[Part]:
    place = 0
    for found in INLINE.finditer(item):
        if found.start() > place:
            yield Part(text=_plain(item[place : found.start()]))
        if found["code"]:
            yield Part(text=found["code"], code=True)
        else:
            yield Part(text=_plain(found["text"]), href=_address(found["href"]))
        place = found.end()
    if place < len(item):
        yield Part(text=_plain(item[place:]))


def _plain(text: str) -> str:
    return text.replace("**", "").replace("`", "")


def _address(href: str) -> str:
    page = PAGE.fullmatch(href)
    if page is not None:
        return f"/runbooks/{page['name']}{page['part'] or ''}"
    return href if href.startswith(("https://", "http://")) else ""

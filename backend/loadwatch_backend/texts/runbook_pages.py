"""Where the runbooks are, and what may stand before one: the texts of its rule, YAML between two lines of `---`."""

from pathlib import Path

PAGES = Path(__file__).parents[1] / "runbooks" / "pages"
"""A link to `docs/runbooks` in the repository; a wheel holds the pages themselves."""

FENCE = "---\n"


def split_front_matter(text: str) -> tuple[str, str]:
    """The YAML, empty where there is none, and the page."""
    if not text.startswith(FENCE):
        return "", text
    head, _, page = text.removeprefix(FENCE).partition(f"\n{FENCE}")
    return head, page

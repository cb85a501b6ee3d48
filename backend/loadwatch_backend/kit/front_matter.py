"""What stands before a Markdown page: YAML between two lines of `---`."""

FENCE = "---\n"


def split_front_matter(text: str) -> tuple[str, str]:
    """The YAML, empty where there is none, and the page."""
    if not text.startswith(FENCE):
        return "", text
    head, _, page = text.removeprefix(FENCE).partition(f"\n{FENCE}")
    return head, page

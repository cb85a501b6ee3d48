"""Names of endpoints: the tool's label, or method and URL without query string and fragment."""

from urllib.parse import urlsplit

_LONGEST = 500


def endpoint_of_url(method: str, url: str) -> str:
    """`GET http://host/path`: the query string would make every request an endpoint of its own."""
    bare = url.partition("#")[0].partition("?")[0]
    return plain_label(f"{method} {bare}" if method else bare)


def plain_label(label: str) -> str:
    """A label in one line of bearable length."""
    if "\n" in label or "\r" in label or "\t" in label:
        label = " ".join(label.split())
    return label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"


def looks_like_url(text: str) -> bool:
    """Whether a label is a URL, as Locust and k6 use for requests without a name."""
    return urlsplit(text).scheme in {"http", "https", "ws", "wss"}

"""Paths by who asks for them: pages for people, interfaces for programs, health for probes."""

import re

PAGE_PATHS = (
    "/",
    "/access",
    "/access/account",
    "/access/audit",
    "/access/tokens",
    "/alerts",
    "/alerts/*",
    "/alerts/deliveries",
    "/alerts/history",
    "/alerts/receivers",
    "/alerts/routes",
    "/alerts/rules",
    "/alerts/silences",
    "/connect",
    "/explore",
    "/pools",
    "/runs",
    "/runs/*",
    "/runs/*/profiles",
    "/runs/actions",
    "/runs/compare",
    "/runs/meeting",
    "/runs/sweep",
    "/runs/trend",
    "/setup",
    "/store",
    "/targets",
    "/timeouts",
)
"""Pages that the browser draws; `*` stands for one id. A test compares them with the page's own list."""

HEALTHY_PATHS = ("/-/healthy", "/healthz", "/livez", "/prometheus/-/healthy", "/alertmanager/-/healthy")
READY_PATHS = ("/-/ready", "/readyz", "/prometheus/-/ready", "/alertmanager/-/ready")
HEALTH_PATHS = frozenset({*HEALTHY_PATHS, *READY_PATHS})
"""They hold nothing that is anybody's, so whoever asks gets an answer, by whatever name the server is called."""

INTERFACES = ("/api", "/prometheus", "/metrics", "/alertmanager")
"""What programs and the page's own scripts ask; a link leads to none of them."""
SIGN_IN_CALLBACK = "/api/session/oidc/callback"
"""Where the OpenID Connect provider, another site, sends the browser back to."""
NOT_PAGES = (*INTERFACES, "/-/", "/assets/", "/share/", "/runbooks/")
"""Below these the answer to what is not there is always a problem, never a page."""

_PAGE = re.compile("|".join(re.escape(path).replace(r"\*", "[^/]+") for path in PAGE_PATHS))


def is_page(path: str) -> bool:
    return path == "/index.html" or _PAGE.fullmatch(path.rstrip("/") or "/") is not None


def opens_by_link(path: str) -> bool:
    """Whether a link of another site, such as a chat message, may lead to the path."""
    return path == SIGN_IN_CALLBACK or not path.startswith(INTERFACES)

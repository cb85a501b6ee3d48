"""Serves the built page: hashed assets for good, everything else fresh."""

import base64
import hashlib
import re
import secrets
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.types import Receive, Scope, Send

from loadwatch_backend.core.errors import MethodNotAllowedError, NotFoundError
from loadwatch_backend.core.middleware import send_problem
from loadwatch_backend.core.paths import NOT_PAGES, is_page

UI_DIRECTORY = Path(__file__).resolve().parent.parent / "ui"
NONCE_PLACEHOLDER = "__CSP_NONCE__"
IMMUTABLE = "public, max-age=31536000, immutable"
INLINE_SCRIPT = re.compile(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)

NOT_BUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Loadwatch: the page is not built</title>
<h1>The server runs; its page is not built yet</h1>
<p>Run <code>make build-ui</code> in the repository (or <code>make up</code>) and load this page again.</p>
<p>The API works meanwhile: <a href="/api/status">status</a>, <a href="/api/targets">targets</a>,
<a href="/metrics">metrics</a>.</p></html>
"""


def content_security_policy(html: str, nonce: str | None) -> str:
    """The strictest policy that the page works under.

    Inline scripts of the built page are allowed by their hash. Style elements are allowed by a nonce when the page has
    a place for one; else any inline style is, because the component kit writes style elements at run time.
    """
    hashes = [
        "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"
        for script in INLINE_SCRIPT.findall(html)
    ]
    style = "'unsafe-inline'" if nonce is None else f"'nonce-{nonce}'"
    return "; ".join(
        [
            "default-src 'none'",
            " ".join(["script-src 'self'", *hashes]),
            f"style-src 'self' {style}",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "manifest-src 'self'",
            "worker-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ]
    )


class UserInterface:
    """An ASGI application for every path that no route takes."""

    def __init__(self, directory: Path = UI_DIRECTORY) -> None:
        self._directory = directory

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        path: str = scope["path"]
        file = self._file(path)
        found = file is not None or is_page(path)
        if not found and (path.startswith(NOT_PAGES) or not _wants_page(scope)):
            await send_problem(NotFoundError(f"There is nothing at {path}."), scope, send)
        elif scope["method"] not in ("GET", "HEAD"):
            await send_problem(MethodNotAllowedError(f"{path} does not take {scope['method']}."), scope, send)
        elif file is not None:
            caching = IMMUTABLE if path.startswith("/assets/") else "no-cache"
            await FileResponse(file, headers={"Cache-Control": caching})(scope, receive, send)
        else:
            await self._page(200 if found else 404)(scope, receive, send)

    def _file(self, path: str) -> Path | None:
        """The file below the directory that a path names; None for the page itself, and for anything outside."""
        if "\0" in path or path.strip("/") in ("", "index.html"):
            return None
        file = (self._directory / path.lstrip("/")).resolve()
        try:
            inside = file.is_relative_to(self._directory.resolve()) and file.is_file()
        except OSError:  # a name longer than the file system takes
            return None
        return file if inside else None

    def _page(self, status: int) -> Response:
        try:
            html = (self._directory / "index.html").read_text()
        except FileNotFoundError:
            return HTMLResponse(NOT_BUILT, status, headers={"Cache-Control": "no-store"})
        nonce = secrets.token_urlsafe(16) if NONCE_PLACEHOLDER in html else None
        policy = content_security_policy(html, nonce)
        if nonce is not None:
            html = html.replace(NONCE_PLACEHOLDER, nonce)
        return HTMLResponse(html, status, headers={"Cache-Control": "no-cache", "Content-Security-Policy": policy})


def _wants_page(scope: Scope) -> bool:
    """Whether a person is looking: browsers ask for HTML by its name, programs for anything."""
    return "text/html" in Headers(scope=scope).get("accept", "")

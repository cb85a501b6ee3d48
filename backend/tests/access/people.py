"""A server with users, and clients that are signed in as them."""

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from loadwatch_backend.access.principal import Role
from loadwatch_backend.access.schemas import TokenIn, UserIn

PASSWORD = "four random words here"
PEOPLE = {"ann": Role.ADMIN, "ed": Role.EDITOR, "vi": Role.VIEWER}


@dataclass
class Town:
    """A server in the mode `users` with an administrator, an editor and a viewer."""

    server: Any
    stack: ExitStack = field(default_factory=ExitStack)

    @property
    def url(self) -> str:
        url: str = self.server.url
        return url

    def browser(self, **headers: str) -> httpx.Client:
        """A client with cookies of its own that says where its requests come from, as browsers do."""
        return self.stack.enter_context(
            httpx.Client(base_url=self.url, timeout=120, headers={"origin": self.url, **headers}, verify=False)
        )

    def signed_in(self, name: str, password: str = PASSWORD) -> httpx.Client:
        """A browser in which a user has signed in."""
        client = self.browser()
        answer = client.post("/api/session/password", json={"name": name, "password": password})
        assert answer.status_code == 200, answer.text
        return client

    def token(self, name: str, *scopes: str, role: Role | None = None) -> dict[str, str]:
        """Headers with a new token of the database."""
        given = TokenIn.model_construct(name=name, scopes=list(scopes), expires_ms=None)
        made = self.server.services.access.tokens.create(given, "test", role)
        return {"authorization": f"Bearer {made.token}"}

    def audit(self, action: str = "") -> list[dict[str, Any]]:
        """The audit log, newest first."""
        found = self.server.services.access.audit.list(0, 10**14, "", action, None, 500)
        return [entry.model_dump() for entry in found.entries]


@contextmanager
def town(start_server: Callable[..., Any], data: Path, **settings: Any) -> Generator[Town]:
    """Start one."""
    with ExitStack() as stack:
        server = stack.enter_context(start_server(data, access="users", **settings))
        for name, role in PEOPLE.items():
            server.services.access.users.create(UserIn(name=name, role=role, password=PASSWORD))
        yield Town(server=server, stack=stack)

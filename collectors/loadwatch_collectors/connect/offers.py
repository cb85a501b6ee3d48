"""Each listener with the lines that are offered for it, as the command and the page show them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from loadwatch_collectors.config import AgentConfig
from loadwatch_collectors.connect.find import Found, FoundListener
from loadwatch_collectors.connect.lines import Watched, digest, find_watched, target_lines
from loadwatch_collectors.connect.owners import user_name
from loadwatch_collectors.connect.seems import Seeming

_MOST_PIDS = 8
_KINDS = {
    "dbstats": "a Go program that shows its connection pool",
    "metrics": "a program with a page of metrics",
    "nginx": "nginx with its status page",
    "http": "an HTTP server",
    "mysql": "MySQL or MariaDB",
    "postgresql": "PostgreSQL",
    "pgbouncer": "PgBouncer",
    "redis": "Redis or Valkey",
    "memcached": "memcached",
    "ssh": "SSH",
    "tls": "a server that wants TLS",
    "loadwatch": "Loadwatch itself",
}


class Offer(NamedTuple):
    """A listener, what of it is watched, and the lines that watch the rest; empty where nothing is left."""

    listener: FoundListener
    watched: Sequence[Watched]
    lines: str

    @property
    def digest(self) -> str:
        """By which these lines are told from others."""
        return digest(self.lines)

    def document(self) -> dict[str, Any]:
        """The offer as JSON has it."""
        one = self.listener
        return {
            "port": one.port,
            "addresses": list(one.addresses),
            "program": one.program.name if one.program else None,
            "owner_seen": one.owner_seen,
            "user": user_name(one.uid),
            "pids": list(one.pids[:_MOST_PIDS]),
            "asked": one.asked,
            "seems": [{"kind": seen.kind, "told": seen.told, "path": seen.path} for seen in one.seems],
            "watched": [{"source": seen.source, "job": seen.job, "where": seen.where} for seen in self.watched],
            "lines": self.lines,
            "digest": self.digest,
        }

    def render(self) -> str:
        """The offer as text for a terminal."""
        one = self.listener
        name = one.program.name if one.program else "a program that this user may not see"
        told = "" if one.owner_seen else f", user {user_name(one.uid)}"
        seems = "; ".join(_words(seen) for seen in one.seems) or (
            "does not say what it is" if one.asked else "not asked"
        )
        watched = [f"  watched: {seen.source} ({seen.where})" for seen in self.watched]
        lines = [f"    {line}" for line in self.lines.splitlines()]
        return "\n".join([f"{one.port} · {name}{told} · {seems}   ({', '.join(one.addresses)})", *watched, *lines])


def make_offers(found: Found, config: AgentConfig, secrets_folder: Path, host: str) -> list[Offer]:
    """An offer for each listener. `host` is the instance that targets of this host have."""
    offers: list[Offer] = []
    for listener in found.listeners:
        watched = find_watched(listener, config)
        lines = target_lines(listener, watched, config, secrets_folder, host)
        offers.append(Offer(listener=listener, watched=watched, lines=lines))
    return offers


def _words(seen: Seeming) -> str:
    how = {
        "program": "by its name",
        "greeting": "by what it says first",
        "answer": f"by its answer to GET {seen.path}" if seen.path else "by its answer",
    }
    return f"seems {_KINDS[seen.kind]}, {how[seen.told]}"

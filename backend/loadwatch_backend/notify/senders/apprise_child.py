"""The process in which the apprise library sends one message; it reads a job and prints a result, as JSON.

Apprise opens connections in a hundred ways. An audit hook of the interpreter sees all of them, in every thread, and
cannot be taken away again; so the address check holds for whatever the library does.
"""

import json
import logging
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from loadwatch_backend.notify.senders.networks import NetworkPolicy, parse_allowed

CONNECTIONS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
REFUSED_EVENTS = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty"})
LOCAL_SCHEMAS = frozenset({"blink1", "dbus", "glib", "gnome", "kde", "macosx", "qt", "syslog", "windows"})
"""Services on this machine: nobody reads a server's desktop."""


@dataclass(kw_only=True)
class Guard:
    """The audit hook, and what it saw."""

    policy: NetworkPolicy
    refusals: list[str] = field(default_factory=list[str])
    addresses: list[str] = field(default_factory=list[str])

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """See `sys.addaudithook`.

        Raises:
            PermissionError: it is not allowed.
        """
        if event in REFUSED_EVENTS:
            self._refuse("notifications start no programs")
        if event not in CONNECTIONS or len(arguments) < 2 or arguments[1] is None:
            return
        if not isinstance(arguments[1], tuple):
            self._refuse("notifications do not use local sockets")
        host = str(cast(tuple[Any, ...], arguments[1])[0])
        refusal = self.policy.refusal(host)
        if refusal is not None:
            self._refuse(refusal)
        if host not in self.addresses:
            self.addresses.append(host)

    def _refuse(self, reason: str) -> None:
        if reason not in self.refusals:
            self.refusals.append(reason)
        raise PermissionError(reason)


class Messages(logging.Handler):
    """What the library complains about."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        self.lines.append(record.getMessage().replace("\n", " ")[:300])


def run(job: Mapping[str, Any]) -> dict[str, Any]:
    """Send one message; the result."""
    # The library reads hundreds of files as it starts; the guard comes after, and before any URL is looked at.
    import apprise
    import requests

    requests.sessions.SessionRedirectMixin.get_redirect_target = _no_redirect
    guard = Guard(policy=NetworkPolicy(allowed=parse_allowed(job["networks"])))
    sys.addaudithook(guard)
    messages = Messages()
    library = logging.getLogger("apprise")
    library.addHandler(messages)
    library.propagate = False
    schema = str(job["url"]).partition("://")[0].lower()
    if schema in LOCAL_SCHEMAS:
        return _result("permanent", f"{schema}:// shows messages on the server itself, where nobody reads them")
    client: Any = apprise.Apprise(asset=apprise.AppriseAsset(async_mode=False, storage_mode="memory"))
    if not client.add(job["url"]):
        return _result("permanent", f"apprise does not understand the URL ({schema}://…)")
    # Otherwise it takes the body for HTML where the service wants that, as mail does.
    sent = client.notify(
        body=job["body"], title=job["title"], notify_type=job["type"], body_format=apprise.NotifyFormat.TEXT
    )
    address = guard.addresses[-1] if guard.addresses else ""
    if sent:
        return _result("delivered", "", address)
    if guard.refusals:
        return _result("permanent", guard.refusals[0], address)
    return _result("passing", "; ".join(_unique(messages.lines[-3:])) or "apprise could not send it", address)


def _no_redirect(self: object, resp: object) -> None:
    del self, resp


def _unique(lines: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(lines))


def _result(outcome: str, error: str, address: str = "") -> dict[str, Any]:
    return {"outcome": outcome, "error": error, "address": address}


def main() -> None:
    """Read a job from standard input, print its result as the last line."""
    job = json.load(sys.stdin)
    # The parent ends this process at the deadline; this is for when the parent is gone.
    signal.alarm(int(job["seconds"]) + 2)
    socket.setdefaulttimeout(float(job["seconds"]))
    print(json.dumps(run(job)), flush=True)  # noqa: T201 - the answer to the parent


if __name__ == "__main__":
    main()

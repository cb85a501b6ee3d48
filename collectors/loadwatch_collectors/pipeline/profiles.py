"""Takes the profiles that the server orders: asks for orders, takes them one at a time of each process, sends them.

Only a configuration with a `pprof` block asks. A server of before answers 404: that is said once, and it is asked again
now and then, since servers are upgraded while agents run.
"""

import json
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple, cast
from urllib.parse import quote, urlencode

import structlog
import urllib3
from loadwatch_formats.own_traffic import AGENT
from loadwatch_formats.profile_kinds import PROFILE_KINDS

from loadwatch_collectors.collector import TargetIdentity
from loadwatch_collectors.config import WRITE_PATH, AgentConfig, ServerSettings
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.pprof import PprofSettings, ProfileTaker

ASK_SECONDS = 2.0
_AWAY_SECONDS = 10.0
"""Seconds between two requests to a server that does not answer; the sender logs the outage."""
_REFUSED_SECONDS = 300.0
"""The same for a server that knows no orders, or refuses them to this agent's token."""
_SEND_SECONDS = 60.0
_WAITS = (1.0, 3.0, 9.0, 27.0)
"""Seconds before each retry of a profile's upload; the server gives a profile up after 90 s."""
_TEXT_LIMIT = 500
_ORDERS_PATH = "/api/profiles/orders"

_log: Any = structlog.get_logger("loadwatch.profiles")


class Order(NamedTuple):
    id: str
    job: str
    instance: str
    kind: str
    seconds: int


def parse_orders(answer: bytes) -> list[Order]:
    """The orders of an answer; what this version does not know is left out.

    Raises:
        ValueError: it is no list of orders.
    """
    try:
        document: Any = json.loads(answer)
        listed = cast("list[dict[str, Any]]", document["orders"])
        found = [
            Order(*(str(one[name]) for name in ("id", "job", "instance", "kind")), seconds=int(one["seconds"]))
            for one in listed
        ]
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"no list of orders: {error!r}") from error
    return [order for order in found if order.kind in PROFILE_KINDS]


class ProfileOrders:
    """One thread that asks, and one for each process that a profile is being taken of."""

    def __init__(self, config: AgentConfig) -> None:
        """Nothing is asked yet; without `pprof` blocks, or with another receiver than Loadwatch, nothing ever is.

        Raises:
            ConfigError: a token or certificates cannot be read.
        """
        self._targets = [
            _Target(item.identity, item.settings)
            for item in config.collectors
            if isinstance(item.settings, PprofSettings)
        ]
        url = config.server.write_url
        self._asked = urlencode(
            [("job", job) for job in dict.fromkeys(target.identity.job for target in self._targets)]
        )
        self._channel = _Channel(config.server) if self._targets and url.endswith(WRITE_PATH) else None
        if self._targets and self._channel is None:
            _log.warning("profiles cannot be ordered: samples go to a receiver that is not Loadwatch", server=url)
        self._stopping = threading.Event()
        self._said = ""
        self._thread = threading.Thread(target=self._run, name="profiles", daemon=True)

    def start(self) -> None:
        if self._channel is not None:
            self._thread.start()

    def stop(self) -> None:
        """End; a profile under way is given up."""
        self._stopping.set()
        for target in self._targets:
            target.taker.close()

    def _run(self) -> None:
        channel = self._channel
        wait = ASK_SECONDS
        while channel is not None and not self._stopping.wait(wait):
            try:
                wait = self._ask(channel)
            except Exception:
                _log.exception("the taking of profiles has a fault of its own")
                wait = _AWAY_SECONDS

    def _ask(self, channel: "_Channel") -> float:
        """Ask once and start the profiles ordered; return the seconds until the next request."""
        answer = channel.send("GET", f"{_ORDERS_PATH}?{self._asked}")
        if answer is None:
            return _AWAY_SECONDS
        if answer.status != 200:
            self._say(answer)
            return _AWAY_SECONDS if answer.status >= 500 or answer.status == 429 else _REFUSED_SECONDS
        self._said = ""
        try:
            orders = parse_orders(answer.data)
        except ValueError as error:
            _log.warning("the server's orders for profiles cannot be read", reason=str(error))
            return _REFUSED_SECONDS
        for order in orders:
            for target in self._targets:
                if target.fits(order) and target.busy.acquire(blocking=False):
                    arguments = (channel, target, order)
                    name = f"profile-{order.kind}"
                    threading.Thread(target=self._carry_out, args=arguments, name=name, daemon=True).start()
                    break
        return ASK_SECONDS

    def _carry_out(self, channel: "_Channel", target: "_Target", order: Order) -> None:
        where = {"job": order.job, "instance": order.instance, "kind": order.kind}
        path = f"{_ORDERS_PATH}/{quote(order.id, safe='')}"
        try:
            begun = channel.send("POST", f"{path}/begin")
            if begun is None or begun.status != 200:  # another agent has it, or the server gave it up
                return
            try:
                profile = target.taker.take(order.kind, order.seconds)
            except CollectorError as error:
                _log.warning("a profile could not be taken", **where, reason=str(error))
                channel.insist("POST", f"{path}/failure", {"reason": str(error)[:_TEXT_LIMIT]}, self._stopping)
                return
            sent = channel.insist("POST", f"{path}/profile", profile, self._stopping)
            if sent is not None and sent.status < 300:
                _log.info("a profile was taken", **where, bytes=len(profile))
            else:
                _log.warning("a profile was taken, and the server did not take it", **where, reason=_words(sent))
        except Exception:
            _log.exception("the taking of a profile has a fault of its own", **where)
        finally:
            target.busy.release()

    def _say(self, answer: urllib3.BaseHTTPResponse) -> None:
        """Log the server's refusal once for each reason, not at each request."""
        reason = _words(answer)
        if answer.status == 404:
            reason = "it is of a version before profiles: upgrade the server"
        if reason != self._said:
            _log.warning("the server gives no orders for profiles", reason=reason)
        self._said = reason


class _Target:
    def __init__(self, identity: TargetIdentity, settings: PprofSettings) -> None:
        self.identity = identity
        self.taker = ProfileTaker(settings)
        self.busy = threading.Lock()

    def fits(self, order: Order) -> bool:
        return (order.job, order.instance) == (self.identity.job, self.identity.instance)


class _Channel:
    def __init__(self, server: ServerSettings) -> None:
        self._base = server.write_url.removesuffix(WRITE_PATH)
        self._seconds = server.timeout
        token = server.token()
        self._headers = {"User-Agent": AGENT} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._pool = urllib3.PoolManager(num_pools=1, maxsize=4, retries=False, ca_certs=server.ca_file)

    def send(
        self, method: str, path: str, body: Mapping[str, str] | bytes | None = None
    ) -> urllib3.BaseHTTPResponse | None:
        """One request; None when there was no answer."""
        kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        raw = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        seconds = self._seconds if raw is None else max(self._seconds, _SEND_SECONDS)
        try:
            return self._pool.request(
                method,
                self._base + path,
                body=raw,
                headers=self._headers if raw is None else {**self._headers, "Content-Type": kind},
                redirect=False,
                retries=False,
                timeout=urllib3.Timeout(total=seconds),
            )
        except (urllib3.exceptions.HTTPError, OSError):
            return None

    def insist(
        self, method: str, path: str, body: Mapping[str, str] | bytes, stopping: threading.Event
    ) -> urllib3.BaseHTTPResponse | None:
        """Send as `send` does; retry while there is no answer, a 5xx or a 429."""
        answer = self.send(method, path, body)
        for wait in _WAITS:
            if (answer is not None and answer.status < 500 and answer.status != 429) or stopping.wait(wait):
                break
            answer = self.send(method, path, body)
        return answer


def _words(answer: urllib3.BaseHTTPResponse | None) -> str:
    if answer is None:
        return "it does not answer"
    return f"it answered {answer.status}: {answer.data[:_TEXT_LIMIT].decode('utf-8', 'replace').strip()}"

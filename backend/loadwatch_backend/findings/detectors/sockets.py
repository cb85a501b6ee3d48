"""Sockets of a host: queues of connections, local ports, TIME-WAIT, and connections that are not kept."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.evidence import evidence
from loadwatch_backend.findings.measures.facts import focused, largest, load_effects, longest_episode, usual
from loadwatch_backend.findings.measures.hosts import AGENT, CPU, instance_of_host, smooth
from loadwatch_backend.findings.measures.outcomes import Clear, Draft, Observation, Outcome, detector
from loadwatch_backend.findings.messages import message, step
from loadwatch_backend.findings.model import Evidence, Finding, Link, Severity, Step
from loadwatch_backend.findings.window import BoolArray, Episode, Window, episodes, in_force, least_instants

QUEUE, QUEUE_LIMIT = "tcp_accept_queue", "tcp_accept_queue_limit"
OVERFLOWS = "node_netstat_TcpExt_ListenOverflows"
BACK_LOG = "mysql_global_variables_back_log"
SOMAXCONN = "kernel_somaxconn"
QUEUE_FULL = 0.9
NEAR = 0.5
"""Share that is near enough while connections are dropped: brief overflows are rarely seen."""
STANDING, STANDING_SHARE, STANDING_SECONDS = 10.0, 0.02, 5.0
"""A healthy server empties its queue again and again; one that never is stands."""
LEAST_DROPPED = 3
RETRIES = ((0.9, 1.5), (2.8, 3.6))
"""Where p99 lies when a SYN had to be sent once or twice more, after 1 s and then 2 s."""

CONNECTIONS, LOCAL_PORTS = "tcp_connections", "kernel_ephemeral_ports"

ACCEPTED, DIALLED = "node_netstat_Tcp_PassiveOpens", "node_netstat_Tcp_ActiveOpens"
LOGINS = "mysql_global_status_connections"
REQUESTS = "ingest_accepted_total"
EACH = 0.8
"""Connections for each request from which they are not kept."""
LEAST_REQUESTS = 20.0
LEAST_SECONDS = 10.0
MATTERS = 0.2
"""Share of the TIME-WAIT buckets, or of the local ports, from which what they leave behind matters."""

TIME_WAIT, BUCKETS = "node_sockstat_TCP_tw", "kernel_tcp_max_tw_buckets"
STATES = "node_tcp_connection_states"
NO_BUCKET = "node_netstat_TcpExt_TCPTimeWaitOverflow"
STAYS_SECONDS = 60.0
"""TCP_TIMEWAIT_LEN, fixed in Linux."""
HIGH, COMING = 0.5, 0.8
"""Share of the buckets that are taken, and that would be in a minute at this rate."""
PROVEN = 0.5
"""Share of sockstat's figure that has to be TIME-WAIT: it holds orphaned FIN-WAIT-2 as well."""
BUCKETS_FULL = 0.9
LEAST_OVERFLOWS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class _Port:
    """The queue of a listening port; `bound` connections fit into it, NaN where unknown."""

    labels: Mapping[str, str]
    queue: FloatArray
    bound: float
    limit: FloatArray
    dropped: FloatArray
    interval_ms: int
    database: bool

    @property
    def name(self) -> Words:
        port, instance = self.labels.get("port", "?"), self.labels.get("instance")
        return message(
            "accept-queue-full.name",
            port=port,
            instance=message("accept-queue-full.host") if instance is None else instance,
            database=message("accept-queue-full.database") if self.database else SILENT,
        )


@detector("accept-queue-full", needs=(QUEUE,), reads=(QUEUE_LIMIT, OVERFLOWS, BACK_LOG, SOMAXCONN))
def accept_queue_full(window: Window) -> Iterator[Outcome]:
    """One finding for each port whose connections waited to be accepted; one for a host where none can be named."""
    for port in _ports(window):
        most = largest(port.queue, window.focus)
        if not np.isfinite(most):
            continue
        of = message("accept-queue-full.of", bound=port.bound) if np.isfinite(port.bound) else SILENT
        text = message("accept-queue-full.clear", most=most, name=port.name, of=of)
        episode = longest_episode(window, _waits(window, port), port.interval_ms, port.limit)
        if episode is None:
            yield Clear(text)
        else:
            yield _queue_full(window, port, episode) or Observation(text)


def _ports(window: Window) -> Iterator[_Port]:
    back_logs = {largest(row, window.focus) for row in window[BACK_LOG].held} - {float("nan")}
    for labels, table in window[QUEUE].by("job", "instance", "port"):
        host = {name: labels.get(name, "") for name in ("job", "instance")}
        limit = in_force(window[QUEUE_LIMIT].where(**host, port=labels.get("port", "")).max)
        bound = largest(limit, window.focus)
        yield _Port(
            labels=labels,
            queue=table.max,
            bound=bound if bound > 0 else float("nan"),
            limit=limit,
            dropped=window[OVERFLOWS].where(**host).rate,
            interval_ms=table.slowest_ms,
            database=labels.get("port") == "3306" or bound in back_logs,
        )


def _waits(window: Window, port: _Port) -> BoolArray:
    """Where the queue stood, was full, or was near that while the host dropped connections."""
    limit = np.where(port.limit > 0, port.limit, np.nan)
    full = port.queue >= QUEUE_FULL * limit
    near = _widened(window, port.queue >= NEAR * limit, 2.0) & (port.dropped > 0)
    least_standing = np.maximum(STANDING, STANDING_SHARE * np.nan_to_num(limit))
    never_less = ~_widened(window, ~(port.queue >= least_standing), STANDING_SECONDS / 2)
    return full | near | never_less


def _widened(window: Window, holds: BoolArray, seconds: float) -> BoolArray:
    """Where `holds` is true at some instant at most `seconds` away."""
    reach = max(round(seconds / window.step_seconds), 1)
    return np.convolve(holds, np.ones(2 * reach + 1), "same") > 0 if len(holds) > 2 * reach else holds


def _dropped(window: Window, port: _Port, episode: Episode) -> list[Evidence]:
    around = slice(max(episode.first - 2, 0), min(episode.end + 2, window.grid.count))
    times = window.total(port.dropped, around)
    host = {name: value for name, value in port.labels.items() if name != "port"}
    if times < LEAST_DROPPED:
        return []
    return [evidence(window, "accept-queue-full.dropped", port.dropped, labels=host, times=times)]


def _retried(window: Window, episode: Episode) -> list[Evidence]:
    """p99 at a whole second while half of the answers are quick: a SYN was sent again."""
    if window.load is None:
        return []
    slow, quick = usual(window.load.p99, episode.span), usual(window.load.p50, episode.span)
    if not any(low <= slow <= high for low, high in RETRIES) or not quick < slow / 5:
        return []
    return [evidence(window, "accept-queue-full.retried", window.load.p99, value=slow, at=episode.first, quick=quick)]


def _queue_full(window: Window, port: _Port, episode: Episode) -> Finding | None:
    harm = [*_dropped(window, port, episode), *_retried(window, episode), *load_effects(window, episode)]
    if not harm and window.load is not None:
        return None
    window = window.during(episode)
    bound, most = largest(port.limit, window.focus), largest(port.queue, window.focus)
    port = replace(port, bound=bound if bound > 0 else float("nan"))
    known = np.isfinite(port.bound)
    of = message("accept-queue-full.bound", bound=port.bound) if known else SILENT
    draft, limit = Draft(window, episode, port.labels, of=of), port.bound if known else None
    shown = draft.show("accept-queue-full.waiting", port.queue, limit=limit)
    dropped = any(one.link is Link.DEMAND for one in harm)
    # A queue that is not full is demand alone; a full one is both, where nothing was seen to be dropped.
    waiting = [replace(shown, link=Link.DEMAND)]
    if dropped:
        waiting = [shown]
    elif most >= QUEUE_FULL * port.bound:
        waiting = [shown, *waiting]
    steps, effect = _queue_steps(window, port, most), harm[0].text if harm else SILENT
    return draft.finding(
        "accept-queue-full.sentence", [*waiting, *harm], steps, most=most, name=port.name, effect=effect
    )


def _queue_steps(window: Window, port: _Port, most: float) -> list[Step]:
    longer = max(1_024, 2 ** int(np.ceil(np.log2(max(most, 1) * 2))))
    somaxconn = largest(window[SOMAXCONN].max, window.focus)
    first = step("accept-queue-full.find", port=port.labels.get("port", ""))
    if port.database:
        return [step("accept-queue-full.keep", longer=longer), first]
    if not np.isfinite(port.bound) or not (somaxconn <= port.bound or port.bound < longer):
        return [first]
    return [first, step("accept-queue-full.longer", longer=longer, bound=port.bound)]


def _host(labels: Mapping[str, str]) -> str:
    return labels.get("instance", "the host")


@detector(
    "keep-alive-off",
    needs=(ACCEPTED,),
    reads=(LOGINS, REQUESTS, CONNECTIONS, BUCKETS, LOCAL_PORTS, AGENT, CPU),
    least_seconds=LEAST_SECONDS,
)
def keep_alive_off(window: Window) -> Iterator[Outcome]:
    """One finding for each host whose application gets a connection for each request."""
    hosts = list(window[ACCEPTED].by("job", "instance"))
    # A client that gives up closes its connection, which is no lack of keep-alive.
    gave_up = np.zeros(window.grid.count) if window.load is None else np.nan_to_num(window.load.failed())
    for labels, table in hosts:
        requests = _requests(window, labels, alone=len(hosts) == 1)
        opened = np.maximum(table.rate - np.nan_to_num(window[LOGINS].rate), 0.0)
        asked = smooth(window, requests, table.slowest_ms)
        busy = (asked >= LEAST_REQUESTS) & np.isfinite(opened)
        if not focused(window, busy).any():
            continue
        episode = longest_episode(
            window,
            busy & (smooth(window, opened - gave_up, table.slowest_ms) >= EACH * asked),
            table.slowest_ms,
            seconds=LEAST_SECONDS,
        )
        if episode is None:
            name, each, all_requests = _host(labels), window.total(opened), window.total(requests)
            yield Clear(message("keep-alive-off.clear", name=name, opened=each, requests=all_requests))
        else:
            yield _not_kept(window.during(episode), labels, opened, requests, episode)


def _requests(window: Window, host: Mapping[str, str], *, alone: bool) -> FloatArray:
    """Requests per second that the applications on a host took; those of the load where nothing on it counts."""
    total = np.full(window.grid.count, np.nan)
    for labels, table in window[REQUESTS].by("job", "instance"):
        place = instance_of_host(window, labels)
        if place == host.get("instance") or (place is None and alone):
            total = np.where(np.isfinite(table.rate), np.nan_to_num(total) + table.rate, total)
    if not np.isfinite(total).any() and alone and window.load is not None:
        return window.load.rate
    return total


def _not_kept(
    window: Window, labels: Mapping[str, str], opened: FloatArray, requests: FloatArray, episode: Episode
) -> Finding:
    each, asked = window.total(opened), window.total(requests)
    waiting = window[CONNECTIONS].where(**labels, state="time_wait").sum
    bounds = [largest(window[metric].where(**labels).max, window.focus) for metric in (BUCKETS, LOCAL_PORTS)]
    room = min((bound for bound in bounds if bound > 0), default=float("nan"))
    many = focused(window, waiting >= MATTERS * room)
    draft, harm = Draft(window, episode, labels, opened=each, requests=asked), list[Evidence]()
    if many.any():
        # What the load felt may have any other reason; it is said of this only where sockets pile up.
        left = draft.show("keep-alive-off.left_behind", waiting, labels={**labels, "state": "time_wait"}, limit=room)
        harm = [left, *load_effects(window, episode)]
    shown, closes = draft.show("keep-alive-off.opened", opened, each=each / asked), _who_closes(window, labels)
    severity, key = None if harm else Severity.INFO, "keep-alive-off.sentence"
    found = draft.finding(key, [shown, *harm], severity=severity, name=_host(labels), closes=closes)
    first = int(many.argmax())
    return replace(
        found,
        from_ms=window.grid.time_ms(max(episode.first, first)),
        to_ms=window.grid.time_ms(max(episode.end - 1, first)),
    )


def _who_closes(window: Window, labels: Mapping[str, str]) -> Words:
    """TIME-WAIT stands at the end that closes first."""
    local, remote = (
        np.nan_to_num(largest(window[CONNECTIONS].where(**labels, state="time_wait", side=side).max, window.focus))
        for side in ("local", "remote")
    )
    if max(local, remote) < LEAST_REQUESTS:
        return SILENT
    return message("keep-alive-off.server_closes" if local > remote else "keep-alive-off.client_closes")


@detector("time-wait-buildup", needs=(TIME_WAIT,), reads=(BUCKETS, STATES, CONNECTIONS, ACCEPTED, DIALLED))
def time_wait_buildup(window: Window) -> Iterator[Outcome]:
    """One finding for each host whose buckets fill, at a rate that will take them all."""
    for labels, table in window[TIME_WAIT].by("job", "instance"):
        level, limit = table.max, in_force(window[BUCKETS].where(**labels).max)
        bound, most = largest(limit, window.focus), largest(level, window.focus)
        if not np.isfinite(most + bound) or bound <= 0:
            continue
        text = message("time-wait-buildup.clear", name=_host(labels), most=most, bound=bound)
        high = focused(window, level >= HIGH * limit)
        least = least_instants(window.grid, table.slowest_ms)
        if not episodes(high, least=least, gap=5):
            yield Clear(text)
            continue
        # On one host both ends count each connection, once as accepted and once as dialled.
        rates = [np.nan_to_num(window[metric].where(**labels).rate) for metric in (ACCEPTED, DIALLED)]
        opened = smooth(window, np.maximum(*rates), table.slowest_ms)
        found = episodes(high & (opened * STAYS_SECONDS >= COMING * limit), least=least, gap=10)
        waiting = largest(window[STATES].where(**labels, state="time_wait").max, window.focus)
        if not found or waiting < PROVEN * most:
            yield Observation(text)
            continue
        episode = window.one_of(found, limit)
        yield _fills(window.during(episode), labels, level, largest(limit, episode.span), opened)


def _fills(window: Window, labels: Mapping[str, str], level: FloatArray, bound: float, opened: FloatArray) -> Finding:
    rate = largest(opened, window.focus)
    draft = Draft(window, window.episode, labels, most=largest(level, window.focus), bound=bound, rate=rate)
    shown = [
        draft.show("time-wait-buildup.buckets", level, limit=bound),
        draft.show("time-wait-buildup.opened", opened, limit=bound / STAYS_SECONDS, stays=STAYS_SECONDS),
        *load_effects(window),
    ]
    name, where, need = _host(labels), _where(window, labels), rate * STAYS_SECONDS
    return draft.finding("time-wait-buildup.sentence", shown, name=name, where=where, need=need)


def _where(window: Window, labels: Mapping[str, str]) -> Words:
    table = window[CONNECTIONS].where(**labels, state="time_wait")
    most = [
        (largest(row, window.focus), one.get("port", "?")) for one, row in zip(table.labels, table.held, strict=True)
    ]
    known = [one for one in most if one[0] >= 1]
    if not known:
        return SILENT
    number, port = max(known)
    return message("time-wait-buildup.where", number=number, port=port)


@detector("time-wait-overflow", needs=(NO_BUCKET,), reads=(TIME_WAIT, BUCKETS))
def time_wait_overflow(window: Window) -> Iterator[Outcome]:
    """One finding for each host that closed connections without TIME-WAIT, for all its buckets were taken."""
    for labels, table in window[NO_BUCKET].by("job", "instance"):
        lost = table.rate
        if not np.isfinite(lost[window.focus]).any():
            continue
        times = window.total(lost)
        found = episodes(focused(window, lost > 0), gap=10)
        if not found or times < LEAST_OVERFLOWS:
            yield Clear(message("time-wait-overflow.clear", name=_host(labels), times=times))
            continue
        yield _overflow(window.during(window.one_of(found, window[BUCKETS].where(**labels).max)), labels, lost)


def _overflow(window: Window, labels: Mapping[str, str], lost: FloatArray) -> Finding:
    level = window[TIME_WAIT].where(**labels).max
    bound = largest(window[BUCKETS].where(**labels).max, window.focus)
    draft = Draft(window, window.episode, labels, name=_host(labels), times=window.total(lost))
    of, shown, wanted = message("time-wait-overflow.buckets"), list[Evidence](), 16_384
    if bound > 0 and largest(level, window.focus) >= BUCKETS_FULL * bound:
        of = message("time-wait-overflow.all_buckets", bound=bound)
        shown = [draft.show("time-wait-overflow.taken", level, limit=bound)]
        wanted = 2 ** int(np.ceil(np.log2(max(bound, 1) * 2)))
    shown += [draft.show("time-wait-overflow.without", lost), *load_effects(window)]
    return draft.finding("time-wait-overflow.sentence", shown, of=of, wanted=wanted)

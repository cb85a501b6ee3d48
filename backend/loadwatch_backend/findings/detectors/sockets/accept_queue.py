"""Connections wait in the kernel's queue until the program accepts them, and beyond its end they are dropped."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, selector, since_start, together, usual
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, figure
from loadwatch_backend.findings.window import BoolArray, Episode, Window, episodes, in_force, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

QUEUE, LIMIT = "tcp_accept_queue", "tcp_accept_queue_limit"
OVERFLOWS = "node_netstat_TcpExt_ListenOverflows"
BACK_LOG = "mysql_global_variables_back_log"
SOMAXCONN = "kernel_somaxconn"

FULL = 0.9
NEAR = 0.5
"""Beside overflows: read once a second, a queue that overflows for a moment is rarely seen full."""
STANDING, STANDING_SHARE, STANDING_SECONDS = 10.0, 0.02, 5.0
"""A healthy server empties its queue again and again; one that never is stands."""
LEAST_DROPPED = 3
RETRIES = ((0.9, 1.5), (2.8, 3.6))
"""Where p99 lies when a SYN had to be sent once or twice more, after 1 s and then 2 s."""

KIND = Kind(
    id="accept-queue-full",
    resource="accept_queue",
    severity=Severity.CRITICAL,
    title=Words("Accept queue full", "acceptキューの飽和"),
    explanation=Words(
        "The kernel has finished the handshake and keeps the connection until the program calls accept(). The program "
        "does not keep up, or cannot. Clients take themselves for connected and wait; beyond the end of the queue the "
        "kernel drops what comes, and the client tries again after 1, 3 and 7 seconds.",
        "カーネルがハンドシェイクを終えた接続は、プログラムがaccept()するまでキューで待つ。プログラムが追いついていない。"
        "クライアントは接続済みと思って待ち、キューが溢れるとSYNが捨てられ、1秒、3秒、7秒後の再送になる。",
    ),
    rule=Rule(
        text=Words(
            "The queue is as long as the smaller of the program's backlog and net.core.somaxconn. A longer one takes "
            "bursts only; who is too slow all the time fills any queue.",
            "キュー長はプログラムのbacklogとnet.core.somaxconnの小さい方。長くしても一時的な集中にしか効かない。",
        ),
        source="listen(2)",
    ),
    refuted_by=Words(
        "ss -ltn shows a Recv-Q of 0 at this port while the answers are slow.",
        "応答が遅い間も、ss -ltnでこのポートのRecv-Qが0であること。",
    ),
)


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
    def name(self) -> str:
        port, instance = self.labels.get("port", "?"), self.labels.get("instance", "the host")
        return f"port {port} of {instance}" + (" (the database)" if self.database else "")

    @property
    def name_ja(self) -> str:
        port, instance = self.labels.get("port", "?"), self.labels.get("instance", "ホスト")
        return f"{instance}のポート{port}" + ("(DB)" if self.database else "")


def look(window: Window) -> Look:
    """One finding for each port whose connections waited to be accepted; one for a host where none can be named."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for port in _ports(window):
        most = largest(port.queue, window.focus)
        if not np.isfinite(most):
            continue
        words = Words(
            f"At most {count(most)} connections waited at {port.name}"
            + (f", of {count(port.bound)} that may." if np.isfinite(port.bound) else "."),
            f"{port.name_ja}のaccept待ちは最大{count(most)}"
            + (f"(上限{count(port.bound)})。" if np.isfinite(port.bound) else "。"),
        )
        episode = _waiting(window, port)
        if episode is None:
            clear.append(words)
            continue
        harm = [*_dropped(window, port, episode), *_retried(window, episode), *felt(window, episode)]
        if not harm and window.load is not None:
            observations.append(words)
            continue
        bound = largest(port.limit, episode.span)
        port = replace(port, bound=bound if bound > 0 else float("nan"))
        findings.append(_finding(window.during(episode), port, episode, harm))
    return Look(findings=findings, clear=together(clear), observations=observations)


def _ports(window: Window) -> list[_Port]:
    back_logs = {largest(row, window.focus) for row in window[BACK_LOG].held} - {float("nan")}
    found: list[_Port] = []
    for labels, table in window[QUEUE].by("job", "instance", "port"):
        host = {name: labels.get(name, "") for name in ("job", "instance")}
        limit = in_force(window[LIMIT].where(**host, port=labels.get("port", "")).max)
        bound = largest(limit, window.focus)
        found.append(
            _Port(
                labels=labels,
                queue=table.max,
                bound=bound if bound > 0 else float("nan"),
                limit=limit,
                dropped=window[OVERFLOWS].where(**host).rate,
                interval_ms=table.slowest_ms,
                database=labels.get("port") == "3306" or bound in back_logs,
            )
        )
    return found


def _waiting(window: Window, port: _Port) -> Episode | None:
    """Where the queue stood, was full, or was near that while the host dropped connections."""
    limit = np.where(port.limit > 0, port.limit, np.nan)
    full = port.queue >= FULL * limit
    near = _around(window, port.queue >= NEAR * limit, 2.0) & (port.dropped > 0)
    least_standing = np.maximum(STANDING, STANDING_SHARE * np.nan_to_num(limit))
    never_less = ~_around(window, ~(port.queue >= least_standing), STANDING_SECONDS / 2)
    holds = focused(window, full | near | never_less)
    found = episodes(holds, least=least_instants(window.grid, port.interval_ms), gap=5)
    return window.one_of(found, port.limit) if found else None


def _around(window: Window, holds: BoolArray, seconds: float) -> BoolArray:
    """Whether it holds at any instant so near."""
    reach = max(round(seconds / window.step_seconds), 1)
    return np.convolve(holds, np.ones(2 * reach + 1), "same") > 0 if len(holds) > 2 * reach else holds


def _dropped(window: Window, port: _Port, episode: Episode) -> list[Evidence]:
    around = slice(max(episode.first - 2, 0), min(episode.end + 2, window.grid.count))
    times = window.total(port.dropped, around)
    if times < LEAST_DROPPED:
        return []
    host = {name: value for name, value in port.labels.items() if name != "port"}
    return [
        show(
            window,
            Words(
                f"The kernel dropped {count(times)} connections at a full queue of this host.",
                f"このホストの満杯のキューで{count(times)}接続が捨てられた。",
            ),
            link=Link.DEMAND,
            expression=f"rate({OVERFLOWS}{selector(host)}[5s])",
            unit=Unit.PER_SECOND,
            values=port.dropped,
        )
    ]


def _retried(window: Window, episode: Episode) -> list[Evidence]:
    """p99 at a whole second while half of the answers are quick: a SYN was sent again."""
    if window.load is None:
        return []
    slow, quick = usual(window.load.p99, episode.span), usual(window.load.p50, episode.span)
    if not any(low <= slow <= high for low, high in RETRIES) or not quick < slow / 5:
        return []
    return [
        show(
            window,
            Words(
                f"p99 was {duration(slow)} and half of the answers took less than {duration(quick)}: a connection "
                "request was sent again.",
                f"p99は{duration_ja(slow)}、半数は{duration_ja(quick)}未満。SYNが再送された。",
            ),
            link=Link.EFFECT,
            expression='max(loadtest_request_duration_seconds{quantile="0.99"})',
            unit=Unit.SECONDS,
            values=window.load.p99,
            value=slow,
            at=episode.first,
        )
    ]


def _finding(window: Window, port: _Port, episode: Episode, harm: list[Evidence]) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when, most = since_start(window, from_ms), largest(port.queue, episode.span)
    chosen = selector(port.labels)
    full = most >= FULL * port.bound or any(one.link is Link.DEMAND for one in harm)
    bound = Words(f" of {count(port.bound)}", f"/{count(port.bound)}") if np.isfinite(port.bound) else Words("", "")
    said = harm[0].text if harm else Words("", "")
    evidence = [
        show(
            window,
            Words(
                f"Up to {count(most)}{bound.en} connections waited to be accepted.",
                f"accept待ちは最大{count(most)}{bound.ja}接続。",
            ),
            link=link,
            expression=f"{QUEUE}{chosen}",
            unit=Unit.COUNT,
            values=port.queue,
            limit=port.bound if np.isfinite(port.bound) else None,
        )
        for link in ((Link.LIMIT, Link.DEMAND) if full else (Link.DEMAND,))
    ]
    return Finding(
        kind=KIND,
        sentence=Words(
            f"Up to {count(most)}{bound.en} connections waited to be accepted at {port.name} from {when.en}. "
            f"{said.en}".rstrip(),
            f"{port.name_ja}で{when.ja}から最大{count(most)}{bound.ja}接続がaccept待ち。{said.ja}",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=port.labels,
        evidence=[*evidence[:1], *harm] if any(one.link is Link.DEMAND for one in harm) else [*evidence, *harm],
        steps=_steps(window, port, most),
    )


def _steps(window: Window, port: _Port, most: float) -> list[Step]:
    longer = max(1_024, 2 ** int(np.ceil(np.log2(max(most, 1) * 2))))
    somaxconn = largest(window[SOMAXCONN].max, window.focus)
    first = Step(
        text=Words(
            "Find what keeps the program from accepting: no file descriptors, no CPU, or a lock.",
            "accept()できない原因(ファイル記述子、CPU、ロック)を調べる。",
        ),
        code=f"ss -ltn 'sport = :{port.labels.get('port', '')}'  # Recv-Q: waiting, Send-Q: the queue's length",
    )
    if port.database:
        return [
            Step(
                text=Words(
                    "Keep connections to the database open (a pool with MaxIdle = MaxOpen): logins are what fills the "
                    f"queue. For bursts, back_log = {longer}.",
                    f"DBへの接続を保持する(MaxIdle = MaxOpenのプール)。一時的な集中にはback_log = {longer}。",
                ),
                code=f"[mysqld]\nback_log = {longer}",
            ),
            first,
        ]
    if not np.isfinite(port.bound) or not (somaxconn <= port.bound or port.bound < longer):
        return [first]
    return [
        first,
        Step(
            text=Words(
                f"For bursts a longer queue: {longer} instead of {figure(port.bound)}, then start the program anew.",
                f"一時的な集中にはキューを{figure(port.bound)}から{longer}に延ばし、プログラムを再起動する。",
            ),
            code=f"sysctl -w net.core.somaxconn={longer}",
        ),
    ]


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(QUEUE,),
    reads=(LIMIT, OVERFLOWS, BACK_LOG, SOMAXCONN),
    follows=(
        "file-descriptors-exhausted",
        "app-cpu-full",
        "one-core-busy",
        "container-throttled",
        "app-lock-stall",
        "pool-per-request",
        "pool-churn",
        "pool-lifetime-churn",
        "database-cpu-full",
        "database-connections-exhausted",
        "host-swapping",
    ),
    switched_on_by="sockets: {}",
)

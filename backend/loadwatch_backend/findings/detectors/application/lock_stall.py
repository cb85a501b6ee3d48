"""Requests pile up inside the application again and again, while pool, CPU and database have little to do."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import (
    POOL_METRICS,
    focused,
    largest,
    pools,
    selector,
    since_start,
    together,
    usual,
)
from loadwatch_backend.findings.seen.flows import ACCEPTED
from loadwatch_backend.findings.seen.hosts import HOST_METRICS, cores_of, host_of
from loadwatch_backend.findings.seen.numbers import count, counted, duration, duration_ja, figure
from loadwatch_backend.findings.window import BoolArray, Episode, Load, Window, episodes
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

IN_FLIGHT, PROCESS_CPU, RUNNING = (
    "http_requests_in_flight",
    "process_cpu_seconds_total",
    "mysql_global_status_threads_running",
)
SLOW_SECONDS = 0.1
SPREAD = 5.0
"""p99 against the median of quick moments, from which answers are far apart."""
LEAST_PILE = 10.0
LOW = 0.3
"""Between two piles the number of requests in flight falls to this share of the highest."""
STALLED_SHARE = 0.2
LEAST_STALLS = 3
LEAST_SECONDS = 10
IDLE_CPU = 0.7
HOST_BUSY = 0.95
NO_PROGRESS = 0.2

KIND = Kind(
    id="app-lock-stall",
    severity=Severity.CRITICAL,
    title=Words("Requests wait for each other inside the application", "アプリ内部での待ち合い(ロック)"),
    explanation=Words(
        "Requests pile up inside the application and leave together, while few connections are in use and its CPU is "
        "idle: they wait for one thing that one of them holds, such as a mutex that is held while a buffer is "
        "written. The median stays small and the slowest answers are many times slower.",
        "使用中の接続は少なくCPUも空いているのに、リクエストがアプリ内に溜まり、まとめて抜けていく。バッファの"
        "書き込み中に保持されるmutexなど、1つのものを待ち合っている。中央値は小さいまま、遅い応答だけが何倍も遅い。",
    ),
    rule=Rule(
        text=Words(
            "What one request at a time may hold for S seconds lets at most 1/S requests pass a second.",
            "1リクエストずつS秒保持するものは、毎秒1/S件しか通さない。",
        ),
        source=(
            "P. J. Denning, J. P. Buzen, The Operational Analysis of Queueing Network Models, "
            "ACM Computing Surveys 10 (1978)"
        ),
    ),
    refuted_by=Words(
        "A mutex and a block profile of these seconds without waits, or a call to another service that is slow then.",
        "その時間帯のmutex/blockプロファイルに待ちがないこと、または別サービスへの呼び出しが遅いこと。",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stall:
    """Where requests of one instance piled up; [instant] each.

    Attributes:
        used: connections in use, or NaN; cpu: cores that the process used, or NaN.
        stuck: hardly anything was accepted while requests were inside.
    """

    episode: Episode
    piles: int
    in_flight: FloatArray
    used: FloatArray
    cpu: FloatArray
    stuck: BoolArray


def look(window: Window) -> Look:
    """A finding for each instance in which requests wait for each other."""
    load = window.load
    if load is None or not np.isfinite(window.inside(load.p99)).any():
        return Look()
    findings: list[Finding] = []
    clear: list[Words] = []
    unjudged: list[Words] = []
    for labels, table in window[IN_FLIGHT].by("job", "instance"):
        in_flight = table.sum
        most = largest(in_flight, window.focus)
        if not np.isfinite(most):
            continue
        stall = _stall(window, load, labels, in_flight)
        if isinstance(stall, _Stall):
            findings.append(_finding(window, load, labels, stall))
            continue
        if stall is not None:
            unjudged.append(stall)
            continue
        name, slowest = labels.get("instance", ""), largest(load.p99, window.focus)
        clear.append(
            Words(
                f"Up to {count(most)} requests were inside {name} at once; p99 was {duration(slowest)} at most.",
                f"{name}内のリクエストは同時に最大{count(most)}件、p99は最大{duration_ja(slowest)}。",
            )
        )
    return Look(findings=findings, clear=together(clear), unjudged=together(unjudged))


def _quick(window: Window, load: Load) -> float:
    """The median of quick moments, seconds."""
    known = window.inside(load.p50)
    known = known[np.isfinite(known)]
    return float(np.quantile(known, 0.1)) if known.size else float("nan")


def _stall(window: Window, load: Load, labels: Mapping[str, str], in_flight: FloatArray) -> _Stall | Words | None:
    """Where requests wait for each other, or why that cannot be told; None where they do not."""
    quick, most = _quick(window, load), largest(in_flight, window.focus)
    if not np.isfinite(quick) or not most >= LEAST_PILE:
        return None
    slow = focused(window, load.p99 >= max(SLOW_SECONDS, SPREAD * quick))
    seconds = int(np.isfinite(window.inside(load.p99)).sum())
    times = episodes(slow, least=1, gap=0)
    if int(slow.sum()) < LEAST_STALLS:
        return None
    # A pile that never goes away is a queue for something else; one that comes and goes is let through in a body.
    known = window.inside(in_flight)
    known = known[np.isfinite(known)]
    piled = focused(window, in_flight >= max(0.5 * most, LEAST_PILE))
    piles = len(episodes(piled, least=1, gap=0))
    used, cpu = _used(window, labels), window[PROCESS_CPU].where(**labels).rate
    if not (slow & piled).any() or not _rest_is_idle(window, labels, piled, used, in_flight, cpu):
        return None
    host, name = host_of(window, labels), labels.get("instance", "the application")
    if host is not None and _there(host.busy, piled) >= HOST_BUSY * host.cores:
        return Words(
            f"Requests piled up inside {name}, and its host had no CPU to spare meanwhile.",
            f"{name}内にリクエストが滞留したが、その間ホストのCPUに余裕がなかった。",
        )
    if piles < LEAST_STALLS or seconds < LEAST_SECONDS:
        return Words(
            f"Requests piled up inside {name} {counted(piles, 'time', 'times')}; {LEAST_STALLS} times in "
            f"{LEAST_SECONDS} s of load are needed to tell.",
            f"{name}内へのリクエストの滞留は{piles}回。判断には{LEAST_SECONDS}秒の負荷で{LEAST_STALLS}回必要。",
        )
    few = len(times) < LEAST_STALLS and int(slow.sum()) < STALLED_SHARE * seconds
    if few or float(np.quantile(known, 0.25)) > LOW * most:
        return None
    accepted = window[ACCEPTED].where(**labels).rate
    even = load.rate >= 0.5 * usual(load.rate, window.focus)
    stuck = focused(window, (accepted < NO_PROGRESS * usual(accepted, window.focus)) & even & (in_flight >= LEAST_PILE))
    return _Stall(
        episode=window.one_of(times),
        piles=piles,
        in_flight=in_flight,
        used=used,
        cpu=cpu,
        stuck=stuck,
    )


def _there(values: FloatArray, where: BoolArray) -> float:
    """The median of [instant] at some instants; NaN where nothing is known there."""
    return float(np.median(part)) if (part := values[where & np.isfinite(values)]).size else float("nan")


def _used(window: Window, labels: Mapping[str, str]) -> FloatArray:
    """Connections in use over all pools of the instance."""
    own = [pool for pool in pools(window) if all(pool.labels.get(name) == labels[name] for name in labels)]
    if not own:
        return np.full(window.grid.count, np.nan)
    return np.sum(np.stack([pool.in_use for pool in own]), axis=0)


def _rest_is_idle(
    window: Window,
    labels: Mapping[str, str],
    piled: BoolArray,
    used: FloatArray,
    in_flight: FloatArray,
    cpu: FloatArray,
) -> bool:
    """Whether pool, database and CPU had room while requests piled up; at least the pool has to be known."""

    def there(values: FloatArray) -> float:
        return _there(values, piled)

    if not there(used) <= 0.5 * there(in_flight):
        return False
    for pool in pools(window):
        if all(pool.labels.get(name) == labels[name] for name in labels):
            full = pool.limit > 0
            if there(np.where(full, pool.in_use / np.where(full, pool.limit, 1.0), 0.0)) > 0.8 or (
                usual(pool.waiting, window.focus) >= 0.3
            ):
                return False
    cores = cores_of(window, labels)
    if cores is not None and there(cpu) >= IDLE_CPU * cores:
        return False
    running = there(window[RUNNING].max)
    return not running > 0.5 * there(in_flight)


def _finding(window: Window, load: Load, labels: Mapping[str, str], stall: _Stall) -> Finding:
    from_ms = window.grid.time_ms(stall.episode.first)
    when = since_start(window, from_ms, "at ")
    most, slowest, quick = (
        largest(stall.in_flight, window.focus),
        largest(load.p99, stall.episode.span),
        _quick(window, load),
    )
    used, name = usual(stall.used, stall.episode.span), labels.get("instance", "the application")
    return Finding(
        kind=KIND,
        sentence=Words(
            f"Requests wait for each other inside {name}: up to {count(most)} at once, {stall.piles} times, while "
            f"{_connections(used)} in use; the slowest took {duration(slowest)}, quick ones "
            f"{duration(quick)}. It began {when.en}.",
            f"{name}の内部でリクエストが待ち合っている。使用中の接続{count(used)}に対し同時に最大{count(most)}件が"
            f"{stall.piles}回滞留。遅い応答は{duration_ja(slowest)}、速い応答は{duration_ja(quick)}。{when.ja}に始まった。",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(stall.episode.end - 1),
        labels=labels,
        evidence=_evidence(window, load, labels, stall, quick),
        steps=_STEPS,
    )


def _connections(used: float) -> str:
    return "1 connection was" if round(used) == 1 else f"{count(used)} connections were"


def _evidence(window: Window, load: Load, labels: Mapping[str, str], stall: _Stall, quick: float) -> list[Evidence]:
    chosen = selector(labels)
    most, slowest = largest(stall.in_flight, window.focus), largest(load.p99, stall.episode.span)
    used, cpu = usual(stall.used, stall.episode.span), usual(stall.cpu, stall.episode.span)
    cores = f" and {figure(cpu)} cores" if np.isfinite(cpu) else ""
    found = [
        show(
            window,
            Words(
                f"Up to {count(most)} requests were inside at once, with {count(used)} connections{cores} in use.",
                f"同時に最大{count(most)}件が滞留。使用中は接続{count(used)}"
                + (f"、CPU {figure(cpu)}コア。" if np.isfinite(cpu) else "。"),
            ),
            link=Link.DEMAND,
            expression=f"{IN_FLIGHT}{chosen}",
            unit=Unit.COUNT,
            values=stall.in_flight,
        ),
        show(
            window,
            Words(
                f"p99 was up to {duration(slowest)}, quick medians {duration(quick)}.",
                f"p99は最大{duration_ja(slowest)}、速い時の中央値は{duration_ja(quick)}。",
            ),
            link=Link.EFFECT,
            expression='max(loadtest_request_duration_seconds{quantile="0.99"})',
            unit=Unit.SECONDS,
            values=load.p99,
        ),
    ]
    stuck = int(stall.stuck.sum())
    if stuck >= 2:
        accepted = window[ACCEPTED].where(**labels).rate
        found.append(
            show(
                window,
                Words(
                    f"For {duration(stuck * window.step_seconds)} in all hardly anything was taken.",
                    f"ほとんど受け付けられない時間が計{duration_ja(stuck * window.step_seconds)}。",
                ),
                link=Link.LIMIT,
                expression=f"rate({ACCEPTED}{chosen}[5s])",
                unit=Unit.PER_SECOND,
                values=accepted,
                at=int(np.flatnonzero(stall.stuck)[0]),
            )
        )
    return found


_STEPS = (
    Step(
        text=Words(
            "Take a mutex and a block profile under load: they name the lock, which a CPU profile does not.",
            "負荷中にmutexとblockのプロファイルを取る。CPUプロファイルには出ないロックが分かる。",
        ),
        code=(
            "runtime.SetMutexProfileFraction(5)\nruntime.SetBlockProfileRate(10_000)\n"
            "// go tool pprof http://localhost:6060/debug/pprof/mutex"
        ),
    ),
    Step(
        text=Words(
            "Hold the lock to swap the buffer only, and write it after that.",
            "ロック中はバッファの差し替えだけを行い、書き込みはロックの外で行う。",
        ),
        code="mutex.Lock()\nbatch := hits\nhits = nil\nmutex.Unlock()\nwrite(batch) // nobody waits for this",
    ),
)

DETECTOR = Detector(
    kind=KIND,
    look=look,
    least_seconds=LEAST_SECONDS,
    needs=(IN_FLIGHT,),
    reads=(*POOL_METRICS, *HOST_METRICS, PROCESS_CPU, RUNNING, ACCEPTED),
    follows=(
        "function-waits",
        "database-lock-waits",
        "database-cpu-full",
        "database-iops-full",
        "cold-cache",
        "tables-grown",
    ),
    usual=False,
    switched_on_by="dbstats:\n  url: http://127.0.0.1:8080/debug/dbstats  # with http.in_flight",
)

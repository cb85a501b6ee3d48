"""What several detectors ask of a window. Pure."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from loadwatch_backend.findings.model import Evidence, Link
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, share
from loadwatch_backend.findings.window import APART_MS, BoolArray, Episode, Table, Window
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

FELT_SHARE = 0.005
"""Share of requests that has to fail before the load has felt anything."""
LEAST_FAILED = 3
SLOWER = 2.0
"""p95 counts as risen at this many times its usual value."""
LEAST_SLOWER_SECONDS = 0.05
EXPLAINED = 0.25
"""Share of a delay that something must account for to be its reason."""

OUTCOME_WORDS: Mapping[str, Words] = {
    "timeout": Words("timed out", "タイムアウト"),
    "reset": Words("were reset", "接続リセット"),
    "refused": Words("were refused", "接続拒否"),
    "dns": Words("found no name", "名前解決失敗"),
    "http_4xx": Words("were answered 4xx", "4xx応答"),
    "http_5xx": Words("were answered 5xx", "5xx応答"),
    "assertion": Words("had a wrong answer", "誤った応答"),
    "other": Words("failed otherwise", "その他の失敗"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A pool of an application's instance, on the grid; [instant] each, NaN where unknown.

    Attributes:
        limit: SetMaxOpenConns; 0 is unlimited.
        name: as a person calls it: the pool of a program.
        waits: waits that began, per second.
        waiting: seconds waited per second: about how many wait at once. Counted when a wait ends.
    """

    labels: Mapping[str, str]
    in_use: FloatArray
    idle: FloatArray
    open: FloatArray
    limit: FloatArray
    waits: FloatArray
    waiting: FloatArray
    interval_ms: int
    name: str


POOL_METRICS = (
    "go_sql_in_use_connections",
    "go_sql_idle_connections",
    "go_sql_open_connections",
    "go_sql_max_open_connections",
    "go_sql_wait_count_total",
    "go_sql_wait_duration_seconds_total",
)
_POOL = ("job", "instance", "db_name")


def pools(window: Window) -> Iterator[Pool]:
    """All pools that are seen in the window."""
    for labels, in_use in window["go_sql_in_use_connections"].by(*_POOL):
        yield Pool(
            labels=labels,
            in_use=in_use.sum,
            idle=of_pool(window, "go_sql_idle_connections", labels).sum,
            open=of_pool(window, "go_sql_open_connections", labels).sum,
            limit=of_pool(window, "go_sql_max_open_connections", labels).sum,
            waits=of_pool(window, "go_sql_wait_count_total", labels).rate,
            waiting=of_pool(window, "go_sql_wait_duration_seconds_total", labels).rate,
            interval_ms=in_use.slowest_ms,
            name=" ".join(part for part in (program_name(window, labels), labels.get("db_name")) if part),
        )


def program_name(window: Window, labels: Mapping[str, str]) -> str:
    """The instance of a target; where that is only the name of its host, the job, which is the program's."""
    instance, job = labels.get("instance", ""), labels.get("job", "")
    of_host = instance in {one.get("instance") for one in window["node_cpu_seconds_total"].labels}
    return labels.get("name") or (job if of_host and job else instance or job)


def of_pool(window: Window, metric: str, labels: Mapping[str, str]) -> Table:
    """A metric of one pool."""
    return window[metric].where(**{name: labels.get(name, "") for name in _POOL})


def requests_of(window: Window, labels: Mapping[str, str]) -> FloatArray:
    """[instant]: requests per second that an instance was asked for: by its own count, else its share of the load."""
    own = {name: labels[name] for name in ("job", "instance") if name in labels}
    counted: FloatArray = window["ingest_accepted_total"].where(**own).rate
    if np.isfinite(counted).any() or window.load is None:
        return counted
    instances = {(one.get("job"), one.get("instance")) for one in window["go_sql_in_use_connections"].labels}
    return window.load.rate / max(len(instances), 1)


def since_start(window: Window, at_ms: int, preposition: str = "") -> Words:
    """Since when something was: "1 s into the run", "10:42:43 UTC", or "before" that where the window began with it.

    `preposition` stands before a clock time: "ran out 1 s into the run", "ran out at 10:42:43 UTC".
    A clock time stays true when the sentence is kept, sent and repeated; the page shows it in its reader's zone.
    """
    if window.of_run:
        after = max(at_ms - window.from_ms, 0) / 1_000
        return Words(f"{duration(after)} into the run", f"開始{duration_ja(after)}後")
    clock = clock_of(at_ms)
    cut = window.from_ms + APART_MS if window.is_open else window.grid.time_ms(window.focus.start)
    if at_ms <= cut:
        return Words(f"before {clock}", f"{clock}より前")
    return Words(f"{preposition}{clock}", clock)


def clock_of(at_ms: int) -> str:
    """As `inZone` of the page reads it: 10:42:43 UTC."""
    return datetime.fromtimestamp(at_ms / 1_000, UTC).strftime("%H:%M:%S UTC")


def added(values: Sequence[FloatArray]) -> FloatArray:
    """[instant]: the sum of what is known; NaN where nothing is."""
    stacked = np.stack(list(values))
    known = np.isfinite(stacked)
    return np.where(known.any(axis=0), np.where(known, stacked, 0.0).sum(axis=0), np.nan)


def selector(labels: Mapping[str, str]) -> str:
    """Labels as PromQL has them."""
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}"


def focused(window: Window, holds: BoolArray) -> BoolArray:
    """[instant], with what lies before and after the focus taken out."""
    inside = np.zeros_like(holds)
    inside[window.focus] = holds[window.focus]
    return inside


def together(words: Sequence[Words]) -> Words | None:
    """Sentences of several targets as one text; None without any."""
    if not words:
        return None
    return Words(" ".join(one.en for one in words), "".join(one.ja for one in words))


def largest(values: FloatArray, span: slice) -> float:
    """Highest known value of some instants; NaN where none is known."""
    part = values[..., span]
    known = part[np.isfinite(part)]
    return float(known.max()) if known.size else float("nan")


def usual(values: FloatArray, span: slice) -> float:
    """Median of the known values of some instants; NaN where none is known."""
    part = values[..., span]
    known = part[np.isfinite(part)]
    return float(np.median(known)) if known.size else float("nan")


def spare_connections(window: Window, span: slice) -> tuple[float, float] | None:
    """Connections free at the database's busiest instant, and max_connections; None without, or with several of it."""
    used, limit = window["mysql_global_status_threads_connected"], window["mysql_global_variables_max_connections"]
    if len(used) != 1 or len(limit) != 1:
        return None
    most, bound = largest(used.held[0], span), largest(limit.held[0], span)
    return None if not np.isfinite(most + bound) else (max(bound - most, 0.0), bound)


def felt(window: Window, episode: Episode, delay: float = math.inf) -> list[Evidence]:
    """What the load felt while something was at its limit; a few instants later counts, answers come late.

    `delay` is by how much it holds a request up, seconds: what takes far longer has another reason.
    """
    load = window.load
    if load is None:
        return []
    end = min(episode.end + 2, window.grid.count)
    span = slice(max(episode.first - 1, 0), end)
    found: list[Evidence] = []
    sent = window.total(load.rate, span)
    for name in sorted(load.outcomes, key=lambda name: -window.total(load.outcomes[name], span)):
        failed = 0.0 if name == "ok" else window.total(load.outcomes[name], span)
        if failed < LEAST_FAILED or failed < FELT_SHARE * sent:
            continue
        if name == "timeout" and delay < EXPLAINED * usual(load.p99, span):
            continue
        words = OUTCOME_WORDS.get(name, OUTCOME_WORDS["other"])
        found.append(
            show(
                window.during(Episode(span.start, span.stop)),
                Words(
                    f"{count(failed)} of {count(sent)} requests {words.en} meanwhile ({share(failed / sent)}).",
                    f"その間のリクエスト{count(sent)}件のうち{count(failed)}件が{words.ja}({share(failed / sent)})。",
                ),
                link=Link.EFFECT,
                expression=f'sum(rate(loadtest_requests_total{{outcome="{name}"}}[5s]))',
                unit=Unit.PER_SECOND,
                values=load.outcomes[name],
            )
        )
    slower = _slower(window, episode, delay)
    return found + ([] if slower is None else [slower])


def failures(window: Window, episode: Episode, *outcomes: str) -> float:
    """Requests that failed in one of these ways (any, when none is named) around an episode."""
    if window.load is None:
        return 0.0
    span = slice(max(episode.first - 1, 0), min(episode.end + 2, window.grid.count))
    return window.total(window.load.failed(*outcomes), span)


def _slower(window: Window, episode: Episode, delay: float) -> Evidence | None:
    load = window.load
    if load is None:
        return None
    during = usual(load.p95, episode.span)
    # A refusal is quick: only where answers were good do they show what the system can do.
    good = np.nan_to_num(load.failed()) <= FELT_SHARE * np.nan_to_num(load.rate)
    reference = -largest(np.where(good, -load.p50, np.nan), window.whole)
    if not np.isfinite(during + reference) or during < SLOWER * reference:
        return None
    if during - reference < LEAST_SLOWER_SECONDS or delay < EXPLAINED * (during - reference):
        return None
    return show(
        window,
        Words(
            f"p95 was {duration(during)} meanwhile, against {duration(reference)} at its best.",
            f"その間のp95は{duration_ja(during)}(最良時{duration_ja(reference)})。",
        ),
        link=Link.EFFECT,
        expression='max(loadtest_request_duration_seconds{quantile="0.95"})',
        unit=Unit.SECONDS,
        values=load.p95,
        value=during,
        at=min(episode.first + len(episode) // 2, window.grid.count - 1),
    )

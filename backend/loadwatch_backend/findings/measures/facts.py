"""What several detectors ask of a window. Pure."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

import numpy as np

from loadwatch_backend.core.texts.numbers import selector as selector
from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.evidence import evidence
from loadwatch_backend.findings.messages import message
from loadwatch_backend.findings.model import Evidence
from loadwatch_backend.findings.window import (
    APART_MS,
    BoolArray,
    Episode,
    Load,
    Table,
    Window,
    episodes,
    least_instants,
)

IMPACT_SHARE = 0.005
"""Share of requests that has to fail before the load has felt anything."""
LEAST_FAILED = 3
SLOWER = 2.0
"""p95 counts as risen at this many times its usual value."""
LEAST_SLOWER_SECONDS = 0.05
EXPLAINED = 0.25
"""Share of a delay that something must account for to be its reason."""

OUTCOME_WORDS: Mapping[str, Words] = {
    "timeout": message("load-effects.timeout"),
    "reset": message("load-effects.reset"),
    "refused": message("load-effects.refused"),
    "dns": message("load-effects.no-name"),
    "http_4xx": message("load-effects.answered-4xx"),
    "http_5xx": message("load-effects.answered-5xx"),
    "assertion": message("load-effects.wrong-answer"),
    "other": message("load-effects.failed-otherwise"),
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
    return window[metric].where(**{name: labels.get(name, "") for name in _POOL})


def requests_of(window: Window, labels: Mapping[str, str]) -> FloatArray:
    """[instant]: requests per second that an instance was asked for: by its own count, else its share of the load."""
    own = {name: labels[name] for name in ("job", "instance") if name in labels}
    counted: FloatArray = window["ingest_accepted_total"].where(**own).rate
    if np.isfinite(counted).any() or window.load is None:
        return counted
    instances = {(one.get("job"), one.get("instance")) for one in window["go_sql_in_use_connections"].labels}
    return window.load.rate / max(len(instances), 1)


def since_start(window: Window, at_ms: int | None = None, preposition: str = "") -> Words:
    """Since when something was: "1 s into the run", "10:42:43 UTC", or "before" that where the window began with it.

    Without a time, since the beginning of the focus. `preposition` stands before a clock time: "ran out 1 s into the
    run", "ran out at 10:42:43 UTC".
    A clock time stays true when the sentence is kept, sent and repeated; the page shows it in its reader's zone.
    """
    if at_ms is None:
        at_ms = window.grid.time_ms(window.focus.start)
    if window.of_run:
        after = max(at_ms - window.from_ms, 0) / 1_000
        return message("load-effects.into-the-run", after=after)
    clock = clock_of(at_ms)
    cut = window.from_ms + APART_MS if window.is_open else window.grid.time_ms(window.focus.start)
    if at_ms <= cut:
        return message("load-effects.before", clock=clock)
    return Words(f"{preposition}{clock}", clock)


def clock_of(at_ms: int) -> str:
    """As `inZone` of the page reads it: 10:42:43 UTC."""
    return datetime.fromtimestamp(at_ms / 1_000, UTC).strftime("%H:%M:%S UTC")


def added(values: Sequence[FloatArray]) -> FloatArray:
    """[instant]: the sum of what is known; NaN where nothing is."""
    stacked = np.stack(list(values))
    known = np.isfinite(stacked)
    return np.where(known.any(axis=0), np.where(known, stacked, 0.0).sum(axis=0), np.nan)


def focused(window: Window, holds: BoolArray) -> BoolArray:
    inside = np.zeros_like(holds)
    inside[window.focus] = holds[window.focus]
    return inside


def longest_episode(
    window: Window,
    holds: BoolArray,
    interval_ms: int,
    *settings: FloatArray,
    seconds: float = 3.0,
    samples: int = 3,
    gap: int = 5,
) -> Episode | None:
    """The episode to tell of in which something held for so long inside the focus; None without one.

    A change of one of the `settings` [instant], such as the limit, ends an episode.
    """
    least = least_instants(window.grid, interval_ms, seconds=seconds, samples=samples)
    found = episodes(focused(window, holds), least=least, gap=gap)
    return window.one_of(found, *settings) if found else None


def together(words: Sequence[Words]) -> Words | None:
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


def load_effects(window: Window, episode: Episode | None = None, delay: float = math.inf) -> list[Evidence]:
    """What the load felt in an episode, or the focus, in which something was at its limit; answers come late.

    `delay` is by how much it holds a request up, seconds: what takes far longer has another reason.
    """
    load = window.load
    if load is None:
        return []
    episode = episode or Episode(window.focus.start, window.focus.stop)
    end = min(episode.end + 2, window.grid.count)
    span = slice(max(episode.first - 1, 0), end)
    found: list[Evidence] = []
    sent = window.total(load.rate, span)
    for name in sorted(load.outcomes, key=lambda name: -window.total(load.outcomes[name], span)):
        failed = 0.0 if name == "ok" else window.total(load.outcomes[name], span)
        if failed < LEAST_FAILED or failed < IMPACT_SHARE * sent:
            continue
        if name == "timeout" and delay < EXPLAINED * usual(load.p99, span):
            continue
        words = OUTCOME_WORDS.get(name, OUTCOME_WORDS["other"])
        found.append(
            evidence(
                window.during(Episode(span.start, span.stop)),
                "load-effects.failed",
                load.outcomes[name],
                failed=failed,
                sent=sent,
                words=words,
                part=failed / sent,
                name=name,
            )
        )
    slower = _slower(window, load, episode, delay)
    return found + ([] if slower is None else [slower])


def failures(window: Window, episode: Episode, *outcomes: str) -> float:
    """Requests that failed in one of these ways (any, when none is named) around an episode."""
    if window.load is None:
        return 0.0
    span = slice(max(episode.first - 1, 0), min(episode.end + 2, window.grid.count))
    return window.total(window.load.failed(*outcomes), span)


def _slower(window: Window, load: Load, episode: Episode, delay: float) -> Evidence | None:
    during = usual(load.p95, episode.span)
    # A refusal is quick: only where answers were good do they show what the system can do.
    good = np.nan_to_num(load.failed()) <= IMPACT_SHARE * np.nan_to_num(load.rate)
    reference = -largest(np.where(good, -load.p50, np.nan), window.whole)
    if not np.isfinite(during + reference) or during < SLOWER * reference:
        return None
    if during - reference < LEAST_SLOWER_SECONDS or delay < EXPLAINED * (during - reference):
        return None
    return evidence(
        window,
        "load-effects.slower",
        load.p95,
        value=during,
        at=min(episode.first + len(episode) // 2, window.grid.count - 1),
        reference=reference,
    )


@dataclass(frozen=True, kw_only=True)
class Limit:
    """One thing of which there is so much and no more, on the grid.

    Attributes:
        used: [instant], how much of it is in use; NaN where unknown.
        full: [instant], where that is all of it, as `used >= 0.98 * limit`.
        limit: [instant], how much there is; None where that is no figure.
        settings, interval_ms, samples, seconds, gap: as in `longest_episode`, beside the limit.
    """

    window: Window
    used: FloatArray
    full: BoolArray
    limit: FloatArray | None = None
    settings: Sequence[FloatArray] = ()
    interval_ms: int = 0
    samples: int = 3
    seconds: float = 3.0
    gap: int = 5

    @cached_property
    def most(self) -> float:
        return largest(self.used, self.window.focus)

    @cached_property
    def bound(self) -> float:
        """How much there is, in the episode or else in the focus; NaN where unknown."""
        if self.limit is None:
            return float("nan")
        return largest(self.limit, self.window.focus if self.episode is None else self.episode.span)

    @cached_property
    def episode(self) -> Episode | None:
        """The episode to report, in which it was full; None where it was never full for long enough."""
        return longest_episode(
            self.window,
            self.full,
            self.interval_ms,
            *(() if self.limit is None else (self.limit,)),
            *self.settings,
            samples=self.samples,
            seconds=self.seconds,
            gap=self.gap,
        )

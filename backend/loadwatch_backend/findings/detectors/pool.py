"""Connection pools: too small, without a limit, too large together, renewed all the time, or one for each request."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from loadwatch_backend.core.texts.numbers import duration
from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.advisor.advise import advise
from loadwatch_backend.findings.advisor.measure import HOST_CPU, METRICS, count_cores, measure
from loadwatch_backend.findings.measures.costs import longest_holder, share_of, whole
from loadwatch_backend.findings.measures.databases import (
    DATABASE_METRICS,
    Database,
    databases,
    holders_of,
    level_shown,
    refusals,
    refusals_shown,
)
from loadwatch_backend.findings.measures.evidence import evidence
from loadwatch_backend.findings.measures.facts import (
    POOL_METRICS,
    Pool,
    added,
    failures,
    focused,
    largest,
    load_effects,
    longest_episode,
    of_pool,
    pools,
    program_name,
    requests_of,
    spare_connections,
    usual,
)
from loadwatch_backend.findings.measures.hosts import HOST_METRICS, cores_of
from loadwatch_backend.findings.measures.outcomes import Clear, Draft, Observation, Outcome, detector
from loadwatch_backend.findings.measures.pool_waits import FULL, exhausted, mean_wait
from loadwatch_backend.findings.measures.process_ends import LIFE_METRICS, process_starts
from loadwatch_backend.findings.messages import message, step
from loadwatch_backend.findings.model import Evidence, Finding, Harm, Severity, Step
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants

CLOSED, IDLE_LIMIT = "go_sql_max_idle_closed_total", "go_sql_max_idle_connections"
LOGINS = "mysql_global_status_connections"
LEAST_CHURN = 1.0
"""Connections closed per second; one a second is what a sensible lifetime costs."""
LEAST_CHURN_SECONDS = 5.0
LEAST_SHARE = 0.01
"""Of the requests; 1.5 % to 40 % were measured with database/sql's default."""
DEFAULT_IDLE = 2

LEAST_RENEWED = 2.0
YOUNG_SECONDS = 20.0
"""A pool whose connections live for less on average is renewed far more often than any load balancer asks for."""
LEAST_RENEWED_SECONDS = 10.0
"""Connections that were opened together are closed together: a shorter time may hold one such burst."""
BY_AGE = ("go_sql_max_lifetime_closed_total", "go_sql_connection_max_lifetime_seconds", "SetConnMaxLifetime")
BY_IDLENESS = ("go_sql_max_idle_time_closed_total", "go_sql_connection_max_idle_time_seconds", "SetConnMaxIdleTime")

HELD_SHARE = 0.5
"""Of max_connections, that the pools held when logins were refused: with less it is others who fill the database."""
RESERVE = 0.1
"""Of max_connections, that stays for people and for what comes unannounced."""
THREADS_PER_CORE = 4
THREADS_ANYWHERE = 64
"""Statements at work at once that are too many for most machines, where the cores are not known."""
LEAST_CROWDED_SECONDS = 5.0
NOTEWORTHY = 20
START_SIZE_PER_CORE = 4

LEAST_LOGINS = 1.0
"""New connections to the database per second from which they are more than a start-up."""
LOGINS_SHARE = 0.3
"""Connections opened for each request: a pool that is kept opens far fewer."""


@detector(
    "pool-exhausted",
    needs=("go_sql_in_use_connections",),
    reads=tuple(dict.fromkeys((*LIFE_METRICS, *METRICS, HOST_CPU))),
)
def pool_exhausted(window: Window) -> Iterator[Outcome]:
    for pool in pools(window):
        bound = largest(pool.limit, window.focus)
        if not bound > 0:
            continue
        episode = exhausted(window, pool)
        if episode is not None:
            yield _exhausted(window.during(episode), pool, episode)
            continue
        most, waits = largest(pool.in_use, window.focus), window.total(pool.waits)
        if not math.isfinite(most):
            continue
        waited = message("pool-exhausted.nobody_waited")
        if waits >= 1:
            waited = message("pool-exhausted.some_waited", waits=waits, mean=mean_wait(window, pool))
        text = message("pool-exhausted.clear", name=pool.name, most=most, bound=bound, waited=waited)
        yield Observation(text) if most >= FULL * bound else Clear(text)


def _exhausted(window: Window, pool: Pool, episode: Episode) -> Finding:
    bound, waits, waited = largest(pool.limit, window.focus), window.total(pool.waits), window.total(pool.waiting)
    mean = waited / max(waits, 1)
    # Waits that never ended tell no time: then nothing says that something else held the requests up.
    delay = mean if waited > 0 else math.inf
    effects = load_effects(window, episode, delay)
    spare = spare_connections(window, window.focus)
    full = spare is not None and spare[0] < 1
    room = message("pool-exhausted.room_unknown")
    if spare is not None:
        room = SILENT if full else message("pool-exhausted.room", spare=spare[0])
    explained = any('outcome="timeout"' in one.expression for one in effects)
    gave_up = failures(window, episode, "timeout") if explained else 0.0
    waiting = message("pool-exhausted.waited", waits=waits, mean=mean)
    if gave_up >= 1:
        slowest = largest(window.load.p99, window.focus) if window.load is not None else math.nan
        waiting = message(
            "pool-exhausted.gave_up",
            gave_up=gave_up,
            slowest=Words(f" (slowest answers {duration(slowest)})", "") if math.isfinite(slowest) else SILENT,
            waits=waits,
            mean=mean,
        )
    draft, hurt = Draft(window, episode, pool.labels, bound=bound, waits=waits), bool(effects)
    shown = [
        draft.show("pool-exhausted.in_use", pool.in_use, limit=bound),
        draft.show("pool-exhausted.waiting", pool.waiting),
        *effects,
    ]
    found = draft.finding(
        "pool-exhausted.sentence_database_full" if full else "pool-exhausted.sentence",
        shown,
        _sizing_steps(window, pool, bound, spare),
        severity=_severity_of_waits(waited / (len(episode) * window.step_seconds), hurt=hurt, full=full),
        connections=spare[1] if spare is not None else math.nan,
        name=pool.name,
        waited=waiting,
        room=room,
    )
    # Waits that never end are told by their number only.
    lost, seconds = waited + waits / 1_000_000, mean if math.isfinite(delay) else math.nan
    return replace(found, harm=Harm(lost=lost, seconds=seconds, words=message("pool-exhausted.harm")))


def _severity_of_waits(waiting: float, *, hurt: bool, full: bool) -> Severity | None:
    """Less than a request that waits at a time, and nothing that suffers from it, is worth a note."""
    if hurt:
        return Severity.WARNING if full else None
    return Severity.INFO if waiting < 1 else Severity.WARNING


def _sizing_steps(window: Window, pool: Pool, bound: float, spare: tuple[float, float] | None) -> list[Step]:
    steps = [] if spare is not None else [step("pool-exhausted.see_the_database")]
    either = bool(steps)
    advice = advise(measure(window, count_cores(window[HOST_CPU])))
    own = (pool.labels.get("job", ""), pool.labels.get("db_name", ""))
    group = next((one for one in advice.groups if (one.job, one.name) == own), None)
    if group is not None and group.max_open is not None:
        max_open, max_idle, lifetime, _ = (one.formula for one in group.settings)
        if group.max_open > bound:
            either = True
            steps.append(step("pool-exhausted.raise", size=group.max_open, max_open=max_open, code=group.code))
            steps.append(step("pool-exhausted.set_the_rest", max_idle=max_idle, lifetime=lifetime))
        elif group.wanted is not None and group.wanted > bound:
            steps.append(step("pool-exhausted.no_larger", max_open=max_open))
    hold = _hold_seconds(window, pool)
    if hold > 0:
        steps.append(step("pool-exhausted.or_shorten" if either else "pool-exhausted.shorten", hold=hold))
    holder = longest_holder(window)
    if holder is not None and window.cost is not None:
        steps.append(
            step(
                "pool-exhausted.begin_with",
                name=holder.totals.key.name,
                spent=holder.seconds.value,
                share=share_of(window.cost, holder.total_seconds),
            )
        )
    return steps


def _hold_seconds(window: Window, pool: Pool) -> float:
    """For how long a request holds its connection; 0 where nothing tells how many are served."""
    labels = {name: pool.labels[name] for name in ("job", "instance") if name in pool.labels}
    stored: FloatArray = window["ingest_stored_total"].where(**labels).rate
    served = float(np.nan_to_num(usual(stored, window.focus)))
    if not served and window.load is not None:
        good = usual(window.load.outcomes.get("ok", window.load.rate), window.focus)
        served = float(np.nan_to_num(good)) / max(sum(1 for _ in pools(window)), 1)
    # A pool that is full in bursts is empty at most instants: then the mean tells how long a connection is held.
    instants = window.focus.stop - window.focus.start
    busy = usual(pool.in_use, window.focus) or window.total(pool.in_use) / window.step_seconds / instants
    return busy / served if served > 0 else 0.0


@detector("pool-holder", reads=POOL_METRICS)
def pool_holder(window: Window) -> Iterator[Outcome]:
    """At most one finding, where a pool ran out: the route that holds its connections longest."""
    cost, holder = window.cost, longest_holder(window)
    if cost is None or holder is None:
        return
    found = [(pool, episode) for pool in pools(window) if (episode := exhausted(window, pool)) is not None]
    if not found:
        return
    pool, episode = min(found, key=lambda one: one[1].first)
    name, spent = holder.totals.key.name, holder.seconds
    draft = Draft(window, episode, {"route": name, **pool.labels}, spent=spent, holder=holder)
    shown = [draft.show("pool-holder.requests", spent.value), *load_effects(window, whole(window))]
    share = share_of(cost, holder.total_seconds)
    yield draft.finding("pool-holder.sentence", shown, name=name, pool=pool.name, share=share)


@detector(
    "pool-churn",
    needs=(CLOSED,),
    reads=(
        "go_sql_in_use_connections",
        "go_sql_open_connections",
        "go_sql_max_open_connections",
        IDLE_LIMIT,
        *LIFE_METRICS,
        LOGINS,
        "ingest_accepted_total",
    ),
    least_seconds=LEAST_CHURN_SECONDS,
)
def pool_churn(window: Window) -> Iterator[Outcome]:
    """A finding for each pool that keeps too few idle connections, and closes them at the rate of its requests."""
    for pool in pools(window):
        table = of_pool(window, CLOSED, pool.labels)
        closed = table.rate
        if not np.isfinite(window.inside(closed)).any():
            continue
        asked = requests_of(window, pool.labels)
        least = np.maximum(LEAST_CHURN, LEAST_SHARE * np.nan_to_num(asked))
        episode = longest_episode(
            window,
            closed >= least,
            table.slowest_ms,
            of_pool(window, IDLE_LIMIT, pool.labels).max,
            process_starts(window, pool.labels),
            seconds=LEAST_CHURN_SECONDS,
            gap=least_instants(window.grid, table.slowest_ms, seconds=LEAST_CHURN_SECONDS),
        )
        if episode is None:
            yield Clear(message("pool-churn.clear", name=pool.name, closed=window.total(closed)))
        else:
            yield _churn(window.during(episode), pool, closed, asked, episode)


def _churn(window: Window, pool: Pool, closed: FloatArray, asked: FloatArray, episode: Episode) -> Finding:
    times, requests = window.total(closed), window.total(asked)
    kept = largest(of_pool(window, IDLE_LIMIT, pool.labels).max, window.focus)
    keeps = message("pool-churn.keeps_few")
    if math.isfinite(kept):
        keeps = message("pool-churn.keeps", kept=kept)
    of = message("pool-churn.of_requests", share=times / requests, requests=requests) if requests > 0 else SILENT
    draft = Draft(window, episode, pool.labels, name=pool.name, times=times, keeps=keeps, of=of)
    logins = _logins(window, "pool-churn.logins", times)
    shown = [draft.show("pool-churn.closed", closed), *logins, *load_effects(window, episode)]
    return draft.finding("pool-churn.sentence", shown, _idle_steps(window, pool))


def _logins(window: Window, key: str, closed: float) -> list[Evidence]:
    """New connections at the database, where they explain those that were closed."""
    logins = window[LOGINS].rate
    opened = window.total(logins)
    return [evidence(window, key, logins, opened=opened)] if opened >= 0.5 * closed else []


def _idle_steps(window: Window, pool: Pool) -> list[Step]:
    bound, most = largest(pool.limit, window.focus), largest(pool.open, window.focus)
    if bound > 0:
        return [step("pool-churn.keep_idle", size=round(bound)), step("pool-churn.bound_idle_time")]
    if most > DEFAULT_IDLE:
        return [step("pool-churn.bound", size=math.ceil(most)), step("pool-churn.bound_idle_time")]
    return []


@detector(
    "pool-lifetime-churn",
    needs=(BY_AGE[0], BY_IDLENESS[0]),
    reads=(
        "go_sql_in_use_connections",
        "go_sql_open_connections",
        BY_AGE[1],
        BY_IDLENESS[1],
        LOGINS,
        "ingest_accepted_total",
    ),
    least_seconds=LEAST_RENEWED_SECONDS,
)
def pool_lifetime_churn(window: Window) -> Iterator[Outcome]:
    """A finding for each pool that closes connections for their age so early that logins become a part of the load."""
    for pool in pools(window):
        rates = [of_pool(window, metric, pool.labels).rate for metric, _, _ in (BY_AGE, BY_IDLENESS)]
        totals = [window.total(rate) for rate in rates]
        if not any(np.isfinite(window.inside(rate)).any() for rate in rates):
            continue
        worse = int(totals[1] > totals[0])
        metric, setting, function = (BY_AGE, BY_IDLENESS)[worse]
        setting_values = of_pool(window, setting, pool.labels).max
        episode = _renewed(window, pool, rates[worse], setting_values)
        if episode is None:
            yield Clear(message("pool-lifetime-churn.clear", name=pool.name, closed=sum(totals)))
            continue
        during, closed = window.during(episode), rates[worse]
        times, asked = during.total(closed), during.total(requests_of(during, pool.labels))
        set_to, of = largest(setting_values, during.focus), SILENT
        if asked > 0:
            of = message("pool-lifetime-churn.of_requests", share=times / asked, requests=asked)
        draft = Draft(during, episode, pool.labels, name=pool.name, function=function)
        shown = [
            draft.show("pool-lifetime-churn.closed", closed, metric=metric),
            *_logins(during, "pool-lifetime-churn.logins", times),
            *load_effects(during, episode),
        ]
        set_as = f"{function}({duration(set_to)})" if set_to > 0 else function
        life = usual(pool.open, during.focus) * len(episode) * during.step_seconds / times
        yield draft.finding("pool-lifetime-churn.sentence", shown, times=times, setting=set_as, of=of, life=life)


def _renewed(window: Window, pool: Pool, closed: FloatArray, setting: FloatArray) -> Episode | None:
    """From the first to the last closing, where they come at a rate that matters over all of that time."""
    found = episodes(focused(window, closed > 0))
    if not found:
        return None
    episode = window.one_of(found, setting, process_starts(window, pool.labels))
    if len(episode) < least_instants(window.grid, pool.interval_ms, seconds=LEAST_RENEWED_SECONDS):
        return None
    rate = window.total(closed, episode.span) / (len(episode) * window.step_seconds)
    opened = usual(pool.open, episode.span)
    asked = np.nan_to_num(usual(requests_of(window, pool.labels), episode.span))
    young = np.isfinite(opened) and opened > 0 and opened / rate < YOUNG_SECONDS
    return episode if young and rate >= max(LEAST_RENEWED, LEAST_SHARE * asked) else None


@detector(
    "pool-exceeds-server",
    needs=("go_sql_max_open_connections",),
    reads=("go_sql_in_use_connections", "go_sql_open_connections", *DATABASE_METRICS),
)
def pool_exceeds_server(window: Window) -> Iterator[Outcome]:
    """At most one finding: with several databases nobody knows which pool talks to which."""
    found = [database for database in databases(window) if database.bound > 0]
    if len(found) != 1:
        return
    database = found[0]
    episode = refusals(window, database, focused(window, database.refusing))
    if episode is not None:
        window, database = window.during(episode), database.during(episode)
    bounded = [pool for pool in pools(window) if largest(pool.limit, window.focus) > 0]
    if not bounded:
        return
    if any(largest(pool.limit, window.focus) == 0 and largest(pool.open, window.focus) > 0 for pool in pools(window)):
        return
    may_open = sum(largest(pool.limit, window.focus) for pool in bounded)
    others = _others(window, database, bounded)
    equation = message(
        "pool-exceeds-server.equation",
        pools=len(bounded),
        may_open=may_open,
        name=database.name,
        bound=database.bound,
        others=others,
    )
    if may_open <= database.bound - others:
        yield Clear(equation)
        return
    opened = added([pool.open for pool in bounded])
    # Pools that fit for themselves are not what is wrong where others take the rest.
    if may_open <= database.bound or episode is None or _most_near(opened, episode) < HELD_SHARE * database.bound:
        yield Observation(equation)
    else:
        yield _exceeds(window, database, bounded, may_open, others, opened, episode)


def _others(window: Window, database: Database, bounded: Sequence[Pool]) -> float:
    """Connections of other clients: of all users but the one that holds most, else what the pools do not explain."""
    holders = holders_of(window, database, slice(None))
    if holders:
        return sum(held for _, held in holders[1:])
    return max(
        float(np.nan_to_num(usual(database.connected - added([pool.open for pool in bounded]), slice(None)))), 0.0
    )


def _most_near(opened: FloatArray, episode: Episode) -> float:
    """Most connections in an episode and just around it; none where that is not known."""
    return float(np.nan_to_num(largest(opened, slice(max(episode.first - 3, 0), episode.end + 3))))


def _exceeds(
    window: Window,
    database: Database,
    bounded: Sequence[Pool],
    may_open: float,
    others: float,
    opened: FloatArray,
    episode: Episode,
) -> Finding:
    number = len(bounded)
    size = max(int((database.bound * (1 - RESERVE) - others) // number), 1)
    jobs = {pool.labels.get("job") for pool in bounded}
    labels = bounded[0].labels if number == 1 else {} if len(jobs) > 1 else {"job": str(jobs.pop())}
    draft = Draft(window, episode, labels, may_open=may_open, name=database.name, bound=database.bound)
    shown = [
        draft.show("pool-exceeds-server.open", opened, limit=may_open),
        level_shown(window, database),
        refusals_shown(window, database),
        *load_effects(window, episode),
    ]
    return draft.finding(
        "pool-exceeds-server.sentence",
        shown,
        [step("pool-exceeds-server.divide", number=number, size=size, total=size * number)],
        pools=message("pool-exceeds-server.one_pool" if number == 1 else "pool-exceeds-server.pools", number=number),
        beside=message("pool-exceeds-server.beside", others=others) if others >= 1 else SILENT,
        times=window.total(database.refused),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unlimited:
    """The pools without a limit of one job: together they are what the database has to bear."""

    labels: Mapping[str, str]
    name: str
    open: FloatArray
    interval_ms: int


@detector(
    "pool-unlimited",
    needs=("go_sql_max_open_connections",),
    reads=("go_sql_in_use_connections", "go_sql_open_connections", *DATABASE_METRICS, *HOST_METRICS),
    least_seconds=LEAST_CROWDED_SECONDS,
)
def pool_unlimited(window: Window) -> Iterator[Outcome]:
    """A finding for each job whose pools filled a database, or kept too many of its threads at work."""
    known = [pool for pool in pools(window) if np.isfinite(largest(pool.limit, window.focus))]
    bounded = [pool for pool in known if -largest(-pool.limit, window.focus) > 0]
    for pool in bounded:
        yield Clear(message("pool-unlimited.bounded", name=pool.name, limit=largest(pool.limit, window.focus)))
    for unlimited in _by_job([pool for pool in known if pool not in bounded]):
        most = largest(unlimited.open, window.focus)
        if not most > 0:
            continue
        text = message("pool-unlimited.clear", name=unlimited.name, most=most)
        yield (
            _refused(window, unlimited)
            or _crowded(window, unlimited)
            or (Observation(text) if most >= NOTEWORTHY else Clear(text))
        )


def _by_job(unlimited: Sequence[Pool]) -> list[_Unlimited]:
    jobs: dict[str, list[Pool]] = {}
    for pool in unlimited:
        jobs.setdefault(pool.labels.get("job", ""), []).append(pool)
    return [
        _Unlimited(
            labels=group[0].labels if len(group) == 1 else {"job": job},
            name=group[0].name if len(group) == 1 else f"{job} ({len(group)} pools)",
            open=added([np.where(pool.limit > 0, np.nan, pool.open) for pool in group]),
            interval_ms=max(pool.interval_ms for pool in group),
        )
        for job, group in sorted(jobs.items())
    ]


def _refused(window: Window, pool: _Unlimited) -> Finding | None:
    for database in databases(window):
        episode = refusals(window, database, focused(window, database.refusing))
        if episode is None:
            continue
        database = database.during(episode)
        most = _most_near(pool.open, episode)
        if not most >= HELD_SHARE * database.bound:
            continue
        during = window.during(episode)
        draft, times = Draft(during, episode, pool.labels, pool=pool, database=database), during.total(database.refused)
        shown = [
            draft.show("pool-unlimited.open", pool.open, limit=database.bound),
            refusals_shown(during, database),
            level_shown(during, database),
            *load_effects(during, episode),
        ]
        return draft.finding("pool-unlimited.refused", shown, _bound(during, database), most=most, times=times)
    return None


def _crowded(window: Window, pool: _Unlimited) -> Finding | None:
    for database in databases(window):
        cores = cores_of(window, database.labels)
        many = THREADS_ANYWHERE if cores is None else max(THREADS_PER_CORE * cores, THREADS_PER_CORE * 2)
        episode = longest_episode(
            window,
            (database.running >= many) & (pool.open >= many),
            max(database.interval_ms, pool.interval_ms),
            seconds=LEAST_CROWDED_SECONDS,
            gap=3,
        )
        effects = [] if episode is None else load_effects(window, episode)
        if episode is None or not effects:
            continue
        during = window.during(episode)
        draft = Draft(during, episode, pool.labels, pool=pool, database=database)
        shown = [
            draft.show("pool-unlimited.open", pool.open),
            draft.show("pool-unlimited.running", database.running, labels=database.labels, limit=many),
            *load_effects(during, episode),
        ]
        return draft.finding(
            "pool-unlimited.crowded",
            shown,
            _bound(during, database),
            severity=Severity.WARNING,
            most=largest(pool.open, episode.span),
            running=largest(database.running, episode.span),
            on=SILENT if cores is None else message("pool-unlimited.on_cores", cores=cores),
            effect=effects[0].text,
        )
    return None


def _bound(window: Window, database: Database) -> list[Step]:
    cores = cores_of(window, database.labels)
    room = round(database.bound * 0.8) if np.isfinite(database.bound) else 30
    size = min(room, 30 if cores is None else max(round(cores * START_SIZE_PER_CORE), 4))
    return [step("pool-unlimited.bound", size=size)]


@detector(
    "pool-per-request",
    needs=("go_sql_open_connections",),
    reads=(
        "go_sql_in_use_connections",
        "go_sql_idle_connections",
        "go_sql_max_open_connections",
        "go_sql_wait_count_total",
        "go_sql_wait_duration_seconds_total",
        LOGINS,
        "ingest_accepted_total",
    ),
)
def pool_per_request(window: Window) -> Iterator[Outcome]:
    """One finding for each instance whose pools stand at zero while it works and connections come and go."""
    logins = window[LOGINS].rate
    used: list[str] = []
    for pool in pools(window):
        opened_by_pool, in_use = window.inside(pool.open), window.inside(pool.in_use)
        if not np.isfinite(opened_by_pool + in_use).any():
            continue
        # A connection that stays idle, as from making the schema, is no use of the pool under load.
        used_now = np.nanmax(in_use) > 0 or np.nanmax(opened_by_pool) > np.nanmin(opened_by_pool)
        if used_now or window.total(pool.waits) > 0:
            used.append(pool.name)
            continue
        labels = {name: value for name, value in pool.labels.items() if name != "db_name"}
        asked = window["ingest_accepted_total"].where(**labels).rate
        if not np.isfinite(asked).any() and window.load is not None:
            asked = window.load.rate
        often = logins >= np.maximum(LEAST_LOGINS, LOGINS_SHARE * asked)
        busy = focused(window, (asked >= LEAST_LOGINS) & often)
        if int(busy.sum()) * window.step_seconds < 3:
            continue
        episode = window.one_of(episodes(busy))
        name = program_name(window, pool.labels)
        draft, most = Draft(window, episode, labels), largest(logins, episode.span)
        shown = [
            draft.show("pool-per-request.unused", pool.in_use),
            draft.show("pool-per-request.logins", logins, most=most),
            *load_effects(window, episode),
        ]
        who = Words(name, name) if name else message("pool-per-request.application")
        opened, requests = window.total(logins, episode.span), window.total(asked, episode.span)
        yield draft.finding("pool-per-request.sentence", shown, name=who, opened=opened, requests=requests)
    if used:
        yield Clear(message("pool-per-request.clear", names=", ".join(used)))

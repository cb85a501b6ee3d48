"""Connections of the database: who holds them, who is refused, and what ends them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.core.texts.numbers import count
from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.databases import (
    CONNECTED,
    DATABASE_METRICS,
    PEAK,
    Database,
    databases,
    holders_of,
    level_shown,
    most_around,
    refusals,
    refusals_shown,
    steps_for_growth,
    users,
)
from loadwatch_backend.findings.measures.facts import (
    LEAST_FAILED,
    POOL_METRICS,
    added,
    failures,
    focused,
    largest,
    load_effects,
    longest_episode,
    pools,
    selector,
    since_start,
)
from loadwatch_backend.findings.measures.outcomes import Clear, Draft, Observation, Outcome, detector
from loadwatch_backend.findings.messages import message, step
from loadwatch_backend.findings.model import Finding
from loadwatch_backend.findings.window import BoolArray, Episode, Window, least_instants

EXHAUSTED_FULL = 0.98


@detector("database-connections-exhausted", needs=(CONNECTED,), reads=DATABASE_METRICS)
def connections_exhausted(window: Window) -> Iterator[Outcome]:
    """The database has as many connections as max_connections allows, and refuses further ones.

    One finding for each database that refused logins at its limit.
    """
    for database in databases(window):
        most = largest(database.connected, window.focus)
        if not np.isfinite(database.bound + most) or database.bound <= 0:
            continue
        episode = refusals(window, database, focused(window, database.refusing))
        if episode is not None:
            yield _exhausted_finding(window.during(episode), database.during(episode), episode)
            continue
        failed, peak = window.total(database.refused), largest(window[PEAK].where(**database.labels).max, window.focus)
        words = message("database-connections-exhausted.figures", database=database, most=most)
        is_clear = failed < 1 or peak < database.bound
        if failed >= 1:
            between = SILENT if is_clear else message("database-connections-exhausted.between")
            words = message(
                "database-connections-exhausted.other-reason",
                database=database,
                most=most,
                failed=failed,
                between=between,
            )
        yield Clear(words) if is_clear and most < EXHAUSTED_FULL * database.bound else Observation(words)


def _exhausted_finding(window: Window, database: Database, episode: Episode) -> Finding:
    times = window.total(database.refused, episode.span)
    bound, holders = database.bound, holders_of(window, database, episode.span)[:3]
    who = f" ({', '.join(f'{user} {count(held)}' for user, held in holders)})" if holders else ""
    draft = Draft(window, episode, database.labels, bound=bound, name=database.name, who=who, times=times)
    shown = [level_shown(window, database), refusals_shown(window, database), *load_effects(window, episode)]
    steps = [
        *steps_for_growth(window, database, episode),
        step("database-connections-exhausted.step", bound=bound * 0.8, rest=bound * 0.2),
        step("database-connections-exhausted.step-2", bound=round(bound * 2)),
    ]
    return draft.finding("database-connections-exhausted.sentence", shown, steps)


LOCKED_OUT_FULL = 0.9
"""Share of max_connections from which it is full; pools that do not dial leave it unchanged."""
HELD_SHARE = 0.5
LEAST_KNOWN = 3
CLOSED = ("go_sql_max_idle_closed_total", "go_sql_max_idle_time_closed_total", "go_sql_max_lifetime_closed_total")


@detector("clients-locked-out", needs=DATABASE_METRICS[:1], reads=(*DATABASE_METRICS, *POOL_METRICS, *CLOSED))
def clients_locked_out(window: Window) -> Iterator[Outcome]:
    """An application keeps so many connections that other clients of its database cannot log in, also after the load.

    One finding for each database that refused others while an application's pool held most of it.
    """
    rest = _pools_at_rest(window)
    for database in databases(window):
        most = largest(database.connected, window.focus)
        if not np.isfinite(database.bound + most) or database.bound <= 0:
            continue
        left = max(database.bound - most, 0)
        clear = Clear(message("clients-locked-out.clear", name=database.name, left=left))
        yield _locked_out(window, database, rest) or clear


def _locked_out(window: Window, database: Database, rest: tuple[BoolArray, FloatArray, FloatArray]) -> Finding | None:
    full = most_around(database.connected) >= LOCKED_OUT_FULL * database.bound
    at_rest, held, used = rest
    hold_most = np.nan_to_num(held) >= HELD_SHARE * database.bound
    # After the load, too: what has no margin behind it ends with the grid.
    seen = slice(window.focus.start, None)
    others = _only(database.refusing & full & at_rest & hold_most, seen)
    episode = refusals(window, database, others)
    displaced = _displaced(window, database)
    if episode is None and displaced is None:
        return None
    if episode is None:
        episode = refusals(window, database, _only(database.refusing & full, seen))
    if episode is None:
        return None
    if displaced is not None and displaced[0] > episode.end:
        displaced = None
    return _locked_out_finding(window.during(episode), database.during(episode), episode, held, used, displaced)


def _only(holds: BoolArray, span: slice) -> BoolArray:
    inside = np.zeros_like(holds)
    inside[span] = holds[span]
    return inside


def _pools_at_rest(window: Window) -> tuple[BoolArray, FloatArray, FloatArray]:
    """Where no pool dials: what is refused there is not theirs. And what they hold and use together."""
    seen = list(pools(window))
    if not seen:
        nothing = np.full(window.grid.count, np.nan)
        return np.zeros(window.grid.count, dtype=np.bool_), nothing, nothing
    closed = np.zeros(window.grid.count)
    for metric in CLOSED:
        closed += np.nan_to_num(window[metric].rate)
    rest = closed == 0
    for pool in seen:
        whole = (pool.limit > 0) & (pool.open >= pool.limit)
        idle = (pool.idle >= 1) & (pool.in_use <= 0.5 * pool.open)
        rest &= whole | idle | (pool.open == 0)
    return rest, added([pool.open for pool in seen]), added([pool.in_use for pool in seen])


def _displaced(window: Window, database: Database) -> tuple[int, str, float, FloatArray] | None:
    """A user that had connections, and had none while another one held most: when, who, how many before, [instant]."""
    by_user = users(window, database)
    holders = holders_of(window, database, slice(None))
    if len(holders) < 2 or holders[0][1] < HELD_SHARE * database.bound:
        return None
    known: BoolArray = np.isfinite(added(list(by_user.values())))
    crowded = known & (np.nan_to_num(by_user[holders[0][0]]) >= HELD_SHARE * database.bound) & database.refusing
    if int(crowded.sum()) < LEAST_KNOWN:
        return None
    first = int(np.flatnonzero(crowded)[0])
    for user, _ in holders[1:]:
        level = np.where(known, np.nan_to_num(by_user[user]), np.nan)
        before = level[:first][known[:first]]
        if before.size < LEAST_KNOWN or not np.median(before) >= 1:
            continue
        gone = np.flatnonzero(crowded & (level == 0))
        if len(gone) >= LEAST_KNOWN:
            return int(gone[0]), user, float(np.median(before)), level
    return None


def _locked_out_finding(
    window: Window,
    database: Database,
    episode: Episode,
    held: FloatArray,
    used: FloatArray,
    displaced: tuple[int, str, float, FloatArray] | None,
) -> Finding:
    times = window.total(database.refused, episode.span)
    from_ms = window.grid.time_ms(episode.first)
    holders = holders_of(window, database, episode.span)
    names = [pool.labels.get("instance", pool.name) for pool in pools(window)]
    by = holders[0][0] if holders else names[0] if len(names) == 1 else message("clients-locked-out.by").en
    most = holders[0][1] if holders else largest(held, episode.span)
    busy = largest(used, episode.span)
    after = from_ms >= window.to_ms
    since = message("clients-locked-out.when") if after else since_start(window, from_ms, "at ")
    use = message("clients-locked-out.use", busy=busy) if np.isfinite(busy) else SILENT
    shown = [level_shown(window, database), refusals_shown(window, database)]
    held_most, gone = largest(held, episode.span), SILENT
    draft = Draft(window, episode, database.labels, database=database, by=by, most=most, times=times)
    if np.isfinite(held_most + busy):
        shown.append(draft.show("clients-locked-out.limit", held, value=held_most, at=episode.first, busy=busy))
    if displaced is not None:
        at, user, before, level = displaced
        gone = message("clients-locked-out.gone", user=user, before=before)
        target = selector({**database.labels, "mysql_user": user})
        shown.append(draft.show("clients-locked-out.effect", level, at=at, user=user, before=before, target=target))
    number = max(len(names), 1)
    size = max(int(database.bound * 0.8 // number), 1)
    fewer = step("clients-locked-out.step", number=number, size=size)
    steps = [*steps_for_growth(window, database, episode), fewer, "clients-locked-out.step-2"]
    return draft.finding("clients-locked-out.sentence", shown, steps, since=since, use=use, gone=gone)


LEAST_RATE = 1.0
LEAST_SHARE = 0.01
LEAST_SECONDS = 4.0
"""A process that is killed drops all its connections too, but at once."""
LEAST_DIALLED = 0.5
"""Of the dropped connections, that are dialled anew: they are missed."""

ABORTED = "mysql_global_status_aborted_clients"


@detector(
    "cancel-storm",
    least_seconds=LEAST_SECONDS,
    needs=(ABORTED,),
    reads=(*DATABASE_METRICS, "go_sql_in_use_connections"),
)
def cancel_storm(window: Window) -> Iterator[Outcome]:
    """Clients give up while their statements run: the connections are dropped, and dialled anew for the next ones.

    One finding for each database whose clients dropped connections at the rate of failing requests.
    """
    for database in databases(window):
        table = window[ABORTED].where(**database.labels)
        aborted = table.rate
        if not np.isfinite(window.inside(aborted)).any():
            continue
        words = message("cancel-storm.figures", left=window.total(aborted), name=database.name)
        asked = np.nan_to_num(window.load.rate) if window.load is not None else np.zeros(window.grid.count)
        holds = aborted >= np.maximum(LEAST_RATE, LEAST_SHARE * asked)
        least = least_instants(window.grid, table.slowest_ms, seconds=LEAST_SECONDS)
        episode = longest_episode(window, holds, table.slowest_ms, seconds=LEAST_SECONDS, gap=max(least, 5))
        if episode is None:
            yield Clear(words)
            continue
        dialled = _dialled(window, database, aborted, episode)
        gave_up = failures(window, episode)
        if not dialled or (window.load is not None and gave_up < LEAST_SHARE * window.total(asked, episode.span)):
            yield Observation(words)
            continue
        yield _storm_finding(window.during(episode), database, aborted, episode)


def _dialled(window: Window, database: Database, aborted: FloatArray, episode: Episode) -> bool:
    opened = window.total(database.logins, episode.span)
    used = [largest(pool.in_use, episode.span) for pool in pools(window)]
    idle = bool(used) and not any(most > 0 for most in used)
    return not idle and opened >= LEAST_DIALLED * window.total(aborted, episode.span)


def _storm_finding(window: Window, database: Database, aborted: FloatArray, episode: Episode) -> Finding:
    dropped = window.total(aborted, episode.span)
    opened = window.total(database.logins, episode.span)
    patience = largest(window.load.p99, episode.span) if window.load is not None else float("nan")
    after = message("cancel-storm.after", patience=patience) if np.isfinite(patience) else SILENT
    most, seconds = largest(aborted, window.focus), max(patience / 2, 0.1) if np.isfinite(patience) else 1.0
    draft = Draft(window, episode, database.labels, after=after, dropped=dropped, name=database.name, opened=opened)
    shown = [
        draft.show("cancel-storm.limit", aborted, most=most),
        draft.show("cancel-storm.demand", database.logins),
        *load_effects(window, episode),
    ]
    return draft.finding("cancel-storm.sentence", shown, seconds=seconds, milliseconds=round(seconds * 1000))


FELL_SECONDS = 5.0
"""Uptime is whole seconds of the server's own clock."""
AFTER_SECONDS = 5
"""For so long after a new start what fails may still be its doing."""
NOBODY = ("refused", "can't connect", "no such file", "lost connection", "gone away", "broken pipe", "reset by peer")
"""What an agent says where nobody answers; an answer that takes too long under load is no such thing."""

UPTIME, UP, ERROR = "mysql_global_status_uptime", "up", "collector_error_info"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Absence:
    """From the last sign of a server to the first one of its successor; without one, to the last went_away."""

    labels: Mapping[str, str]
    name: str
    episode: Episode
    shown: FloatArray
    expression: str
    back: bool

    @property
    def key(self) -> str:
        return "database-down.restarted" if self.back else "database-down.silent"


@detector("database-down", needs=(UPTIME,), reads=(UP, ERROR))
def went_away(window: Window) -> Iterator[Outcome]:
    """The database ended, or another one runs in its place, while the load needed it.

    One finding for each database that was away while requests failed; a planned restart accuses nobody.
    """
    for labels, table in window[UPTIME].by("job", "instance"):
        # As it was read: what is held on to hides for how long nobody answered.
        uptime: FloatArray = np.fmax.reduce(table.values, axis=0)
        if not np.isfinite(window.inside(uptime)).any():
            continue
        name = labels.get("instance", "The database")
        absence = _restarted(window, labels, name, uptime) or _silent(window, labels, name)
        if absence is None:
            yield Clear(message("database-down.clear", name=name))
            continue
        failed = failures(window, _impact_in(window, absence.episode))
        if window.load is None or failed < LEAST_FAILED:
            yield Observation(message(absence.key, absence=absence, when=_since(window, absence)))
            continue
        yield _absence_finding(window, absence, failed)


def _restarted(window: Window, labels: Mapping[str, str], name: str, uptime: FloatArray) -> _Absence | None:
    places = np.flatnonzero(np.isfinite(uptime))
    for before, after in zip(places[:-1].tolist(), places[1:].tolist(), strict=True):
        if uptime[after] > uptime[before] - FELL_SECONDS or not window.focus.start <= after < window.focus.stop:
            continue
        return _Absence(
            labels=labels,
            name=name,
            episode=Episode(before, after + 1),
            shown=uptime,
            expression=f"{UPTIME}{selector(labels)}",
            back=True,
        )
    return None


def _silent(window: Window, labels: Mapping[str, str], name: str) -> _Absence | None:
    table = window[UP].where(**labels, collector="mysql")
    up = table.max
    told = [
        row
        for row, one in enumerate(window[ERROR].labels)
        if all(one.get(key) == value for key, value in labels.items())
        and one.get("collector") == "mysql"
        and any(text in one.get("error", "").lower() for text in NOBODY)
    ]
    if not told:
        return None
    gone = (up == 0) & (window[ERROR].take(told).max > 0)
    episode = longest_episode(window, gone, table.slowest_ms, gap=2)
    if episode is None:
        return None
    return _Absence(
        labels=labels,
        name=name,
        episode=episode,
        shown=up,
        expression=f"up{selector({**labels, 'collector': 'mysql'})}",
        back=False,
    )


def _impact_in(window: Window, episode: Episode) -> Episode:
    return Episode(episode.first, min(episode.end + round(AFTER_SECONDS / window.step_seconds), window.grid.count))


def _since(window: Window, absence: _Absence) -> Words:
    return since_start(window, window.grid.time_ms(absence.episode.first), "at " if absence.back else "")


def _absence_finding(window: Window, absence: _Absence, failed: float) -> Finding:
    episode = absence.episode
    draft = Draft(window, episode, absence.labels, absence=absence, when=_since(window, absence))
    shown = draft.show(absence.key, absence.shown, at=episode.end - 1)
    return draft.finding(
        "database-down.failed-then" if absence.back else "database-down.failed-since",
        [shown, *load_effects(window, _impact_in(window, episode))],
        said=shown.text,
        failed=failed,
        away=(len(episode) - 1) * window.step_seconds,
    )

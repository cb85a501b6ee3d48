"""The load itself: a generator at its own limit, users that wait for answers, and warm-up that was measured."""

from collections.abc import Iterator

import numpy as np
from loadwatch_formats.metrics.loadtest import GENERATOR_CPU

from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.costs import whole
from loadwatch_backend.findings.measures.facts import focused, largest, usual
from loadwatch_backend.findings.measures.hosts import CPU, host
from loadwatch_backend.findings.measures.outcomes import Clear, Draft, Outcome, detector
from loadwatch_backend.findings.messages import message
from loadwatch_backend.findings.model import Evidence, Finding
from loadwatch_backend.findings.window import BoolArray, Episode, Generator, Load, Window, episodes

JOB = "load-generator"
FAR_BELOW = 0.95
LEAST_SHORT_SECONDS = 10.0
BUSY = 0.9

CLOSED = frozenset({"hey", "wrk", "oha", "ab", "siege", "locust", "jmeter"})
"""Tools whose users wait for an answer before they send again, unless they are given a rate."""
SLOWER, SENT_LESS = 2.0, 0.7
LEAST_SLOW_SECONDS = 5.0
LEAST_SLOWER_SECONDS = 0.05
CAPPED_SHARE = 0.9
SAME_USERS = 2.0
"""Users by Little's law in quick and in slow seconds differ by less than this in a closed system."""

PARTS = 6
LEAST_STEADY_SECONDS = 30.0
WARMER = 1.5
LEAST_WARMER_SECONDS = 0.005
LESS = 0.9
STEADY = 1.25
"""By how much the later parts may differ from each other and still be level."""
EVEN_LOAD = 1.1


@detector("generator-saturated", reads=(GENERATOR_CPU, CPU))
def generator_saturated(window: Window) -> Iterator[Outcome]:
    """At most one finding, of the run's check of its generator: a rate that is short tells nothing of its cause."""
    generator, load = window.generator, window.load
    if load is None or generator is None or generator.state == "unknown":
        return
    asked, reached = generator.target_rate, generator.reached_rate
    if generator.state == "saturated":
        yield _saturated(window, load, generator)
    elif asked and reached:
        waited = message("generator-saturated.waited") if generator.state == "held-back" else SILENT
        yield Clear(message("generator-saturated.reached", reached=reached, asked=asked, waited=waited))
    else:
        yield Clear(message("generator-saturated.clear", sent=window.total(load.rate)))


def _saturated(window: Window, load: Load, generator: Generator) -> Finding:
    # Where less than was asked for was sent, for long.
    least = max(round(LEAST_SHORT_SECONDS / window.step_seconds), 3)
    short = episodes(focused(window, _over_seconds(load.rate, window) < FAR_BELOW * load.target), least=least, gap=2)
    asked, reached, dropped = generator.target_rate, generator.reached_rate, generator.dropped
    tool = Words(generator.tool, generator.tool) if generator.tool else message("generator-saturated.generator")
    what = message("generator-saturated.limit", tool=tool)
    episode = window.one_of(short) if short else whole(window)
    draft = Draft(window, episode, {"tool": generator.tool} if generator.tool else {})
    shown: list[Evidence] = []
    if dropped:
        what = message("generator-saturated.dropped", tool=tool, dropped=dropped)
        shown = [draft.show("generator-saturated.iterations", load.rate, value=dropped)]
    if asked and reached is not None and reached < FAR_BELOW * asked:
        what = message("generator-saturated.short", tool=tool, reached=reached, asked=asked)
        shown.insert(0, draft.show("generator-saturated.sent", load.rate, value=reached, limit=asked))
    cpu, busy = _cpu(window), SILENT
    if cpu is not None:
        busy = message("generator-saturated.busy", busiest=largest(cpu, window.focus))
        shown.append(draft.show("generator-saturated.cpu", cpu, limit=1.0))
    if {"gaps", "late-sends"} & set(generator.reasons):
        least_sent = float(np.nan_to_num(-largest(-load.rate, window.focus)))
        shown.append(draft.show("generator-saturated.uneven", load.rate, value=least_sent))
    steps = ["generator-saturated.larger", *(["generator-saturated.at_least"] if reached else [])]
    return draft.finding("generator-saturated.sentence", shown, steps, what=what, busy=busy, rate=reached)


def _over_seconds(values: FloatArray, window: Window, seconds: float = 5.0) -> FloatArray:
    """The mean of the last instants, against clocks that cut a second unevenly."""
    width = max(round(seconds / window.step_seconds), 1)
    padded = np.concatenate([np.full(width - 1, np.nan), values])
    view = np.lib.stride_tricks.sliding_window_view(padded, width)
    known = np.isfinite(view)
    held = known.sum(axis=1)
    return np.where(held == width, np.where(known, view, 0.0).sum(axis=1) / np.maximum(held, 1), np.nan)


def _cpu(window: Window) -> FloatArray | None:
    """[instant]: busy share of the generator's host where it was full for long; None where not, or unknown."""
    shares: list[FloatArray] = [window[GENERATOR_CPU].max]
    for labels, _ in window[CPU].where(job=JOB).by("instance"):
        found = host(window, labels.get("instance", ""))
        if found is not None:
            shares.append(found.busy / found.cores)
    least = max(round(LEAST_SHORT_SECONDS / window.step_seconds), 3)
    return next((one for one in shares if episodes(focused(window, one >= BUSY), least=least, gap=1)), None)


@detector("coordinated-omission")
def coordinated_omission(window: Window) -> Iterator[Outcome]:
    """At most one finding, of the whole load: users that wait for answers send little while the system is slow."""
    load, generator = window.load, window.generator
    if load is None or np.isfinite(window.inside(load.target)).any():
        return
    if generator is not None and generator.target_rate:
        return
    tool = "" if generator is None else generator.tool
    if tool not in CLOSED and not _capped(window.inside(load.users)):
        return
    slow = _slow(window, load)
    yield Clear(message("coordinated-omission.clear")) if slow is None else _omitted(window, load, tool, slow)


def _capped(users: FloatArray) -> bool:
    known = users[np.isfinite(users)]
    return bool(known.size >= 3 and known.max() > 0 and float((known >= known.max()).mean()) >= CAPPED_SHARE)


def _slow(window: Window, load: Load) -> BoolArray | None:
    """Where answers were slow and little was sent; None where that is too short, or no sign of users that wait."""
    median, rate = load.p50, load.rate
    known = window.known(median)
    if known.size < 2 * LEAST_SLOW_SECONDS:
        return None
    quick = float(np.quantile(known, 0.25))
    slow = focused(window, median >= max(SLOWER * quick, quick + LEAST_SLOWER_SECONDS))
    fast = focused(window, median < SLOWER * quick)
    if min(int(slow.sum()), int(fast.sum())) * window.step_seconds < LEAST_SLOW_SECONDS:
        return None
    sent_fast, sent_slow = float(np.nanmean(rate[fast])), float(np.nanmean(rate[slow]))
    if not (np.isfinite(sent_fast + sent_slow) and sent_fast > 0 and sent_slow <= SENT_LESS * sent_fast):
        return None
    users_fast, users_slow = (float(np.nanmean((rate * median)[part])) for part in (fast, slow))
    return slow if 1 / SAME_USERS <= users_slow / max(users_fast, 1e-9) <= SAME_USERS else None


def _omitted(window: Window, load: Load, tool: str, slow: BoolArray) -> Finding:
    places = np.flatnonzero(slow)
    fast = focused(window, np.isfinite(load.p50) & ~slow)
    sent_fast, sent_slow = float(np.nanmean(load.rate[fast])), float(np.nanmean(load.rate[slow]))
    median = float(np.nanmedian(load.p50[slow]))
    users, middle = usual(load.users, window.focus), int(places[len(places) // 2])
    from_users = message("coordinated-omission.users", users=users) if np.isfinite(users) else SILENT
    episode = Episode(int(places[0]), int(places[-1]) + 1)
    draft = Draft(window, episode, {"tool": tool} if tool else {}, sent_fast=sent_fast)
    shown = [
        draft.show("coordinated-omission.rate", load.rate, value=sent_slow, at=middle, users=from_users),
        draft.show("coordinated-omission.median", load.p50, value=median, at=middle),
    ]
    return draft.finding(
        "coordinated-omission.sentence",
        shown,
        median=median,
        tool=Words(tool, tool) if tool else message("coordinated-omission.load_tool"),
        sent_slow=sent_slow,
        unsent=(sent_fast - sent_slow) * int(slow.sum()) * window.step_seconds,
        rate=max(round(sent_fast), 1),
    )


@detector("warm-up-in-window")
def warm_up_in_window(window: Window) -> Iterator[Outcome]:
    """At most one finding, on the steady window of a run: its first part was slower than the rest."""
    load, steady = window.load, window.steady
    if load is None or steady is None:
        return
    length = steady.stop - steady.start
    if length * window.step_seconds < LEAST_STEADY_SECONDS or length < PARTS * 3:
        return
    median, good = (
        _parts(values, steady) for values in (load.p50, load.outcomes.get("ok", np.full(window.grid.count, np.nan)))
    )
    slower = _warms(median, WARMER) and median[0] - float(np.median(median[PARTS // 2 :])) >= LEAST_WARMER_SECONDS
    climbs = bool(np.isfinite(good).all()) and _warms(1 / np.maximum(good, 1e-9), 1 / LESS)
    # The answers have to change while what is sent does not, or the load itself did.
    even = any(_is_even(_parts(values, steady)) for values in (load.rate, load.target, load.users))
    if (slower or climbs) and even:
        yield _warm_up(window, load, steady, median, good)
    elif np.isfinite(median).all():
        yield Clear(message("warm-up-in-window.clear", first=median[0], last=median[-1]))


def _parts(values: FloatArray, steady: slice) -> FloatArray:
    """Medians of the parts of the window; NaN where one has too few values."""
    known = [part[np.isfinite(part)] for part in np.array_split(values[steady], PARTS)]
    return np.array([float(np.median(part)) if part.size >= 3 else np.nan for part in known], dtype=np.float64)


def _is_even(levels: FloatArray) -> bool:
    return bool(np.isfinite(levels).all() and levels.max() <= EVEN_LOAD * levels.min())


def _warms(levels: FloatArray, factor: float) -> bool:
    """Whether the first parts are higher than the later ones, fall, and those are level."""
    if not np.isfinite(levels).all():
        return False
    later = levels[PARTS // 2 :]
    settled = float(np.median(later))
    falls = levels[0] >= levels[1] >= settled * 0.95
    return bool(falls and settled > 0 and levels[0] >= factor * settled and later.max() <= STEADY * later.min())


def _warm_up(window: Window, load: Load, steady: slice, median: FloatArray, good: FloatArray) -> Finding:
    begun, settled = float(median[0]), float(np.median(median[PARTS // 2 :]))
    level = next((place for place in range(PARTS) if median[place] <= 1.1 * settled), PARTS // 2)
    seconds = level * (steady.stop - steady.start) / PARTS * window.step_seconds
    first, last = float(good[0]), float(np.median(good[PARTS // 2 :]))
    end = min(steady.start + round(seconds / window.step_seconds), steady.stop - 1)
    draft = Draft(window, Episode(steady.start, end + 1), {})
    shown = [draft.show("warm-up-in-window.median", load.p50, value=begun, at=steady.start, limit=settled)]
    if np.isfinite(first + last) and first < LESS * last:
        key, values = "warm-up-in-window.good", load.outcomes["ok"]
        shown.append(draft.show(key, values, value=first, at=steady.start, last=last))
    return draft.finding("warm-up-in-window.sentence", shown, seconds=seconds, begun=begun, settled=settled)

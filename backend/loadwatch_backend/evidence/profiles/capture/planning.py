"""Which profiles are wanted now. Pure: what is known goes in, what to order comes out."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from loadwatch_formats.profile_kinds import PROFILE_KINDS

from loadwatch_backend.core.errors import InvalidError, LimitError, NotFoundError


class ProfileOrderNotFoundError(NotFoundError, code="profile-order-not-found"):
    """There is no such order, or it is not this agent's any more."""


class ProfileOrderRuleError(InvalidError, code="profile-order-rule"):
    """No profile can be taken that way."""


class ProfileOrderLimitError(LimitError, code="profile-order-limit"):
    """A run has as many orders as it may."""


SETTLED_MS = 20_000
"""So long a load lasts before its profiles are taken: pools are filled, code is warm."""
SETTLED_SHARE = 0.4
"""Share of a short run's planned duration that takes the place of `SETTLED_MS`."""
MOST_A_RUN = 120
MOST_PROCESSES = 20
_MARGIN_MS = 1_000
"""Time each profile needs beside its own duration: until the agent polls, and to be sent."""


class Cause(StrEnum):
    """Why a profile was ordered."""

    RUN = "run"
    ALERT = "alert"
    HAND = "hand"


class OrderState(StrEnum):
    """What became of an order."""

    WAITING = "waiting"
    TAKEN = "taken"
    DONE = "done"
    FAILED = "failed"
    """The agent says why."""
    UNTAKEN = "untaken"
    """No agent took it: there is none, or one of a version before profiles."""
    SILENT = "silent"
    """The agent began, and nothing came of it."""
    OVER = "over"
    """The run ended before its turn came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process that profiles can be taken of, as its agent describes it; a profile lasts `seconds` at most."""

    job: str
    instance: str
    kinds: tuple[str, ...]
    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNow:
    id: str
    started_ms: int
    planned_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringAlert:
    """An alert that asks for profiles; `job` and `instance` are empty where it does not say whose."""

    id: str
    rule: str
    kinds: tuple[str, ...]
    job: str
    instance: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A profile to order; `cause_id` is the alert's id where one asked."""

    run_id: str
    job: str
    instance: str
    kind: str
    seconds: int
    cause: Cause
    cause_id: str = ""
    asked_by: str = ""


Had = Collection[tuple[str, str, str, str, str]]
"""(run, cause, cause id, job, instance) of what was ordered before."""


def begins_ms(run: RunNow) -> int:
    share = SETTLED_MS if run.planned_seconds is None else run.planned_seconds * 1_000 * SETTLED_SHARE
    return run.started_ms + round(min(SETTLED_MS, share))


def wanted_by_run(run: RunNow, processes: Sequence[Process], had: Had, now_ms: int) -> Iterator[Wanted]:
    """Each kind once of each process, when the load has lasted; all of one process together."""
    if now_ms < begins_ms(run):
        return
    for process in processes[:MOST_PROCESSES]:
        if (run.id, Cause.RUN, "", process.job, process.instance) in had:
            continue
        seconds = _lasting(run, process, now_ms)
        if seconds is not None:
            for kind in _ordered(process.kinds):
                yield Wanted(
                    run_id=run.id,
                    job=process.job,
                    instance=process.instance,
                    kind=kind,
                    seconds=seconds,
                    cause=Cause.RUN,
                )


def wanted_by_alert(run: RunNow, alert: FiringAlert, processes: Sequence[Process], had: Had) -> Iterator[Wanted]:
    """What an alert asks for, once while it fires: of the process that it names, else of its job, else of all."""
    for process in _meant(alert, processes)[:MOST_PROCESSES]:
        if (run.id, Cause.ALERT, alert.id, process.job, process.instance) in had:
            continue
        for kind in _ordered(process.kinds):
            if kind in alert.kinds:
                yield Wanted(
                    run_id=run.id,
                    job=process.job,
                    instance=process.instance,
                    kind=kind,
                    seconds=process.seconds,
                    cause=Cause.ALERT,
                    cause_id=alert.id,
                    asked_by=alert.rule,
                )


UNTAKEN_MS = 60_000
"""So long an order waits while its process is free."""
SILENT_MS = 90_000
"""So long after its profile's own time an agent may be at work on one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOrder:
    """An order that waits or is being carried out; `free_ms` is when its process was last at work on another."""

    id: int
    run_id: str
    seconds: int
    created_ms: int
    taken_ms: int | None
    free_ms: int


def given_up(order: OpenOrder, under_way: Collection[str], now_ms: int) -> OrderState | None:
    """What an open order ends as by itself; None while there is hope."""
    if order.taken_ms is not None:
        return OrderState.SILENT if now_ms > order.taken_ms + order.seconds * 1_000 + SILENT_MS else None
    if order.run_id not in under_way:
        return OrderState.OVER
    return OrderState.UNTAKEN if now_ms > max(order.created_ms, order.free_ms) + UNTAKEN_MS else None


def kinds_asked(text: str) -> tuple[str, ...]:
    """The kinds in an alert's `profile`: `cpu`, or `cpu, mutex`, or `all`; what is none is left out."""
    words = {word.strip() for word in text.lower().split(",")}
    return tuple(kind for kind in PROFILE_KINDS if kind in words or "all" in words)


def _meant(alert: FiringAlert, processes: Sequence[Process]) -> list[Process]:
    named = [one for one in processes if (one.job, one.instance) == (alert.job, alert.instance)]
    return named or [one for one in processes if one.job == alert.job] or list(processes)


def _ordered(kinds: Sequence[str]) -> list[str]:
    return [kind for kind in PROFILE_KINDS if kind in kinds]


def _lasting(run: RunNow, process: Process, now_ms: int) -> int | None:
    """How long each may last, so that all fit into what is planned of the run; None when nothing is left of it."""
    if run.planned_seconds is None:
        return process.seconds
    left_ms = run.started_ms + run.planned_seconds * 1_000 - now_ms
    lasting = sum(PROFILE_KINDS[kind].lasts for kind in process.kinds)
    if left_ms < 2 * _MARGIN_MS:
        return None
    if not lasting:
        return process.seconds
    return max(min(process.seconds, int((left_ms / lasting - _MARGIN_MS) // 1_000)), 1)

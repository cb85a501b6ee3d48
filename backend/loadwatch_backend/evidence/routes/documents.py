"""Tables of routes as documents. Pure."""

from collections.abc import Sequence

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.evidence.missing import Fault, fault_remarks
from loadwatch_backend.evidence.route_folding import RouteKey
from loadwatch_backend.evidence.routes.model import SHARES, Counted, Rank, RouteSource, Window, classes_of
from loadwatch_backend.evidence.routes.schemas import (
    RouteFigures,
    RouteRank,
    RouteRanks,
    RoutesBase,
    RoutesWindow,
    RunRoute,
    RunRoutes,
)
from loadwatch_backend.evidence.runs import RunWindow

ENOUGH = 0.95
MOST_GONE = 50


def routes_out(
    run: RunWindow,
    window: Window,
    base: RunWindow | None,
    other: Window | None,
    language: Language,
    faults: Sequence[Fault] = (),
) -> RunRoutes:
    """The document of a table, held against another run's; `faults` of collectors that should have counted."""
    compared = base is not None and other is not None and other.source is not RouteSource.NONE
    before = _figures(other) if compared and other is not None else {}
    here = _figures(window)
    errors = [_error(rank) for one in window.routes for rank in one.ranks.values()]
    return RunRoutes(
        run_id=run.id,
        base=RoutesBase(id=base.id, name=base.name) if compared and base is not None else None,
        source=window.source,
        window=RoutesWindow.STEADY if window.steady else RoutesWindow.WHOLE,
        from_ms=max(window.span[0], 0),
        to_ms=max(window.span[1], 0),
        known=window.known,
        counted_by=window.counted_by,
        rank_error=max(errors, default=None),
        requests=sum(one.requests for one in window.routes),
        remarks=[*_remarks(run, window, Texts("routes", language)), *fault_remarks(faults, language)],
        routes=[
            RunRoute(**figures.model_dump(), name=key.name, method=key.method, route=key.route, base=before.get(key))
            for key, figures in sorted(
                here.items(), key=lambda item: (-(item[1].share or 0.0), -item[1].requests, item[0])
            )
        ],
        routes_left_out=window.left_out,
        gone=[key.name for key in before if key not in here][:MOST_GONE],
    )


def _figures(window: Window) -> dict[RouteKey, RouteFigures]:
    known = [one.seconds for one in window.routes if one.seconds is not None]
    return {one.key: _route(one, window.seconds, sum(known)) for one in window.routes if one.requests > 0}


def _route(one: Counted, seconds: float, whole: float) -> RouteFigures:
    return RouteFigures(
        requests=one.requests,
        rate=one.requests / seconds if seconds > 0 else 0.0,
        share=one.seconds / whole if one.seconds is not None and whole > 0 else None,
        statuses=classes_of(one.statuses),
        mean_seconds=one.seconds / one.timed if one.seconds is not None and one.timed > 0 else None,
        ranks=RouteRanks(**{name: _rank(one.ranks[name]) for name in SHARES})
        if len(one.ranks) == len(SHARES)
        else None,
        bytes=one.sent_bytes,
    )


def _rank(rank: Rank) -> RouteRank:
    return RouteRank(value=rank.value, low=rank.low, high=rank.high)


def _error(rank: Rank) -> float:
    return rank.high / rank.value - 1 if rank.value and rank.high is not None else 0.0


def _remarks(run: RunWindow, window: Window, say: Texts) -> list[str]:
    if window.source is RouteSource.NONE:
        return [say("nobody", run=run.id)]
    remarks: list[str] = []
    if window.known < ENOUGH:
        remarks.append(say("partly", known=f"{window.known:.0%}"))
    if window.cut:
        remarks.append(say("cut"))
    if window.routes and all(one.seconds is None for one in window.routes):
        remarks.append(say("untimed"))
    if window.whole_file:
        remarks.append(say("whole_file"))
    elif window.source is RouteSource.ACCESS_LOG:
        remarks.append(say("file", file=window.counted_by, outside=f"{window.outside:,}"))
        if run.steady_ms is not None and not window.steady:
            remarks.append(say("moved"))
    if window.unreadable:
        remarks.append(say("unreadable", lines=f"{window.unreadable:,}"))
    return remarks

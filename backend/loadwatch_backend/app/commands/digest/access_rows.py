"""What is said of each route: figures of a tally, beside those of another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadwatch_formats.access_logs.document import figures_document, quantiles_of, route_document
from loadwatch_formats.access_logs.figures import RouteFigures
from loadwatch_formats.access_logs.tally import Key, Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A route and method.

    Attributes:
        figures: of this log; empty where the route is gone.
        base: of the log that it is compared with; None without one, empty where the route is new.
        share: of the time of all requests, 0 to 1; None where the log has no durations.
        quantiles: by name, in seconds; None where there are none. `base_quantiles`: those of `base`.
    """

    method: str
    route: str
    figures: RouteFigures
    base: RouteFigures | None
    share: float | None
    quantiles: Mapping[str, float | None]
    base_quantiles: Mapping[str, float | None]

    @property
    def gone(self) -> bool:
        """Whether it is in the base only."""
        return not self.figures.count

    @property
    def new(self) -> bool:
        """Whether it is not in the base that there is."""
        return self.base is not None and not self.base.count

    def status_count(self, of: str) -> int:
        """Requests with a status such as `304`, or with one of a class such as `5xx`; `3xx` is without 304."""
        return _statuses(self.figures, of)


def rows_of(tally: Tally, base: Tally | None) -> list[Row]:
    """All routes of both, in no order; both tallies are settled."""
    keys: dict[Key, None] = dict.fromkeys((*tally.figures, *(base.figures if base else ())))
    total = sum(figures.durations.sum for figures in tally.figures.values())
    measured = any(figures.durations.count for figures in tally.figures.values())
    rows: list[Row] = []
    for method, route in keys:
        figures = tally.figures.get((method, route)) or RouteFigures()
        beside = None if base is None else base.figures.get((method, route)) or RouteFigures()
        share = (figures.durations.sum / total if total else 0.0) if measured else None
        rows.append(
            Row(
                method=method,
                route=route,
                figures=figures,
                base=beside,
                share=share,
                quantiles=quantiles_of(figures),
                base_quantiles={} if beside is None else quantiles_of(beside),
            )
        )
    return rows


def document_of(rows: Sequence[Row]) -> dict[str, Any]:
    """For `--json`: routes in the order given, and those that are gone apart."""
    return {
        "routes": [_route(row) for row in rows if not row.gone],
        **({"gone": [_gone(row) for row in rows if row.gone]} if any(row.base is not None for row in rows) else {}),
    }


def _route(row: Row) -> dict[str, Any]:
    told = route_document((row.method, row.route), row.figures) | {"share": row.share}
    if row.base is not None:
        told["base"] = None if row.new else figures_document(row.base)
    return told


def _gone(row: Row) -> dict[str, Any]:
    assert row.base is not None
    return route_document((row.method, row.route), row.base)


def _statuses(figures: RouteFigures, of: str) -> int:
    if of.endswith("xx"):
        # 304 says that nothing has changed, and has a column of its own.
        return sum(
            count
            for status, count in figures.statuses.items()
            if len(status) == 3 and status[0] == of[0] and status != "304"
        )
    return figures.statuses[of]

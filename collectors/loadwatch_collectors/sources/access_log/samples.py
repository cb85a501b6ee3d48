"""Counts as samples. A series begins with 0, so that its first requests are an increase and not a beginning."""

from collections.abc import Mapping
from itertools import accumulate
from typing import cast

from loadwatch_formats.metrics.access_log import BOUNDS

from loadwatch_collectors.collector import KEPT, Labels, Sample
from loadwatch_collectors.sources.access_log.counts import Key, RouteCounts

BUCKETS_SECONDS = 5.0
"""How often buckets are sent: they are most of what there is, and nobody reads a quantile of a second."""
_LE = (*(f"{bound:.9g}" for bound in BOUNDS), "+Inf")
_SUM, _COUNT, _BUCKET = (f"http_request_duration_seconds_{part}" for part in ("sum", "count", "bucket"))


class _Shown:
    """The series of one method and route that are there already."""

    __slots__ = ("buckets", "codes", "kept", "labels")

    def __init__(self, key: Key) -> None:
        method, route = key
        self.labels: Labels = (("route", route), ("method", method))
        self.codes: dict[str, Labels] = {}
        self.buckets: list[Labels] = []
        self.kept: list[Sample] = []


class RouteSamples:
    """Remembers what has been shown, from one tick to the next.

    Attributes:
        has_new: the last tick began a series. One that is forgotten would begin with 0 again, and so count twice.
    """

    def __init__(self) -> None:
        self.has_new = False
        self._shown: dict[Key, _Shown] = {}

    def known(self) -> list[list[str]]:
        """What has been shown, as JSON: method, route, `timed` or nothing, and each status."""
        return [[*key, "timed" if one.buckets else "", *one.codes] for key, one in self._shown.items()]

    def restore(self, known: object) -> None:
        """Go on from `known`; what is none of it is left out."""
        for entry in cast("list[list[object]]", known) if isinstance(known, list) else []:
            method, route, timed, *codes = [str(part) for part in entry]
            shown = self._add((method, route))
            for code in codes:
                shown.codes[code] = (*shown.labels, ("code", code))
            if timed:
                self._add_buckets(shown)

    def samples(self, routes: Mapping[Key, RouteCounts], *, with_buckets: bool) -> list[Sample]:
        """Samples of a tick; buckets that are not read again stand as they were."""
        for key in [key for key in self._shown if key not in routes]:
            del self._shown[key]
        self.has_new = False
        found: list[Sample] = []
        for key, counts in routes.items():
            shown = self._shown.get(key)
            first = shown is None
            if shown is None:
                shown = self._add(key)
            for code, count in counts.statuses.items():
                labels = shown.codes.get(code)
                if labels is None:
                    labels = shown.codes[code] = (*shown.labels, ("code", code))
                    count, self.has_new = 0, True
                found.append(Sample("http_requests_total", float(count), labels))
            found.append(Sample("http_response_bytes_total", 0.0 if first else float(counts.bytes), shown.labels))
            if counts.timed:
                found += self._durations(shown, counts, with_buckets=with_buckets)
        return found

    def _durations(self, shown: _Shown, counts: RouteCounts, *, with_buckets: bool) -> list[Sample]:
        if not shown.buckets:
            self._add_buckets(shown)
            self.has_new = True
            zeros = [Sample(_BUCKET, 0.0, labels) for labels in shown.buckets]
            return [Sample(_SUM, 0.0, shown.labels), Sample(_COUNT, 0.0, shown.labels), *zeros]
        totals = [Sample(_SUM, counts.seconds, shown.labels), Sample(_COUNT, float(counts.timed), shown.labels)]
        if not with_buckets:
            return totals + shown.kept
        reached = accumulate(counts.buckets)
        return totals + [
            Sample(_BUCKET, float(count), labels) for count, labels in zip(reached, shown.buckets, strict=True)
        ]

    def _add(self, key: Key) -> _Shown:
        shown = self._shown[key] = _Shown(key)
        return shown

    def _add_buckets(self, shown: _Shown) -> None:
        shown.buckets = [(*shown.labels, ("le", le)) for le in _LE]
        shown.kept = [Sample(_BUCKET, 0.0, labels, KEPT) for labels in shown.buckets]

"""Evaluates the findings of the last minutes in the background, so that an alert need not wait for them.

Active findings are also written to the server's own store, as `loadwatch_finding`, for rules.
"""

from collections.abc import Callable, Mapping

import numpy as np

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.findings.schemas import FindingsOut
from loadwatch_backend.findings.service import LIVE_WINDOW_MS
from loadwatch_backend.findings.snapshot import FindingsSnapshot, snapshot_of
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Batch, Labels, SampleStore

LOOK_SECONDS = 5.0
FRESH_MS = 10_000
"""What is older is not said of the present. Where a look is expensive, looks are further apart; see `Findings.live`."""
LATELY_MS = 60_000
"""What is older holds nothing back."""
WRITE_MS = 15_000
MOST_SERIES = 100
WRITE_SECONDS = 30.0
METRIC = "loadwatch_finding"
_OF_TARGET = ("job", "instance")
_STALE = float(np.array([STALE_NAN_BITS], np.uint64).view(np.float64)[0])


class FindingsWatch:
    """`tick` is called by one thread; `current` may be asked from any."""

    def __init__(
        self,
        look: Callable[[], FindingsOut],
        store: SampleStore,
        clock: Clock,
        *,
        writes: bool,
        rules_by_finding: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        """`look` says what is so at present.

        `writes`: whether series are written, each with the rule that tells of its finding, by `rules_by_finding`.
        """
        self._look = look
        self._rules_by_finding = rules_by_finding
        self._store = store
        self._clock = clock
        self._writes = writes
        self._known: FindingsSnapshot | None = None
        self._written: Mapping[str, Labels] = {}
        self._written_ms: int | None = None

    def current(self) -> FindingsSnapshot | None:
        """What stands; None where nobody could look within the last ten seconds."""
        return self._known_for(FRESH_MS)

    def lately(self) -> FindingsSnapshot | None:
        """What stood within the last minute; None where nobody could look."""
        return self._known_for(LATELY_MS)

    def _known_for(self, most_ms: int) -> FindingsSnapshot | None:
        known = self._known
        return known if known is not None and abs(self._clock() - known.at_ms) <= most_ms else None

    def tick(self) -> None:
        """Look once, and write what stands when it is time.

        Raises:
            ProblemError: of the store, or what else a look raises; what was known stays until it is too old.
        """
        now_ms = self._clock()
        newest_ms = self._store.newest_ms()
        if newest_ms is None or now_ms - newest_ms > LIVE_WINDOW_MS:
            snapshot = FindingsSnapshot(at_ms=now_ms)
        else:
            snapshot = snapshot_of(self._look())
        self._known = snapshot
        if self._writes:
            self._write(series_of(snapshot, self._rules_by_finding()), now_ms)

    def _write(self, active: Mapping[str, Labels], now_ms: int) -> None:
        """Write what is active every 15 s and when something begins; end at once what is gone."""
        ended = {key: labels for key, labels in self._written.items() if key not in active}
        due = self._written_ms is None or not 0 <= now_ms - self._written_ms < WRITE_MS
        begun = any(key not in self._written for key in active)
        if not ended and not (active and (due or begun)):
            return
        values = [*((labels, 1.0) for labels in active.values()), *((labels, _STALE) for labels in ended.values())]
        batch = Batch(
            series=self._store.resolve([labels for labels, _ in values]),
            timestamps=np.full(len(values), now_ms, np.int64),
            values=np.array([value for _, value in values], np.float64),
            own=True,
        )
        self._store.append(batch).result(WRITE_SECONDS)
        self._written, self._written_ms = active, now_ms


def series_of(snapshot: FindingsSnapshot, rules_by_finding: Mapping[str, str] = {}) -> dict[str, Labels]:
    """A series for each id and place of what stands, at most 100; the surest of several."""
    found: dict[str, Labels] = {}
    for one in snapshot.findings:
        if not snapshot.stands(one):
            continue
        place = {name: one.labels[name] for name in _OF_TARGET if one.labels.get(name)}
        key = "|".join([one.id, *(f"{name}={text}" for name, text in place.items())])
        labels = {
            "__name__": METRIC,
            "id": one.id,
            "severity": one.severity.value,
            "certainty": one.certainty.value,
            **place,
            **({"rule": rules_by_finding[one.id]} if one.id in rules_by_finding else {}),
        }
        if key not in found and len(found) < MOST_SERIES:
            found[key] = labels
        elif key in found and _rank(labels) < _rank(found[key]):
            found[key] = labels
    changing = ("severity", "certainty", "rule")
    return {"|".join((key, *(labels.get(name, "") for name in changing))): labels for key, labels in found.items()}


def _rank(labels: Labels) -> tuple[int, int]:
    return (
        ("critical", "warning", "info").index(labels["severity"]),
        ("certain", "likely", "possible").index(labels["certainty"]),
    )

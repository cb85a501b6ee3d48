"""Looks at the present all the time, so that an alert finds what stands without waiting for it.

What stands is also written to the server's own store, as `loadwatch_finding`, for rules.
"""

import threading
from collections.abc import Callable, Mapping

import numpy as np
import structlog
from loadwatch_formats.metrics.findings import METRICS

from loadwatch_backend.findings.schemas import FindingsOut
from loadwatch_backend.findings.service import LIVE_WINDOW_MS
from loadwatch_backend.findings.standing import Moment, moment_of
from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.store.port import STALE_NAN_BITS, Batch, Labels, SampleStore

logger = structlog.get_logger(__name__)

LOOK_SECONDS = 5.0
FRESH_MS = 10_000
"""What is older is not said of the present. Where a look is expensive, looks are further apart; see `Findings.live`."""
LATELY_MS = 60_000
"""What is older holds nothing back."""
WRITE_MS = 15_000
MOST_SERIES = 100
WRITE_SECONDS = 30.0
METRIC = METRICS[0].name
_OF_TARGET = ("job", "instance")
_STALE = float(np.array([STALE_NAN_BITS], np.uint64).view(np.float64)[0])


class FindingsWatch:
    """A thread of its own; `current` may be asked from any."""

    def __init__(self, look: Callable[[], FindingsOut], store: SampleStore, clock: Clock, *, writes: bool) -> None:
        """`look` says what is so at present; `writes`: whether series are written."""
        self._look = look
        self._store = store
        self._clock = clock
        self._writes = writes
        self._known: Moment | None = None
        self._written: Mapping[str, Labels] = {}
        self._written_ms: int | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="findings-watch", daemon=True)

    def start(self) -> None:
        """Begin with a first look now."""
        self._thread.start()

    def stop(self) -> None:
        """End, after a look that is under way."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def current(self) -> Moment | None:
        """What stands; None where nobody could look within the last ten seconds."""
        return self._known_for(FRESH_MS)

    def lately(self) -> Moment | None:
        """What stood within the last minute; None where nobody could look."""
        return self._known_for(LATELY_MS)

    def _known_for(self, most_ms: int) -> Moment | None:
        known = self._known
        return known if known is not None and abs(self._clock() - known.at_ms) <= most_ms else None

    def _run(self) -> None:
        broken = False
        while not self._stopping.is_set():
            try:
                self.tick()
                broken = False
            except Exception as error:
                if not broken:
                    logger.warning("the present cannot be looked at", error=type(error).__name__, detail=str(error))
                broken = True
            self._stopping.wait(LOOK_SECONDS)

    def tick(self) -> None:
        """Look once, and write what stands when it is time.

        Raises:
            ProblemError: of the store, or what else a look raises; what was known stays until it is too old.
        """
        now_ms = self._clock()
        newest_ms = self._store.newest_ms()
        if newest_ms is None or now_ms - newest_ms > LIVE_WINDOW_MS:
            moment = Moment(at_ms=now_ms)
        else:
            moment = moment_of(self._look())
        self._known = moment
        if self._writes:
            self._write(series_of(moment), now_ms)

    def _write(self, standing: Mapping[str, Labels], now_ms: int) -> None:
        """What stands each 15 s and when it begins, the end of what does not when that is seen."""
        ended = {key: labels for key, labels in self._written.items() if key not in standing}
        due = self._written_ms is None or not 0 <= now_ms - self._written_ms < WRITE_MS
        begun = any(key not in self._written for key in standing)
        if not ended and not (standing and (due or begun)):
            return
        values = [*((labels, 1.0) for labels in standing.values()), *((labels, _STALE) for labels in ended.values())]
        batch = Batch(
            series=self._store.resolve([labels for labels, _ in values]),
            timestamps=np.full(len(values), now_ms, np.int64),
            values=np.array([value for _, value in values], np.float64),
            own=True,
        )
        self._store.append(batch).result(WRITE_SECONDS)
        self._written, self._written_ms = standing, now_ms


def series_of(moment: Moment) -> dict[str, Labels]:
    """A series for each id and place of what stands, at most 100; the surest of several."""
    found: dict[str, Labels] = {}
    for one in moment.findings:
        if not moment.stands(one):
            continue
        place = {name: one.labels[name] for name in _OF_TARGET if one.labels.get(name)}
        key = "|".join([one.id, *(f"{name}={text}" for name, text in place.items())])
        labels = {
            "__name__": METRIC,
            "id": one.id,
            "severity": one.severity.value,
            "certainty": one.certainty.value,
            **place,
        }
        if key not in found and len(found) < MOST_SERIES:
            found[key] = labels
        elif key in found and _rank(labels) < _rank(found[key]):
            found[key] = labels
    return {f"{key}|{labels['severity']}|{labels['certainty']}": labels for key, labels in found.items()}


def _rank(labels: Labels) -> tuple[int, int]:
    return (
        ("critical", "warning", "info").index(labels["severity"]),
        ("certain", "likely", "possible").index(labels["certainty"]),
    )

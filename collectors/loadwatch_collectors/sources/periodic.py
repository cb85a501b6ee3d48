"""Details that are dear to read: at a slower period of their own."""

from collections.abc import Callable

from loadwatch_collectors.collector import KEPT, Sample


class Periodic:
    """Samples that are read anew when their period has passed, and kept until then."""

    def __init__(self, read: Callable[[], list[Sample]], every: float) -> None:
        """`every` is in seconds."""
        self._read = read
        self._every = every
        self._due = 0.0
        self._kept: list[Sample] = []

    def forget(self) -> None:
        """Read anew at the next `read`."""
        self._due = 0.0

    def read(self, now: float) -> list[Sample]:
        """The samples; `now` by `time.monotonic()`."""
        if now < self._due:
            return self._kept
        # Set before the reading: one that fails must not fail every tick from now on.
        self._due = now + self._every
        self._kept = []
        samples = self._read()
        self._kept = [sample._replace(timestamp_ms=KEPT) for sample in samples]
        return samples

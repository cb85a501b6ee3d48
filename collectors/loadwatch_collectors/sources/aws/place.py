"""One account in one region: what is there, what is wanted of it, and one poll at a time."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from loadwatch_collectors.collector import MissingPrivilege, Sample
from loadwatch_collectors.sources.aws.client.client import AwsClient
from loadwatch_collectors.sources.aws.client.errors import (
    ASSUME_ROLE,
    AwsError,
    CredentialsError,
    ForbiddenError,
    ThrottledError,
    UnreachableError,
)
from loadwatch_collectors.sources.aws.discovery.part import Permission
from loadwatch_collectors.sources.aws.iam import has_wildcard, plan_custom, plan_resources
from loadwatch_collectors.sources.aws.model import AccountRegion, Found, MetricKey, Resource, WantedMetric
from loadwatch_collectors.sources.aws.presets import PresetFile
from loadwatch_collectors.sources.aws.reading.reader import PlaceReader, Reading
from loadwatch_collectors.sources.aws.reading.side_reading import SideReading
from loadwatch_collectors.sources.aws.settings import CustomMetricSettings

FIRST_LOOK_SECONDS = 25.0
"""How long the first poll waits for the first look; later ones go with what is known."""
_CLOCK_TRUST_SECONDS = 5.0


class Finder(Protocol):
    def found(self, wait_seconds: float = 0.0) -> Found:
        """What is known now; before the first look has ended it waits."""
        ...

    def errors(self) -> Sequence[tuple[str, AwsError]]: ...

    def close(self) -> None: ...


class NothingToFind:
    """For a configuration that has custom metrics only."""

    def found(self, wait_seconds: float = 0.0) -> Found:  # noqa: ARG002 - there is nothing to wait for
        return Found()

    def errors(self) -> Sequence[tuple[str, AwsError]]:
        return ()

    def close(self) -> None:
        """Nothing to end."""


class SideReader(Protocol):
    """Reads what GetMetricData does not give: Performance Insights, Enhanced Monitoring."""

    def read(self, resources: Iterable[Resource], now_ms: int, deadline: float) -> SideReading:
        """Read what is due; errors are in the result."""
        ...


Budget = Callable[[Sequence[WantedMetric], Sequence[Resource]], Sequence[WantedMetric]]
"""Sets the factor `every` of metrics that are to be read less often, and leaves out what there is no room for."""


@dataclass(slots=True, kw_only=True)
class Poll:
    place: AccountRegion
    found: Found
    reading: Reading
    side_samples: list[Sample] = field(default_factory=list[Sample])
    wanted: Sequence[WantedMetric] = ()
    newest_ms: Mapping[str, int] = field(default_factory=dict[str, int])
    missing: list[MissingPrivilege] = field(default_factory=list[MissingPrivilege])
    errors: list[AwsError] = field(default_factory=list[AwsError])
    seconds: float = 0.0
    clock_offset_seconds: float | None = None
    """By how much this host's clock is ahead of AWS's; known to a second."""

    def aws_time_ms(self, now_ms: int) -> int:
        """A time of this host by AWS's clock, where the two clearly differ: windows and ages are AWS's time."""
        offset = self.clock_offset_seconds
        return now_ms if offset is None or abs(offset) < _CLOCK_TRUST_SECONDS else now_ms - round(offset * 1000)


class Leaving:
    """Metrics that nothing wants any more: CloudWatch still has their last minutes to deliver and to revise.

    A resource was deleted, is not chosen any more, or has another role. Pure.
    """

    def __init__(self, linger_ms: int) -> None:
        self._linger_ms = linger_ms
        self._plan: Sequence[WantedMetric] = ()
        self._until_ms: dict[WantedMetric, int] = {}
        self._wanted: Sequence[WantedMetric] = ()

    def add(self, plan: Sequence[WantedMetric], now_ms: int) -> Sequence[WantedMetric]:
        """Return the plan with the metrics that linger; the same object until either changes."""
        changed = plan is not self._plan
        if changed:
            wanted = {metric.metric for metric in plan}
            for metric in self._plan:
                self._until_ms.setdefault(metric, now_ms + self._linger_ms)
            # Wanted again, or with another period: both would write the same series.
            self._until_ms = {metric: until for metric, until in self._until_ms.items() if metric.metric not in wanted}
            self._plan = plan
        staying = {metric: until for metric, until in self._until_ms.items() if now_ms < until}
        if changed or len(staying) < len(self._until_ms):
            self._until_ms = staying
            self._wanted = [*plan, *staying] if staying else plan
        return self._wanted


class PlaceWatch:
    """Polls one place; used by one thread at a time."""

    def __init__(
        self,
        client: AwsClient,
        reader: PlaceReader,
        finder: Finder,
        *,
        presets: Mapping[str, PresetFile],
        custom: Sequence[CustomMetricSettings] = (),
        sides: Sequence[SideReader] = (),
        budget: Budget = lambda wanted, _: wanted,
        list_seconds: float = 300.0,
        linger_ms: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`linger_ms` is how long metrics are read on that nothing wants any more: the delay and what is read again."""
        self._client = client
        self._reader = reader
        self._finder = finder
        self._presets = presets
        self._custom = custom
        self._sides = sides
        self._budget = budget
        self._list_seconds = list_seconds
        self._clock = clock
        self._listed: dict[int, Sequence[MetricKey]] = {}
        self._list_due: dict[int, float] = {}
        self._list_missing: dict[int, MissingPrivilege] = {}
        self._planned_for: tuple[object, object] | None = None
        self._plan: list[WantedMetric] = []
        self._leaving = Leaving(linger_ms)

    def poll(self, now_ms: int, deadline: float) -> Poll:
        """Read what is due.

        Raises:
            AwsError: not even the account's id could be had.
        """
        began = self._clock()
        place = self._client.place
        found = self._finder.found(min(FIRST_LOOK_SECONDS, max(0.0, deadline - began) / 2))
        poll = Poll(place=place, found=found, reading=Reading(), missing=list(found.missing))
        self._list_custom(poll)
        poll.clock_offset_seconds = self._client.clock_offset_seconds()
        aws_ms = poll.aws_time_ms(now_ms)
        plan = self._make_plan(place, found)
        poll.wanted = self._budget(self._leaving.add(plan, aws_ms), found.resources)
        poll.reading = self._reader.read(poll.wanted, aws_ms, deadline)
        poll.missing += poll.reading.missing
        if not poll.wanted:
            # Nothing was asked of CloudWatch; whether the account can be read is known from the looking only.
            errors = (error for _, error in self._finder.errors() if isinstance(error, ForbiddenError))
            poll.reading.error = next((error for error in errors if error.action == ASSUME_ROLE), None)
        if poll.reading.error is not None:
            poll.errors.insert(0, poll.reading.error)
        poll.errors += poll.reading.refused
        for side in self._sides:
            reading = side.read(found.resources, aws_ms, deadline)
            poll.side_samples += reading.samples
            poll.missing += reading.missing
            poll.errors += reading.errors
        # Why the last looks failed. Last, since they may be minutes old, and there is room for the first only where
        # errors are shown; their credentials and clock are right again once AWS has answered to others.
        accepted = bool(poll.reading.states) or isinstance(poll.reading.error, ThrottledError)
        over = (ForbiddenError, CredentialsError) if accepted else ForbiddenError
        poll.errors += [error for _, error in self._finder.errors() if not isinstance(error, over)]
        # A namespace of which nothing is there any more is not late.
        namespaces = {metric.metric.namespace for metric in plan}
        poll.newest_ms = {name: newest for name, newest in self._reader.newest_ms.items() if name in namespaces}
        poll.seconds = self._clock() - began
        return poll

    def close(self) -> None:
        self._finder.close()
        self._client.close()

    def _make_plan(self, place: AccountRegion, found: Found) -> list[WantedMetric]:
        # Planned again only when something changed, so that the metrics stay the same objects.
        basis = (tuple(found.resources), tuple(self._listed.values()))
        if self._planned_for != basis:
            self._planned_for = basis
            self._plan = plan_resources(found.resources, self._presets)
            for index, settings in enumerate(self._custom):
                self._plan += plan_custom(settings, place, self._listed.get(index, ()))
        return self._plan

    def _list_custom(self, poll: Poll) -> None:
        """Look up the dimensions of custom metrics with wildcards; on failure what was known is kept."""
        for index, settings in enumerate(self._custom):
            if not has_wildcard(settings) or self._clock() < self._list_due.get(index, float("-inf")):
                continue
            filters = tuple((name, "" if value == "*" else value) for name, value in settings.dimensions.items())
            try:
                found = self._client.list_metrics(
                    settings.namespace,
                    settings.metric,
                    filters,
                    # Of the last three hours: metrics of a day are not among them for most of the time.
                    recently_active=settings.period <= 3_600,
                )
                self._listed[index] = tuple(found)
            except ForbiddenError as error:
                lost = f"metrics of {settings.namespace} whose dimensions have *, in {poll.place}"
                self._list_missing[index] = Permission(error.action, lost).missing()
            except AwsError as error:
                poll.errors.append(error)
                if index in self._listed:
                    self._list_due[index] = self._clock() + self._list_seconds
                if isinstance(error, ThrottledError | UnreachableError):
                    break  # Or nothing would be left of the poll to read what is known.
                continue
            else:
                self._list_missing.pop(index, None)
            self._list_due[index] = self._clock() + self._list_seconds
        poll.missing += self._list_missing.values()

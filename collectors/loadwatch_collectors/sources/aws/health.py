"""What the collector tells of itself: requests, metrics asked for, states, ages. Counters live as long as it does."""

import threading
from collections import Counter
from collections.abc import Iterable, Sequence

from loadwatch_collectors.collector import Labels, MissingPrivilege, Sample
from loadwatch_collectors.sources.aws.client.client import ApiCall
from loadwatch_collectors.sources.aws.place import Poll
from loadwatch_collectors.sources.aws.reading.states import STATES


class Health:
    """Counts what goes to AWS. `observe` is called by many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: Counter[ApiCall] = Counter()
        self._seconds: dict[tuple[str, str, str], float] = {}
        self._throttled: Counter[tuple[str, str]] = Counter()
        self._requested: Counter[tuple[str, str, str]] = Counter()
        self._repeated = 0
        self._states: Counter[tuple[str, str, str]] = Counter()

    def observe(self, call: ApiCall, seconds: float) -> None:
        """One request has ended."""
        with self._lock:
            self._calls[call] += 1
            key = (call.service, call.operation, call.region)
            self._seconds[key] = self._seconds.get(key, 0.0) + seconds
            if call.outcome == "throttled":
                self._throttled[call.service, call.region] += 1

    def note(self, poll: Poll) -> None:
        """One poll has ended."""
        where = (poll.place.account_id, poll.place.region)
        for preset, count in poll.reading.metrics_requested.items():
            self._requested[(*where, preset)] += count
        self._repeated += poll.reading.metrics_repeated
        for state in STATES:
            self._states[(*where, state)] += poll.reading.states.get(state, 0)

    def calls(self) -> Counter[ApiCall]:
        """All requests so far."""
        with self._lock:
            return Counter(self._calls)

    def requested(self) -> int:
        """All metrics requested so far, as CloudWatch bills them."""
        return sum(self._requested.values())

    def repeated(self) -> int:
        """How many of them were asked for again in the same poll."""
        return self._repeated

    def samples(self) -> list[Sample]:
        """The counters."""
        with self._lock:
            samples = [
                Sample(
                    "aws_api_requests_total",
                    float(count),
                    (
                        ("operation", call.operation),
                        ("outcome", call.outcome),
                        ("region", call.region),
                        ("service", call.service),
                    ),
                )
                for call, count in self._calls.items()
            ]
            services = {(call.service, call.region) for call in self._calls}
            samples += [
                Sample(
                    "aws_api_throttled_total",
                    float(self._throttled[service, region]),
                    (("region", region), ("service", service)),
                )
                for service, region in sorted(services)
            ]
            samples += [
                Sample(
                    "aws_api_request_duration_seconds_total",
                    seconds,
                    (("operation", operation), ("region", region), ("service", service)),
                )
                for (service, operation, region), seconds in self._seconds.items()
            ]
        samples += [
            Sample("aws_metrics_requested_total", float(count), (*_where(account, region), ("preset", preset)))
            for (account, region, preset), count in self._requested.items()
        ]
        samples += [
            Sample("aws_query_states_total", float(count), (*_where(account, region), ("state", state)))
            for (account, region, state), count in self._states.items()
        ]
        return samples


def place_samples(account: str, region: str, *, up: bool, error: str) -> list[Sample]:
    """Whether a place was read, and why not."""
    where = _where(account, region)
    samples = [Sample("aws_place_up", 1.0 if up else 0.0, where)]
    if error:
        samples.append(Sample("aws_place_error_info", 1.0, (*where, ("error", " ".join(error.split())[:200]))))
    return samples


def poll_samples(poll: Poll, now_ms: int) -> list[Sample]:
    """Sizes and ages of one place, at `now_ms`."""
    where = _where(poll.place.account_id, poll.place.region)
    samples = [
        Sample("aws_wanted_metrics", float(len(poll.wanted)), where),
        Sample("aws_unread_metrics", float(poll.reading.unread), where),
        Sample("aws_poll_duration_seconds", poll.seconds, where),
    ]
    if poll.clock_offset_seconds is not None:
        samples.append(Sample("aws_clock_offset_seconds", poll.clock_offset_seconds, where))
    aws_ms = poll.aws_time_ms(now_ms)
    samples += [
        Sample("aws_newest_point_age_seconds", max(0.0, (aws_ms - newest) / 1000), (*where, ("namespace", namespace)))
        for namespace, newest in poll.newest_ms.items()
    ]
    return samples


def missing_samples(missing: Iterable[MissingPrivilege]) -> list[Sample]:
    """One series for each missing permission."""
    return [
        Sample("aws_missing_permissions", 1.0, (("permission", permission),))
        for permission in sorted({item.permission for item in missing})
    ]


def unique(missing: Sequence[MissingPrivilege]) -> list[MissingPrivilege]:
    """Missing permissions of all places; what is lost is told once for each permission."""
    by_permission: dict[str, list[MissingPrivilege]] = {}
    for item in missing:
        by_permission.setdefault(item.permission, []).append(item)
    return [
        MissingPrivilege(
            permission=permission,
            lost="; ".join(dict.fromkeys(item.lost for item in items)),
            remedy=items[0].remedy,
        )
        for permission, items in sorted(by_permission.items())
    ]


def _where(account: str, region: str) -> Labels:
    return (("account_id", account), ("region", region))

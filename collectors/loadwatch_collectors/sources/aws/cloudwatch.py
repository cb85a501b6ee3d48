"""CloudWatch and the AWS APIs beside it: metrics of RDS, load balancers, containers and more, and what is there.

The parts are in `aws/`; this file ties them to the runner. boto3 is imported when the collector first reads, so
that the base install can list and check the source without it.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Container, Hashable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Generic, TypeVar

import structlog
from loadwatch_formats.metrics.model import MetricInfo

from loadwatch_collectors.collector import CollectFault, Collector, Labels, MissingPrivilege, Sample, Source, kept
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.aws.client.client import (
    Account,
    ApiCall,
    Connect,
    ConnectOptions,
    connect,
    regions_of,
    require_boto3,
)
from loadwatch_collectors.sources.aws.client.errors import AwsError, OutOfTimeError
from loadwatch_collectors.sources.aws.cost import BudgetKeeper, CostMeter, describe_estimate, read_prices
from loadwatch_collectors.sources.aws.discovery.discovery import BackgroundDiscovery, Discovery
from loadwatch_collectors.sources.aws.discovery.part import Selection
from loadwatch_collectors.sources.aws.model import MetricKey
from loadwatch_collectors.sources.aws.place import Finder, NothingToFind, PlaceWatch, Poll
from loadwatch_collectors.sources.aws.presets import load_presets, preset_metrics
from loadwatch_collectors.sources.aws.reading.enhanced import EnhancedReader
from loadwatch_collectors.sources.aws.reading.insights import InsightsReader
from loadwatch_collectors.sources.aws.reading.reader import PlaceReader, ReaderOptions
from loadwatch_collectors.sources.aws.reading.states import STATES
from loadwatch_collectors.sources.aws.settings import CloudWatchSettings


class Health:
    """Counts what goes to AWS. `observe` is called by many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: Counter[ApiCall] = Counter()
        self._seconds: dict[tuple[str, str, str], float] = {}
        self._throttled: Counter[tuple[str, str]] = Counter()
        self.requested: Counter[tuple[str, str, str]] = Counter()
        """Metrics by place and preset, as CloudWatch bills them."""
        self.repeated = 0
        """How many of the requested ones were asked for again in the same poll."""
        self._states: Counter[tuple[str, str, str]] = Counter()

    def observe(self, call: ApiCall, seconds: float) -> None:
        with self._lock:
            self._calls[call] += 1
            key = (call.service, call.operation, call.region)
            self._seconds[key] = self._seconds.get(key, 0.0) + seconds
            if call.outcome == "throttled":
                self._throttled[call.service, call.region] += 1

    def note(self, poll: Poll) -> None:
        where = (poll.place.account_id, poll.place.region)
        for preset, count in poll.reading.metrics_requested.items():
            self.requested[(*where, preset)] += count
        self.repeated += poll.reading.metrics_repeated
        for state in STATES:
            self._states[(*where, state)] += poll.reading.states.get(state, 0)

    def calls(self) -> Counter[ApiCall]:
        with self._lock:
            return Counter(self._calls)

    def samples(self) -> list[Sample]:
        with self._lock:
            samples = [
                Sample("aws_api_requests_total", float(count), tuple(sorted(call._asdict().items())))
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
            for (account, region, preset), count in self.requested.items()
        ]
        samples += [
            Sample("aws_query_states_total", float(count), (*_where(account, region), ("state", state)))
            for (account, region, state), count in self._states.items()
        ]
        return samples


def poll_samples(poll: Poll, now_ms: int) -> list[Sample]:
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


def unique(missing: Sequence[MissingPrivilege]) -> list[MissingPrivilege]:
    """Missing permissions of all places; what is lost is told once for each permission."""
    by_permission: dict[str, list[MissingPrivilege]] = {}
    for item in missing:
        by_permission.setdefault(item.permission, []).append(item)
    return [
        MissingPrivilege(permission, "; ".join(dict.fromkeys(item.lost for item in items)), items[0].remedy)
        for permission, items in sorted(by_permission.items())
    ]


def _where(account: str, region: str) -> Labels:
    return (("account_id", account), ("region", region))


_K = TypeVar("_K", bound=Hashable)
_T = TypeVar("_T")


PATIENCE_SECONDS = 2.0
"""How long `gather` waits for ailing keys while there are healthy ones."""


class KeyedJobs(Generic[_K, _T]):
    """Runs one job for each key, each in a thread of its own; used by one thread.

    A job that is not over when its poll ends goes on; its key is not started again before it is, and its result comes
    with the poll in which it ends.
    """

    def __init__(self) -> None:
        self._under_way: dict[_K, Future[_T]] = {}

    def start(self, key: _K, job: Callable[[], _T]) -> bool:
        """Start the job of a key; False when its last one is still under way."""
        if key in self._under_way:
            return False
        future = self._under_way[key] = Future[_T]()

        def run() -> None:
            try:
                future.set_result(job())
            except BaseException as error:  # Handed to the thread that gathers; a job must always end.
                future.set_exception(error)

        threading.Thread(target=run, name=f"aws-{key}", daemon=True).start()
        return True

    def gather(self, deadline: float, ailing: Container[_K] = ()) -> dict[_K, _T]:
        """The results of all that is over, at the latest at `deadline` (monotonic); what is not goes on.

        The `ailing` are hardly waited for where there are others, so that these have their results in time.

        Raises:
            Exception: a job's own fault; the first one.
        """
        healthy = [future for key, future in self._under_way.items() if key not in ailing]
        wait(healthy, max(deadline - time.monotonic(), 0.0))
        patience = min(deadline, time.monotonic() + PATIENCE_SECONDS) if healthy else deadline
        wait(self._under_way.values(), max(patience - time.monotonic(), 0.0))
        over = {key: future for key, future in self._under_way.items() if future.done()}
        for key in over:
            del self._under_way[key]
        return {key: future.result() for key, future in over.items()}

    def under_way(self) -> list[_K]:
        return [key for key, future in self._under_way.items() if not future.done()]


_log: Any = structlog.get_logger("loadwatch.aws")
INTERVAL_SECONDS = 60.0
_FACTS_SECONDS = 55.0
"""Facts are sent once a minute, also when the collector is called each second."""
_GRACE_SECONDS = 3.0
_SPARE_SECONDS = 5.0
"""Time left of the runner's timeout, so that the runner never has to give a poll up."""


@dataclass(slots=True, eq=False, kw_only=True)
class _State:
    watch: PlaceWatch
    account: Account
    region: str
    poll: Poll | None = None
    error: str = ""
    up: bool = False

    @property
    def account_id(self) -> str:
        if self.poll is not None:
            return self.poll.place.account_id
        role = self.account.role_arn
        return role.split(":")[4] if role else ""


class CloudWatchCollector(Collector):
    """Polls every region of every account side by side; one that cannot be read costs the others nothing."""

    def __init__(
        self, settings: CloudWatchSettings, *, connect: Connect = connect, wall: Callable[[], float] = time.time
    ) -> None:
        """Check what can be checked without a request.

        Raises:
            ConfigError: boto3 is not installed, an external id cannot be read, or there is no such preset.
        """
        require_boto3()
        self._settings = settings
        self._timeout = settings.timeout
        self._accounts = settings.account_list()
        self._wall = wall
        self._stopping = threading.Event()
        self._health = Health()
        self._presets = load_presets(settings.presets)
        prices = read_prices()
        self._meter = CostMeter(prices)
        self._budget = BudgetKeeper(settings.budget_usd_per_month, prices, interval_seconds=INTERVAL_SECONDS)
        self._connect = connect
        self._states: list[_State] = []
        self._flights: KeyedJobs[int, Poll | str] = KeyedJobs()
        self._facts_sent = float("-inf")

    def set_pace(self, interval_seconds: float, timeout_seconds: float) -> None:
        """Reckon costs with the real interval, and end each poll before the runner does."""
        self._budget.set_interval(interval_seconds)
        self._timeout = min(self._timeout, max(timeout_seconds - _GRACE_SECONDS - _SPARE_SECONDS, timeout_seconds / 2))

    def collect(self) -> list[Sample]:
        """Read what is due in every place.

        Raises:
            CollectorError: it is not known which region to read.
        """
        now = self._wall()
        deadline = time.monotonic() + self._timeout
        self._open()
        for index, state in enumerate(self._states):
            self._flights.start(index, partial(_fly, state.watch, int(now * 1000), deadline))
        ailing = frozenset(index for index, state in enumerate(self._states) if state.error and not state.up)
        ended = self._flights.gather(deadline + _GRACE_SECONDS, ailing)
        samples: list[Sample] = []
        for index, state in enumerate(self._states):
            outcome = ended.get(index)
            if outcome is None and index in ailing:
                continue  # Its last error stands; what it gives comes with the next poll.
            if outcome is None:
                state.up = False
                state.error = f"no answer within {self._timeout:g} s; the poll is still under way"
                continue
            if isinstance(outcome, str):
                state.up, state.error = False, outcome
                continue
            self._note(state, outcome)
            samples += outcome.reading.samples
            samples += outcome.side_samples
        return samples + self._facts(now) + self._own_samples()

    def fault(self) -> CollectFault | None:
        """The errors of all places; total when no place could be read."""
        failed = [state for state in self._states if state.error]
        if not failed:
            return None
        texts = dict.fromkeys(state.error for state in failed)
        return CollectFault(text="; ".join(texts), total=not any(state.up for state in self._states))

    def missing_privileges(self) -> Sequence[MissingPrivilege]:
        return unique([item for state in self._states if state.poll is not None for item in state.poll.missing])

    def metadata(self) -> Sequence[MetricInfo]:
        used: dict[str, MetricKey] = {}
        for state in self._states:
            for metric in state.poll.wanted if state.poll is not None else ():
                for statistic in metric.statistics:
                    used.setdefault(statistic.series, metric.metric)
        known = {info.name: info for info in preset_metrics()} if used else {}
        return [
            known.get(name)
            or MetricInfo(name=name, type="gauge", help=f"The metric {key.name} of {key.namespace} in CloudWatch.")
            for name, key in sorted(used.items())
        ]

    def explain(self) -> list[str]:
        lines: list[str] = []
        for state in self._states:
            poll = state.poll
            if poll is None:
                lines.append(f"{state.region}, {state.account}: {state.error}")
                continue
            kinds = Counter(resource.kind for resource in poll.found.resources)
            presets = Counter(metric.preset for metric in poll.wanted)
            lines.append(f"{poll.place}: found {_listed(kinds) or 'no resources'}")
            lines.append(f"  reads {len(poll.wanted)} metrics: {_listed(presets) or 'none'}")
            now_ms = self._wall() * 1000
            lines += [
                f"  CloudWatch's {namespace} is {max(0.0, now_ms - newest) / 1000:.0f} s behind"
                for namespace, newest in sorted(poll.newest_ms.items())
            ]
        lines.append("costs " + "\n    ".join(describe_estimate(self._budget.estimate(), self._meter.prices)))
        return lines + self._budget.describe()

    def close(self) -> None:
        self._stopping.set()
        for state in self._states:
            state.watch.close()

    def _open(self) -> None:
        if self._states:
            return
        places = [(account, region) for account in self._accounts for region in self._regions(account)]
        self._states = [
            _State(watch=self._watch(account, region), account=account, region=region) for account, region in places
        ]

    def _watch(self, account: Account, region: str) -> PlaceWatch:
        settings = self._settings
        options = ConnectOptions(
            endpoint_url=settings.endpoint_url, read_timeout_seconds=min(20.0, max(0.5, settings.timeout / 2))
        )
        client = self._connect(account, region, options, self._health.observe)
        delays = ReaderOptions(delay_ms=round(settings.delay * 1000), reread_ms=round(settings.reread * 1000))
        insights = InsightsReader(client, self._presets, factor=self._budget.factor)
        finder: Finder = NothingToFind()
        if self._presets:
            selection = Selection(self._presets.values(), settings.select)
            discovery = Discovery(client, selection, interval_seconds=settings.discovery_interval)
            finder = BackgroundDiscovery(discovery, name=f"aws-discovery-{region}")
        return PlaceWatch(
            client,
            PlaceReader(client, delays, pause=self._stopping.wait),
            finder,
            presets=self._presets,
            custom=settings.custom,
            sides=(insights, EnhancedReader(client, self._presets)),
            budget=lambda wanted, found: self._budget.give((account, region), wanted, insights.loads(found)),
            list_seconds=settings.discovery_interval,
            linger_ms=delays.delay_ms + delays.reread_ms,
        )

    def _regions(self, account: Account) -> Sequence[str]:
        regions = self._settings.regions or regions_of(account)
        if not regions:
            raise CollectorError(
                "it is not known which AWS region to read: give `regions: [...]`, or set AWS_REGION, or a region in "
                "the profile"
            )
        return regions

    def _note(self, state: _State, poll: Poll) -> None:
        self._health.note(poll)
        state.poll = poll
        # A place that is too large for one poll is read, though not whole.
        too_large = isinstance(poll.reading.error, OutOfTimeError) and bool(poll.reading.states)
        state.up = poll.reading.error is None or too_large
        state.error = "; ".join(dict.fromkeys(str(error) for error in poll.errors))

    def _facts(self, now: float) -> list[Sample]:
        facts = [fact for state in self._states if state.poll is not None for fact in state.poll.found.facts]
        if now - self._facts_sent < _FACTS_SECONDS and now >= self._facts_sent:
            return kept(facts)
        self._facts_sent = now
        return facts

    def _own_samples(self) -> list[Sample]:
        now_ms = int(self._wall() * 1000)
        calls, requested = self._health.calls(), self._health.requested.total()
        self._meter.update(calls, requested, datetime.fromtimestamp(self._wall(), UTC))
        self._budget.note_requested(requested, self._health.repeated)
        news = self._budget.news()
        if news:
            _log.info("what reading CloudWatch costs", cost=news[0], budget=news[1:])
        samples = self._health.samples()
        samples += [
            Sample("aws_missing_permissions", 1.0, (("permission", one.permission),))
            for one in self.missing_privileges()
        ]
        samples += self._budget.samples()
        samples += [Sample("aws_cost_usd_total", usd, (("kind", kind),)) for kind, usd in self._meter.usd.items()]
        for state in self._states:
            where = _where(state.account_id, state.region)
            samples.append(Sample("aws_place_up", 1.0 if state.up else 0.0, where))
            if state.error:
                text = " ".join(state.error.split())[:200]
                samples.append(Sample("aws_place_error_info", 1.0, (*where, ("error", text))))
            if state.poll is not None:
                samples += poll_samples(state.poll, now_ms)
        return samples


def _fly(watch: PlaceWatch, now_ms: int, deadline: float) -> Poll | str:
    try:
        return watch.poll(now_ms, deadline)
    except AwsError as error:
        return str(error)
    except Exception as error:  # A fault of one place must not cost what the others have read.
        _log.exception("reading CloudWatch has a fault of its own")
        return f"internal error: {type(error).__name__}: {error}"


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


CLOUDWATCH = Source(
    name="cloudwatch",
    help='Metrics of AWS by CloudWatch, and the resources that are there; needs `pip install "loadwatch[aws]"`.',
    settings=CloudWatchSettings,
    build=CloudWatchCollector,
    packs=("aws", "aws-rds", "aws-elb", "aws-ecs", "aws-ec2", "aws-nat", "aws-elasticache", "aws-lambda", "aws-sqs"),
    timeout_seconds=55.0,
    interval_seconds=INTERVAL_SECONDS,
    own_times=True,
    privileges=(
        MissingPrivilege(
            permission="cloudwatch:GetMetricData",
            lost="all metrics of CloudWatch",
            remedy="`loadwatch iam-policy --config loadwatch.yml` prints the least policy.",
        ),
        MissingPrivilege(
            permission="cloudwatch:ListMetrics",
            lost="custom metrics whose dimensions have *",
            remedy="`loadwatch iam-policy --config loadwatch.yml` prints the least policy.",
        ),
    ),
)

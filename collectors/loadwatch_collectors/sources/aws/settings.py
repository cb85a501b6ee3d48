"""The keys of a `cloudwatch` block."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_collectors.settings import Seconds, option, read_secret
from loadwatch_collectors.sources.aws.client.client import Account
from loadwatch_collectors.sources.aws.model import MAX_STATISTICS
from loadwatch_collectors.sources.aws.presets import choose_presets

_ROLE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/.+")
_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d+")
_STATISTIC = re.compile(
    r"Average|Sum|Minimum|Maximum|SampleCount|IQM"
    r"|(p|tm|wm|tc|ts)(\d{1,2}(\.\d{1,10})?|100)"
    r"|(TM|WM|TC|TS|PR)\([^()\s]*:[^()\s]*\)"
)
_SIZES = tuple(f"{size}{word}" for word in ("bytes", "bits") for size in ("Kilo", "Mega", "Giga", "Tera"))
_AMOUNTS = ("Bytes", "Bits", *_SIZES, "Count")
CLOUDWATCH_UNITS = frozenset(
    ["Seconds", "Milliseconds", "Microseconds", "Percent", "None", *_AMOUNTS, *(f"{word}/Second" for word in _AMOUNTS)]
)
"""CloudWatch's `StandardUnit`: it refuses a whole request for a word that is not among them."""
SHORT_PERIODS = (1, 5, 10, 20, 30)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountSettings:
    profile: str | None = option(help="Profile of the shared AWS configuration files.", default=None)
    role_arn: str | None = option(
        help="Role to assume, with the profile's credentials or those that botocore finds.",
        default=None,
        metavar="arn:aws:iam::123456789012:role/loadwatch",
    )
    external_id_file: str | None = option(help="File with the external id that the role asks for.", default=None)
    external_id_env: str | None = option(help="Environment variable with the external id.", default=None)

    def __post_init__(self) -> None:
        if not self.profile and not self.role_arn:
            raise ValueError("give profile or role_arn; for the agent's own credentials leave `accounts` out")
        if self.role_arn and not _ROLE.fullmatch(self.role_arn):
            raise ValueError(f"role_arn: {self.role_arn!r} is not arn:aws:iam::ACCOUNT:role/NAME")
        if (self.external_id_file or self.external_id_env) and not self.role_arn:
            raise ValueError("an external id belongs to a role; give role_arn")

    def account(self) -> Account:
        """The account with its external id read.

        Raises:
            ConfigError: the file or variable holds nothing.
        """
        external_id = read_secret(
            what=f"the external id of {self.role_arn}", file=self.external_id_file, env=self.external_id_env
        )
        return Account(profile=self.profile, role_arn=self.role_arn, external_id=external_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectSettings:
    """Which resources of one preset are read; those that match a name and all tags."""

    names: tuple[str, ...] = option(help="Names or identifiers, with * and ?; any of them.", default=())
    tags: dict[str, str] = option(help="Tags that must all be there; values with * and ?.", default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomMetricSettings:
    namespace: str = option(help="CloudWatch's namespace.", metavar="Shop/Orders")
    metric: str = option(help="CloudWatch's name of the metric.", metavar="QueueDepth")
    dimensions: dict[str, str] = option(
        help="All dimensions of the metric. A value of * stands for every value there is (found by ListMetrics).",
        default_factory=dict,
    )
    statistics: tuple[str, ...] = option(
        help="One to five of Average, Sum, Minimum, Maximum, SampleCount, p99, tm90 ...", default=("Average",)
    )
    period: Seconds = option(
        help="Length of a point: 1, 5, 10, 20, 30 s (metrics stored at high resolution only) or whole minutes.",
        default=60.0,
    )
    unit: str = option(
        help="Only points that were stored with this unit of CloudWatch; hardly ever needed.", default=""
    )

    def __post_init__(self) -> None:
        if not self.namespace or not self.metric:
            raise ValueError("namespace and metric must not be empty")
        if self.period != int(self.period) or not (
            self.period in SHORT_PERIODS or (self.period >= 60 and self.period % 60 == 0)
        ):
            raise ValueError(f"period must be 1, 5, 10, 20, 30 s or whole minutes, not {self.period:g} s")
        if not all(key and value for key, value in self.dimensions.items()):
            raise ValueError("dimensions: names and values must not be empty")
        if self.unit and self.unit not in CLOUDWATCH_UNITS:
            near = next((unit for unit in CLOUDWATCH_UNITS if unit.lower() == self.unit.lower()), "")
            hint = f"; write {near}" if near else f"; there are {', '.join(sorted(CLOUDWATCH_UNITS))}"
            raise ValueError(f"unit: {self.unit!r} is not a unit of CloudWatch{hint}")
        if not 1 <= len(self.statistics) <= MAX_STATISTICS:
            raise ValueError(f"statistics: give one to five; {len(self.statistics)} are given")
        for statistic in self.statistics:
            if not _STATISTIC.fullmatch(statistic):
                raise ValueError(f"statistics: {statistic!r} is not a statistic of CloudWatch")
        if len(set(self.statistics)) < len(self.statistics):
            raise ValueError("statistics: one is there twice")


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudWatchSettings:
    regions: tuple[str, ...] = option(
        help="Regions to read; the environment's, the profile's or the instance's own without it.",
        default=(),
        metavar="[ap-northeast-1]",
    )
    accounts: tuple[AccountSettings, ...] = option(
        help="Accounts to read, each in every region; without it the credentials that botocore finds: environment, "
        "shared files, container or task role, instance role (IMDSv2).",
        default=(),
    )
    presets: tuple[str, ...] | None = option(
        help="Presets, or groups of them such as rds; without it all whose resources are found; an empty list for "
        "custom metrics only.",
        default=None,
    )
    select: dict[str, SelectSettings] = option(
        help="Which resources are read, by the name of a preset or of a group; all of them without it.",
        default_factory=dict,
    )
    custom: tuple[CustomMetricSettings, ...] = option(help="Metrics that no preset has.", default=())
    delay: Seconds = option(
        help="How long after its end a point is first asked for; CloudWatch needs a minute or two.", default=120.0
    )
    reread: Seconds = option(
        help="How far back points are read again: CloudWatch revises recent ones, and late ones come.", default=600.0
    )
    budget_usd_per_month: float | None = option(
        help="Reads less often instead of costing more than this in 30 days.", default=None
    )
    discovery_interval: Seconds = option(help="Time between two looks for resources.", default=300.0)
    endpoint_url: str | None = option(
        help="Address of all AWS APIs instead of their own: a private endpoint, or a test.", default=None
    )
    timeout: Seconds = option(help="How long one region of one account may take for one poll.", default=40.0)

    def __post_init__(self) -> None:
        for key, names in (("presets", self.presets), ("select", tuple(self.select))):
            try:
                choose_presets(names)
            except ValueError as error:
                raise ValueError(f"{key}: {error}") from None
        for region in self.regions:
            if not _REGION.fullmatch(region):
                raise ValueError(f"regions: {region!r} is not a region; write it like ap-northeast-1")
        if len(set(self.regions)) < len(self.regions):
            raise ValueError("regions: one is there twice")
        # Raises a ValueError for a name that is neither a preset nor a group of presets.
        if self.reread < 60:
            raise ValueError("reread must be at least 1m: late points would be lost")
        if self.reread > 86_400:
            raise ValueError("reread must be at most 1d: more costs time and memory, and CloudWatch revises no more")
        if self.delay > 3600:
            raise ValueError("delay must be at most 1h")
        if self.discovery_interval < 10:
            raise ValueError("discovery_interval must be at least 10s")
        if self.timeout < 1:
            raise ValueError("timeout must be at least 1s")
        if self.budget_usd_per_month is not None and self.budget_usd_per_month <= 0:
            raise ValueError("budget_usd_per_month must be more than zero")
        if self.endpoint_url is not None and not re.match(r"https?://[^/\s]+", self.endpoint_url):
            raise ValueError(f"endpoint_url: {self.endpoint_url!r} is not an http:// or https:// address")

    def account_list(self) -> Sequence[Account]:
        """The accounts, with their external ids read.

        Raises:
            ConfigError: an external id cannot be read.
        """
        return [item.account() for item in self.accounts] or [Account()]

"""Puts the parts of one account in one region together, as the configuration asks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from loadwatch_collectors.sources.aws.client.client import Account, AwsClient, Connect, ConnectOptions, Observe
from loadwatch_collectors.sources.aws.cost.budget import BudgetKeeper
from loadwatch_collectors.sources.aws.discovery.discovery import BackgroundDiscovery, Discovery
from loadwatch_collectors.sources.aws.discovery.select import Selection
from loadwatch_collectors.sources.aws.model import Preset, Resource, WantedMetric
from loadwatch_collectors.sources.aws.place import Finder, NothingToFind, PlaceWatch
from loadwatch_collectors.sources.aws.reading.enhanced import EnhancedReader
from loadwatch_collectors.sources.aws.reading.insights import InsightsReader
from loadwatch_collectors.sources.aws.reading.reader import PlaceReader, ReaderOptions
from loadwatch_collectors.sources.aws.settings import CloudWatchSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What all places of one collector share."""

    settings: CloudWatchSettings
    presets: Mapping[str, Preset]
    connect: Connect
    observe: Observe
    budget: BudgetKeeper
    pause: Callable[[float], object]

    def watch(self, account: Account, region: str) -> PlaceWatch:
        """The watch of one place; no request is made before its first poll."""
        settings = self.settings
        options = ConnectOptions(
            endpoint_url=settings.endpoint_url, read_timeout_seconds=min(20.0, max(0.5, settings.timeout / 2))
        )
        client = self.connect(account, region, options, self.observe)
        reader = PlaceReader(
            client,
            ReaderOptions(delay_ms=round(settings.delay * 1000), reread_ms=round(settings.reread * 1000)),
            pause=self.pause,
        )
        insights = InsightsReader(client, self.presets, factor=self.budget.factor)
        enhanced = EnhancedReader(client, self.presets)

        def within_budget(wanted: Sequence[WantedMetric], resources: Sequence[Resource]) -> Sequence[WantedMetric]:
            return self.budget.give((account, region), wanted, insights.loads(resources))

        return PlaceWatch(
            client,
            reader,
            self._finder(client, region),
            presets=self.presets,
            custom=settings.custom,
            sides=(insights, enhanced),
            budget=within_budget,
            list_seconds=settings.discovery_interval,
            linger_ms=round((settings.delay + settings.reread) * 1000),
        )

    def _finder(self, client: AwsClient, region: str) -> Finder:
        if not self.presets:
            return NothingToFind()
        selection = Selection(self.presets.values(), self.settings.select)
        discovery = Discovery(client, selection, interval_seconds=self.settings.discovery_interval)
        return BackgroundDiscovery(discovery, name=f"aws-discovery-{region}")

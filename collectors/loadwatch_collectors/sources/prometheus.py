"""Scrapes any page in Prometheus' text format or OpenMetrics text: exporters, and applications with metrics."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_formats.metrics.model import MetricInfo

from loadwatch_collectors.collector import Labels, MissingPrivilege, Sample, Source
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.settings import option
from loadwatch_collectors.sources.exposition import ExpositionError, ExpositionParser
from loadwatch_collectors.transport.http_page import HttpPage, HttpSettings

ACCEPT = "application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.6,*/*;q=0.1"
_TARGET_LABELS = ("job", "instance")
_TEXT_TYPES = ("text/plain", "application/openmetrics-text")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrometheusSettings(HttpSettings):
    """A page of metrics to scrape."""

    honor_labels: bool = option(
        help="Keep the page's own job and instance labels; otherwise they become exported_job and exported_instance.",
        default=False,
    )
    include: tuple[str, ...] = option(
        help="Take only metrics whose whole name matches one of these regular expressions.", default=()
    )
    exclude: tuple[str, ...] = option(
        help="Leave out metrics whose whole name matches one of these regular expressions.", default=()
    )
    max_samples: int = option(help="A page with more samples than this fails as a whole.", default=20_000)
    max_labels: int = option(help="A series with more labels than this makes the scrape fail.", default=40)
    max_label_value: int = option(help="A longer label value makes the scrape fail; characters.", default=4096)

    def __post_init__(self) -> None:
        """Check what types cannot say."""
        HttpSettings.__post_init__(self)
        for pattern in (*self.include, *self.exclude):
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None


class PrometheusCollector:
    """Scrapes one page."""

    def __init__(self, settings: PrometheusSettings) -> None:
        """Prepare the connection; nothing is dialled yet."""
        self._settings = settings
        self._page = HttpPage(settings)
        self._include = _any_of(settings.include)
        self._exclude = _any_of(settings.exclude)
        self._parser = ExpositionParser(self._series, settings.max_samples)
        self._metrics: dict[str, MetricInfo] = {}

    def collect(self) -> Sequence[Sample]:
        """Scrape the page once."""
        page = self._page.get(accept=ACCEPT)
        kind = page.content_type.partition(";")[0].strip()
        if kind and kind not in _TEXT_TYPES:
            raise CollectorError(
                f"GET {page.url}: expected Prometheus' text format, but the page is {kind}: {page.excerpt()}"
            )
        try:
            parsed = self._parser.parse(page.body.decode("utf-8"), openmetrics=kind == "application/openmetrics-text")
        except UnicodeDecodeError as error:
            raise CollectorError(f"GET {page.url}: the page is not UTF-8 at byte {error.start}") from None
        except ExpositionError as error:
            raise CollectorError(f"GET {page.url}: {error}") from None
        self._metrics = parsed.metrics
        return parsed.samples

    def metadata(self) -> Sequence[MetricInfo]:
        """Type, help and unit of the metrics of the last page."""
        return tuple(self._metrics.values())

    def missing_privileges(self) -> Sequence[MissingPrivilege]:
        """Nothing: a page is readable or it is not."""
        return ()

    def close(self) -> None:
        """Close the connection."""
        self._page.close()

    def _series(self, name: str, labels: Labels) -> tuple[str, Labels] | None:
        if (self._include and not self._include.fullmatch(name)) or (self._exclude and self._exclude.fullmatch(name)):
            return None
        if len(labels) > self._settings.max_labels:
            raise ExpositionError(f"{name} has {len(labels)} labels, max_labels allows {self._settings.max_labels}")
        for label, value in labels:
            if len(value) > self._settings.max_label_value:
                raise ExpositionError(
                    f"{name}: the value of label {label} has {len(value)} characters, "
                    f"max_label_value allows {self._settings.max_label_value}"
                )
        return name, labels if self._settings.honor_labels else _exported(labels)


def _exported(labels: Labels) -> Labels:
    """The labels with those that name the target out of the way, as Prometheus does it."""
    taken = {label for label, _ in labels}
    if taken.isdisjoint(_TARGET_LABELS):
        return labels
    renamed: list[tuple[str, str]] = []
    for label, value in labels:
        new = label
        while label in _TARGET_LABELS and (new == label or new in taken):
            new = f"exported_{new}"
        renamed.append((new, value))
    return tuple(renamed)


def _any_of(patterns: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns)) if patterns else None


PROMETHEUS = Source(
    name="prometheus",
    help="Scrapes any page in Prometheus' text format or OpenMetrics text.",
    settings=PrometheusSettings,
    build=PrometheusCollector,
)

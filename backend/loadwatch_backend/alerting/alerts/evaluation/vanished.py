"""The alert that says that a series has vanished (`loadwatch_no_data: alert`), with its rule's labels rendered."""

import math
from collections.abc import Callable

from loadwatch_backend.alerting.alerts.evaluation.machine import ALERT_NAME, vanished_series
from loadwatch_backend.alerting.rules.contract import ActiveSeries
from loadwatch_backend.alerting.rules.model import Rule
from loadwatch_backend.alerting.rules.template import TemplateContext, render
from loadwatch_backend.series.store.port import Labels


def vanished_renderer(external_url: str) -> Callable[[Rule, Labels, int], ActiveSeries]:
    """For `Machine.vanished`. Templates see NaN for the value: there is none."""

    def series(rule: Rule, source: Labels, at_ms: int) -> ActiveSeries:
        context = TemplateContext(labels=source, value=math.nan, external_url=external_url, time_ms=at_ms)
        labels = {**source, **{name: render(text, context) for name, text in rule.labels.items()}}
        annotations = {name: render(text, context) for name, text in rule.annotations.items()}
        return vanished_series(
            rule, source, {**{name: text for name, text in labels.items() if text}, ALERT_NAME: rule.name}, annotations
        )

    return series

"""The guide names every setting and metric of the agent's core, with the same words as the code."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from loadwatch_collectors.collector import MetricInfo
from loadwatch_collectors.config import ServerSettings, SpoolSettings
from loadwatch_collectors.runner import HEALTH_METRICS
from loadwatch_collectors.self_metrics import AGENT_METRICS
from loadwatch_collectors.sources.host import HOST
from loadwatch_collectors.sources.process import PROCESS
from loadwatch_collectors.sources.sockets import SOCKETS

GUIDE = (Path(__file__).parents[2] / "docs" / "guide" / "agent.md").read_text()


@pytest.mark.parametrize("settings", [ServerSettings, SpoolSettings, HOST.settings, PROCESS.settings, SOCKETS.settings])
def test_every_setting_is_explained(settings: type[Any]) -> None:
    for item in dataclasses.fields(settings):
        assert f"| `{item.name}` | {item.metadata['help']} |" in GUIDE


@pytest.mark.parametrize("metrics", [HEALTH_METRICS, AGENT_METRICS, HOST.metrics, PROCESS.metrics, SOCKETS.metrics])
def test_every_metric_is_explained(metrics: tuple[MetricInfo, ...]) -> None:
    for metric in metrics:
        assert f"| `{metric.name}` | {metric.type} | {metric.help} |" in GUIDE

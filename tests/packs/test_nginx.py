"""A real nginx that has no connection left is told of, and one that has is not."""

import time
from contextlib import closing
from pathlib import Path

from loadwatch_collectors.sources.nginx import NginxCollector, NginxSettings

from collectors.tests.nginx_server import Nginx, running_nginx
from tests.packs.ticks import Ticks

SECONDS = 25


def follow(collector: NginxCollector, ticks: Ticks) -> None:
    for _ in range(SECONDS):
        ticks.add(collector.collect())
        time.sleep(0.1)


def collector_of(nginx: Nginx) -> NginxCollector:
    return NginxCollector(NginxSettings(url=nginx.url))


def test_a_full_nginx_is_found(tmp_path: Path) -> None:
    ticks = Ticks(job="web", instance="web-1")
    with running_nginx(tmp_path / "nginx", connections=32) as nginx, closing(collector_of(nginx)) as collector:
        follow(collector, ticks)
        with nginx.flooded():
            follow(collector, ticks)
            follow(collector, ticks)
    found = ticks.findings(tmp_path / "data")["nginx-connections-exhausted"]
    assert found["labels"] == {"job": "web", "instance": "web-1"}
    assert "32 of 32 connections" in found["sentence"]["en"]
    assert "refused" in found["sentence"]["en"]
    assert "拒否" in found["sentence"]["ja"]


def test_an_nginx_with_room_is_not(tmp_path: Path) -> None:
    ticks = Ticks(job="web", instance="web-1")
    with running_nginx(tmp_path / "nginx", workers=2, connections=4096) as nginx, nginx.flooded():
        with closing(collector_of(nginx)) as collector:
            follow(collector, ticks)
    assert ticks.findings(tmp_path / "data") == {}

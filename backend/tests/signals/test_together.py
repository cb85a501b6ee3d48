from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from loadwatch_backend.catalogue.packs.library import shipped_catalogue
from loadwatch_backend.catalogue.signals.interval import fill_window
from loadwatch_backend.catalogue.signals.model import Total
from loadwatch_backend.catalogue.signals.service import together, total_of
from loadwatch_backend.series.promql.parsing.parse import parse_expression

SECOND = 1_000
SIGNALS = {
    signal.id: signal for group in shipped_catalogue().groups for panel in group.panels for signal in panel.signals
}


@pytest.mark.parametrize(
    ("signal", "total"),
    [
        ("pool_in_use", Total.SUM),
        ("host_memory_used", Total.SUM),
        ("pool_wait_mean", Total.HIGHEST),
        ("host_disk_busy", Total.HIGHEST),
        ("process_cpu", Total.SUM),
        ("lag_min", Total.LOWEST),
        ("db_max_used", Total.HIGHEST),
        # Of no instance, and the most frequent ones of all instances.
        ("failures_by_kind", None),
        ("rps_sent", None),
        ("db_commands", None),
    ],
)
def test_counts_add_up_and_of_shares_and_times_the_worst_stands_for_all(signal: str, total: Total | None):
    assert total_of(SIGNALS[signal]) == total


def test_what_comes_late_is_put_together_by_the_page_which_knows_what_is_still_to_come():
    late = [signal for signal in SIGNALS.values() if signal.cadence is not None]
    assert late
    assert all(together(signal) == () and total_of(signal) == signal.total for signal in late)


def test_every_signal_of_instances_can_be_asked_for_together():
    found = [one for signal in SIGNALS.values() for one in together(signal)]
    assert len(found) > 100
    for one in found:
        parse_expression(fill_window(one.expression, 60_000))
        assert "{{instance}}" not in one.legend


@pytest.fixture
def ask(server: Any) -> Callable[..., dict[str, Any]]:
    def ask(*signals: str, seconds: int) -> dict[str, Any]:
        now = server.clock.now_ms
        body = {"signals": signals, "start_ms": now - seconds * SECOND, "end_ms": now, "max_points": 60}
        answer = server.client.post("/api/signals/query", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return ask


def write_pools(server: Any, seconds: int) -> None:
    """Three instances whose pools take turns, so that together they use ten at any time."""
    now = server.clock.now_ms
    for place, instance in enumerate(("web-1", "web-2", "web-3")):
        samples = [
            (now - (seconds - i) * SECOND, {0: 7.0, 1: 2.0, 2: 1.0}[(i + place) % 3]) for i in range(seconds + 1)
        ]
        labels = {"__name__": "go_sql_in_use_connections", "job": "shop", "instance": instance, "db_name": "orders"}
        server.write((labels, samples))


@pytest.mark.parametrize("seconds", [30, 600])
def test_a_total_is_right_also_where_points_are_extrema_of_buckets(server: Any, ask: Callable[..., Any], seconds: int):
    write_pools(server, 700)
    answer = ask("pool_in_use", "pool_in_use@total", seconds=seconds)
    assert answer["reduced"] == (seconds > 60)
    assert len(answer["results"][0]["series"]) == 3
    [total] = answer["results"][1]["series"]
    assert total["labels"] == {"job": "shop", "db_name": "orders"}
    assert total["name"] == "In use · orders"
    assert {value for value in total["values"] if value is not None} == {10.0}


def test_the_spread_reaches_from_the_lowest_to_the_highest(server: Any, ask: Callable[..., Any]):
    write_pools(server, 700)
    answer = ask("pool_in_use@low", "pool_in_use@middle", "pool_in_use@high", seconds=600)
    for result, value in zip(answer["results"], (1.0, 2.0, 7.0), strict=True):
        [series] = result["series"]
        np.testing.assert_allclose([one for one in series["values"] if one is not None], value)


def test_nothing_else_can_be_asked_for(server: Any, ask: Callable[..., Any]):
    for id in ("failures_by_kind@total", "pool_in_use@sum"):
        assert ask(id, seconds=30)["results"][0]["error"]["code"] == "unknown-signal"

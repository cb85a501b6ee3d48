import re
from collections import Counter
from typing import Any

from loadwatch_backend.catalogue.packs.library import shipped_catalogue
from loadwatch_backend.catalogue.signals.interval import fill_window
from loadwatch_backend.catalogue.signals.model import LABEL, Resource, Signal, Unit
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.parsing.expression import Aggregation, Binary, Call, Expression
from loadwatch_backend.series.promql.parsing.parse import parse_expression

PANELS = [panel for group in shipped_catalogue().groups for panel in group.panels]
SIGNALS = [signal for panel in PANELS for signal in panel.signals]
ENTRIES: list[Signal | Resource] = [*SIGNALS, *shipped_catalogue().resources]


def _texts(entry: Signal | Resource) -> list[str]:
    if isinstance(entry, Signal):
        return [entry.expression]
    return [text for text in (entry.used, entry.limit, entry.demand) if text]


def labels_of(expression: Expression) -> set[str] | None:
    """Labels that the result of an expression can have; None where nothing bounds them."""
    match expression:
        case Aggregation(without=False, labels=labels, operator=operator) if operator not in ("topk", "bottomk"):
            return set(labels)
        case Call(function="histogram_quantile", arguments=(_, inner)):
            found = labels_of(inner)
            return None if found is None else found - {"le"}
        case Aggregation(expression=inner) | Call(arguments=(inner, *_)):
            return labels_of(inner)
        case Binary(left=left, right=right, operator="or"):
            one, other = labels_of(left), labels_of(right)
            return None if one is None or other is None else one | other
        case Binary(left=left, right=right):
            return labels_of(left) if labels_of(left) is not None else labels_of(right)
        case _:
            return None


def test_page_order_and_the_mission_first():
    assert [group.id for group in shipped_catalogue().groups] == [
        *("mission", "requests", "nginx", "traffic", "ingest", "connections", "pool", "pgbouncer", "go"),
        *("python", "event-loop"),
        *("process", "sockets", "database"),
        *("postgresql", "redis", "host"),
        *("aws_balancer", "aws_containers", "aws_instances", "aws_functions", "aws_proxies", "aws_database"),
        *("aws_database_os", "aws_caches", "aws_queues", "aws_network"),
    ]
    first = ["rps", "latency", "failures", "pool-waits", "ingest-lag", "db-connections"]
    assert [panel.id for panel in shipped_catalogue().groups[0].panels] == first
    # Two units would make two charts of one, and a hole in the row.
    assert all(len({signal.unit for signal in panel.signals}) == 1 for panel in shipped_catalogue().groups[0].panels)


def test_ids_are_unique():
    for ids in (
        [panel.id for panel in PANELS],
        [signal.id for signal in SIGNALS],
        [f"{r.id} {r.used}" for r in shipped_catalogue().resources],
    ):
        assert [id for id, count in Counter(ids).items() if count > 1] == []


def test_every_expression_is_promql_that_the_engine_evaluates(server: Any):
    engine = Engine(server.store)
    for entry in ENTRIES:
        for text in _texts(entry):
            engine.range(fill_window(text, 5_000), 0, 10_000, 1_000)


def test_rates_use_the_placeholder():
    for entry in ENTRIES:
        for text in _texts(entry):
            # What it was within the last seconds and minutes is compared with, not drawn.
            ranges = {"[15s]", "[1m]", "[5m]"} if entry.id == "pool_wait_mean" else set[str]()
            assert set(re.findall(r"\[[^]]*\]", text)) - {"[$window]"} == ranges, text


def test_legends_name_labels_that_the_series_have():
    for entry in ENTRIES:
        text = entry.expression if isinstance(entry, Signal) else entry.used
        labels = labels_of(parse_expression(fill_window(text, 5_000)))
        assert labels is not None, f"{entry.id} has unbounded labels: aggregate them"
        assert set(LABEL.findall(entry.legend)) <= labels, entry.id
        # What tells series apart but the job, which the instance is named after, is in the legend. Of AWS' resources
        # the region and the account are added where two are called the same.
        hidden = {"job"} if "aws_" not in entry.id else {"name", "region", "account_id"}
        assert labels - hidden <= set(LABEL.findall(entry.legend)), entry.id


def test_signals_of_one_chart_have_at_most_two_units():
    for panel in PANELS:
        assert 1 <= len({signal.unit for signal in panel.signals}) <= 2, panel.id
    for resource in shipped_catalogue().resources:
        # A share of something is of CloudWatch's making; whoever can counts both sides.
        share = {Unit.RATIO} if resource.cadence is not None else set[Unit]()
        # A delay has no limit but one that is advised.
        delay = {Unit.SECONDS} if resource.limit_is == "advised" else set[Unit]()
        assert resource.unit in {Unit.COUNT, Unit.BYTES, Unit.BYTES_PER_SECOND} | share | delay, resource.id


def test_values_of_one_chart_come_alike():
    # Requests are compared from sender to database, in which CloudWatch has its part.
    mixed = [panel.id for panel in PANELS if len({repr(signal.cadence) for signal in panel.signals}) > 1]
    assert mixed == ["rps"]


def test_facts_are_looked_up_by_labels_that_the_series_have():
    for signal in SIGNALS:
        if signal.facts is not None:
            labels = labels_of(parse_expression(fill_window(signal.expression, 5_000)))
            assert labels is not None
            assert set(signal.facts.on) <= labels, signal.id

"""Answers beside those of Alertmanager's own packages; `make reference` writes the golden files again."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.alerting.notify.file.configuration import parse_configuration
from loadwatch_backend.alerting.notify.file.matchers import (
    LabelMatcher,
    MatcherError,
    format_matchers,
    parse_classic,
    parse_matchers,
    parse_utf8,
)
from loadwatch_backend.alerting.notify.record import ConfigurationError
from loadwatch_backend.alerting.notify.routing.routing import fingerprint, group_key, group_labels, match_routes

from backend.tests.notify.reference.cases import cases

GOLDEN = Path(__file__).parent / "golden"


def golden(name: str) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = json.loads((GOLDEN / f"{name}.json").read_text())
    return answers


MATCHERS = golden("matchers")
ROUTES = golden("routes")
INTERVALS = golden("intervals")

PARSERS: dict[str, Callable[[str], Sequence[LabelMatcher]]] = {
    "classic": parse_classic,
    "utf8": parse_utf8,
    "fallback": parse_matchers,
}


def test_the_golden_files_answer_the_cases() -> None:
    asked = cases()
    assert [one["text"] for one in asked["matchers"]] == [one["text"] for one in MATCHERS]
    assert [(one["name"], one["config"]) for one in asked["routes"]] == [(one["name"], one["config"]) for one in ROUTES]
    assert [one["text"] for one in asked["intervals"]] == [one["text"] for one in INTERVALS]


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("case", MATCHERS, ids=lambda case: repr(case["text"]))
def test_matchers(case: dict[str, Any], parser: str) -> None:
    expected = case[parser]
    try:
        found = list(PARSERS[parser](case["text"]))
    except MatcherError:
        assert expected["error"]
        return
    assert not expected["error"]
    assert [[one.name, one.operator.value, one.value] for one in found] == expected.get("matchers", [])
    assert format_matchers(found) == expected["text"]
    if found:
        assert [found[0].matches(value) for value in case["values"]] == expected["matches"]


@pytest.mark.parametrize("case", ROUTES, ids=lambda case: case["name"])
def test_routes(case: dict[str, Any]) -> None:
    try:
        configuration = parse_configuration(case["config"], "notifications.yml")
    except ConfigurationError:
        assert case["error"]
        return
    assert not case["error"]
    for alert in case["alerts"]:
        labels = alert["labels"]
        assert fingerprint(labels) == alert["fingerprint"]
        found = [
            {
                "receiver": route.receiver,
                "route_key": route.key,
                "group_key": group_key(route, group_labels(route, labels)),
                "group_labels": group_labels(route, labels),
                "wait_ms": route.group_wait_ms,
                "interval_ms": route.group_interval_ms,
                "repeat_ms": route.repeat_interval_ms,
            }
            for route in match_routes(configuration.root, labels)
        ]
        assert found == alert["places"]


@pytest.mark.parametrize("case", INTERVALS, ids=lambda case: case["text"])
def test_intervals(case: dict[str, Any]) -> None:
    head = "route: {receiver: r}\nreceivers: [{name: r}]\ntime_intervals:\n- name: n\n  time_intervals:\n"
    text = f"{head}    - {case['text']}\n"
    try:
        configuration = parse_configuration(text, "notifications.yml")
    except ConfigurationError:
        assert case["error"]
        return
    assert not case["error"]
    interval = configuration.time_intervals["n"].intervals[0]
    for instant, expected in case["contains"].items():
        at_ms = round(datetime.fromisoformat(instant).timestamp() * 1000)
        assert interval.contains(at_ms) == expected, instant

import math
from typing import Any

import pytest
from loadwatch_collectors.collector import KEPT, Sample
from loadwatch_collectors.config import load_config
from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.settings_loader import parse_document
from loadwatch_collectors.sources.registry import sources_by_name
from loadwatch_collectors.sources.timeouts import (
    Measurement,
    TimeoutsCollector,
    TimeoutsSettings,
    given_samples,
    measured_samples,
    without_repeats,
)


def load(block: str) -> TimeoutsSettings:
    text = "targets:\n  - job: shop\n    timeouts:\n" + "".join(f"      {line}\n" for line in block.splitlines())
    settings: Any = load_config(parse_document(text, "loadwatch.yml"), sources_by_name()).collectors[0].settings
    assert isinstance(settings, TimeoutsSettings)
    return settings


def given(block: str) -> dict[tuple[str, str, str], float]:
    samples = without_repeats(given_samples(load(block)))
    found: dict[tuple[str, str, str], float] = {}
    for sample in samples:
        labels = dict(sample.labels)
        if sample.name == "timeout_seconds":
            found[labels["layer"], labels["kind"], labels["source"]] = sample.value
    return found


def test_what_is_given_and_nothing_else() -> None:
    block = (
        "client: {request: 30s, idle: 50s}\napp: {idle: 75s, write: 0}\ndatabase: {wait: 8h}\npool: {max_lifetime: 5m}"
    )
    assert given(block) == {
        ("client", "request", "configuration"): 30,
        ("client", "idle", "configuration"): 50,
        ("app", "idle", "configuration"): 75,
        ("app", "write", "configuration"): math.inf,
        ("pool", "max_lifetime", "configuration"): 300,
        ("database", "wait", "configuration"): 28_800,
    }


@pytest.mark.parametrize(
    ("app", "expected"),
    [
        ("{runtime: go}", {"read_header": math.inf, "read": math.inf, "write": math.inf, "idle": math.inf}),
        ("{runtime: go, read: 10s}", {"read_header": 10, "read": 10, "write": math.inf, "idle": 10}),
        ("{runtime: go, read: 10s, idle: 0}", {"read_header": 10, "read": 10, "write": math.inf, "idle": 10}),
        ("{runtime: go, read: 10s, idle: 75s}", {"read_header": 10, "read": 10, "write": math.inf, "idle": 75}),
        (
            "{runtime: go, read_header: 5s, idle: 0}",
            {"read_header": 5, "read": math.inf, "write": math.inf, "idle": math.inf},
        ),
        ("{read: 10s}", {"read": 10}),
    ],
)
def test_what_go_makes_of_what_is_left_out(app: str, expected: dict[str, float]) -> None:
    found = given(f"app: {app}")
    assert {kind: value for (_, kind, _), value in found.items()} == expected


def test_a_pool_of_go_without_limits_keeps_connections_for_ever() -> None:
    found = given("app: {runtime: go, read: 1s}\npool: {max_lifetime: 1h}")
    assert found["pool", "max_lifetime", "configuration"] == 3600
    assert found["pool", "max_idle_time", "runtime"] == math.inf
    assert ("pool", "max_idle_time", "configuration") not in found, "nobody wrote this key"


def test_which_balancer_and_database_belong_to_it() -> None:
    samples = given_samples(load("load_balancer: {name: prod-*}\ndatabase: {instance: db-1}\nclient: {request: 1s}"))
    assert Sample("timeout_path_info", 1.0, (("load_balancer", "prod-*"), ("database", "db-1"))) in samples
    samples = given_samples(load("load_balancer: {none: true}"))
    assert samples == [Sample("timeout_path_info", 1.0, (("load_balancer", "none"),))]


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ("client: {}", "nothing is given"),
        ("app: {idle: 75}\nload_balancer: {none: true, idle: 60s}", "no load balancer"),
        ("app: {runtime: cobol}", "runtime must be go"),
        ("app: {idel: 75s}", "did you mean 'idle'"),
        ("probes: [{url: 127.0.0.1}]", "is not an address"),
        ("probes: [{url: 'http://a/', every: 1s}]", "every must be at least 1m"),
        ("probes: [{url: 'http://a/', layer: database}]", "layer must be one of"),
        ("probes: [{url: 'http://a/', idle_up_to: 0, header_up_to: 0}]", "nothing is to be measured"),
        ("probes: [{url: 'http://a/', idle_up_to: 2h}]", "at most 1h"),
        ("probes: [{url: 'http://a/'}, {url: 'http://b/'}]", "the same layer twice"),
    ],
)
def test_mistakes_are_named_with_their_line(block: str, text: str) -> None:
    with pytest.raises(ConfigError, match=text) as caught:
        load(block)
    assert str(caught.value).startswith("loadwatch.yml:")


def test_measurements() -> None:
    where = (("layer", "app"), ("kind", "idle"))
    source = ("source", "probe")
    assert measured_samples("app", [Measurement(kind="idle", seconds=75.1, ended=True)]) == [
        Sample("timeout_probe_success", 1.0, where),
        Sample("timeout_seconds", 75.1, (*where, source)),
    ]
    assert measured_samples("app", [Measurement(kind="idle", seconds=120, ended=False)])[1] == Sample(
        "timeout_longer_than_seconds", 120, (*where, source)
    )
    assert measured_samples("app", [Measurement(kind="idle", error="refused")]) == [
        Sample("timeout_probe_success", 0.0, where),
        Sample("timeout_probe_error_info", 1.0, (*where, ("error", "refused"))),
    ]


def test_what_does_not_change_is_not_sent_at_each_tick() -> None:
    collector = TimeoutsCollector(load("client: {request: 30s}"))
    first, second = collector.collect(), collector.collect()
    assert [sample.timestamp_ms for sample in (*first, *second)] == [None, KEPT]
    collector.close()

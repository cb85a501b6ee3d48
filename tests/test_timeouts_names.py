"""What the agent says of timeouts is what the server understands: names, layers, kinds and sources."""

import math
from dataclasses import fields

import pytest
from loadwatch_backend.findings.timeouts.ladder import (
    KINDS,
    Latest,
    Layer,
    OrderVerdict,
    Origin,
    build_rungs,
    check_ladder,
    find_paths,
)
from loadwatch_collectors.collector import Sample
from loadwatch_collectors.sources.timeouts import (
    AppTimeouts,
    BalancerTimeouts,
    ClientTimeouts,
    DatabaseTimeouts,
    Measurement,
    PoolTimeouts,
    TimeoutsSettings,
    given_samples,
    measured_samples,
)

EVERYTHING = TimeoutsSettings(
    client=ClientTimeouts(request=30, idle=50),
    load_balancer=BalancerTimeouts(idle=60),
    app=AppTimeouts(read_header=10, read=20, handler=25, write=30, idle=75),
    pool=PoolTimeouts(max_idle_time=60, max_lifetime=300),
    database=DatabaseTimeouts(wait=28_800, lock_wait=5, statement=20),
)


def latest(samples: list[Sample]) -> list[Latest]:
    return [
        Latest(
            labels={"__name__": sample.name, "job": "shop", "instance": "app-1", **dict(sample.labels)},
            value=sample.value,
            time_ms=1,
        )
        for sample in samples
    ]


def test_every_timeout_that_can_be_given_arrives() -> None:
    (path,) = find_paths(latest(given_samples(EVERYTHING)))
    assert {(reading.place.layer, reading.place.kind) for reading in path.readings} == {
        (layer, kind) for layer in Layer for kind in KINDS[layer]
    }
    assert {reading.origin for reading in path.readings} == {Origin.CONFIGURATION}


def test_an_order_that_is_right_everywhere_is_right_to_every_rule() -> None:
    (path,) = find_paths(latest(given_samples(EVERYTHING)))
    checks = check_ladder(build_rungs(path.readings), direct=path.direct)
    wrong = [check.rule for check in checks if check.verdict is not OrderVerdict.RIGHT]
    # The client gives up before the load balancer: that is the default of vegeta and of an ALB, and worth knowing.
    assert wrong == ["balancer_before_client"]


def test_what_follows_from_the_runtime_and_what_is_measured_arrive() -> None:
    samples = [
        *given_samples(TimeoutsSettings(app=AppTimeouts(runtime="go", read=20))),
        *measured_samples("app", [Measurement(kind="idle", seconds=20.02, ended=True)]),
        *measured_samples("app", [Measurement(kind="read_header", seconds=60, ended=False)]),
    ]
    (path,) = find_paths(latest(samples))
    found = {(reading.place.kind, reading.origin, reading.at_least): reading.seconds for reading in path.readings}
    assert found == {
        ("read", Origin.CONFIGURATION, False): 20,
        ("read_header", Origin.RUNTIME, False): 20,
        ("idle", Origin.RUNTIME, False): 20,
        ("write", Origin.RUNTIME, False): math.inf,
        ("idle", Origin.PROBE, False): 20.02,
        ("read_header", Origin.PROBE, True): 60,
    }


@pytest.mark.parametrize(
    ("settings", "direct"),
    [
        (BalancerTimeouts(none=True), True),
        (BalancerTimeouts(name="prod-*"), False),
    ],
)
def test_which_path_it_is_arrives(settings: BalancerTimeouts, direct: bool) -> None:
    samples = given_samples(TimeoutsSettings(load_balancer=settings))
    (path,) = find_paths(latest(samples))
    assert (path.job, path.direct) == ("shop", direct)


def test_the_layers_are_those_of_the_settings() -> None:
    assert {field.name for field in fields(EVERYTHING)} - {"probes"} == set(Layer)

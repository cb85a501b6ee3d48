import math

from loadwatch_backend.findings.timeouts.ladder import Kind, Layer, Origin, TimeoutKey, TimeoutReading, build_rungs

IDLE = TimeoutKey(Layer.APP, Kind.IDLE)


def written(
    seconds: float, name: str = "a", place: TimeoutKey = IDLE, origin: Origin = Origin.CONFIGURATION
) -> TimeoutReading:
    return TimeoutReading(place=place, seconds=seconds, origin=origin, field="timeouts.app.idle", name=name, last_ms=1)


def probed(seconds: float, name: str = "a", *, at_least: bool = False, place: TimeoutKey = IDLE) -> TimeoutReading:
    return TimeoutReading(
        place=place,
        seconds=seconds,
        at_least=at_least,
        origin=Origin.PROBE,
        field="timeout_seconds",
        name=name,
        last_ms=2,
    )


def seen(*readings: TimeoutReading) -> list[tuple[str, bool, tuple[str, ...], int]]:
    return [(rung.id, rung.in_force, rung.names, len(rung.said)) for rung in build_rungs(readings)]


def test_equal_values_of_ten_instances_are_one_rung_and_the_odd_one_is_another() -> None:
    names = tuple(f"app-{i}" for i in range(9))
    assert seen(*(written(75, name) for name in names), written(5, "sick")) == [
        ("app.idle.5", True, ("sick",), 1),
        ("app.idle.75", True, names, 1),
    ]


def test_a_measurement_near_a_written_value_confirms_it() -> None:
    assert seen(written(75), probed(75.02)) == [("app.idle.75", True, ("a",), 2)]
    assert seen(written(0.5), probed(1.2)) == [("app.idle.0.5", True, ("a",), 2)]
    assert seen(written(1000), probed(1040)) == [("app.idle.1000", True, ("a",), 2)]


def test_a_measurement_that_differs_overrules_what_is_written_there_and_nowhere_else() -> None:
    assert seen(written(75), probed(30.004)) == [("app.idle.30", True, ("a",), 1), ("app.idle.75", False, ("a",), 1)]
    assert seen(written(75), written(75, "b"), probed(30)) == [
        ("app.idle.30", True, ("a",), 1),
        ("app.idle.75", True, ("a", "b"), 1),
    ]


def test_a_probe_that_waited_in_vain() -> None:
    assert seen(written(math.inf), probed(120, at_least=True)) == [("app.idle.inf", True, ("a",), 2)]
    assert seen(written(300), probed(120, at_least=True)) == [("app.idle.300", True, ("a",), 2)]
    assert seen(probed(120, at_least=True)) == [("app.idle.over.120", True, ("a",), 1)]
    assert seen(written(5), probed(120, at_least=True)) == [
        ("app.idle.5", False, ("a",), 1),
        ("app.idle.over.120", True, ("a",), 1),
    ]
    assert seen(written(math.inf), probed(30)) == [("app.idle.30", True, ("a",), 1), ("app.idle.inf", False, ("a",), 1)]


def test_measurements_that_differ_by_milliseconds_are_one() -> None:
    assert seen(probed(75.001, "a"), probed(75.049, "b")) == [("app.idle.75", True, ("a", "b"), 1)]


def test_a_probe_of_the_balancer_speaks_of_the_balancer() -> None:
    place = TimeoutKey(Layer.LOAD_BALANCER, Kind.IDLE)
    found = seen(written(60, "prod", place, Origin.DISCOVERY), probed(4, "agent-host", place=place))
    assert found == [("load_balancer.idle.4", True, ("agent-host",), 1), ("load_balancer.idle.60", False, ("prod",), 1)]


def test_the_order_of_the_path() -> None:
    places = [
        TimeoutKey(Layer.DATABASE, Kind.WAIT),
        IDLE,
        TimeoutKey(Layer.CLIENT, Kind.REQUEST),
        TimeoutKey(Layer.APP, Kind.READ),
    ]
    assert [rung.place for rung in build_rungs(written(1, "", place) for place in places)] == [
        places[2], places[3], places[1], places[0],
    ]  # fmt: skip

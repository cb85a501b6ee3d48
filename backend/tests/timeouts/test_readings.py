import math

from loadwatch_backend.findings.timeouts.ladder import (
    Kind,
    Latest,
    Layer,
    Origin,
    Path,
    TimeoutKey,
    balancer_name,
    find_paths,
)

ARN = "arn:aws:elasticloadbalancing:ap-northeast-1:123456789012:loadbalancer/app/prod-api/50dc6c495c0c9188"
BALANCER_IDLE = TimeoutKey(Layer.LOAD_BALANCER, Kind.IDLE)


def latest(metric: str, value: float, **labels: str) -> Latest:
    return Latest(labels={"__name__": metric, **labels}, value=value, time_ms=1)


def given(layer: str, kind: str, value: float, job: str = "shop", **labels: str) -> Latest:
    return latest("timeout_seconds", value, layer=layer, kind=kind, job=job, **{"source": "configuration", **labels})


def balancer(name: str, seconds: float) -> Latest:
    return latest(
        "aws_applicationelb_idle_timeout_seconds", seconds, job="aws", dimension_LoadBalancer=f"app/{name}/50dc"
    )


def variable(name: str, value: float, instance: str = "db-1") -> Latest:
    return latest(f"mysql_global_variables_{name}", value, job="mysql", instance=instance)


def values(path: Path) -> set[tuple[str, str, float, str]]:
    return {(reading.place.layer, reading.place.kind, reading.seconds, reading.name) for reading in path.readings}


def test_a_path_for_each_job_with_what_is_discovered() -> None:
    series = [
        given("app", "idle", 75, instance="app-1"),
        given("app", "idle", 5, job="admin", instance="adm"),
        balancer("prod-api", 60),
        variable("wait_timeout", 28_800),
        variable("innodb_lock_wait_timeout", 50),
    ]
    shared = {
        ("load_balancer", "idle", 60, "prod-api"),
        ("database", "wait", 28_800, "db-1"),
        ("database", "lock_wait", 50, "db-1"),
    }
    admin, shop = find_paths(series)
    assert (admin.job, shop.job) == ("admin", "shop")
    assert values(shop) == {("app", "idle", 75, "app-1"), *shared}
    assert values(admin) == {("app", "idle", 5, "adm"), *shared}


def test_what_a_target_chooses_is_all_that_belongs_to_it() -> None:
    path = latest("timeout_path_info", 1, job="shop", load_balancer="prod-*", database="db-1")
    series = [
        given("app", "idle", 75, instance="app-1"),
        path,
        balancer("prod-api", 60),
        balancer("test-api", 4000),
        variable("wait_timeout", 100),
        variable("wait_timeout", 200, instance="db-2"),
    ]
    (shop,) = find_paths(series)
    assert values(shop) == {
        ("app", "idle", 75, "app-1"),
        ("load_balancer", "idle", 60, "prod-api"),
        ("database", "wait", 100, "db-1"),
    }


def test_a_path_without_a_load_balancer() -> None:
    path = latest("timeout_path_info", 1, job="shop", load_balancer="none")
    (shop,) = find_paths([path, balancer("prod-api", 60)])
    assert shop == Path(job="shop", direct=True, readings=())


def test_only_discovered_values_make_a_path_without_a_job() -> None:
    (path,) = find_paths([balancer("prod-api", 60)])
    assert (path.job, path.direct, values(path)) == ("", False, {("load_balancer", "idle", 60, "prod-api")})
    assert find_paths([]) == []


def test_units_of_statements_and_zero() -> None:
    series = [variable("max_execution_time", 1_500), variable("max_statement_time", 2.5, instance="maria")]
    assert values(find_paths(series)[0]) == {
        ("database", "statement", 1.5, "db-1"),
        ("database", "statement", 2.5, "maria"),
    }
    assert find_paths([variable("max_execution_time", 0)])[0].readings[0].seconds == math.inf


def test_sources_and_fields() -> None:
    series = [
        given("app", "idle", 75, instance="app-1"),
        given("app", "read", math.inf, source="runtime", instance="app-1"),
        given("app", "idle", 75.01, source="probe", instance="app-1"),
        latest(
            "timeout_longer_than_seconds", 60, job="shop", layer="app", kind="read_header", source="probe", instance="a"
        ),
        given("pool", "max_lifetime", 60, name="orders", instance="app-1"),
    ]
    (path,) = find_paths(series)
    assert [(reading.origin, reading.field, reading.at_least, reading.name) for reading in path.readings] == [
        (Origin.CONFIGURATION, "timeouts.app.idle", False, "app-1"),
        (Origin.RUNTIME, "timeouts.app.read", False, "app-1"),
        (Origin.PROBE, "timeout_seconds", False, "app-1"),
        (Origin.PROBE, "timeout_longer_than_seconds", True, "a"),
        (Origin.CONFIGURATION, "timeouts.pool.max_lifetime", False, "orders"),
    ]


def test_what_a_newer_agent_may_send_is_left_out() -> None:
    series = [
        given("mesh", "idle", 1),
        given("app", "breath", 1),
        given("client", "wait", 1),
        given("app", "idle", math.nan),
    ]
    assert find_paths(series) == [Path(job="shop", direct=False, readings=())]


def test_names_of_balancers() -> None:
    assert balancer_name({"name": ARN}) == "prod-api"
    assert balancer_name({"name": ARN, "dimension_LoadBalancer": "app/other/1"}) == "other"
    assert balancer_name({"name": "odd"}) == "odd"
    assert balancer_name({}) == ""
    (path,) = find_paths([latest("aws_applicationelb_idle_timeout_seconds", 60, name=ARN)])
    assert path.readings[0].place == BALANCER_IDLE

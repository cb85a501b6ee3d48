from collections.abc import Callable
from typing import Any

import pytest

MINUTE = 60_000

Samples = list[tuple[int, float]]


def rds(metric: str, database: str = "shop-1", **more: str) -> dict[str, str]:
    """As the cloudwatch collector names them."""
    return {
        "__name__": f"aws_rds_{metric}",
        "name": f"arn:aws:rds:ap-northeast-1:123456789012:db:{database}",
        "region": "ap-northeast-1",
        "account_id": "123456789012",
        "dimension_DBInstanceIdentifier": database,
        "job": "aws",
        "instance": "cloudwatch",
        **more,
    }


def fact(database: str, role: str) -> dict[str, str]:
    labels = rds("info", database, role=role, cluster="shop", identifier=database)
    return {name: value for name, value in labels.items() if name != "dimension_DBInstanceIdentifier"}


def minutes(end_ms: int, values: list[float], step_ms: int = MINUTE) -> Samples:
    """One value each period, the last at `end_ms`."""
    return [(end_ms - (len(values) - 1 - i) * step_ms, value) for i, value in enumerate(values)]


@pytest.fixture
def minute(server: Any) -> int:
    """The whole minute at or before the server's present."""
    return server.clock.now_ms // MINUTE * MINUTE


@pytest.fixture
def ask(server: Any) -> Callable[..., dict[str, Any]]:
    def ask(signal: str, span_ms: int = 30 * MINUTE, **more: Any) -> dict[str, Any]:
        now = server.clock.now_ms
        # Other collectors are there too, and send to this second.
        server.write(({"__name__": "up", "job": "host"}, [(now, 1.0)]))
        body = {"signals": [signal], "start_ms": now - span_ms, "end_ms": now, **more}
        answer = server.client.post("/api/signals/query", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return ask


def drawn(answer: dict[str, Any], series: int = 0) -> dict[int, float]:
    values = answer["results"][0]["series"][series]["values"]
    times = {answer["start_ms"] + i * answer["step_ms"]: value for i, value in enumerate(values)}
    return {time: value for time, value in times.items() if value is not None}


def test_each_value_is_drawn_once_and_nothing_after_the_newest(server: Any, minute: int, ask: Callable[..., Any]):
    newest = minute - 3 * MINUTE
    samples = minutes(newest, [0.0, 10.0, 20.0, 30.0])
    server.write((rds("database_connections_maximum"), samples))
    answer = ask("aws_db_connections")
    assert answer["step_ms"] == MINUTE
    assert drawn(answer) == dict(samples)
    assert answer["results"][0]["newest_ms"] == newest


def test_a_hole_stays_a_hole(server: Any, minute: int, ask: Callable[..., Any]):
    samples = minutes(minute - 2 * MINUTE, [1.0, 2.0, 3.0, 4.0, 5.0])
    del samples[1:3]
    server.write((rds("database_connections_maximum"), samples))
    assert drawn(ask("aws_db_connections")) == dict(samples)


def test_values_each_five_minutes_keep_their_distance(server: Any, minute: int, ask: Callable[..., Any]):
    samples = minutes(minute - minute % (5 * MINUTE), [5.0, 4.0, 3.0], 5 * MINUTE)
    server.write((rds("cpucredit_balance_average"), samples))
    assert drawn(ask("aws_db_cpu_credits")) == dict(samples)


EC2_NETWORK = ["aws_ec2_network_in", "aws_ec2_network_out", "aws_ec2_packets_in", "aws_ec2_packets_out"]


def ec2(metric: str, instance: str) -> dict[str, str]:
    return {
        "__name__": f"aws_ec2_{metric}",
        "name": f"arn:aws:ec2:ap-northeast-1:123456789012:instance/{instance}",
        "region": "ap-northeast-1",
        "account_id": "123456789012",
        "dimension_InstanceId": instance,
        "job": "aws",
        "instance": "cloudwatch",
    }


@pytest.mark.parametrize("signal", EC2_NETWORK)
def test_the_same_traffic_is_drawn_alike_whatever_the_monitoring(
    server: Any, minute: int, ask: Callable[..., Any], signal: str
):
    newest = minute - minute % (5 * MINUTE)
    metric = f"{signal.removeprefix('aws_ec2_').replace('packets', 'network_packets')}_sum"
    for instance, step_ms in (("i-basic", 5 * MINUTE), ("i-detailed", MINUTE)):
        seconds = step_ms / 1_000
        server.write(
            (ec2(metric, instance), minutes(newest, [1_000 * seconds] * 4, step_ms)),
            (ec2("monitoring_period_seconds", instance), minutes(newest, [seconds] * 4, step_ms)),
        )
    # Of another sender, which does not tell the period: a guess could be five times too high.
    server.write((ec2(metric, "i-unknown"), minutes(newest, [60_000.0] * 4)))
    answer = ask(signal)
    series = answer["results"][0]["series"]
    found = {one["labels"]["dimension_InstanceId"]: drawn(answer, place) for place, one in enumerate(series)}
    assert found == {
        "i-basic": dict(minutes(newest, [1_000.0] * 4, 5 * MINUTE)),
        "i-detailed": dict(minutes(newest, [1_000.0] * 4)),
    }


def test_cpu_and_operations_stand_against_their_limits_in_one_chart(server: Any, minute: int, ask: Callable[..., Any]):
    newest = minute - 3 * MINUTE
    for database, cpu, provisioned in (("shop-1", 100.0, 3_000.0), ("aurora-1", 20.0, None)):
        server.write(
            (rds("cpuutilization_average", database), minutes(newest, [cpu] * 4)),
            (rds("read_iops_average", database), minutes(newest, [500.0] * 4)),
            (rds("write_iops_average", database), minutes(newest, [100.0] * 4)),
        )
        if provisioned is not None:
            # Discovery tells it less often than CloudWatch has values.
            server.write((rds("provisioned_iops", database), [(newest - 10 * MINUTE, provisioned)]))
    catalogue = server.client.get("/api/signals").json()
    chart = [one for one in catalogue["signals"] if one["panel"]["id"] == "aws-db-limits"]
    assert [one["id"] for one in chart] == ["aws_db_cpu_share", "aws_db_iops_share", "aws_db_share_limit"]
    assert {(one["unit"], one["panel"]["split"]) for one in chart} == {("ratio", "role")}

    def shares(signal: str) -> dict[str, dict[int, float]]:
        answer = ask(signal)
        found = enumerate(answer["results"][0]["series"])
        return {one["labels"]["dimension_DBInstanceIdentifier"]: drawn(answer, place) for place, one in found}

    def level(value: float) -> dict[int, float]:
        return dict(minutes(newest, [value] * 4))

    assert shares("aws_db_cpu_share") == {"shop-1": level(1.0), "aurora-1": level(0.2)}
    # Aurora's storage has no limit of operations.
    assert shares("aws_db_iops_share") == {"shop-1": level(0.2)}
    assert shares("aws_db_share_limit") == {"shop-1": level(1.0), "aurora-1": level(1.0)}


def test_a_revised_value_and_one_that_comes_late_are_read_again(server: Any, minute: int, ask: Callable[..., Any]):
    newest = minute - 2 * MINUTE
    samples = minutes(newest, [10.0, 20.0, 30.0])
    server.write((rds("database_connections_maximum"), [samples[0], samples[2]]))
    before = ask("aws_db_connections", 300 * MINUTE)
    assert before["complete_ms"] <= newest - 180 * MINUTE
    server.write((rds("database_connections_maximum"), [samples[1], (newest, 33.0)]))
    body = {"start_ms": before["complete_ms"], "step_ms": before["step_ms"]}
    after = ask("aws_db_connections", **body)
    assert drawn(after) == {**dict(samples), newest: 33.0}


def test_a_span_shorter_than_the_delay_still_tells_the_newest(server: Any, minute: int, ask: Callable[..., Any]):
    newest = minute - 4 * MINUTE
    server.write((rds("database_connections_maximum"), minutes(newest, [10.0, 20.0])))
    answer = ask("aws_db_connections", MINUTE)
    assert answer["results"][0]["series"] == []
    assert answer["results"][0]["newest_ms"] == newest
    assert ask("aws_db_cpu", MINUTE)["results"][0]["newest_ms"] is None
    assert ask("goroutines")["results"][0]["newest_ms"] is None


def test_a_long_span_keeps_the_highest_minute(server: Any, minute: int, ask: Callable[..., Any]):
    values = [100.0 if i == 777 else 1.0 for i in range(2_000)]
    server.write((rds("database_connections_maximum"), minutes(minute, values)))
    answer = ask("aws_db_connections", 2_000 * MINUTE, max_points=600)
    assert answer["reduced"]
    assert max(drawn(answer).values()) == 100.0


def test_a_failover_moves_the_line_from_reader_to_writer(server: Any, minute: int, ask: Callable[..., Any]):
    newest = minute - 2 * MINUTE
    turn = newest - 3 * MINUTE
    server.write(
        (rds("database_connections_maximum", "shop-1"), minutes(newest, [10.0] * 6)),
        (fact("shop-1", "writer"), minutes(turn, [1.0] * 10)),
        (fact("shop-1", "reader"), minutes(newest + 2 * MINUTE, [1.0] * 5)),
    )
    answer = ask("aws_db_connections")
    roles = {one["labels"]["role"]: place for place, one in enumerate(answer["results"][0]["series"])}
    assert set(roles) == {"writer", "reader"}
    assert max(drawn(answer, roles["writer"])) < min(drawn(answer, roles["reader"]))
    assert len(drawn(answer, roles["writer"])) + len(drawn(answer, roles["reader"])) == 6
    assert {one["name"] for one in answer["results"][0]["series"]} == {"shop-1"}


def test_a_role_discovered_a_moment_ago_is_known(server: Any, minute: int, ask: Callable[..., Any]):
    server.write(
        (rds("database_connections_maximum"), minutes(minute - 2 * MINUTE, [10.0, 20.0])),
        (fact("shop-1", "writer"), [(server.clock.now_ms, 1.0)]),
    )
    [one] = ask("aws_db_connections")["results"][0]["series"]
    assert one["labels"]["role"] == "writer"


def test_series_of_other_dimensions_are_left_out(server: Any, minute: int, ask: Callable[..., Any]):
    balancer = {
        "name": "arn:aws:elasticloadbalancing:ap-northeast-1:123456789012:loadbalancer/app/shop/50dc",
        "region": "ap-northeast-1",
        "account_id": "123456789012",
        "dimension_LoadBalancer": "app/shop/50dc",
    }
    named = {**balancer, "__name__": "aws_applicationelb_target_response_time_p99"}
    server.write(
        (named, minutes(minute, [0.2, 0.3])),
        ({**named, "dimension_TargetGroup": "targetgroup/api/73e2"}, minutes(minute, [9.0, 9.0])),
    )
    answer = ask("aws_lb_response_p99")
    [one] = answer["results"][0]["series"]
    assert one["name"] == "p99 · shop"
    assert one["labels"]["load_balancer"] == "shop"
    assert sorted(drawn(answer).values()) == [0.2, 0.3]


def balancer(name: str) -> dict[str, str]:
    return {
        "__name__": "aws_applicationelb_request_count_sum",
        "name": f"arn:aws:elasticloadbalancing:ap-northeast-1:123456789012:loadbalancer/app/{name}/50dc",
        "dimension_LoadBalancer": f"app/{name}/50dc",
    }


def test_a_total_on_the_server_waits_for_the_last_balancer(server: Any, minute: int):
    newest = minute - 2 * MINUTE
    server.write(
        (balancer("shop"), minutes(newest, [6_000.0] * 4)),
        (balancer("api"), minutes(newest - MINUTE, [600.0] * 3)),
        ({"__name__": "ingest_accepted_total"}, [(minute - i * 1_000, 1e6 - 50.0 * i) for i in range(300)]),
    )
    now = server.clock.now_ms
    body = {"signals": ["rps_balancer", "rps_accepted"], "start_ms": now - 5 * MINUTE, "end_ms": now}
    answer = server.client.post("/api/signals/query", json=body).json()
    assert answer["step_ms"] == 1_000
    assert drawn(answer) == {newest - i * MINUTE: 110.0 for i in (1, 2, 3)}
    assert answer["complete_ms"] == answer["start_ms"]


def test_the_nearest_of_very_many_instances_are_in_the_headroom_strip(server: Any, minute: int):
    for place in range(30):
        server.write((rds("cpuutilization_average", f"db-{place}"), minutes(minute, [2.0 * place])))
    found = server.client.get("/api/headroom").json()["resources"]
    assert [one["name"] for one in found] == [f"db-{place}" for place in range(29, 9, -1)]


def resources(server: Any, **query: Any) -> dict[str, dict[str, Any]]:
    found = server.client.get("/api/headroom", params=query).json()["resources"]
    return {one["resource"]: one for one in found if one["resource"].startswith("aws_")}


def test_headroom_is_of_the_newest_value_and_says_when_that_was(server: Any, minute: int):
    newest = minute - 3 * MINUTE
    server.write(
        (rds("database_connections_maximum"), minutes(newest, [100.0 + i for i in range(20)])),
        (rds("max_connections"), minutes(minute - 7 * MINUTE, [160.0])),
        (rds("cpuutilization_average"), minutes(newest, [85.0] * 5)),
        (rds("memory_bytes"), minutes(minute, [8e9] * 20)),
        (rds("freeable_memory_minimum"), minutes(newest, [1.44e9] * 5)),
    )
    found = resources(server)
    connections = found["aws_db_connections"]
    assert (connections["used"], connections["limit"], connections["state"]) == (119, 160, "ok")
    assert (connections["as_of_ms"], connections["source"]) == (newest, "CloudWatch")
    assert connections["history_step_ms"] == MINUTE
    # 41 connections are left at one a minute, and three minutes of that have passed already.
    assert connections["exhaustion_seconds"] == pytest.approx(38 * 60, abs=60)
    assert connections["history"][-3:] == [None, None, None]
    assert connections["name"] == "shop-1"
    assert (found["aws_db_cpu"]["used"], found["aws_db_cpu"]["state"]) == (0.85, "near")
    memory = found["aws_db_memory"]
    assert (memory["used"], memory["limit"]) == (6.56e9, 8e9)
    assert (memory["state"], memory["near"]) == ("ok", 0.9), "a buffer pool takes three quarters on purpose"
    assert "aws_db_iops" not in found


def test_headroom_of_values_that_stopped_is_not_shown_as_if_it_held(server: Any, minute: int):
    server.write(
        (rds("database_connections_maximum"), minutes(minute - 25 * MINUTE, [100.0] * 5)),
        (rds("max_connections"), minutes(minute, [200.0] * 30)),
    )
    assert resources(server) == {}
    assert set(resources(server, at_ms=minute - 24 * MINUTE)) == {"aws_db_connections"}


def test_the_catalogue_says_what_comes_late(server: Any):
    catalogue = server.client.get("/api/signals").json()
    signals = {one["id"]: one for one in catalogue["signals"]}
    assert signals["aws_db_cpu"]["delivery"] == {"source": "CloudWatch", "period_ms": MINUTE, "events": False}
    assert (signals["aws_db_cpu"]["total"], signals["aws_db_cpu"]["panel"]["split"]) == ("mean", "role")
    assert signals["aws_ecs_running"]["delivery"] is None
    assert signals["goroutines"]["delivery"] is None
    optional = [one["id"] for one in catalogue["groups"] if one["optional"]]
    assert optional == [
        *("requests", "nginx", "pgbouncer", "go", "python", "event-loop", "postgresql", "redis"),
        *("aws_balancer", "aws_containers", "aws_instances", "aws_functions", "aws_proxies", "aws_database"),
        *("aws_database_os", "aws_caches", "aws_queues", "aws_network"),
    ]


def vendor(metric: str, database: str = "shop-1", **more: str) -> dict[str, str]:
    """A series of Performance Insights or Enhanced Monitoring, as `side_labels` names it."""
    return rds(metric, database, **more)


def by_event(answer: dict[str, Any]) -> dict[str, dict[int, float]]:
    series = answer["results"][0]["series"]
    return {one["labels"].get("wait_event", ""): drawn(answer, place) for place, one in enumerate(series)}


def test_database_load_is_drawn_each_ten_seconds_and_what_is_not_named_is_left_over(
    server: Any, minute: int, ask: Callable[..., Any]
):
    step = 10_000
    newest = minute - 40_000
    load = "insights_db_load_average"
    io = {"wait_event": "io/table/sql/handler", "wait_event_type": "io"}
    server.write(
        (vendor(load), minutes(newest, [4.0, 5.0, 6.0], step)),
        (vendor(load, wait_event="CPU", wait_event_type="CPU"), minutes(newest, [1.0, 2.0, 3.0], step)),
        (vendor(load, **io), minutes(newest, [2.0, 2.0], step)),
    )
    answer = ask("aws_db_load_waits", 10 * MINUTE)
    assert answer["step_ms"] == step
    assert by_event(answer) == {
        "CPU": dict(minutes(newest, [1.0, 2.0, 3.0], step)),
        "io/table/sql/handler": dict(minutes(newest, [2.0, 2.0], step)),
        "": dict(minutes(newest, [3.0, 1.0, 1.0], step)),
    }
    assert answer["results"][0]["newest_ms"] == newest
    # Two minutes are read again by the agent, not the hours of CloudWatch.
    assert answer["complete_ms"] == answer["start_ms"]
    assert ask("aws_db_load_waits", 60 * MINUTE)["complete_ms"] > minute - 20 * MINUTE


def test_a_database_at_rest_has_no_load_and_no_hole(server: Any, minute: int, ask: Callable[..., Any]):
    server.write((vendor("insights_db_load_average"), minutes(minute, [0.0, 0.0, 0.0], 10_000)))
    assert by_event(ask("aws_db_load_waits", 10 * MINUTE)) == {"": dict(minutes(minute, [0.0, 0.0, 0.0], 10_000))}


def test_parts_of_a_long_span_are_means_so_that_they_add_up(server: Any, minute: int, ask: Callable[..., Any]):
    busy = minutes(minute, [8.0, 0.0] * 1_000, 10_000)
    idle = minutes(minute, [0.0, 8.0] * 1_000, 10_000)
    load = "insights_db_load_average"
    server.write(
        (vendor(load), [(time, 8.0) for time, _ in busy]),
        (vendor(load, wait_event="CPU", wait_event_type="CPU"), busy),
        (vendor(load, wait_event="WALWrite", wait_event_type="LWLock"), idle),
    )
    answer = ask("aws_db_load_waits", 300 * MINUTE, max_points=600)
    assert answer["reduced"]
    found = by_event(answer)
    inner = sorted(found["CPU"])[2:-2]
    assert {round(found["CPU"][time] + found["WALWrite"][time], 6) for time in inner} == {8.0}


@pytest.mark.parametrize("seconds", [1, 10, 30, 60])
def test_the_operating_system_is_drawn_as_often_as_it_is_monitored(
    server: Any, minute: int, ask: Callable[..., Any], seconds: int
):
    newest = minute - 60_000
    cpu = "os_cpu_utilization_percent"
    server.write(
        (vendor(cpu, mode="user"), minutes(newest, [20.0] * 20, seconds * 1_000)),
        (vendor(cpu, mode="nice"), minutes(newest, [5.0] * 20, seconds * 1_000)),
        (vendor(cpu, mode="total"), minutes(newest, [60.0] * 20, seconds * 1_000)),
    )
    answer = ask("aws_db_os_cpu_user", 5 * MINUTE)
    assert answer["step_ms"] == seconds * 1_000
    assert set(drawn(answer).values()) == {0.25}
    assert max(drawn(answer)) == newest
    assert answer["results"][0]["newest_ms"] == newest


def test_an_entry_that_is_a_second_late_leaves_no_hole(server: Any, minute: int, ask: Callable[..., Any]):
    newest = minute - 2 * MINUTE
    late = [
        (time + (1_000 if place in (4, 9) else 0), value)
        for place, (time, value) in enumerate(minutes(newest, [3.0] * 10))
    ]
    server.write((vendor("os_load1"), late))
    found = drawn(ask("aws_db_os_load"))
    assert sorted(found) == [newest - i * MINUTE for i in range(9, -2, -1)]


def test_an_entry_that_is_missing_is_a_hole(server: Any, minute: int, ask: Callable[..., Any]):
    samples = [(time - 20_000, value) for time, value in minutes(minute - 2 * MINUTE, [3.0] * 10)]
    del samples[5]
    server.write((vendor("os_load1"), samples))
    assert len(drawn(ask("aws_db_os_load"))) == 9


def test_memory_in_use_is_neither_free_nor_a_cache(server: Any, minute: int, ask: Callable[..., Any]):
    for name, value in {"total": 16e9, "free": 2e9, "cached": 5e9}.items():
        server.write((vendor(f"os_memory_{name}_bytes"), minutes(minute, [value] * 5)))
    assert set(drawn(ask("aws_db_os_memory_used")).values()) == {9e9}
    assert set(drawn(ask("aws_db_os_memory_limit")).values()) == {16e9}


def service(metric: str, name: str = "api") -> dict[str, str]:
    return {
        "__name__": metric,
        "name": f"arn:aws:ecs:ap-northeast-1:123456789012:service/prod/{name}",
        "region": "ap-northeast-1",
        "account_id": "123456789012",
        "dimension_ClusterName": "prod",
        "dimension_ServiceName": name,
    }


def test_what_containers_use_is_that_of_all_tasks(server: Any, minute: int, ask: Callable[..., Any]):
    newest = minute - 3 * MINUTE
    space = "aws_ecs_containerinsights"
    server.write(
        (service(f"{space}_cpu_utilized_average"), minutes(newest, [512.0] * 4)),
        (service(f"{space}_cpu_reserved_average"), minutes(newest, [1024.0] * 4)),
        (service(f"{space}_memory_utilized_average"), minutes(newest, [256.0] * 4)),
        (service(f"{space}_running_task_count_average"), minutes(newest, [3.0, 3.0, 6.0, 6.0])),
    )
    assert list(drawn(ask("aws_ecs_insights_cpu")).values()) == [1.5, 1.5, 3.0, 3.0]
    assert list(drawn(ask("aws_ecs_insights_cpu_limit")).values()) == [3.0, 3.0, 6.0, 6.0]
    assert list(drawn(ask("aws_ecs_insights_memory")).values()) == [256 * 2**20 * tasks for tasks in (3, 3, 6, 6)]


def test_the_catalogue_says_what_is_stacked(server: Any):
    signals = {one["id"]: one for one in server.client.get("/api/signals").json()["signals"]}
    waits = signals["aws_db_load_waits"]
    assert waits["delivery"] == {"source": "Performance Insights", "period_ms": 10_000, "events": False}
    assert (waits["panel"]["stacked"], waits["layers"]) == (True, ["wait_event_type", "wait_event"])
    assert signals["aws_db_os_cpu_user"]["delivery"] == {
        "source": "Enhanced Monitoring",
        "period_ms": 1_000,
        "events": False,
    }
    assert (signals["aws_db_cpu"]["panel"]["stacked"], signals["aws_db_cpu"]["layers"]) == (False, [])

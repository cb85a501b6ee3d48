import re

import pytest
from loadwatch_collectors.sources.aws.iam import plan_resources
from loadwatch_collectors.sources.aws.model import AccountRegion, Resource
from loadwatch_collectors.sources.aws.presets import (
    choose_presets,
    fits,
    load_presets,
    preset_files,
    preset_metrics,
    read_preset_file,
)

KINDS = {
    "rds", "rds_cluster", "alb", "nlb", "target_group", "ecs_service", "ecs_cluster", "autoscaling_group", "ec2",
    "elasticache", "lambda", "sqs", "rds_proxy", "nat_gateway", "ebs",
}  # fmt: skip
STATISTICS = {"Average", "Sum", "Minimum", "Maximum", "p50", "p95", "p99"}


@pytest.mark.parametrize("name", preset_files())
def test_a_preset_is_whole(name: str) -> None:
    source = preset_files()[name]
    preset = read_preset_file(name)
    assert preset.kind in KINDS
    assert preset.group in choose_groups()
    assert source.source.startswith("https://docs.aws.amazon.com/")
    assert all(re.fullmatch(r"[a-z0-9-]+:[A-Za-z]+", action) for action in preset.permissions)
    assert any(":Describe" in action or ":List" in action for action in preset.permissions)
    for metric in preset.metrics:
        assert set(metric.statistics) <= STATISTICS
        assert len(metric.names) == len(metric.statistics)
        assert metric.help.endswith((".", ")"))
        assert metric.period_seconds in (60, 300)
        # Nothing but a sum can be known to be zero because nothing was written.
        assert metric.absent == "gap" or metric.statistics == ("Sum",)


def choose_groups() -> set[str]:
    return {source.group for source in preset_files().values()}


@pytest.mark.parametrize("name", [name for name in preset_files() if read_preset_file(name).metrics])
def test_where_holes_mean_zero_something_else_is_always_written(name: str) -> None:
    metrics = read_preset_file(name).metrics
    if any(metric.absent == "zero-when-delivered" for metric in metrics):
        group = [entry for entry in preset_files() if read_preset_file(entry).kind == read_preset_file(name).kind]
        assert any(metric.absent == "gap" for entry in group for metric in read_preset_file(entry).metrics)


def test_a_series_has_one_meaning() -> None:
    seen: dict[str, tuple[str, str]] = {}
    for preset in map(read_preset_file, preset_files()):
        for metric in preset.metrics:
            for series in metric.names:
                assert seen.setdefault(series, (metric.unit, metric.orientation)) == (metric.unit, metric.orientation)
    assert {info.name for info in preset_metrics()} >= set(seen)


def test_a_sum_whose_period_depends_on_the_resource_tells_it() -> None:
    periods: dict[str, set[int]] = {}
    told: dict[str, set[str]] = {}
    for metric in (metric for preset in map(read_preset_file, preset_files()) for metric in preset.metrics):
        for series, statistic in zip(metric.names, metric.statistics, strict=True):
            if statistic in ("Sum", "SampleCount"):
                periods.setdefault(series, set()).add(metric.period_seconds)
                told.setdefault(series, set()).add(metric.period_series)
    mixed = {series for series, found in periods.items() if len(found) > 1}
    assert mixed == {f"aws_ec2_network_{what}_sum" for what in ("in", "out", "packets_in", "packets_out")}
    assert {series: told[series] for series in mixed} == {key: {"aws_ec2_monitoring_period_seconds"} for key in mixed}
    assert all(not told[series] - {""} for series in periods.keys() - mixed)
    assert "aws_ec2_monitoring_period_seconds" in {info.name for info in preset_metrics()}


def test_what_operators_need_is_there() -> None:
    names = {info.name for info in preset_metrics()}
    assert names >= {
        "aws_rds_database_connections_average",
        "aws_rds_cpuutilization_average",
        "aws_rds_aurora_replica_lag_average",
        "aws_rds_insights_db_load_average",
        "aws_rds_os_cpu_utilization_percent",
        "aws_applicationelb_request_count_sum",
        "aws_applicationelb_httpcode_target_5_xx_count_sum",
        "aws_applicationelb_httpcode_elb_504_count_sum",
        "aws_applicationelb_target_response_time_p99",
        "aws_ecs_cpuutilization_average",
        "aws_ec2_cpuutilization_average",
        "aws_elasticache_engine_cpuutilization_average",
        "aws_sqs_approximate_age_of_oldest_message_maximum",
        "aws_lambda_throttles_sum",
        "aws_rds_client_connections_sum",
        "aws_rds_database_connections_currently_borrowed_sum",
        "aws_rds_max_database_connections_allowed_sum",
        "aws_rds_database_connections_borrow_latency_average",
        "aws_rds_dbload_relative_to_num_vcpus_average",
        "aws_ec2_status_check_failed_attached_ebs_maximum",
        "aws_ebs_volume_stalled_iocheck_maximum",
        "aws_natgateway_error_port_allocation_sum",
        "aws_natgateway_packets_drop_count_sum",
        "aws_elasticache_network_bandwidth_in_allowance_exceeded_sum",
        "aws_elasticache_network_bandwidth_out_allowance_exceeded_sum",
        "aws_elasticache_network_conntrack_allowance_exceeded_sum",
        "aws_elasticache_network_packets_per_second_allowance_exceeded_sum",
    }


def test_a_group_stands_for_its_presets() -> None:
    assert choose_presets(["alb"]) == ("alb", "alb_targets")
    assert choose_presets(["aurora", "sqs"]) == ("aurora", "sqs")
    assert choose_presets([]) == ()
    assert "aurora_mysql" in choose_presets(["rds"])
    assert "rds_insights" not in choose_presets(["rds"])


def test_a_preset_that_is_not_used_by_default_must_be_named() -> None:
    assert "lambda_streams" not in choose_presets(None)
    assert choose_presets(["lambda"]) == ("lambda",)
    assert choose_presets(["lambda_streams"]) == ("lambda_streams",)
    assert set(choose_presets(None)) == {name for name, source in preset_files().items() if source.default}


def test_an_unknown_preset_is_told_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match=r"'redis' is not a preset; there are alb, .*elasticache"):
        choose_presets(["redis"])


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (
            {"engine": "mysql", "class": "db.t3.micro", "storage_type": "gp2", "performance_insights": "false"},
            {"rds", "rds_storage", "rds_binlog", "rds_gp2", "rds_credits"},
        ),
        (
            {"engine": "aurora-mysql", "class": "db.serverless", "storage_type": "aurora"},
            {
                "rds",
                "aurora",
                "aurora_mysql",
                "aurora_serverless",
                "rds_load",
                "rds_insights",
                "rds_insights_sql",
                "rds_insights_mysql",
            },
        ),
        (
            {"engine": "postgres", "class": "db.m6g.large", "storage_type": "gp3", "performance_insights": "true"},
            {"rds", "rds_storage", "rds_load", "rds_insights", "rds_insights_sql", "rds_insights_postgres"},
        ),
    ],
)
def test_presets_fit_what_a_resource_is(attributes: dict[str, str], expected: set[str]) -> None:
    pairs = (*sorted(attributes.items()), ("enhanced_monitoring", "false"))
    found = {
        name
        for name in preset_files()
        if read_preset_file(name).kind == "rds" and fits(read_preset_file(name).only, pairs)
    }
    assert found == expected


def test_an_attribute_that_is_not_known_excludes_nothing() -> None:
    assert fits({"engine": ("aurora*",)}, ())
    assert not fits({"engine": ("aurora*",)}, (("engine", "mysql"),))
    assert not fits({"engine": ("!aurora*",)}, (("engine", "aurora-mysql"),))


def make_resource(**attributes: str) -> Resource:
    return Resource(
        kind="ec2",
        name="arn:aws:ec2:eu-west-1:123456789012:instance/i-1",
        place=AccountRegion(account_id="123456789012", region="eu-west-1"),
        dimensions=(("InstanceId", "i-1"),),
        attributes=tuple(sorted(attributes.items())),
    )


@pytest.mark.parametrize(("monitoring", "period"), [("enabled", 60), ("disabled", 300)])
def test_basic_monitoring_is_read_at_its_own_resolution(monitoring: str, period: int) -> None:
    presets = load_presets(["ec2"])
    resource = make_resource(monitoring=monitoring, **{"class": "m5.large"})
    [cpu] = [want for want in plan_resources([resource], presets) if want.metric.name == "CPUUtilization"]
    assert cpu.period_seconds == period
    [sent] = [want for want in plan_resources([resource], presets) if want.metric.name == "NetworkOut"]
    assert (sent.period_seconds, sent.period_series) == (period, "aws_ec2_monitoring_period_seconds")
    assert ("dimension_InstanceId", "i-1") in cpu.labels

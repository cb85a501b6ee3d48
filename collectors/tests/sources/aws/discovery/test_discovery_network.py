from collections.abc import Callable, Iterator, Mapping

import pytest
from loadwatch_collectors.sources.aws.client.client import Account, AwsClient, ConnectOptions, connect
from loadwatch_collectors.sources.aws.cloudwatch import CLOUDWATCH
from loadwatch_collectors.sources.aws.discovery.discovery import Discovery
from loadwatch_collectors.sources.aws.discovery.part import Selection
from loadwatch_collectors.sources.aws.discovery.readers import describe_targets
from loadwatch_collectors.sources.aws.iam import plan_resources
from loadwatch_collectors.sources.aws.model import Found
from loadwatch_collectors.sources.aws.presets import load_presets
from loadwatch_collectors.sources.aws.settings import SelectSettings

from collectors.tests.sources.aws import aws_world
from collectors.tests.sources.aws.fault_proxy.fault_proxy import FaultProxy
from collectors.tests.sources.aws.fault_proxy.faults import deny
from collectors.tests.sources.aws.moto_server import ACCOUNT, REGION, MotoServer

Find = Callable[..., Found]


@pytest.fixture
def find(proxy: FaultProxy, aws_environment: None) -> Iterator[Find]:
    clients: list[AwsClient] = []

    def look(preset: str, select: Mapping[str, SelectSettings] | None = None) -> Found:
        made = connect(Account(), REGION, ConnectOptions(endpoint_url=proxy.url), lambda _call, _seconds: None)
        clients.append(made)
        discovery = Discovery(made, Selection(load_presets([preset]).values(), select or {}))
        discovery.look()
        assert discovery.errors() == []
        return discovery.found()

    yield look
    for client in clients:
        client.close()


def labels(found: Found, metric: str) -> list[dict[str, str]]:
    return [dict(fact.labels) for fact in found.facts if fact.name == metric]


def number(found: Found, metric: str) -> list[float]:
    return [fact.value for fact in found.facts if fact.name == metric]


def wanted(found: Found, preset: str) -> dict[str, dict[str, str]]:
    """Dimensions by metric, as CloudWatch is asked."""
    return {
        want.metric.name: dict(want.metric.dimensions)
        for want in plan_resources(found.resources, load_presets([preset]))
    }


def test_a_proxy_with_its_pool_and_the_databases_behind_it(moto: MotoServer, find: Find) -> None:
    aws_world.make_instance(moto, "orders")
    arn = aws_world.make_proxy(moto, "pool", "orders", percent=60, borrow_seconds=20)
    found = find("rds_proxy")
    [told] = labels(found, "aws_rds_proxy_info")
    assert told["name"] == arn
    assert (told["proxy"], told["engine_family"], told["require_tls"]) == ("pool", "MYSQL", "true")
    assert told["databases"] == "orders"
    assert number(found, "aws_rds_proxy_max_connections_percent") == [60]
    assert number(found, "aws_rds_proxy_borrow_timeout_seconds") == [20]
    assert number(found, "aws_rds_proxy_idle_client_timeout_seconds") == [900]
    assert number(found, "aws_rds_proxy_targets") == [1]
    assert "not-shown" not in str(found)
    assert wanted(found, "rds_proxy")["DatabaseConnectionsBorrowLatency"] == {"ProxyName": "pool"}
    assert {fact.name for fact in found.facts} <= {metric.name for metric in CLOUDWATCH.metrics}


def test_a_cluster_behind_a_proxy_is_no_database_of_its_own() -> None:
    member = {"RdsResourceId": "shop-1", "Type": "RDS_INSTANCE", "TargetHealth": {"State": "AVAILABLE"}}
    gone = {"RdsResourceId": "shop-2", "Type": "RDS_INSTANCE", "TargetHealth": {"State": "UNAVAILABLE"}}
    cluster = {"RdsResourceId": "shop", "Type": "TRACKED_CLUSTER"}
    assert describe_targets([member, gone, cluster]) == {
        "databases": "shop,shop-1,shop-2",
        "targets": 2,
        "available_targets": 1,
    }


def test_a_proxy_whose_targets_may_not_be_seen_is_read_all_the_same(
    moto: MotoServer, proxy: FaultProxy, find: Find
) -> None:
    aws_world.make_instance(moto, "orders")
    aws_world.make_proxy(moto, "pool", "orders")
    refused = ("rds:DescribeDBProxyTargets", "rds:DescribeDBProxyTargetGroups")
    proxy.before(deny(*refused))
    found = find("rds_proxy")
    assert {one.permission for one in found.missing} == set(refused)
    # What is not known is not said to be none.
    assert number(found, "aws_rds_proxy_targets") == []
    assert number(found, "aws_rds_proxy_max_connections_percent") == []
    assert wanted(found, "rds_proxy")["ClientConnections"] == {"ProxyName": "pool"}


def test_gateways_that_work_chosen_by_name_or_tag(moto: MotoServer, find: Find) -> None:
    first = aws_world.make_nat_gateway(moto, "outward", service="api")
    aws_world.make_nat_gateway(moto, "other")
    gone = aws_world.make_nat_gateway(moto, "outward", service="api")
    moto.client("ec2").delete_nat_gateway(NatGatewayId=gone)
    by_tag = find("nat_gateway", {"nat_gateway": SelectSettings(tags={"service": "api"})})
    for found in (find("nat_gateway", {"nat_gateway": SelectSettings(names=("out*",))}), by_tag):
        [told] = labels(found, "aws_natgateway_info")
        assert (told["gateway"], told["gateway_name"]) == (first, "outward")
        assert told["name"] == f"arn:aws:ec2:{REGION}:{ACCOUNT}:natgateway/{first}"
        assert number(found, "aws_natgateway_addresses") == [1]
        assert wanted(found, "nat_gateway")["ErrorPortAllocation"] == {"NatGatewayId": first}


def test_volumes_at_instances_and_no_others(moto: MotoServer, find: Find) -> None:
    [instance] = aws_world.make_ec2(moto, "app", 1)
    volume = aws_world.make_volume(moto, "data", instance)
    aws_world.make_volume(moto, "data")
    found = find("ebs", {"ebs": SelectSettings(names=("data",))})
    [told] = labels(found, "aws_ebs_info")
    assert (told["volume"], told["instance_id"], told["device"]) == (volume, instance, "/dev/sdf")
    assert number(found, "aws_ebs_provisioned_iops") == [4000]
    assert wanted(found, "ebs")["VolumeStalledIOCheck"] == {"InstanceId": instance, "VolumeId": volume}
    # Without names it follows the instance, too.
    assert len(labels(find("ebs", {"ebs": SelectSettings(names=(instance,))}), "aws_ebs_info")) == 2

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import pytest
from loadwatch_collectors.sources.aws.client.client import Account, ApiCall, AwsClient, ConnectOptions, connect
from loadwatch_collectors.sources.aws.cloudwatch import CLOUDWATCH
from loadwatch_collectors.sources.aws.discovery.discovery import PARTS, BackgroundDiscovery, Discovery
from loadwatch_collectors.sources.aws.discovery.part import Look, Selection
from loadwatch_collectors.sources.aws.iam import plan_resources
from loadwatch_collectors.sources.aws.model import Found, PresetKind, Resource
from loadwatch_collectors.sources.aws.presets import load_presets, preset_files, read_preset_file
from loadwatch_collectors.sources.aws.settings import SelectSettings

from collectors.tests.sources.aws import aws_world
from collectors.tests.sources.aws.fault_proxy.fault_proxy import AwsRequest, FaultProxy
from collectors.tests.sources.aws.fault_proxy.faults import deny, of, throttle
from collectors.tests.sources.aws.moto_server import ACCOUNT, REGION, MotoServer

KINDS = tuple(kind for part in PARTS for kind in part.kinds)
PRESETS = tuple(PresetKind(kind, kind, group=kind) for kind in KINDS)
Select = Mapping[str, SelectSettings]


class World:
    """A discovery on moto through the proxy, with a clock that tests move."""

    def __init__(self, client: AwsClient, calls: list[ApiCall], select: Select, kinds: Sequence[str]) -> None:
        self.now = 1000.0
        self.client = client
        self.calls = calls
        selection = Selection([preset for preset in PRESETS if preset.kind in kinds], select)
        self.discovery = Discovery(
            client, selection, monotonic=lambda: self.now, jitter=lambda: 0.5, interval_seconds=300
        )

    def look(self, seconds: float = 0.0) -> Found:
        self.now += seconds
        self.discovery.look()
        return self.discovery.found()


@pytest.fixture
def start(proxy: FaultProxy, aws_environment: None) -> Iterator[Callable[..., World]]:
    clients: list[AwsClient] = []

    def run(*kinds: str, select: Select | None = None) -> World:
        calls: list[ApiCall] = []
        options = ConnectOptions(endpoint_url=proxy.url)
        clients.append(connect(Account(), REGION, options, lambda call, _seconds: calls.append(call)))
        return World(clients[-1], calls, select or {}, kinds or KINDS)

    yield run
    for client in clients:
        client.close()


def facts(found: Found, metric: str) -> list[dict[str, str]]:
    return [dict(fact.labels) for fact in found.facts if fact.name == metric]


def number(found: Found, metric: str) -> dict[str, float]:
    return {
        next(value for name, value in fact.labels if name.startswith("dimension_")): fact.value
        for fact in found.facts
        if fact.name == metric
    }


def names(found: Found, kind: str) -> list[str]:
    resources = [one for one in found.resources if one.kind == kind]
    return sorted(one.name.replace("/", ":").split(":")[-1] for one in resources)


def one(found: Found, kind: str) -> Resource:
    (resource,) = (resource for resource in found.resources if resource.kind == kind)
    return resource


def test_instances_and_clusters_with_their_roles(moto: MotoServer, start: Callable[..., World]):
    aws_world.make_cluster(moto, readers=2)
    aws_world.make_instance(moto, "single", formula="{DBInstanceClassMemory/12582880}")
    found = start("rds", "rds_cluster").look()
    roles = {info["identifier"]: (info.get("cluster"), info.get("role")) for info in facts(found, "aws_rds_info")}
    assert roles == {
        "shop-1": ("shop", "writer"),
        "shop-2": ("shop", "reader"),
        "shop-3": ("shop", "reader"),
        "single": (None, None),
    }
    single = next(info for info in facts(found, "aws_rds_info") if info["identifier"] == "single")
    assert single["max_connections"] == "682"
    assert single["max_connections_source"] == "formula"
    assert (single["engine"], single["class"], single["storage_type"]) == ("mysql", "db.m5.large", "gp3")
    assert (single["region"], single["account_id"]) == (REGION, ACCOUNT)
    assert number(found, "aws_rds_max_connections") == {"single": 682}
    assert number(found, "aws_rds_provisioned_iops") == {"single": 3000}
    assert number(found, "aws_rds_allocated_storage_bytes") == {"single": 100 * 1024**3}
    (cluster,) = facts(found, "aws_rds_cluster_info")
    assert cluster["writer"] == "shop-1"
    assert number(found, "aws_rds_cluster_readers") == {"shop": 2}


def lags(found: Found) -> dict[str, list[str]]:
    """Metrics of lag that are asked for, and billed, by name."""
    asked: dict[str, list[str]] = {}
    resources = [replace(resource, presets=()) for resource in found.resources]
    for wanted in plan_resources(resources, load_presets()):
        if "Lag" in wanted.metric.name:
            asked.setdefault(wanted.metric.name, []).append(wanted.metric.dimensions[0][1])
    return asked


def test_the_lag_of_replicas_is_asked_for_and_of_nothing_else(moto: MotoServer, start: Callable[..., World]):
    aws_world.make_cluster(moto, readers=1)
    aws_world.make_cluster(moto, "alone", readers=0)
    aws_world.make_instance(moto, "orders")
    aws_world.make_instance(moto, "single")
    moto.client("rds").create_db_instance_read_replica(
        DBInstanceIdentifier="orders-copy", SourceDBInstanceIdentifier="orders"
    )
    aws_world.make_cache(moto, "sessions")
    world = start("rds", "rds_cluster", "elasticache")
    found = world.look()
    assert lags(found) == {
        "ReplicaLag": ["orders-copy"],
        "AuroraReplicaLag": ["shop-2"],
        "AuroraReplicaLagMaximum": ["shop"],
    }
    moto.client("rds").failover_db_cluster(DBClusterIdentifier="shop", TargetDBInstanceIdentifier="shop-2")
    assert lags(world.look(31))["AuroraReplicaLag"] == ["shop-1"]


def test_what_is_not_known_to_be_no_replica_is_asked(moto: MotoServer, proxy: FaultProxy, start: Callable[..., World]):
    aws_world.make_cluster(moto, readers=1)
    proxy.before(deny("rds:DescribeDBClusters"))
    found = start("rds", "rds_cluster").look()
    assert lags(found) == {"AuroraReplicaLag": ["shop-1", "shop-2"]}
    assert {dict(one.attributes).get("iam_login") for one in found.resources} == {None}


def test_a_number_in_the_parameter_group_of_the_cluster(moto: MotoServer, start: Callable[..., World]):
    aws_world.make_cluster(moto)
    moto.client("rds").modify_db_cluster_parameter_group(
        DBClusterParameterGroupName="shop-cluster",
        Parameters=[{"ParameterName": "max_connections", "ParameterValue": "750", "ApplyMethod": "pending-reboot"}],
    )
    found = start("rds", "rds_cluster").look()
    assert number(found, "aws_rds_max_connections") == {"shop-1": 750, "shop-2": 750}
    assert {info["max_connections_source"] for info in facts(found, "aws_rds_info")} == {"number"}


def test_a_failover_is_seen_by_the_next_look_half_a_minute_later(moto: MotoServer, start: Callable[..., World]):
    aws_world.make_cluster(moto)
    world = start("rds", "rds_cluster")
    assert facts(world.look(), "aws_rds_cluster_info")[0]["writer"] == "shop-1"
    moto.client("rds").failover_db_cluster(DBClusterIdentifier="shop", TargetDBInstanceIdentifier="shop-2")
    found = world.look(31)
    assert facts(found, "aws_rds_cluster_info")[0]["writer"] == "shop-2"
    assert {info["identifier"]: info["role"] for info in facts(found, "aws_rds_info")} == {
        "shop-1": "reader",
        "shop-2": "writer",
    }
    # Parameters of groups are dear and change seldom: not asked for again.
    assert Counter(call.operation for call in world.calls)["describe_db_parameters"] == 1


def test_balancers_target_groups_and_health(moto: MotoServer, start: Callable[..., World]):
    balancer, group = aws_world.make_balancer(moto, "front", idle_seconds=75)
    aws_world.make_balancer(moto, "wires", kind="network")
    found = start("alb", "nlb", "target_group").look()
    assert number(found, "aws_applicationelb_idle_timeout_seconds") == {balancer.partition("loadbalancer/")[2]: 75}
    assert one(found, "alb").dimensions == (("LoadBalancer", balancer.partition("loadbalancer/")[2]),)
    assert len(facts(found, "aws_networkelb_info")) == 1
    groups = {resource.name: resource for resource in found.resources if resource.kind == "target_group"}
    assert dict(groups[group].dimensions) == {
        "LoadBalancer": balancer.partition("loadbalancer/")[2],
        "TargetGroup": group.rpartition(":")[2],
    }
    assert dict(groups[group].attributes)["load_balancer_type"] == "application"
    health = [info for info in facts(found, "aws_target_health") if info["target_group"] == "front-targets"]
    assert len(health) == 2
    assert {info["state"] for info in health} <= {"healthy", "unused", "initial"}


def test_services_groups_caches_functions_and_queues(moto: MotoServer, start: Callable[..., World]):
    aws_world.make_service(moto, "prod", "api", desired=3)
    aws_world.make_scaling_group(moto, "workers", desired=2)
    aws_world.make_cache(moto, "sessions")
    aws_world.make_function(moto, "resize")
    aws_world.make_queue(moto, "orders")
    found = start().look()
    assert facts(found, "aws_ecs_service_info")[0]["task_definition"] == "api:1"
    assert number(found, "aws_ecs_service_desired_tasks") == {"prod": 3}
    assert dict(one(found, "ecs_service").dimensions) == {"ClusterName": "prod", "ServiceName": "api"}
    assert ("container_insights", "enabled") in one(found, "ecs_service").attributes
    assert facts(found, "aws_autoscaling_group_info")[0]["launch_template"] == "workers-template:1"
    assert number(found, "aws_autoscaling_group_desired_instances") == {"workers": 2}
    assert number(found, "aws_autoscaling_group_in_service_instances") == {"workers": 2}
    assert {info["autoscaling_group"] for info in facts(found, "aws_ec2_info")} == {"workers"}
    assert {info["monitoring"] for info in facts(found, "aws_ec2_info")} <= {"enabled", "disabled"}
    assert facts(found, "aws_elasticache_info")[0]["node_type"] == "cache.t4g.small"
    assert facts(found, "aws_lambda_info")[0]["timeout_seconds"] == "30"
    assert dict(one(found, "sqs").dimensions) == {"QueueName": "orders"}
    assert "not-to-be-shown" not in str(found)
    described = {metric.name for metric in CLOUDWATCH.metrics}
    assert {fact.name for fact in found.facts} <= described


def test_a_deploy_and_a_scale_out_are_seen(moto: MotoServer, start: Callable[..., World]):
    aws_world.make_service(moto, "prod", "api")
    world = start("ecs_service")
    world.look()
    definition = aws_world.define_task(moto, "api")
    moto.client("ecs").update_service(cluster="prod", service="api", taskDefinition=definition, desiredCount=5)
    found = world.look(31)
    assert facts(found, "aws_ecs_service_info")[0]["task_definition"] == "api:2"
    assert number(found, "aws_ecs_service_desired_tasks") == {"prod": 5}


def test_chosen_by_names(moto: MotoServer, start: Callable[..., World]):
    for name in ("prod-a", "prod-b", "test-a"):
        aws_world.make_queue(moto, name)
    aws_world.make_cluster(moto)
    found = start(
        "sqs", "rds", select={"sqs": SelectSettings(names=("prod-*",)), "rds": SelectSettings(names=("shop-2",))}
    ).look()
    assert names(found, "sqs") == ["prod-a", "prod-b"]
    assert names(found, "rds") == ["shop-2"]
    assert [fact.value for fact in found.facts if dict(fact.labels).get("kind") == "sqs"] == [2]


def test_chosen_by_tags_wherever_tags_come_from(moto: MotoServer, start: Callable[..., World]):
    aws_world.make_cluster(moto)
    aws_world.make_instance(moto, "other")
    aws_world.make_balancer(moto, "front")
    aws_world.make_service(moto, "prod", "api")
    aws_world.make_queue(moto, "orders", service="api")
    aws_world.make_queue(moto, "mails", service="mail")
    tagged = SelectSettings(tags={"service": "api"})
    world = start(
        "rds", "alb", "ecs_service", "sqs", select=dict.fromkeys(("rds", "alb", "ecs_service", "sqs"), tagged)
    )
    found = world.look()
    assert names(found, "rds") == ["shop-1", "shop-2"]
    assert names(found, "ecs_service") == ["api"]
    assert names(found, "sqs") == ["orders"]
    assert len([one for one in found.resources if one.kind == "alb"]) == 1
    # One call for each kind whose describe calls lack tags, however many resources there are.
    assert Counter(call.operation for call in world.calls)["get_resources"] == 2
    assert names(start("sqs", select={"sqs": SelectSettings(tags={"service": "m*"})}).look(), "sqs") == ["mails"]


def test_what_is_forbidden_names_itself_and_the_rest_goes_on(
    moto: MotoServer, proxy: FaultProxy, start: Callable[..., World]
):
    aws_world.make_cluster(moto)
    aws_world.make_balancer(moto, "front")
    aws_world.make_queue(moto, "orders")
    refused = (
        "rds:DescribeDBClusters",
        "rds:DescribeDBParameters",
        "elasticloadbalancing:DescribeLoadBalancerAttributes",
        "elasticloadbalancing:DescribeTargetHealth",
        "ec2:DescribeInstances",
        "lambda:ListFunctions",
    )
    proxy.before(deny(*refused))
    found = start().look()
    missing = {one.permission: one for one in found.missing}
    assert set(missing) == set(refused)
    assert missing["rds:DescribeDBClusters"].lost == "roles of Aurora's instances: failovers are not seen"
    assert "iam-policy" in missing["ec2:DescribeInstances"].remedy
    assert names(found, "rds") == ["shop-1", "shop-2"]
    assert names(found, "sqs") == ["orders"]
    assert len(facts(found, "aws_applicationelb_info")) == 1
    # A kind that could not be listed is not said to have none.
    listed = {dict(fact.labels)["kind"] for fact in found.facts if fact.name == "aws_discovered_resources"}
    assert "sqs" in listed
    assert not {"ec2", "lambda", "rds_cluster"} & listed


def test_tags_that_may_not_be_read(moto: MotoServer, proxy: FaultProxy, start: Callable[..., World]):
    aws_world.make_queue(moto, "orders", service="api")
    proxy.before(deny("tag:GetResources"))
    found = start("sqs", select={"sqs": SelectSettings(tags={"service": "api"})}).look()
    assert names(found, "sqs") == []
    (missing,) = found.missing
    assert missing.permission == "tag:GetResources"
    assert "SQS" in missing.lost


def test_a_permission_that_is_granted_later_is_missed_no_more(
    moto: MotoServer, proxy: FaultProxy, start: Callable[..., World]
):
    aws_world.make_balancer(moto, "front", idle_seconds=75)
    fault = proxy.before(deny("elasticloadbalancing:DescribeLoadBalancerAttributes"))
    world = start("alb", "nlb", "target_group")
    assert len(world.look().missing) == 1
    proxy.remove(fault)
    found = world.look(31)
    assert not found.missing
    assert set(number(found, "aws_applicationelb_idle_timeout_seconds").values()) == {75}


def test_throttled_calls_keep_what_was_known_and_back_off(
    moto: MotoServer, proxy: FaultProxy, start: Callable[..., World], monkeypatch: pytest.MonkeyPatch
):
    aws_world.make_cluster(moto)
    world = start("rds", "rds_cluster")
    before = world.look()
    monkeypatch.setattr("loadwatch_collectors.sources.aws.discovery.discovery.LOOK_SECONDS", 0.5)
    fault = proxy.before(throttle(of("rds")))
    after = world.look(31)
    assert facts(after, "aws_rds_info") == facts(before, "aws_rds_info")
    assert [name for name, _ in world.discovery.errors()] == ["rds"]
    ages = [fact.value for fact in after.facts if fact.labels[-1] == ("part", "rds")]
    assert ages == [31]
    asked = len(proxy.seen("DescribeDBClusters"))
    world.look(10)
    assert len(proxy.seen("DescribeDBClusters")) == asked  # waits
    proxy.remove(fault)
    moto.client("rds").failover_db_cluster(DBClusterIdentifier="shop", TargetDBInstanceIdentifier="shop-2")
    monkeypatch.setattr("loadwatch_collectors.sources.aws.discovery.discovery.LOOK_SECONDS", 60.0)
    found = world.look(600)
    assert facts(found, "aws_rds_cluster_info")[0]["writer"] == "shop-2"
    assert not world.discovery.errors()


def test_details_that_are_not_read_in_time_are_read_by_later_looks(
    moto: MotoServer, start: Callable[..., World], monkeypatch: pytest.MonkeyPatch
):
    for name in ("a", "b"):
        aws_world.make_balancer(moto, f"front-{name}")

    def is_late(look: Look) -> bool:
        return len(look.fresh) >= 1

    monkeypatch.setattr(Look, "is_late", is_late)
    world = start("alb", "nlb", "target_group")
    known = [len(number(world.look(61), "aws_applicationelb_idle_timeout_seconds")) for _ in range(3)]
    assert known[0] == 1
    assert known == sorted(known)
    assert known[-1] == 2


def test_many_resources_in_pages(moto: MotoServer, start: Callable[..., World]):
    rds = moto.client("rds")
    for number_of in range(230):
        aws_world.make_instance(moto, f"db-{number_of:03}", client=rds)
    world = start("rds", "rds_cluster")
    assert len(names(world.look(), "rds")) == 230
    calls = Counter(call.operation for call in world.calls)
    assert calls["describe_db_instances"] == 3
    assert calls["describe_db_parameters"] == 1  # they share a group


def test_five_thousand_resources(proxy: FaultProxy, start: Callable[..., World]):
    def instances(request: AwsRequest) -> Mapping[str, object]:
        first = int(str(request.parameters.get("Marker", "0")))
        rows = [
            {
                "DBInstanceIdentifier": f"db-{number_of:04}",
                "DBInstanceArn": f"arn:aws:rds:{REGION}:{ACCOUNT}:db:db-{number_of:04}",
                "Engine": "mysql",
                "DBInstanceClass": "db.m5.large",
                "DBParameterGroups": [{"DBParameterGroupName": f"group-{number_of % 100}"}],
            }
            for number_of in range(first, first + 100)
        ]
        return {"DBInstances": rows} | ({"Marker": str(first + 100)} if first + 100 < 5000 else {})

    proxy.answers["rds", "DescribeDBInstances"] = instances
    proxy.answers["rds", "DescribeDBParameters"] = lambda _: {
        "Parameters": [{"ParameterName": "max_connections", "ParameterValue": "{DBInstanceClassMemory/12582880}"}]
    }
    world = start("rds", "rds_cluster")
    found = world.look()
    assert len(found.resources) == 5000
    assert set(number(found, "aws_rds_max_connections").values()) == {682}
    calls = Counter(call.operation for call in world.calls)
    assert calls["describe_db_instances"] == 50
    assert calls["describe_db_parameters"] == 100  # a call for each group, not for each instance


def test_every_kind_that_presets_read_is_looked_for():
    assert {read_preset_file(name).kind for name in preset_files()} <= set(KINDS)


def test_in_the_background(moto: MotoServer, start: Callable[..., World]):
    aws_world.make_queue(moto, "orders")
    world = start("sqs")
    background = BackgroundDiscovery(world.discovery)
    assert background.found().resources == ()
    assert names(background.found(wait_seconds=60), "sqs") == ["orders"]
    assert background.is_complete()
    background.close()


def test_who_polls_has_roles_of_this_moment(moto: MotoServer, start: Callable[..., World]):
    aws_world.make_cluster(moto)
    world = start("rds", "rds_cluster")
    background = BackgroundDiscovery(world.discovery)
    assert facts(background.found(60), "aws_rds_cluster_info")[0]["writer"] == "shop-1"
    moto.client("rds").failover_db_cluster(DBClusterIdentifier="shop", TargetDBInstanceIdentifier="shop-2")
    world.now += 14
    assert facts(background.found(60), "aws_rds_cluster_info")[0]["writer"] == "shop-1"  # known since a moment
    world.now += 2
    wait_until(lambda: facts(background.found(60), "aws_rds_cluster_info")[0]["writer"] == "shop-2")
    background.close()


def wait_until(holds: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 180
    while not holds():
        assert time.monotonic() < give_up
        time.sleep(0.02)


def test_a_part_with_a_fault_of_its_own_costs_the_others_nothing(
    moto: MotoServer, proxy: FaultProxy, start: Callable[..., World]
):
    aws_world.make_cluster(moto)
    aws_world.make_queue(moto, "orders")
    world = start("rds", "sqs")
    assert names(world.look(), "rds") == ["shop-1", "shop-2"]
    proxy.answers["rds", "DescribeDBInstances"] = lambda _: {"DBInstances": [{"Engine": "mysql"}]}
    aws_world.make_queue(moto, "later")
    found = world.look(400)
    assert names(found, "sqs") == ["later", "orders"], "the parts after it are read"
    assert names(found, "rds") == ["shop-1", "shop-2"], "what was known is kept"
    assert [(part, "KeyError" in str(error)) for part, error in world.discovery.errors()] == [("rds", True)]


def test_services_are_listed_a_hundred_at_a_time(moto: MotoServer, proxy: FaultProxy, start: Callable[..., World]):
    aws_world.make_service(moto, "prod", "api")
    start("ecs_service").look()
    assert [request.parameters["maxResults"] for request in proxy.seen("ListServices")] == [100]


def test_a_place_without_anything(moto: MotoServer, start: Callable[..., World]):
    found = start().look()
    assert found.resources == ()
    assert {fact.value for fact in found.facts if fact.name == "aws_discovered_resources"} == {0}
    assert not found.missing

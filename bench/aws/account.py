"""An AWS account for the benchmark: the tests' proxy answers for it, and counts what is asked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from collectors.tests.sources.aws.fault_proxy.fault_proxy import AwsRequest, FaultProxy
from collectors.tests.sources.aws.fault_proxy.metrics import CloudWatchData, Query, read_parameters, read_query
from collectors.tests.sources.aws.moto_server import ACCOUNT, REGION

PAGE = 100


@dataclass
class Account:
    """So many of each kind; `queries` is what GetMetricData was asked for, each once."""

    databases: int = 0
    balancers: int = 0
    instances: int = 0
    queues: int = 0
    data: CloudWatchData = field(default_factory=lambda: CloudWatchData(value=_value, hold_back=60.0))
    queries: set[Query] = field(default_factory=set[Query])

    def attach(self, proxy: FaultProxy) -> None:
        """Answer for this account."""
        proxy.answers["sts", "GetCallerIdentity"] = lambda _: {"Account": ACCOUNT, "Arn": "arn", "UserId": "id"}
        proxy.answers["rds", "DescribeDBInstances"] = lambda request: _page(
            request, "DBInstances", "Marker", [_database(number) for number in range(self.databases)]
        )
        proxy.answers["rds", "DescribeDBClusters"] = lambda _: {"DBClusters": []}
        proxy.answers["rds", "DescribeDBParameters"] = lambda _: {
            "Parameters": [{"ParameterName": "max_connections", "ParameterValue": "{DBInstanceClassMemory/12582880}"}]
        }
        proxy.answers["elbv2", "DescribeLoadBalancers"] = lambda request: _page(
            request, "LoadBalancers", "NextMarker", [_balancer(number) for number in range(self.balancers)]
        )
        proxy.answers["elbv2", "DescribeLoadBalancerAttributes"] = lambda _: {
            "Attributes": [{"Key": "idle_timeout.timeout_seconds", "Value": "60"}]
        }
        proxy.answers["elbv2", "DescribeTargetGroups"] = lambda _: {"TargetGroups": []}
        proxy.answers["ec2", "DescribeInstances"] = lambda _: {
            "Reservations": [{"OwnerId": ACCOUNT, "Instances": [_instance(n) for n in range(self.instances)]}]
        }
        base = f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}"
        proxy.answers["sqs", "ListQueues"] = lambda _: {
            "QueueUrls": [f"{base}/queue-{number}" for number in range(self.queues)]
        }
        proxy.before(self._note)
        self.data.attach(proxy)

    def _note(self, request: AwsRequest) -> None:
        if request.operation == "GetMetricData":
            asked: Sequence[Mapping[str, Any]] = read_parameters(request)["MetricDataQueries"]
            self.queries.update(read_query(query) for query in asked)


def count_operations(requests: Sequence[AwsRequest]) -> Counter[str]:
    """Requests by service and operation."""
    return Counter(f"{request.service} {request.operation}" for request in requests)


def _value(query: Query, begin: int) -> float:
    return float((begin // 60 + len(query.name)) % 1_000)


def _page(request: AwsRequest, member: str, token: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    begin = int(request.parameters.get("Marker") or 0)
    page = {member: rows[begin : begin + PAGE]}
    return page | ({token: str(begin + PAGE)} if begin + PAGE < len(rows) else {})


def _database(number: int) -> dict[str, Any]:
    return {
        "DBInstanceIdentifier": f"db-{number}",
        "DBInstanceArn": f"arn:aws:rds:{REGION}:{ACCOUNT}:db:db-{number}",
        "DBInstanceClass": "db.m6g.large",
        "DBInstanceStatus": "available",
        "Engine": "mysql",
        "EngineVersion": "8.0.40",
        "StorageType": "gp3",
        "AllocatedStorage": 100,
        "DBParameterGroups": [{"DBParameterGroupName": "shop", "ParameterApplyStatus": "in-sync"}],
    }


def _balancer(number: int) -> dict[str, Any]:
    name = f"app/lb-{number}/50dc6c495c0c{number:04x}"
    return {
        "LoadBalancerArn": f"arn:aws:elasticloadbalancing:{REGION}:{ACCOUNT}:loadbalancer/{name}",
        "LoadBalancerName": f"lb-{number}",
        "Type": "application",
        "Scheme": "internal",
        "State": {"Code": "active"},
    }


def _instance(number: int) -> dict[str, Any]:
    return {
        "InstanceId": f"i-0123456789abc{number:04x}",
        "InstanceType": "m6g.large",
        "State": {"Code": 16, "Name": "running"},
        "Monitoring": {"State": "enabled"},
        "Hypervisor": "xen",
        "Placement": {"AvailabilityZone": f"{REGION}a"},
    }

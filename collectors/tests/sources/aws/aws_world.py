"""A small system in moto as discovery would find it: a cluster, balancers, services, groups, caches, queues."""

import io
import json
import zipfile
from typing import Any

from collectors.tests.sources.aws.moto_server import MotoServer


def make_cluster(moto: MotoServer, name: str = "shop", readers: int = 1, engine: str = "aurora-mysql") -> None:
    """An Aurora cluster `shop` of shop-1 (writer) and shop-2 ... (readers)."""
    rds = moto.client("rds")
    rds.create_db_cluster_parameter_group(
        DBClusterParameterGroupName=f"{name}-cluster", DBParameterGroupFamily="aurora-mysql8.0", Description="x"
    )
    rds.create_db_cluster(
        DBClusterIdentifier=name,
        Engine=engine,
        MasterUsername="root",
        MasterUserPassword="made-up-for-tests",
        DBClusterParameterGroupName=f"{name}-cluster",
        Tags=[{"Key": "service", "Value": "api"}],
    )
    for number in range(1, readers + 2):
        rds.create_db_instance(
            DBInstanceIdentifier=f"{name}-{number}",
            DBInstanceClass="db.r6g.large",
            Engine=engine,
            DBClusterIdentifier=name,
            Tags=[{"Key": "service", "Value": "api"}],
        )


def make_instance(moto: MotoServer, name: str, *, formula: str = "", client: Any = None, **others: Any) -> None:
    """A single MySQL instance; `formula` is max_connections in a parameter group of its own."""
    rds = client or moto.client("rds")
    if formula:
        rds.create_db_parameter_group(
            DBParameterGroupName=f"{name}-parameters", DBParameterGroupFamily="mysql8.0", Description="x"
        )
        rds.modify_db_parameter_group(
            DBParameterGroupName=f"{name}-parameters",
            Parameters=[
                {"ParameterName": "max_connections", "ParameterValue": formula, "ApplyMethod": "pending-reboot"}
            ],
        )
        others["DBParameterGroupName"] = f"{name}-parameters"
    given: dict[str, Any] = {
        "DBInstanceIdentifier": name,
        "DBInstanceClass": "db.m5.large",
        "Engine": "mysql",
        "MasterUsername": "root",
        "MasterUserPassword": "made-up-for-tests",
        "AllocatedStorage": 100,
        "StorageType": "gp3",
        "Iops": 3000,
    }
    rds.create_db_instance(**given | others)


def make_network(moto: MotoServer) -> list[str]:
    """Two subnets of a network; their ids."""
    ec2 = moto.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    zones = ("ap-northeast-1a", "ap-northeast-1c")
    return [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{number}.0/24", AvailabilityZone=zone)["Subnet"]["SubnetId"]
        for number, zone in enumerate(zones)
    ]


def make_balancer(moto: MotoServer, name: str, *, kind: str = "application", idle_seconds: int = 60) -> tuple[str, str]:
    """A load balancer with a target group of two instances; the ARNs of both."""
    subnets = make_network(moto)
    elb, ec2 = moto.client("elbv2"), moto.client("ec2")
    arn = elb.create_load_balancer(Name=name, Subnets=subnets, Type=kind, Tags=[{"Key": "service", "Value": "api"}])[
        "LoadBalancers"
    ][0]["LoadBalancerArn"]
    if kind == "application":
        elb.modify_load_balancer_attributes(
            LoadBalancerArn=arn,
            Attributes=[{"Key": "idle_timeout.timeout_seconds", "Value": str(idle_seconds)}],
        )
    vpc = ec2.describe_subnets(SubnetIds=subnets[:1])["Subnets"][0]["VpcId"]
    protocol = "HTTP" if kind == "application" else "TCP"
    group = elb.create_target_group(
        Name=f"{name}-targets", Protocol=protocol, Port=8080, VpcId=vpc, TargetType="instance"
    )["TargetGroups"][0]["TargetGroupArn"]
    elb.create_listener(
        LoadBalancerArn=arn,
        Protocol=protocol,
        Port=80,
        DefaultActions=[{"Type": "forward", "TargetGroupArn": group}],
    )
    instances = make_ec2(moto, f"{name}-app", 2)
    elb.register_targets(TargetGroupArn=group, Targets=[{"Id": one} for one in instances])
    return arn, group


def make_ec2(moto: MotoServer, name: str, count: int, **tags: str) -> list[str]:
    """Running instances; their ids."""
    ec2 = moto.client("ec2")
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    all_tags = [{"Key": "Name", "Value": name}, *({"Key": key, "Value": value} for key, value in tags.items())]
    made = ec2.run_instances(
        ImageId=image,
        MinCount=count,
        MaxCount=count,
        InstanceType="t3.small",
        TagSpecifications=[{"ResourceType": "instance", "Tags": all_tags}],
    )
    return [one["InstanceId"] for one in made["Instances"]]


def make_service(moto: MotoServer, cluster: str, name: str, desired: int = 2) -> str:
    """An ECS service; its ARN."""
    ecs = moto.client("ecs")
    ecs.create_cluster(clusterName=cluster, settings=[{"name": "containerInsights", "value": "enabled"}])
    define_task(moto, name)
    return ecs.create_service(
        cluster=cluster,
        serviceName=name,
        taskDefinition=name,
        desiredCount=desired,
        launchType="FARGATE",
        tags=[{"key": "service", "value": "api"}],
    )["service"]["serviceArn"]


def define_task(moto: MotoServer, family: str) -> str:
    """A further revision of a task definition; `family:revision`."""
    answer = moto.client("ecs").register_task_definition(
        family=family, containerDefinitions=[{"name": "app", "image": "app:1", "memory": 128}]
    )
    return str(answer["taskDefinition"]["taskDefinitionArn"]).rpartition("/")[2]


def make_proxy(moto: MotoServer, name: str, *instances: str, percent: int = 80, borrow_seconds: int = 30) -> str:
    """An RDS proxy before instances that are there; its ARN."""
    rds = moto.client("rds")
    arn = rds.create_db_proxy(
        DBProxyName=name,
        EngineFamily="MYSQL",
        Auth=[{"AuthScheme": "SECRETS", "SecretArn": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:not-shown"}],
        RoleArn="arn:aws:iam::123456789012:role/proxy",
        VpcSubnetIds=make_network(moto),
        RequireTLS=True,
        IdleClientTimeout=900,
    )["DBProxy"]["DBProxyArn"]
    rds.modify_db_proxy_target_group(
        DBProxyName=name,
        TargetGroupName="default",
        ConnectionPoolConfig={"MaxConnectionsPercent": percent, "ConnectionBorrowTimeout": borrow_seconds},
    )
    rds.register_db_proxy_targets(DBProxyName=name, DBInstanceIdentifiers=list(instances))
    return str(arn)


def make_nat_gateway(moto: MotoServer, name: str, **tags: str) -> str:
    """A NAT gateway with an address; its id."""
    ec2, subnet = moto.client("ec2"), make_network(moto)[0]
    all_tags = [{"Key": "Name", "Value": name}, *({"Key": key, "Value": value} for key, value in tags.items())]
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    made = ec2.create_nat_gateway(
        SubnetId=subnet,
        AllocationId=address,
        TagSpecifications=[{"ResourceType": "natgateway", "Tags": all_tags}],
    )
    return str(made["NatGateway"]["NatGatewayId"])


def make_volume(moto: MotoServer, name: str, instance: str = "") -> str:
    """An EBS volume, attached where an instance is given; its id."""
    ec2 = moto.client("ec2")
    volume = ec2.create_volume(
        AvailabilityZone="ap-northeast-1a",
        Size=100,
        VolumeType="gp3",
        Iops=4000,
        TagSpecifications=[{"ResourceType": "volume", "Tags": [{"Key": "Name", "Value": name}]}],
    )["VolumeId"]
    if instance:
        ec2.attach_volume(VolumeId=volume, InstanceId=instance, Device="/dev/sdf")
    return str(volume)


def make_scaling_group(moto: MotoServer, name: str, desired: int = 2) -> None:
    """An Auto Scaling group by a launch template."""
    subnets = make_network(moto)
    moto.client("ec2").create_launch_template(
        LaunchTemplateName=f"{name}-template",
        LaunchTemplateData={"ImageId": "ami-12c6146b", "InstanceType": "t3.small"},
    )
    moto.client("autoscaling").create_auto_scaling_group(
        AutoScalingGroupName=name,
        LaunchTemplate={"LaunchTemplateName": f"{name}-template", "Version": "1"},
        MinSize=1,
        MaxSize=10,
        DesiredCapacity=desired,
        VPCZoneIdentifier=",".join(subnets),
        Tags=[{"Key": "service", "Value": "api", "ResourceId": name, "ResourceType": "auto-scaling-group"}],
    )


def make_cache(moto: MotoServer, name: str) -> None:
    """A Redis replication group of two nodes, and a single node."""
    cache = moto.client("elasticache")
    cache.create_cache_cluster(
        CacheClusterId=name, Engine="redis", CacheNodeType="cache.t4g.small", NumCacheNodes=1, EngineVersion="7.1"
    )


def make_function(moto: MotoServer, name: str) -> None:
    """A Lambda function."""
    iam = moto.client("iam", "us-east-1")
    role = iam.create_role(
        RoleName=f"{name}-role", AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": []})
    )["Role"]["Arn"]
    moto.client("lambda").create_function(
        FunctionName=name,
        Runtime="python3.12",
        Role=role,
        Handler="app.handler",
        Code={"ZipFile": _archive()},
        Timeout=30,
        MemorySize=256,
        Environment={"Variables": {"PASSWORD": "not-to-be-shown"}},
        Tags={"service": "api"},
    )


def make_queue(moto: MotoServer, name: str, **tags: str) -> None:
    """An SQS queue."""
    moto.client("sqs").create_queue(QueueName=name, tags=tags)


def _archive() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("app.py", "def handler(event, context): return None\n")
    return held.getvalue()

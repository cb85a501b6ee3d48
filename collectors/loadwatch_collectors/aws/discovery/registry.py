"""The one ordered list of parts. A new service is one file and one line here."""

from loadwatch_collectors.aws.discovery.compute import AUTOSCALING, EC2
from loadwatch_collectors.aws.discovery.ecs import ECS
from loadwatch_collectors.aws.discovery.elb import ELB
from loadwatch_collectors.aws.discovery.managed import ELASTICACHE, LAMBDA, SQS
from loadwatch_collectors.aws.discovery.network import NAT_GATEWAYS
from loadwatch_collectors.aws.discovery.part import Part
from loadwatch_collectors.aws.discovery.proxies import RDS_PROXIES
from loadwatch_collectors.aws.discovery.rds import RDS
from loadwatch_collectors.aws.discovery.volumes import VOLUMES

PARTS: tuple[Part, ...] = (
    RDS,
    RDS_PROXIES,
    ELB,
    ECS,
    AUTOSCALING,
    EC2,
    VOLUMES,
    NAT_GATEWAYS,
    ELASTICACHE,
    LAMBDA,
    SQS,
)

"""The one ordered list of parts. A new service is one file and one line here."""

from loadwatch_collectors.sources.aws.discovery.compute import AUTOSCALING, EC2
from loadwatch_collectors.sources.aws.discovery.ecs import ECS
from loadwatch_collectors.sources.aws.discovery.elb import ELB
from loadwatch_collectors.sources.aws.discovery.managed import ELASTICACHE, LAMBDA, SQS
from loadwatch_collectors.sources.aws.discovery.network import NAT_GATEWAYS
from loadwatch_collectors.sources.aws.discovery.part import Part
from loadwatch_collectors.sources.aws.discovery.proxies import RDS_PROXIES
from loadwatch_collectors.sources.aws.discovery.rds import RDS
from loadwatch_collectors.sources.aws.discovery.volumes import VOLUMES

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

"""The one ordered list of parts. A new service is one file and one line here."""

from loadwatch_collectors.aws.discovery.compute import AUTOSCALING, EC2
from loadwatch_collectors.aws.discovery.ecs import ECS
from loadwatch_collectors.aws.discovery.elb import ELB
from loadwatch_collectors.aws.discovery.managed import ELASTICACHE, LAMBDA, SQS
from loadwatch_collectors.aws.discovery.part import Part
from loadwatch_collectors.aws.discovery.rds import RDS

PARTS: tuple[Part, ...] = (RDS, ELB, ECS, AUTOSCALING, EC2, ELASTICACHE, LAMBDA, SQS)

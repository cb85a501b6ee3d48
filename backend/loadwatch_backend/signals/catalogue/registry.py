"""All groups in page order, and all resources."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_backend.signals.catalogue import (
    connections,
    database,
    host,
    ingest,
    mission,
    pool,
    process,
    requests,
    sockets,
    traffic,
)
from loadwatch_backend.signals.catalogue.aws import balancer as aws_balancer
from loadwatch_backend.signals.catalogue.aws import compute as aws_compute
from loadwatch_backend.signals.catalogue.aws import containers as aws_containers
from loadwatch_backend.signals.catalogue.aws import data as aws_data
from loadwatch_backend.signals.catalogue.aws import database as aws_database
from loadwatch_backend.signals.catalogue.aws import database_os as aws_database_os
from loadwatch_backend.signals.catalogue.aws import network as aws_network
from loadwatch_backend.signals.catalogue.aws import resources as aws_resources
from loadwatch_backend.signals.catalogue.resources import RESOURCES
from loadwatch_backend.signals.model import Group, Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What comes with the program."""

    groups: Sequence[Group]
    resources: Sequence[Resource]


CATALOGUE = Catalogue(
    groups=(
        mission.GROUP,
        requests.GROUP,
        traffic.GROUP,
        ingest.GROUP,
        connections.GROUP,
        pool.GROUP,
        process.GROUP,
        sockets.GROUP,
        database.GROUP,
        host.GROUP,
        aws_balancer.GROUP,
        aws_containers.CONTAINERS,
        aws_compute.INSTANCES,
        aws_compute.FUNCTIONS,
        aws_network.PROXIES,
        aws_database.GROUP,
        aws_database_os.GROUP,
        aws_data.CACHES,
        aws_data.QUEUES,
        aws_network.GATEWAYS,
    ),
    resources=(*RESOURCES, *aws_resources.RESOURCES),
)

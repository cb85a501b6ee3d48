import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loadwatch_collectors.collector import KEPT, Sample
from loadwatch_collectors.config import load_config
from loadwatch_collectors.errors import CollectorError, ConfigError
from loadwatch_collectors.settings_loader import parse_document
from loadwatch_collectors.sources.mysql.collector import MYSQL, MySQLSettings, build_mysql
from loadwatch_collectors.sources.mysql.discovery import DiscoverSettings, MySQLFleet
from loadwatch_collectors.sources.registry import sources_by_name

from collectors.tests.mariadb import MariaDB, running_mariadb
from collectors.tests.servers import silent, tcp_server
from collectors.tests.sources.aws import aws_world
from collectors.tests.sources.aws.fault_proxy.fault_proxy import AwsRequest, FaultProxy
from collectors.tests.sources.aws.fault_proxy.faults import deny, of, throttle
from collectors.tests.sources.aws.fault_proxy.protocols import Answer
from collectors.tests.sources.aws.moto_server import REGION, MotoServer
from collectors.tests.sources.aws.rds_server import running_rds


@pytest.fixture(scope="module")
def databases() -> Iterator[tuple[MariaDB, MariaDB]]:
    """A writer and a reader."""
    with ExitStack() as stack:
        made = [stack.enter_context(running_mariadb(Path(tempfile.mkdtemp(prefix="lw-")))) for _ in range(2)]
        for server in made:
            server.run("CREATE USER watcher@'127.0.0.1'", "GRANT PROCESS ON *.* TO watcher@'127.0.0.1'")
        yield made[0], made[1]


@pytest.fixture
def pair(databases: tuple[MariaDB, MariaDB]) -> tuple[MariaDB, MariaDB]:
    """The same, each in its first role."""
    databases[0].run("SET GLOBAL read_only = 0")
    databases[1].run("SET GLOBAL read_only = 1")
    return databases


@pytest.fixture
def rds(proxy: FaultProxy, aws_environment: None) -> FaultProxy:
    """moto's databases at the loopback interface."""

    def here(request: AwsRequest, answer: Answer) -> Answer:
        if request.operation != "DescribeDBInstances":
            return answer
        return replace(answer, body=re.sub(rb"<Address>[^<]*</Address>", b"<Address>127.0.0.1</Address>", answer.body))

    proxy.after(here)
    return proxy


@pytest.fixture
def start(rds: FaultProxy) -> Iterator[Callable[..., MySQLFleet]]:
    fleets: list[MySQLFleet] = []

    def run(**keys: Any) -> MySQLFleet:
        own = keys.pop("discover", {})
        discover = DiscoverSettings(endpoint_url=rds.url, every=5, **own)
        given: dict[str, Any] = {"user": "watcher", "tls": "off", "variables_every": 0.0, "discover": discover} | keys
        fleet = build_mysql(MySQLSettings(**given))
        assert isinstance(fleet, MySQLFleet)
        fleets.append(fleet)
        return fleet

    yield run
    for fleet in fleets:
        fleet.close()


def make_cluster(moto: MotoServer, *ports: int, iam_login: bool = False) -> None:
    rds = moto.client("rds")
    rds.create_db_cluster(
        DBClusterIdentifier="shop",
        Engine="aurora-mysql",
        MasterUsername="root",
        MasterUserPassword="made-up-for-tests",
        EnableIAMDatabaseAuthentication=iam_login,
    )
    for number, port in enumerate(ports, 1):
        add_instance(moto, f"shop-{number}", port)


def add_instance(moto: MotoServer, name: str, port: int) -> None:
    moto.client("rds").create_db_instance(
        DBInstanceIdentifier=name,
        DBInstanceClass="db.r6g.large",
        Engine="aurora-mysql",
        DBClusterIdentifier="shop",
        Port=port,
    )


def collect_until(fleet: MySQLFleet, holds: Callable[[Sequence[Sample]], bool]) -> Sequence[Sample]:
    give_up = time.monotonic() + 180
    while True:
        samples = fleet.collect()
        if holds(samples):
            return samples
        assert time.monotonic() < give_up, samples[:20]
        time.sleep(0.05)


def up(samples: Sequence[Sample]) -> dict[str, float]:
    return {dict(one.labels)["instance"]: one.value for one in samples if one.name == "up"}


def roles(samples: Sequence[Sample]) -> dict[str, str]:
    wanted = "mysql_global_status_threads_connected"
    labels = [dict(one.labels) for one in samples if one.name == wanted]
    return {one["instance"]: one.get("role", "") for one in labels}


def test_one_collector_for_each_instance_with_role_and_cluster(
    moto: MotoServer, pair: tuple[MariaDB, MariaDB], start: Callable[..., MySQLFleet]
):
    make_cluster(moto, pair[0].port, pair[1].port)
    aws_world.make_instance(moto, "reports", Engine="postgres", Port=1)
    samples = collect_until(start(), lambda some: up(some) == {"shop-1": 1, "shop-2": 1})
    assert roles(samples) == {"shop-1": "writer", "shop-2": "reader"}
    own = [one for one in samples if dict(one.labels).get("instance") == "shop-2"]
    assert len(own) > 100
    assert {dict(one.labels)["cluster"] for one in own} == {"shop"}
    assert Sample("mysql_discovered_instances", 2.0) in samples
    assert all(len(one.labels) == len(dict(one.labels)) for one in samples)
    assert not {one.name for one in samples if one.name.startswith("mysql")} - {one.name for one in MYSQL.metrics}


def test_a_failover_moves_the_roles(moto: MotoServer, pair: tuple[MariaDB, MariaDB], start: Callable[..., MySQLFleet]):
    make_cluster(moto, pair[0].port, pair[1].port)
    fleet = start()
    collect_until(fleet, lambda some: roles(some) == {"shop-1": "writer", "shop-2": "reader"})
    pair[0].run("SET GLOBAL read_only = 1")
    pair[1].run("SET GLOBAL read_only = 0")
    collect_until(fleet, lambda some: roles(some) == {"shop-1": "reader", "shop-2": "writer"})


def test_instances_come_and_go(moto: MotoServer, pair: tuple[MariaDB, MariaDB], start: Callable[..., MySQLFleet]):
    make_cluster(moto, pair[0].port)
    fleet = start()
    collect_until(fleet, lambda some: up(some) == {"shop-1": 1})
    add_instance(moto, "shop-2", pair[1].port)
    collect_until(fleet, lambda some: up(some) == {"shop-1": 1, "shop-2": 1})
    moto.client("rds").delete_db_instance(DBInstanceIdentifier="shop-1", SkipFinalSnapshot=True)
    collect_until(fleet, lambda some: up(some) == {"shop-2": 1})


def test_instances_of_one_name_in_two_regions_are_told_apart(
    moto: MotoServer, pair: tuple[MariaDB, MariaDB], start: Callable[..., MySQLFleet]
):
    other = "us-west-2"
    for region, database in ((REGION, pair[0]), (other, pair[1])):
        moto.client("rds", region).create_db_instance(
            DBInstanceIdentifier="prod",
            DBInstanceClass="db.m5.large",
            Engine="mysql",
            AllocatedStorage=20,
            MasterUsername="root",
            MasterUserPassword="made-up-for-tests",
            Port=database.port,
        )
    fleet = start(discover={"regions": (REGION, other)})
    samples = collect_until(fleet, lambda some: [one.value for one in some if one.name == "up"] == [1.0, 1.0])
    there = {dict(one.labels)["region"] for one in samples if one.name == "mysql_global_status_threads_connected"}
    assert there == {REGION, other}
    assert len({(one.name, one.labels) for one in samples}) == len(samples)


def test_an_instance_that_hangs_holds_up_no_other(
    moto: MotoServer, pair: tuple[MariaDB, MariaDB], start: Callable[..., MySQLFleet]
):
    with tcp_server(silent) as port:
        make_cluster(moto, pair[0].port, port)
        fleet = start(deadline=1.0)
        told: list[float | None] = []

        def is_settled(some: Sequence[Sample]) -> bool:
            told.append(up(some).get("shop-2"))
            return up(some) == {"shop-1": 1, "shop-2": 0}

        samples = collect_until(fleet, is_settled)
        assert 1 not in told, "what was never read is not up"
        errors = [dict(one.labels) for one in samples if one.name == "collector_error_info"]
        assert [one["instance"] for one in errors] == ["shop-2"]
        assert "hangs" in errors[0]["error"]
        fresh = [one for one in samples if dict(one.labels).get("instance") == "shop-1" and one.timestamp_ms != KEPT]
        assert len(fresh) > 50


def test_chosen_by_names_and_roles(moto: MotoServer, pair: tuple[MariaDB, MariaDB], start: Callable[..., MySQLFleet]):
    make_cluster(moto, pair[0].port, pair[1].port)
    collect_until(start(discover={"names": ("shop-2",)}), lambda some: up(some) == {"shop-2": 1})
    collect_until(start(discover={"role": "writer"}), lambda some: up(some) == {"shop-1": 1})


def test_aws_away_keeps_the_sessions(
    moto: MotoServer, rds: FaultProxy, pair: tuple[MariaDB, MariaDB], start: Callable[..., MySQLFleet]
):
    make_cluster(moto, pair[0].port)
    fleet = start()
    collect_until(fleet, lambda some: up(some) == {"shop-1": 1})
    rds.before(throttle(of("rds")))
    asked = len(rds.seen("DescribeDBClusters"))
    rds.wait_for(lambda: len([one for one in rds.requests if one.operation == "DescribeDBClusters"]) > asked)
    assert up(fleet.collect()) == {"shop-1": 1}


def test_a_missing_permission_names_itself(moto: MotoServer, rds: FaultProxy, start: Callable[..., MySQLFleet]):
    rds.before(deny("rds:DescribeDBInstances"))
    fleet = start()
    with pytest.raises(CollectorError, match="rds:DescribeDBInstances"):
        fleet.collect()
    assert [one.permission for one in fleet.missing_privileges()] == ["rds:DescribeDBInstances"]


def test_that_nothing_is_found_is_told(start: Callable[..., MySQLFleet]):
    fleet = start()
    assert [(one.name, one.value) for one in fleet.collect()] == [("mysql_discovered_instances", 0)]
    (line,) = fleet.explain()
    assert line.startswith("no instance of MySQL or MariaDB with these names and tags is in ap-northeast-1")


def test_login_by_iam_where_it_is_on(
    moto: MotoServer, pair: tuple[MariaDB, MariaDB], start: Callable[..., MySQLFleet], tmp_path: Path
):
    with running_rds(pair[0].port, tmp_path) as server:
        # Aurora has the flag on the cluster, and says nothing of it with the instances.
        make_cluster(moto, server.port, iam_login=True)
        aws_world.make_instance(moto, "orders", Port=pair[1].port)
        fleet = start(iam_auth=True, tls="verify_identity", tls_ca_file=str(server.certificate))
        samples = collect_until(fleet, lambda some: up(some) == {"shop-1": 1, "orders": 0})
        assert not server.faults
        assert len(server.tokens) == 1
        errors = [dict(one.labels)["error"] for one in samples if one.name == "collector_error_info"]
        assert errors == ["IAM database authentication is off for orders; turn it on in RDS, or give password_file"]
        fault = fleet.fault()
        assert fault is not None
        assert not fault.total
        assert fault.text.startswith("orders: IAM database authentication is off")
        assert f"shop-1 (writer of shop) at 127.0.0.1:{server.port}" in fleet.explain()


def test_login_by_iam_where_the_cluster_says_no(
    moto: MotoServer, pair: tuple[MariaDB, MariaDB], start: Callable[..., MySQLFleet], tmp_path: Path
):
    make_cluster(moto, pair[0].port)
    moto.client("rds").modify_db_instance(
        DBInstanceIdentifier="shop-1", EnableIAMDatabaseAuthentication=True, ApplyImmediately=True
    )
    fleet = start(iam_auth=True, tls="verify_identity", tls_ca_file=str(tmp_path / "ca.pem"))
    samples = collect_until(fleet, lambda some: up(some) == {"shop-1": 0})
    errors = [dict(one.labels)["error"] for one in samples if one.name == "collector_error_info"]
    assert errors == [
        "IAM database authentication is off for the cluster shop; turn it on in RDS, or give password_file"
    ]


def test_the_block_in_the_file():
    text = """
targets:
  - job: db
    mysql:
      user: loadwatch
      iam_auth: true
      tls_ca_file: /etc/loadwatch/global-bundle.pem
      discover:
        engine: [aurora-mysql]
        tags: {service: api}
        regions: [ap-northeast-1]
"""
    (collector,) = load_config(parse_document(text, "loadwatch.yml"), sources_by_name()).collectors
    assert collector.settings.discover.tags == {"service": "api"}
    assert collector.settings.tls_mode == "verify_identity"
    with pytest.raises(ConfigError, match="leave host"):
        load_config(parse_document(text.replace("user:", "host: db1\n      user:"), "x.yml"), sources_by_name())
    with pytest.raises(ConfigError, match="writer or reader"):
        load_config(parse_document(text.replace("engine: [aurora-mysql]", "role: boss"), "x.yml"), sources_by_name())


def test_without_a_region_it_says_what_to_give(aws_environment: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    with pytest.raises(ConfigError, match="give `regions`"):
        build_mysql(MySQLSettings(user="w", discover=DiscoverSettings()))

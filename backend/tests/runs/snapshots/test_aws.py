from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.runs.schemas import SettingOut
from loadwatch_backend.runs.snapshots import Snapshotter, difference
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore, open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import Batch

AT = 1_795_274_000_000
TARGET = {"job": "aws", "instance": "agent", "account_id": "123456789012", "region": "ap-northeast-1"}
Rows = Sequence[tuple[str, Mapping[str, str], float]]


def facts(*, writer: str = "shop-1", definition: str = "api:41", idle: str = "60", tasks: float = 2) -> Rows:
    roles = {name: "writer" if name == writer else "reader" for name in ("shop-1", "shop-2")}
    named = {"name": "arn:api", "cluster": "prod", "service": "api"}
    counted = {"name": "arn:api", "dimension_ClusterName": "prod", "dimension_ServiceName": "api"}
    return [
        *(
            (
                "aws_rds_info",
                {"name": f"arn:{one}", "identifier": one, "cluster": "shop", "role": role, "class": "db.r6g.large"}
                | {"engine": "aurora-mysql", "engine_version": "3.05", "max_connections": "1000"},
                1,
            )
            for one, role in roles.items()
        ),
        ("aws_rds_cluster_info", {"name": "arn:shop", "cluster": "shop", "writer": writer}, 1),
        ("aws_applicationelb_info", {"name": "arn:lb", "load_balancer": "front", "idle_timeout_seconds": idle}, 1),
        ("aws_target_health", {"name": "arn:tg", "target_group": "app", "target": "i-1", "state": "healthy"}, 1),
        ("aws_target_health", {"name": "arn:tg", "target_group": "app", "target": "i-2", "state": "unhealthy"}, 1),
        ("aws_ecs_service_info", named | {"task_definition": definition}, 1),
        ("aws_ecs_service_desired_tasks", counted, tasks),
        ("aws_ec2_info", {"name": "arn:i-1", "instance_id": "i-1", "type": "t3.small"}, 1),
        ("aws_ec2_info", {"name": "arn:i-2", "instance_id": "i-2", "type": "t3.small"}, 1),
    ]


@pytest.fixture
def take(tmp_path: Path) -> Iterator[Callable[[Rows], list[SettingOut]]]:
    stores: list[EmbeddedStore] = []

    def run(rows: Rows) -> list[SettingOut]:
        folder = tmp_path / str(len(stores))
        folder.mkdir()
        store = open_embedded(EmbeddedSettings(data_directory=folder), lambda: AT)
        stores.append(store)
        ids = store.resolve([{"__name__": name, **TARGET, **labels} for name, labels, _ in rows])
        values = np.array([value for _, _, value in rows], np.float64)
        times = np.full(len(rows), AT - 60_000, np.int64)
        store.append(Batch(series=ids, timestamps=times, values=values)).result(timeout=30)
        return Snapshotter(Engine(store), Library()).take(AT)

    yield run
    for store in stores:
        store.close()


def test_discovered_facts_are_part_of_the_configuration(take: Callable[[Rows], list[SettingOut]]) -> None:
    found = {one.key: one for one in take(facts()) if one.section == "cloud"}
    assert {one.target for one in found.values()} == {"aws agent"}
    assert found["class shop-1"].value == "db.r6g.large"
    assert found["engine shop-1"].value == "aurora-mysql 3.05"
    assert found["max_connections shop-2"].number == 1000
    assert found["role shop-2"].value == "reader"
    assert not found["role shop-2"].deliberate
    assert (found["idle_timeout front"].value, found["idle_timeout front"].unit) == ("60", "seconds")
    assert found["targets app"].number == 2
    assert found["healthy_targets app"].number == 1
    assert found["task_definition prod/api"].value == "api:41"
    assert found["desired_tasks prod/api"].number == 2
    assert found["ec2_instances t3.small"].number == 2
    assert all("arn:" not in one.key for one in found.values())


def test_two_runs_differ_in_what_was_deployed_and_who_writes(take: Callable[[Rows], list[SettingOut]]) -> None:
    before = take(facts())
    after = take(facts(writer="shop-2", definition="api:42", idle="120", tasks=4))
    changes = [(one.key, one.before, one.after, one.deliberate) for one in difference(before, after)]
    assert changes == [
        ("desired_tasks prod/api", "2", "4", True),
        ("idle_timeout front", "60", "120", True),
        ("task_definition prod/api", "api:41", "api:42", True),
        ("role shop-1", "writer", "reader", False),
        ("role shop-2", "reader", "writer", False),
        ("writer shop", "shop-1", "shop-2", False),
    ]

import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.core.database.relational import default_url

from backend.tests.changes.facts import MINUTE, Agent, cluster, instance, listed, notes, service
from backend.tests.conftest import NOW_MS, RunningServer

Start = Callable[..., Any]


@pytest.fixture
def agent(server: RunningServer) -> Agent:
    return Agent(server)


def test_a_failover_is_noted_once_at_its_time(agent: Agent, server: RunningServer):
    for minute in range(3):
        agent.tell(minute, cluster("shop-1"), listed(rds_cluster=1))
    assert notes(server) == []
    agent.tell(3, cluster("shop-2"), listed(rds_cluster=1))
    expected = [("Failover of the Aurora cluster shop: writer is shop-2, was shop-1.", ["aws", "failover"], 3)]
    assert notes(server) == expected
    for minute in range(4, 20):
        agent.tell(minute, cluster("shop-2"), listed(rds_cluster=1))
        assert notes(server) == expected


def test_both_changes_between_two_looks_are_noted(agent: Agent, server: RunningServer):
    agent.tell(0, cluster("shop-1"))
    assert notes(server) == []
    agent.tell(1, cluster("shop-2"))
    agent.tell(2, cluster("shop-1"))
    assert [(text, minute) for text, _, minute in notes(server)] == [
        ("Failover of the Aurora cluster shop: writer is shop-2, was shop-1.", 1),
        ("Failover of the Aurora cluster shop: writer is shop-1, was shop-2.", 2),
    ]


def test_a_change_is_noted_once_over_restarts_and_one_during_a_restart_too(tmp_path: Path, start_server: Start):
    with start_server(tmp_path / "data") as server:
        agent = Agent(server)
        agent.tell(0, cluster("shop-1"))
        assert notes(server) == []
        agent.tell(1, cluster("shop-2"))
        assert len(notes(server)) == 1
        agent.tell(2, cluster("shop-3"))  # not looked at before the end
    with start_server(tmp_path / "data") as server:
        agent.server = server
        agent.tell(3, cluster("shop-3"))
        assert [minute for _, _, minute in notes(server)] == [1, 2]
        agent.tell(4, cluster("shop-3"))
        assert [minute for _, _, minute in notes(server)] == [1, 2]


def test_two_servers_on_one_database_note_it_once(tmp_path: Path, start_server: Start):
    url = default_url(tmp_path)
    with ExitStack() as stack:
        servers = [stack.enter_context(start_server(tmp_path / name, database_url=url)) for name in ("first", "second")]
        for minute, writer in enumerate(("shop-1", "shop-1", "shop-2", "shop-2")):
            for server in servers:
                Agent(server).tell(minute, cluster(writer))
                notes(server)
        assert [len(notes(server)) for server in servers] == [1, 1]


def test_two_agents_that_see_the_same_at_different_times_note_it_once(agent: Agent, server: RunningServer):
    other = Agent(server, instance="agent-2")
    for minute, (first, second) in enumerate(
        [("shop-1", "shop-1"), ("shop-2", "shop-1"), ("shop-2", "shop-1"), ("shop-2", "shop-2"), ("shop-2", "shop-2")]
    ):
        agent.tell(minute, cluster(first))
        other.tell(minute + 0.1, cluster(second))
        notes(server)
    assert [minute for _, _, minute in notes(server)] == [1]


def test_what_changes_while_one_agent_takes_anothers_place_is_noted(agent: Agent, server: RunningServer):
    for minute in range(2):
        agent.tell(minute, cluster("shop-1"), listed(rds_cluster=1))
        assert notes(server) == []
    agent.end(2)
    # Its host has another name now, as every new container has, and the writer is another.
    heir = Agent(server, instance="agent-2")
    for minute in range(4, 6):
        heir.tell(minute, cluster("shop-2"), listed(rds_cluster=1))
        notes(server)
    heir.tell(6, cluster("shop-1"), listed(rds_cluster=1))
    assert [(tags, minute) for _, tags, minute in notes(server)] == [(["aws", "failover"], 4), (["aws", "failover"], 6)]


def test_what_goes_after_one_agent_took_anothers_place_is_noted(agent: Agent, server: RunningServer):
    both = (instance("shop-1", cluster="shop"), instance("shop-2", cluster="shop"))
    for minute in range(2):
        agent.tell(minute, *both, listed(rds=2))
        notes(server)
    agent.end(2)
    heir = Agent(server, instance="agent-2")
    for minute in range(3, 5):
        heir.tell(minute, *both, listed(rds=2))
        assert notes(server) == []
    for minute in range(5, 9):
        heir.tell(minute, both[0], listed(rds=1))
        notes(server)
    assert notes(server) == [("RDS instance shop-2 is gone.", ["aws", "scale-in"], 5)]


def test_agents_that_were_taken_away_are_forgotten_while_the_server_runs(agent: Agent, server: RunningServer):
    def sources() -> int:
        with closing(sqlite3.connect(f"file:{server.data / 'loadwatch.sqlite'}?mode=ro", uri=True)) as tables:
            return tables.execute("SELECT count(DISTINCT source) FROM watched_facts WHERE source <> ''").fetchone()[0]

    day = 24 * 60
    agent.tell(0, cluster("shop-1"), listed(rds_cluster=1))
    assert notes(server) == []
    for number in range(1, 12):
        Agent(server, instance=f"container-{number}").tell(number * day, cluster("shop-1"), listed(rds_cluster=1))
        assert notes(server) == []
    assert 1 < sources() <= 9
    Agent(server, instance="container-11").tell(11 * day + 1, cluster("shop-2"), listed(rds_cluster=1))
    assert [tags for _, tags, _ in notes(server)] == [["aws", "failover"]]


def test_what_another_agent_still_sees_is_not_gone(agent: Agent, server: RunningServer):
    both = (instance("shop-1", cluster="shop"), instance("shop-2", cluster="shop"))
    other = Agent(server, instance="agent-2")
    for minute in range(8):
        agent.tell(minute, *(both if minute < 2 else both[:1]), listed(rds=2 if minute < 2 else 1))
        other.tell(minute + 0.2, *both, listed(rds=2))
        assert notes(server) == []
    for minute in range(8, 12):
        agent.tell(minute, both[0], listed(rds=1))
        other.tell(minute + 0.2, both[0], listed(rds=1))
        notes(server)
    assert [(text, minute) for text, _, minute in notes(server)] == [("RDS instance shop-2 is gone.", 8.2)]


def test_scaling_and_deploying_a_service(agent: Agent, server: RunningServer):
    agent.tell(0, service("api:41", 2))
    notes(server)
    agent.tell(1, service("api:41", 4))
    agent.tell(2, service("api:42", 4))
    agent.tell(3, service("api:42", 1))
    assert notes(server) == [
        ("ECS service prod/api: number of wanted tasks is 4, was 2.", ["aws", "scale-out"], 1),
        ("ECS service prod/api: task definition is api:42, was api:41.", ["aws", "deploy"], 2),
        ("ECS service prod/api: number of wanted tasks is 1, was 4.", ["aws", "scale-in"], 3),
    ]


def test_parameters_and_class_in_one_note_with_before_and_after(agent: Agent, server: RunningServer):
    agent.tell(0, instance("shop-1", multi_az="false"))
    notes(server)
    agent.tell(1, instance("shop-1", multi_az="true", max_connections="2000", **{"class": "db.r6g.xlarge"}))
    assert notes(server) == [
        (
            "RDS instance shop-1: class is db.r6g.xlarge, was db.r6g.large; max_connections is 2000, was 1000; "
            "Multi-AZ is on, was off.",
            ["aws", "resize", "parameter"],
            1,
        )
    ]


def test_what_is_not_known_for_a_while_is_no_change(agent: Agent, server: RunningServer):
    agent.tell(0, instance("shop-1"))
    notes(server)
    agent.tell(1, instance("shop-1", max_connections=""))
    agent.tell(2, instance("shop-1", max_connections="1000"))
    agent.tell(3, instance("shop-1", storage_type="gp3"))  # learned, not changed
    assert notes(server) == []


def test_coming_and_going(agent: Agent, server: RunningServer):
    reader = instance("shop-2", cluster="shop")
    for minute in range(2):
        agent.tell(minute, instance("shop-1", cluster="shop"), listed(rds=1))
        assert notes(server) == []
    for minute in range(2, 5):
        agent.tell(minute, instance("shop-1", cluster="shop"), reader, listed(rds=2))
    assert notes(server) == [("RDS instance shop-2 has come.", ["aws", "scale-out"], 2)]
    for minute in range(5, 9):
        agent.tell(minute, instance("shop-1", cluster="shop"), listed(rds=1))
        notes(server)
    expected = ("RDS instance shop-2 is gone.", ["aws", "scale-in"], 5)
    assert notes(server)[1:] == [expected]
    agent.tell(9, instance("shop-1", cluster="shop"), reader, listed(rds=2))
    assert notes(server)[2:] == [("RDS instance shop-2 has come.", ["aws", "scale-out"], 9)]


def test_the_first_resource_of_a_kind_that_was_listed_before_has_come(agent: Agent, server: RunningServer):
    agent.tell(0, listed(rds=0))
    assert notes(server) == []
    agent.tell(1, instance("shop-1"), listed(rds=1))
    assert notes(server) == [("RDS instance shop-1 has come.", ["aws", "appeared"], 1)]


def test_an_agent_that_stops_or_fails_takes_nothing_away(agent: Agent, server: RunningServer):
    for minute in range(2):
        agent.tell(minute, instance("shop-1"), listed(rds=1, sqs=4))
    notes(server)
    agent.end(2)
    server.clock.now_ms += 10 * 60_000
    assert notes(server) == []
    # It is back, and the first look at RDS fails: only the other kinds are listed.
    for minute in range(14, 19):
        agent.tell(minute, listed(sqs=4))
        assert notes(server) == []
    agent.tell(19, instance("shop-1"), listed(rds=1, sqs=4))
    assert notes(server) == []


def test_many_that_come_together_are_one_note(agent: Agent, server: RunningServer):
    agent.tell(0, listed(rds=0))
    notes(server)
    many = [fact for number in range(12) for fact in instance(f"db-{number:02}")]
    agent.tell(1, many, listed(rds=12))
    ((text, _, _),) = notes(server)
    assert text == (
        "12 RDS instances have come: db-00, db-01, db-02, db-03, db-04, db-05, db-06, db-07, db-08, db-09 and 2 more."
    )


def test_instances_of_a_scaling_group_are_told_by_their_group(agent: Agent, server: RunningServer):
    def group(desired: float, *instances: str) -> "list[tuple[dict[str, str], float]]":
        named = {"__name__": "aws_autoscaling_group_desired_instances", "name": "arn:g"}
        return [
            (named | {"dimension_AutoScalingGroupName": "workers"}, desired),
            *(
                ({"__name__": "aws_ec2_info", "name": one, "instance_id": one, "autoscaling_group": "workers"}, 1.0)
                for one in instances
            ),
            *listed(ec2=len(instances)),
        ]

    agent.tell(0, group(1, "i-1"))
    notes(server)
    agent.tell(1, group(2, "i-1", "i-2"))
    for minute in range(2, 8):
        agent.tell(minute, group(2, "i-2"))
    assert notes(server) == [
        ("Auto Scaling group workers: number of wanted instances is 2, was 1.", ["aws", "scale-out"], 1)
    ]


START = NOW_MS / 1_000 - 86_400


def app(started: float, revision: str = "4f1c2d7", **labels: str) -> list[tuple[dict[str, str], float]]:
    who = {"job": "shop", "instance": "web-1", **labels}
    return [
        ({"__name__": "process_start_time_seconds", **who}, started),
        ({"__name__": "go_build_info", "path": "shop", "version": "(devel)", "revision": revision, **who}, 1),
    ]


def said(server: RunningServer, tag: str = "app") -> list[tuple[str, list[str], float]]:
    server.services.changes.scan()
    found = server.client.get("/api/annotations", params={"tag": tag}).json()["annotations"]
    assert all(note["author"] == "app" for note in found)
    return [(note["text"], note["tags"], (note["start_ms"] - NOW_MS) / MINUTE) for note in found]


def test_a_restart_is_noted_at_its_time_and_a_deploy_with_its_commit(agent: Agent, server: RunningServer):
    for second in range(0, 120, 5):
        agent.tell(second / 60, app(START))
        assert said(server) == []
    began = NOW_MS / 1_000 + 117.5
    agent.tell(2, app(began))
    assert said(server) == [
        (
            "application shop/web-1: started again, 24 h 1 min after its start before.",
            ["app", "restart"],
            117.5 / 60,
        )
    ]
    agent.tell(3, app(began, "c0ffee1"))
    texts = [(text, tags) for text, tags, _ in said(server)]
    assert texts[1:] == [("application shop/web-1: commit is c0ffee1, was 4f1c2d7.", ["app", "deploy"])]
    agent.tell(4, app(began, "c0ffee1"))
    assert len(said(server)) == 2


def test_a_clock_that_is_set_and_what_is_no_time_are_no_restart(agent: Agent, server: RunningServer):
    for minute, started in enumerate((START, START + 1, START - 5, float("inf"), float("nan"), 1e300, -1.0, START)):
        agent.tell(minute, app(started))
        assert said(server) == []


def test_workers_that_come_and_go_are_no_restart(agent: Agent, server: RunningServer):
    for minute in range(6):
        workers = [app(START, pid="1"), app(START + 60 * minute, pid=str(100 + minute))]
        agent.tell(minute, *workers)
        assert said(server) == []


def test_ten_instances_are_told_apart_and_a_restart_while_the_server_was_away_is_told(
    tmp_path: Path, start_server: Start
):
    with start_server(tmp_path / "data") as server:
        agent = Agent(server)
        agent.tell(0, *(app(START, instance=f"web-{number}") for number in range(10)))
        assert said(server) == []
    with start_server(tmp_path / "data") as server:
        agent.server = server
        agent.tell(5, *(app(START + 80_000 * (number == 7), instance=f"web-{number}") for number in range(10)))
        assert [text.partition(":")[0] for text, _, _ in said(server)] == ["application shop/web-7"]


def test_a_user_s_pack_says_what_else_is_told(tmp_path: Path, start_server: Start):
    pack = tmp_path / "packs" / "kvrocks" / "pack.yml"
    pack.parent.mkdir(parents=True)
    pack.write_text(
        "pack: kvrocks\ntitle: Kvrocks\nthere_when: kvrocks_info\nchanges:\n  - series: kvrocks_info\n"
        "    noun: Kvrocks server\n    name: [instance]\n    labels: {version: {words: version, tag: upgrade}}\n",
        "utf-8",
    )
    with start_server(tmp_path / "data", packs=[tmp_path / "packs"]) as server:
        agent = Agent(server)
        agent.tell(0, [({"__name__": "kvrocks_info", "version": "2.8"}, 1)])
        assert said(server) == []
        agent.tell(1, [({"__name__": "kvrocks_info", "version": "2.9"}, 1)])
        expected = [("Kvrocks server agent-1: version is 2.9, was 2.8.", ["app", "upgrade"], 1)]
        assert said(server) == expected


def test_the_watcher_wakes_by_itself(
    agent: Agent, server: RunningServer, wait_until: Callable[[Callable[[], bool]], None]
):
    def texts() -> list[str]:
        found = server.client.get("/api/annotations").json()["annotations"]
        return [note["text"] for note in found]

    agent.tell(0, cluster("shop-1"))
    notes(server)
    agent.tell(1, cluster("shop-2"))
    wait_until(lambda: texts() == ["Failover of the Aurora cluster shop: writer is shop-2, was shop-1."])


@pytest.fixture
def wait_until() -> Callable[[Callable[[], bool]], None]:
    import time

    def wait(holds: Callable[[], bool]) -> None:
        give_up = time.monotonic() + 180
        while not holds():
            assert time.monotonic() < give_up
            time.sleep(0.05)

    return wait

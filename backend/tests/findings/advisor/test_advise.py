from dataclasses import replace
from typing import Any

import pytest
from loadwatch_backend.findings.advisor.advise import (
    Advice,
    Demand,
    GroupAdvice,
    MeasuredPool,
    MeasuredServer,
    Measurement,
    SettingName,
    Weight,
    advise,
)

SERVER = MeasuredServer(job="mysql", instance="db-1", max_connections=151, connected=60, others=20)


def demand(connections: float, *, waiting: float = 0, short: bool = False) -> Demand:
    return Demand(at_ms=0, in_use=connections, waiting=waiting, asked=None, served=None, short=short)


def pool(instance: str = "web-1", used: float | None = 10, **more: Any) -> MeasuredPool:
    wanted = None if used is None else demand(used)
    return replace(
        MeasuredPool(
            job="app",
            instance=instance,
            name="main",
            max_open=30,
            max_idle=30,
            lifetime_seconds=30,
            idle_seconds=0,
            demand=wanted,
        ),
        **more,
    )


def measurement_of(*pools: MeasuredPool, servers: tuple[MeasuredServer, ...] = (SERVER,)) -> Measurement:
    return Measurement(from_ms=0, to_ms=60_000, seconds=60, pools=pools, servers=servers)


def group(advice: Advice) -> GroupAdvice:
    (one,) = advice.groups
    return one


def values(advice: Advice) -> dict[SettingName, float | None]:
    return {one.name: one.advised for one in group(advice).settings}


def ids(advice: Advice) -> set[str]:
    return {note.id for note in advice.notes}


def test_a_pool_with_its_headroom() -> None:
    advice = advise(measurement_of(pool(used=40)))
    assert values(advice) == {
        SettingName.MAX_OPEN: 48,
        SettingName.MAX_IDLE: 48,
        SettingName.LIFETIME: 48,
        SettingName.IDLE_TIME: 48,
    }
    assert group(advice).code == (
        "db.SetMaxOpenConns(48)\ndb.SetMaxIdleConns(48)\ndb.SetConnMaxLifetime(48 * time.Second)\n"
        "db.SetConnMaxIdleTime(48 * time.Second)"
    )
    assert "× 1.2 for bursts = 48." in group(advice).settings[0].formula.en
    assert "=48。" in group(advice).settings[0].formula.ja
    assert (advice.reserve, advice.room, advice.now, advice.wanted, advice.advised) == (8, 123, 30, 48, 48)
    assert ids(advice) == set()


def test_never_less_than_was_in_use_at_once() -> None:
    assert values(advise(measurement_of(pool(used=10, most_used=25))))[SettingName.MAX_OPEN] == 25
    assert values(advise(measurement_of(pool(used=0.6))))[SettingName.MAX_OPEN] == 2


def test_a_pool_that_is_too_small() -> None:
    short = pool(waits=2246, wait_seconds=4000.0)
    short = replace(short, demand=demand(30, waiting=20, short=True), most_used=30)
    advice = advise(measurement_of(short))
    assert values(advice)[SettingName.MAX_OPEN] == 60
    assert "30 connections in use + 20 requests waiting at once = 50" in group(advice).settings[0].formula.en
    (note,) = [one for one in group(advice).notes if one.id == "pool-too-small"]
    assert note.text.en == "2,246 requests waited for a connection, 1.8 s on average."


def test_a_pool_that_requests_wait_for_is_never_made_smaller() -> None:
    # Bursts of milliseconds fill it, and its mean does not show them.
    bursts = Demand(at_ms=0, in_use=19, waiting=1, load_asked=400, load_served=300, short=True)
    advice = advise(measurement_of(pool(max_open=36, most_used=36, demand=bursts)))
    assert values(advice)[SettingName.MAX_OPEN] == 36


def test_what_the_load_was_to_be_stands_in_the_formula() -> None:
    wanted = Demand(at_ms=0, in_use=8, waiting=90, load_asked=800, load_served=250, short=True)
    advice = advise(measurement_of(replace(pool(), demand=wanted)))
    assert values(advice)[SettingName.MAX_OPEN] == 31
    text = group(advice).settings[0].formula.en
    assert "8 connections in use × 800 requests/s that the load was to be ÷ 250 that were served = 25.6" in text


def test_instances_share_what_is_needed() -> None:
    members = [pool(f"web-{number}", used=20) for number in range(10)]
    advice = advise(measurement_of(*members, servers=(replace(SERVER, max_connections=1000),)))
    assert (group(advice).max_open, advice.wanted, group(advice).most_instances) == (24, 240, 38)
    fewer = advise(measurement_of(*members, servers=(replace(SERVER, max_connections=1000),)), instances={"app": 5})
    assert (group(fewer).max_open, fewer.wanted) == (48, 240)
    assert "Shared by 5 instances: 40 each." in group(fewer).settings[0].formula.en
    assert group(advise(measurement_of(*members), instances={"app": 10**9})).instances == 1000


def test_the_busiest_instance_counts() -> None:
    advice = advise(measurement_of(pool("web-1", used=10), pool("web-2", used=30)))
    assert group(advice).max_open == 36


def test_what_does_not_fit_is_cut_and_said() -> None:
    members = [pool(f"web-{number}", used=40) for number in range(4)]
    advice = advise(measurement_of(*members))
    assert (advice.room, advice.wanted, advice.advised) == (123, 192, 120)
    assert group(advice).max_open == 30
    assert "leaves 123 connections for all pools, so each gets 30 of 48" in group(advice).settings[0].formula.en
    (note,) = [one for one in advice.notes if one.id == "no-room"]
    assert "has to get 36 % shorter, or max_connections 220" in note.text.en
    assert note.weight is Weight.WRONG
    assert group(advice).most_instances == 2


@pytest.mark.parametrize("others", [0, 60, 151, 500])
def test_the_sum_never_exceeds_what_the_server_leaves(others: float) -> None:
    server = replace(SERVER, others=others)
    for instances in (1, 3, 10, 40):
        members = [pool(f"web-{number}", used=17 + number % 3) for number in range(instances)]
        advice = advise(measurement_of(*members, servers=(server,)))
        assert advice.advised is not None
        assert advice.room is not None
        # A pool of none would be no pool: one each is the least.
        assert advice.advised <= max(advice.room, instances)


def test_limits_above_the_server_are_told_as_they_are_set() -> None:
    members = [pool(f"web-{number}", used=2, max_open=50) for number in range(4)]
    advice = advise(measurement_of(*members))
    assert advice.now == 200
    (note,) = [one for one in advice.notes if one.id == "exceeds-server"]
    assert "may open 200 connections; beside 20 of other clients the server takes 131" in note.text.en


@pytest.mark.parametrize(
    ("server", "says"),
    [
        (replace(SERVER, lock_waits=40), "40 of 60 busy connections waited for row locks"),
        (replace(SERVER, cores_used=1.9, cores=2), "it used 1.9 of its host's 2 cores"),
    ],
)
def test_a_database_that_is_full_is_what_to_change(server: MeasuredServer, says: str) -> None:
    short = replace(pool(), demand=demand(60, short=True, waiting=9))
    advice = advise(measurement_of(short, servers=(server,)))
    assert values(advice)[SettingName.MAX_OPEN] == 30
    assert "more connections would wait there: stay at 30" in group(advice).settings[0].formula.en
    (note,) = [one for one in advice.notes if one.id == "database-full"]
    assert says in note.text.en


def test_a_database_with_room_is_not_accused() -> None:
    server = replace(SERVER, lock_waits=1, cores_used=1.0, cores=2)
    assert ids(advise(measurement_of(pool(), servers=(server,)))) == set()


def test_without_load_only_what_follows_from_today_is_told() -> None:
    advice = advise(measurement_of(pool(used=None)))
    assert values(advice)[SettingName.MAX_OPEN] is None
    assert values(advice)[SettingName.MAX_IDLE] == 30
    assert "SetMaxOpenConns" not in group(advice).code
    assert group(advice).settings[0].formula.en.startswith("No size: the pool was hardly used")
    assert advice.wanted is advice.advised is None
    nothing = advise(measurement_of(pool(used=None, max_open=0)))
    assert set(values(nothing).values()) == {None}
    assert group(nothing).code == ""


def test_without_a_server_it_cannot_be_told_whether_it_fits() -> None:
    advice = advise(measurement_of(pool(), servers=()))
    assert (advice.room, group(advice).most_instances, group(advice).max_open) == (None, None, None)
    (note,) = advice.notes
    assert (note.id, note.weight) == ("no-server", Weight.UNKNOWN)
    assert note.config.startswith("mysql:\n")


def test_of_several_servers_one_is_chosen() -> None:
    other = replace(SERVER, instance="db-2", max_connections=40)
    assert ids(advise(measurement_of(pool(), servers=(SERVER, other)))) == {"several-servers"}
    chosen = advise(measurement_of(pool(), servers=(SERVER, other)), "db-2").server
    assert chosen == other
    assert advise(measurement_of(pool(), servers=(SERVER, other)), "db-3").server is None


def test_no_pool_at_all() -> None:
    advice = advise(measurement_of(servers=()))
    assert [(one.id, one.config.partition(":")[0]) for one in advice.notes] == [
        ("no-pool", "dbstats"),
        ("no-server", "mysql"),
    ]
    assert advice.groups == []
    assert (advice.now, advice.wanted, advice.advised) == (None, None, None)


def test_lifetimes_stay_within_their_bounds() -> None:
    def lifetime(used: float, **server: float) -> float | None:
        wide = replace(SERVER, max_connections=5000, **server)
        return values(advise(measurement_of(pool(used=used), servers=(wide,))))[SettingName.LIFETIME]

    assert lifetime(5) == 30
    assert lifetime(100) == 120
    assert lifetime(1000) == 300
    assert lifetime(100, wait_timeout_seconds=60) == 48
    assert lifetime(100, wait_timeout_seconds=1) == 1


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ({"max_open": 0.0, "most_open": 80.0}, "pool-unlimited"),
        ({"unused_under_load": True}, "pool-per-request"),
        ({"closed_idle": 500.0}, "pool-churn"),
        ({"closed_old": 500.0, "lifetime_seconds": 0.2, "most_open": 30.0}, "pool-lifetime-churn"),
        ({"max_idle": None}, "settings-untold"),
        ({"idle_seconds": None}, "settings-untold"),
        ({"waits": 3.0, "wait_seconds": 0.01}, "few-waits"),
    ],
)
def test_notes_on_a_pool(more: dict[str, Any], note: str) -> None:
    assert [one.id for one in group(advise(measurement_of(pool()))).notes] == []
    assert [one.id for one in group(advise(measurement_of(replace(pool(), **more)))).notes] == [note]


def test_a_pool_that_requests_do_not_use_gets_no_size() -> None:
    advice = advise(measurement_of(pool(used=None, max_open=0, unused_under_load=True)))
    assert [one.id for one in group(advice).notes] == ["pool-per-request"]
    assert group(advice).settings[0].formula.en.startswith("No size: requests do not use this pool.")


def test_unequal_instances_and_the_time_that_a_connection_is_held() -> None:
    held = replace(pool(), demand=Demand(at_ms=0, in_use=30, waiting=0, asked=300, served=300, short=False))
    advice = advise(measurement_of(held, pool("web-2", max_open=10)))
    assert [one.id for one in group(advice).notes] == ["unequal", "hold"]
    assert "for 100 ms" in group(advice).notes[1].text.en
    assert "300 requests/s × 100 ms" in group(advice).settings[0].formula.en


def test_renaming_and_an_idle_instance_change_no_size() -> None:
    before = group(advise(measurement_of(pool("a", used=20), pool("b", used=20))))
    renamed = group(advise(measurement_of(pool("y", used=20), pool("z", used=20))))
    idle = group(advise(measurement_of(pool("a", used=20), pool("b", used=20), pool("c", used=None))))
    assert before.max_open == renamed.max_open == idle.max_open == 24
    assert idle.instances == 3


def test_no_size_is_named_while_nobody_knows_what_the_database_has_left() -> None:
    for servers in ((), (replace(SERVER, others=None),)):
        advice = advise(measurement_of(pool(used=40), servers=servers))
        assert (advice.room, advice.advised, group(advice).max_open) == (None, None, None)
        assert "SetMaxOpenConns" not in group(advice).code
        text = group(advice).settings[0].formula
        assert text.en.endswith("= 48. No size: how many connections the database has left is not known.")
        assert text.ja.endswith("算出不可: DBに残っている接続数が不明。")
        assert ids(advice) == {"no-server"}


def test_a_sick_instance_is_named_and_no_measure_for_the_others() -> None:
    def of(name: str, used: float) -> MeasuredPool:
        held = Demand(at_ms=0, in_use=used, waiting=0, asked=100, served=100, short=False)
        return pool(name, demand=held, most_used=used)

    members = [*(of(f"web-{number}", 5) for number in range(9)), of("web-9", 60)]
    advice = advise(measurement_of(*members, servers=(replace(SERVER, max_connections=1000),)))
    assert group(advice).max_open == 6
    assert group(advice).settings[0].formula.en.startswith("Busiest 10 s of web-0")
    (note,) = [one for one in group(advice).notes if one.id == "hold"]
    assert "holds its connection for 50 ms (in use ÷ requests stored per second); web-9 for 600 ms." in note.text.en

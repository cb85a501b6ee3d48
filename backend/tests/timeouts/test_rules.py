import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts, catalogue
from loadwatch_backend.findings.timeouts.ladder import (
    PLACES,
    REFERENCES,
    RULES,
    Check,
    Kind,
    Layer,
    OrderVerdict,
    Origin,
    TimeoutKey,
    TimeoutReading,
    build_rungs,
    check_ladder,
)
from loadwatch_backend.findings.timeouts.writing import duration_text, span_text

EN, JA = (Texts("timeouts", language) for language in Language)


def look(values: Mapping[str, float], *, direct: bool = False) -> dict[str, Check]:
    readings = [
        TimeoutReading(
            place=TimeoutKey(Layer(name.partition(".")[0]), Kind(name.partition(".")[2])),
            seconds=abs(value),
            at_least=value < 0,
            origin=Origin.PROBE if value < 0 else Origin.CONFIGURATION,
            field="test",
            last_ms=1,
        )
        for name, value in values.items()
    ]
    return {check.rule: check for check in check_ladder(build_rungs(readings), direct=direct)}


@pytest.mark.parametrize(
    ("balancer", "app", "verdict"),
    [
        (60, 75, OrderVerdict.RIGHT),
        (60, 30, OrderVerdict.WRONG),
        (60, 60, OrderVerdict.WRONG),
        (60, math.inf, OrderVerdict.RIGHT),
        (60, -120, OrderVerdict.RIGHT),
        (60, -60, OrderVerdict.RIGHT),
        (120, -60, OrderVerdict.UNKNOWN),
        (-120, 75, OrderVerdict.WRONG),
        (-60, 75, OrderVerdict.UNKNOWN),
    ],
)
def test_the_application_has_to_outlast_the_balancer(balancer: float, app: float, verdict: OrderVerdict) -> None:
    check = look({"load_balancer.idle": balancer, "app.idle": app})["balancer_idle_before_app"]
    assert check.verdict is verdict
    assert check.missing == ()


def test_the_case_of_the_brief_names_both_rungs() -> None:
    check = look({"load_balancer.idle": 60, "app.idle": 30})["balancer_idle_before_app"]
    assert check.shorter is not None
    assert check.longer is not None
    assert (check.shorter.id, check.longer.id) == ("load_balancer.idle.60", "app.idle.30")
    assert "502 or 504" in EN(f"rule.{check.rule}.consequence", shorter="60 s", longer="30 s")


def test_what_is_not_known_is_said_and_not_guessed() -> None:
    checks = look({"app.idle": 75})
    assert checks["balancer_idle_before_app"].verdict is OrderVerdict.UNKNOWN
    assert checks["balancer_idle_before_app"].missing == (TimeoutKey(Layer.LOAD_BALANCER, Kind.IDLE),)
    assert all(check.verdict is not OrderVerdict.WRONG for check in look({}).values())


def test_the_worst_of_ten_instances_counts() -> None:
    readings = [
        TimeoutReading(place=place, seconds=seconds, origin=Origin.CONFIGURATION, field="", name=name, last_ms=1)
        for place, seconds, name in (
            (TimeoutKey(Layer.LOAD_BALANCER, Kind.IDLE), 60, "alb"),
            (TimeoutKey(Layer.APP, Kind.IDLE), 75, "app-1"),
            (TimeoutKey(Layer.APP, Kind.IDLE), 5, "app-2"),
        )
    ]
    check = next(one for one in check_ladder(build_rungs(readings), direct=False) if one.verdict is OrderVerdict.WRONG)
    assert check.longer is not None
    assert check.longer.names == ("app-2",)


@pytest.mark.parametrize(
    ("pool", "verdict"),
    [
        ({"max_idle_time": 300, "max_lifetime": math.inf}, OrderVerdict.RIGHT),
        ({"max_idle_time": math.inf, "max_lifetime": 300}, OrderVerdict.RIGHT),
        ({"max_lifetime": 300}, OrderVerdict.RIGHT),
        ({"max_idle_time": math.inf, "max_lifetime": math.inf}, OrderVerdict.WRONG),
        ({"max_idle_time": 900, "max_lifetime": math.inf}, OrderVerdict.WRONG),
        ({"max_lifetime": math.inf}, OrderVerdict.UNKNOWN),
        ({}, OrderVerdict.UNKNOWN),
    ],
)
def test_either_limit_of_the_pool_is_enough(pool: Mapping[str, float], verdict: OrderVerdict) -> None:
    values = {"database.wait": 600.0} | {f"pool.{kind}": value for kind, value in pool.items()}
    assert look(values)["pool_before_database"].verdict is verdict


def test_the_answer_and_the_balancer() -> None:
    rule = "answer_before_balancer"
    assert look({"app.write": 30, "load_balancer.idle": 60})[rule].verdict is OrderVerdict.RIGHT
    assert look({"app.write": 90, "load_balancer.idle": 60})[rule].verdict is OrderVerdict.WRONG
    assert look({"app.write": math.inf, "load_balancer.idle": 60})[rule].verdict is OrderVerdict.WRONG
    assert (
        look({"app.write": math.inf, "app.handler": 25, "load_balancer.idle": 60})[rule].verdict is OrderVerdict.RIGHT
    )
    assert look({"app.handler": 25, "load_balancer.idle": 60})[rule].verdict is OrderVerdict.RIGHT


def test_rules_of_paths_with_and_without_a_balancer() -> None:
    values = {"client.idle": 90.0, "client.request": 10.0, "app.idle": 75.0, "app.write": 30.0}
    direct = look(values, direct=True)
    assert direct["client_idle_before_app"].verdict is OrderVerdict.WRONG
    assert direct["answer_before_client"].verdict is OrderVerdict.WRONG
    assert "balancer_idle_before_app" not in direct
    behind = look(values | {"load_balancer.idle": 60})
    assert behind["client_idle_before_balancer"].verdict is OrderVerdict.WRONG
    assert behind["balancer_before_client"].verdict is OrderVerdict.WRONG
    assert "client_idle_before_app" not in behind


def test_rules_that_speak_only_where_both_sides_are_known() -> None:
    quiet = {"handler_before_write", "lock_wait_before_answer"}
    assert not quiet & set(look({"database.lock_wait": 50, "app.handler": 10}))
    checks = look({"database.lock_wait": 50, "app.handler": 40, "app.write": 30})
    assert checks["handler_before_write"].verdict is OrderVerdict.WRONG
    assert checks["lock_wait_before_answer"].verdict is OrderVerdict.WRONG
    assert look({"database.lock_wait": 5, "app.write": 30})["lock_wait_before_answer"].verdict is OrderVerdict.RIGHT


def test_a_server_without_keep_alive_is_no_wrong_order() -> None:
    checks = look({"app.idle": 0, "load_balancer.idle": 60})
    assert checks["keep_alive_off"].verdict is OrderVerdict.WRONG
    assert "balancer_idle_before_app" not in checks


@pytest.mark.parametrize(
    ("seconds", "verdict"), [(10, OrderVerdict.RIGHT), (math.inf, OrderVerdict.WRONG), (-60, OrderVerdict.UNKNOWN)]
)
def test_a_head_needs_a_limit(seconds: float, verdict: OrderVerdict) -> None:
    assert look({"app.read_header": seconds})["header_limit"].verdict is verdict


def test_what_is_measured_otherwise_is_said_and_counts() -> None:
    checks = look({"load_balancer.idle": 60, "app.idle": 75})
    assert "measured_otherwise" not in checks
    place, origin = TimeoutKey(Layer.APP, Kind.IDLE), Origin.PROBE
    written = TimeoutReading(place=place, seconds=75, origin=Origin.CONFIGURATION, field="", name="a", last_ms=1)
    measured = TimeoutReading(place=place, seconds=30, origin=origin, field="", name="a", last_ms=1)
    balancer = TimeoutReading(
        place=TimeoutKey(Layer.LOAD_BALANCER, Kind.IDLE), seconds=60, origin=Origin.DISCOVERY, field="", last_ms=1
    )
    found = check_ladder(build_rungs([written, measured, balancer]), direct=False)
    assert [check.rule for check in found if check.verdict is OrderVerdict.WRONG] == [
        "measured_otherwise",
        "balancer_idle_before_app",
    ]


def test_every_rule_has_words_in_both_languages() -> None:
    assert {rule.id for rule in RULES} < set(REFERENCES)
    needed = {f"rule.{id}.{part}" for id in REFERENCES for part in ("title", "consequence", "remedy")}
    needed |= {f"{part}.{place.layer}.{place.kind}" for place in PLACES for part in ("kind", "hint")}
    needed |= {f"layer.{layer}" for layer in Layer}
    assert {
        key for key in catalogue("timeouts") if key.partition(".")[0] in ("rule", "kind", "hint", "layer")
    } == needed


def test_durations_in_words() -> None:
    assert [duration_text(seconds, EN) for seconds in (0, 0.4, 5, 60, 119.6, 300, 5400, 28_800, 90_061, math.inf)] == [
        "0 ms", "400 ms", "5 s", "60 s", "120 s", "5 min", "1 h 30 min", "8 h", "1 d 1 h", "no limit",
    ]  # fmt: skip
    assert duration_text(60, EN, at_least=True) == "over 60 s"
    assert duration_text(28_800, JA) == "8時間"
    assert [span_text(60, EN), span_text(60, EN, at_least=True), span_text(math.inf, EN)] == [
        "for 60 s",
        "for over 60 s",
        "for ever",
    ]


SECONDS = st.sampled_from([0.0, 0.5, 10.0, 60.0, 60.0, 75.0, 300.0, math.inf, -60.0, -120.0])


@given(st.dictionaries(st.sampled_from([f"{place.layer}.{place.kind}" for place in PLACES]), SECONDS), st.booleans())
def test_any_ladder_can_be_looked_at(values: dict[str, float], direct: bool) -> None:
    checks = look(values, direct=direct)
    for check in checks.values():
        assert check.verdict is OrderVerdict.UNKNOWN or check.missing == () or check.verdict is OrderVerdict.RIGHT
        if check.verdict is OrderVerdict.WRONG:
            assert check.shorter is not None
            for texts in (EN, JA):
                for part in ("consequence", "remedy"):
                    assert texts(f"rule.{check.rule}.{part}", shorter="1 s", longer="2 s", for_shorter="for 1 s")

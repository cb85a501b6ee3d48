import pytest
from loadwatch_collectors.sources.aws.discovery.part import Selection, matches_names, matches_tags
from loadwatch_collectors.sources.aws.model import PresetKind
from loadwatch_collectors.sources.aws.settings import SelectSettings

PRESETS = (
    PresetKind("rds", "rds", "rds"),
    PresetKind("aurora", "rds", "rds"),
    PresetKind("aurora_cluster", "rds_cluster", "rds"),
    PresetKind("alb", "alb", "alb"),
    PresetKind("alb_targets", "target_group", "alb"),
    PresetKind("sqs", "sqs", "sqs"),
)


@pytest.mark.parametrize(
    ("patterns", "expected"), [((), True), (("prod-*",), True), (("db-?",), False), (("x", "*-1"), True)]
)
def test_names(patterns: tuple[str, ...], expected: bool):
    assert matches_names(patterns, ["prod-1", "arn:x"]) is expected


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [({}, True), ({"a": "1"}, True), ({"a": "2"}, False), ({"a": "?", "b": "x*"}, True), ({"c": "*"}, False)],
)
def test_tags(wanted: dict[str, str], expected: bool):
    assert matches_tags(wanted, (("a", "1"), ("b", "xyz"))) is expected


def test_a_group_chooses_for_all_its_presets():
    selection = Selection(PRESETS, {"rds": SelectSettings(names=("prod-*",))})
    assert selection.presets_of("rds", ("prod-1",), ()) == ("rds", "aurora")
    assert selection.presets_of("rds", ("test-1",), ()) == ()
    assert selection.presets_of("rds_cluster", ("prod",), ()) == ()
    assert selection.presets_of("sqs", ("anything",), ()) == ("sqs",)
    assert not selection.wants("ec2")


def test_a_preset_of_its_own_choice_leaves_its_group():
    chosen = {"rds": SelectSettings(names=("prod-*",)), "aurora": SelectSettings(tags={"service": "api"})}
    selection = Selection(PRESETS, chosen)
    assert selection.presets_of("rds", ("prod-1",), ()) == ("rds",)
    assert selection.presets_of("rds", ("test-1",), (("service", "api"),)) == ("aurora",)
    assert selection.tag_filters("rds") == [{"service": "api"}]
    assert selection.has_own("rds")


def test_a_group_is_no_choice_of_target_groups():
    assert not Selection(PRESETS, {"alb": SelectSettings(names=("shop",))}).has_own("target_group")
    assert Selection(PRESETS, {"alb_targets": SelectSettings(names=("shop",))}).has_own("target_group")

from loadwatch_backend.runs.schemas import SettingOut
from loadwatch_backend.runs.snapshots import difference, match_targets


def setting(
    key: str,
    value: float | str,
    *,
    target: str = "app host:8080",
    section: str = "pool",
    unit: str = "",
    deliberate: bool = True,
    important: bool = True,
) -> SettingOut:
    number = value if isinstance(value, float) else None
    text = value if isinstance(value, str) else f"{value:g}"
    return SettingOut(
        target=target,
        section=section,
        key=key,
        value=text,
        number=number,
        unit=unit,
        deliberate=deliberate,
        important=important,
    )


def test_equal_snapshots_have_no_changes() -> None:
    settings = [setting("max_open", 30.0), setting("sql_mode", "STRICT", section="database")]
    assert difference(settings, settings) == []
    assert difference([], []) == []


def test_what_was_changed_on_purpose_leads() -> None:
    def settings(factor: float) -> list[SettingOut]:
        return [
            setting("rows", 1000.0 * factor, section="tables", deliberate=False),
            setting("page_cache", 1000.0 * factor, section="cache", deliberate=False, important=False),
            setting("obscure", 10.0 * factor, section="database", important=False),
            setting("max_connections", 151.0 * factor, section="database"),
            setting("max_open", 30.0 * factor),
        ]

    changes = difference(settings(1), settings(2))
    assert [one.key for one in changes] == ["max_open", "max_connections", "obscure", "rows", "page_cache"]
    assert (changes[0].before, changes[0].after) == ("30", "60")


def test_any_change_on_purpose_counts_and_drift_only_beyond_its_threshold() -> None:
    def one(value: float, *, unit: str = "", section: str = "tables", deliberate: bool = False) -> list[SettingOut]:
        return [setting("x", value, unit=unit, section=section, deliberate=deliberate)]

    assert difference(one(100.0, deliberate=True), one(101.0, deliberate=True))
    assert not difference(one(1000.0), one(1090.0))
    assert difference(one(1000.0), one(1200.0))
    assert not difference(one(5.0, unit="rows"), one(80.0, unit="rows"))
    assert not difference(one(0.80, unit="ratio"), one(0.84, unit="ratio"))
    assert difference(one(0.80, unit="ratio"), one(0.90, unit="ratio"))
    # The kernel keeps some memory for itself, and not always the same.
    first, same, other = (setting("memory", size, unit="bytes", section="host") for size in (8.0e9, 8.01e9, 16e9))
    assert not difference([first], [same])
    assert difference([first], [other])


def test_a_restart_is_a_change_and_a_rounded_start_is_none() -> None:
    def started(seconds: float, text: str) -> list[SettingOut]:
        one = setting("started", seconds, section="process", deliberate=False)
        return [one.model_copy(update={"value": text})]

    first = started(1000.0, "1970-01-01T00:16:40Z")
    assert not difference(first, started(1002.0, "1970-01-01T00:16:42Z"))
    assert [one.key for one in difference(first, started(1100.0, "1970-01-01T00:18:20Z"))] == ["started"]


def test_settings_that_only_one_side_has_are_changes() -> None:
    changes = difference([setting("a", 1.0)], [setting("b", 2.0)])
    assert [(one.key, one.before, one.after) for one in changes] == [("a", "1", None), ("b", None, "2")]


def test_a_section_that_came_or_went_is_one_change() -> None:
    database = [setting(f"variable {number}", 1.0, section="database") for number in range(600)]
    (change,) = difference([setting("a", 1.0)], [setting("a", 1.0), *database])
    assert (change.section, change.key, change.before, change.after) == ("database", "all", None, "600 settings")
    assert not change.important


def test_an_instance_with_another_port_is_the_same() -> None:
    changes = difference(
        [setting("max_open", 30.0, target="app host:8080")], [setting("max_open", 40.0, target="app host:9090")]
    )
    assert [(one.target, one.before, one.after) for one in changes] == [("app host:9090", "30", "40")]


def test_an_instance_more_is_one_change() -> None:
    before = [setting("max_open", 30.0, target="app a:1")]
    after = [*before, setting("max_open", 30.0, target="app b:1"), setting("max_fds", 9.0, target="app b:1")]
    (change,) = difference(before, after)
    assert (change.target, change.section, change.before, change.after) == ("app b:1", "instances", None, "present")
    assert change.deliberate


def test_a_change_of_all_instances_is_one() -> None:
    def settings(value: float) -> list[SettingOut]:
        return [setting("max_open", value, target=f"app {host}:1") for host in "abc"]

    (change,) = difference(settings(30.0), settings(40.0))
    assert change.target == "app (3 instances)"
    some = [*settings(40.0)[:2], *settings(30.0)[2:]]
    assert [one.target for one in difference(settings(30.0), some)] == ["app a:1", "app b:1"]


def test_targets_are_matched_by_instance_then_host_then_order() -> None:
    assert match_targets(["app a:1", "app b:1"], ["app b:1", "app a:1"]) == [
        ("app a:1", "app a:1"),
        ("app b:1", "app b:1"),
    ]
    assert match_targets(["app a:1", "app b:1"], ["app b:2", "app a:2"]) == [
        ("app a:1", "app a:2"),
        ("app b:1", "app b:2"),
    ]
    assert match_targets(["app x1", "app x2"], ["app y1", "app y2"]) == [("app x1", "app y1"), ("app x2", "app y2")]
    assert match_targets(["app x1", "app x2"], ["app y1"]) == []
    assert match_targets(["app"], ["app"]) == [("app", "app")]

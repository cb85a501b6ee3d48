from loadwatch_backend.findings.advisor.advise import MeasuredPool, Size, SizeReason, advise_settings, go_lines

UNKNOWN = MeasuredPool(job="app", instance="web-1", name="main")


def test_each_value_has_its_formula_and_source_in_both_languages() -> None:
    size = Size(members=[UNKNOWN], instances=1, needed=None, wanted=None, each=None, reason=SizeReason.NO_LOAD)
    settings = advise_settings(size, None, None)
    assert [one.name for one in settings] == ["max_open", "max_idle", "lifetime", "idle_time"]
    assert all(one.formula.en and one.formula.ja and one.source for one in settings)
    assert go_lines(settings) == ""
    assert (size.total, size.wanted_total) == (0, 0)


def test_today_s_size_stands_for_one_that_is_not_known() -> None:
    today = MeasuredPool(job="app", instance="web-1", name="main", max_open=20)
    size = Size(members=[today], instances=3, needed=None, wanted=None, each=None, reason=SizeReason.NO_LOAD)
    assert (size.total, size.wanted_total) == (60, 60)
    assert [one.advised for one in advise_settings(size, 100, None)] == [None, 20, 30, 30]
    assert go_lines(advise_settings(size, 100, None)).splitlines()[0] == "db.SetMaxIdleConns(20)"

from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.catalogue.signals.cadence import MAX_EVALUATED, STEPS_MS, Plan, count_points, plan_grid

T = 1_800_000_000_000


def test_a_quarter_of_an_hour_at_one_second_is_reduced_to_the_points_asked_for():
    assert plan_grid(T, T + 900_000, 600, 1_000) == Plan(
        start_ms=T, step_ms=2_000, count=452, fine_ms=1_000, reduced=True
    )


def test_five_minutes_at_one_second_are_drawn_as_they_are():
    plan = plan_grid(T + 1, T + 300_000, 600, 1_000)
    assert (plan.step_ms, plan.fine_ms, plan.reduced, plan.per_bucket) == (1_000, 1_000, False, 2)


def test_nothing_is_evaluated_more_often_than_it_was_measured():
    assert plan_grid(T, T + 300_000, 600, 15_000).fine_ms == 15_000
    assert plan_grid(T, T + 10_000, 2_000, 950).step_ms == 1_000, "a sender a little late is no faster sender"
    assert plan_grid(T, T + 10_000, 2_000, 1_050).step_ms == 1_000


spans = st.integers(0, 400 * 86_400_000)
intervals = st.sampled_from([100, 1_000, 15_000, 60_000])


@given(start=st.integers(0, 2**41), span=spans, points=st.integers(2, 2_000), interval=intervals)
def test_any_grid_covers_its_span_in_whole_buckets(start: int, span: int, points: int, interval: int):
    plan = plan_grid(start, start + span, points, interval)
    assert plan.start_ms % (2 * plan.step_ms) == 0
    assert plan.start_ms <= start
    assert start + span < plan.start_ms + plan.count * plan.step_ms
    assert plan.count <= max(points, 4) or plan.step_ms == STEPS_MS[-1]
    assert plan.fine_count <= MAX_EVALUATED
    assert plan.fine_count * plan.fine_ms == plan.count * plan.step_ms
    assert (2 * plan.step_ms) % plan.fine_ms == 0
    assert plan.reduced == (plan.step_ms > plan.fine_ms) or plan.fine_ms == plan.step_ms


@given(start=st.integers(0, 2**41), span=spans, into=st.floats(0, 1), interval=intervals)
def test_an_increment_of_the_same_step_joins_the_former_grid(start: int, span: int, into: float, interval: int):
    whole = plan_grid(start, start + span, 600, interval)
    later = plan_grid(start + int(span * into), start + span + 5_000, 2, interval, whole.step_ms)
    assert later.step_ms == whole.step_ms
    assert later.reduced == whole.reduced
    assert (later.start_ms - whole.start_ms) % (2 * whole.step_ms) == 0
    assert later.start_ms <= whole.start_ms + whole.count * whole.step_ms
    assert later.count == count_points(start + int(span * into), start + span + 5_000, whole.step_ms)

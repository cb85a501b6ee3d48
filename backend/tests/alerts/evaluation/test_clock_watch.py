"""The wall clock that is steered, and the one that is set."""

from loadwatch_backend.alerting.alerts.evaluation.evaluator import ClockWatch


def test_jumps_are_told_apart_from_steering() -> None:
    wall, monotonic = [1_000_000], [5.0]
    watch = ClockWatch(lambda: wall[0], lambda: monotonic[0])
    seen: list[tuple[int, int]] = []
    for wall_ms, seconds in (
        (1_000, 1.0),
        (1_400, 1.0),  # steered forward
        (60_000, 60.0),  # slept well
        (-3_600_000, 0.0),  # set back an hour
        (1_000, 1.0),
        (3_600_500, 0.5),  # set forward again
        (600, 1.0),  # steered back
    ):
        wall[0] += wall_ms
        monotonic[0] += seconds
        seen.append(watch.read())
    assert [jump for _, jump in seen] == [0, 0, 0, -3_600_000, 0, 3_600_000, 0]
    assert seen[-1][0] == wall[0]

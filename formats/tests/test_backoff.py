from loadwatch_formats.backoff import backoff_seconds


def test_backoff_doubles_up_to_a_bound_with_jitter() -> None:
    assert [backoff_seconds(attempt, 0.1, 5.0) for attempt in (0, 1, 2, 10, 10_000)] == [0.1, 0.2, 0.4, 5.0, 5.0]
    assert backoff_seconds(10, 0.1, 5.0, 1.0) == 2.5

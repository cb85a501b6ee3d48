from loadwatch_collectors.sources.aws.reading.reader import Arrivals

M = 60_000
REREAD = 10 * M


def poll(delivery: Arrivals, now: int, newest: int) -> int:
    """Minutes up to which points are known that were read to `now`."""
    delivery.note("AWS/RDS", newest * M)
    delivery.end_poll(now * M)
    return delivery.known_to("AWS/RDS", now * M) // M


def test_a_namespace_that_gave_nothing_yet_holds_nothing_up() -> None:
    delivery = Arrivals(REREAD)
    delivery.end_poll(0)
    assert delivery.known_to("AWS/RDS", 5 * M) == 5 * M
    assert not delivery.newest_ms


def test_the_usual_delay_is_covered_by_reading_again() -> None:
    delivery = Arrivals(REREAD)
    assert [poll(delivery, now, now - 3) for now in range(100, 140)] == list(range(100, 140))
    assert delivery.newest_ms == {"AWS/RDS": 136 * M}


def test_what_is_held_up_is_asked_for_until_it_came_and_the_usual_time_more() -> None:
    delivery = Arrivals(REREAD)
    for now in range(100, 120):
        poll(delivery, now, now - 2)
    held = [poll(delivery, now, 118) for now in range(120, 150)]
    assert held[:5] == [120, 121, 122, 123, 124]
    assert held[-1] == 128, "a window from there begins ten minutes earlier, where delivery stopped"
    came = [poll(delivery, now, now - 2) for now in range(150, 170)]
    assert came[:9] == [128] * 9
    assert came[10:] == list(range(160, 170))


def test_namespaces_are_apart() -> None:
    delivery = Arrivals(REREAD)
    for now in range(100, 150):
        delivery.note("AWS/SQS", 99 * M)
        poll(delivery, now, now - 2)
    assert delivery.known_to("AWS/SQS", 149 * M) == 109 * M
    assert delivery.known_to("AWS/RDS", 149 * M) == 149 * M

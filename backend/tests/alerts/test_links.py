from loadwatch_backend.alerts.links import moment_path, sent_path

MINUTE = 60_000


def test_a_link_in_a_message_stays_at_the_moment_of_the_alert() -> None:
    """Opened the next morning, it must not show the morning."""
    path = sent_path(100 * MINUTE, 102 * MINUTE, "pool_waits")
    assert path.startswith(f"/?from={90 * MINUTE}&to={107 * MINUTE}#panel-")


def test_the_page_follows_an_alert_that_goes_on() -> None:
    assert moment_path(100 * MINUTE, None, "") == f"/?from={90 * MINUTE}&to=now"
    assert moment_path(100 * MINUTE, 110 * MINUTE, "") == f"/?from={90 * MINUTE}&to={115 * MINUTE}"

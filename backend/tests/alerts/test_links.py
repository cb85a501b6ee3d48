from loadwatch_backend.alerting.alerts.links import alert_path, moment_path

MINUTE = 60_000


def test_a_message_leads_to_the_page_of_its_alert() -> None:
    assert alert_path("06gvud") == "/alerts/06gvud"


def test_the_page_follows_an_alert_that_goes_on() -> None:
    assert moment_path(100 * MINUTE, None, "") == f"/?from={90 * MINUTE}&to=now"
    assert moment_path(100 * MINUTE, 110 * MINUTE, "") == f"/?from={90 * MINUTE}&to={115 * MINUTE}"
    assert "#panel-" in moment_path(100 * MINUTE, 110 * MINUTE, "pool_waits")

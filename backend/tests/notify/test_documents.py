from dataclasses import replace

from loadwatch_backend.alerting.notify.documents import alert_document, common, group_document, sort_alerts, subject_of
from loadwatch_backend.alerting.notify.model import NotifiedAlert


def alert(name: str, ends_ms: int | None = None, **labels: str) -> NotifiedAlert:
    return NotifiedAlert(
        key=name,
        labels={"alertname": name, **labels},
        annotations={"summary": name},
        starts_ms=1_800_000_000_123,
        ends_ms=ends_ms,
        generator_url="https://watch.example.org/?from=1",
    )


def document(*alerts: NotifiedAlert, most: int = 0, **group: str) -> dict[str, object]:
    return group_document(
        [alert_document(str(number), one) for number, one in enumerate(alerts)],
        receiver="team",
        group_key="{}:{}",
        group_labels=group,
        external_url="https://watch.example.org",
        most=most,
    )


def test_an_alert_that_fires_and_one_that_is_over() -> None:
    fires = alert_document("0f", alert("Lag", db="orders"))
    assert fires == {
        "status": "firing",
        "labels": {"alertname": "Lag", "db": "orders"},
        "annotations": {"summary": "Lag"},
        "startsAt": "2027-01-15T08:00:00.123Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "https://watch.example.org/?from=1",
        "fingerprint": "0f",
    }
    assert alert_document("0f", alert("Lag", 1_800_000_001_000))["endsAt"] == "2027-01-15T08:00:01.000Z"


def test_the_document_of_a_group() -> None:
    made = document(alert("Lag", db="orders", zone="a"), alert("Lag", 1_800_000_001_000, db="orders"), alertname="Lag")
    assert (made["version"], made["status"], made["truncatedAlerts"]) == ("4", "firing", 0)
    assert made["commonLabels"] == {"alertname": "Lag", "db": "orders"}
    assert made["commonAnnotations"] == {"summary": "Lag"}
    assert document(alert("Lag", 1_800_000_001_000))["status"] == "resolved"


def test_no_more_alerts_than_a_receiver_takes() -> None:
    made = document(alert("Lag"), alert("Slow"), alert("Down"), most=1)
    assert made["truncatedAlerts"] == 2
    assert made["commonLabels"] == {"alertname": "Lag"}


def test_what_all_have_alike() -> None:
    assert common([]) == {}
    assert common([{"a": "1", "b": "2"}, {"a": "1"}, {"a": "1", "b": "2"}]) == {"a": "1"}


def test_alerts_stand_by_job_and_instance_and_then_by_the_rest() -> None:
    alerts = {
        "1": alert("A"),
        "2": alert("B", job="z"),
        "3": alert("C", job="a", instance="2"),
        "4": alert("D", job="a", instance="1"),
        "5": alert("E", instance="1"),
    }
    assert [print_ for print_, _ in sort_alerts(alerts)] == ["4", "3", "2", "5", "1"]


def test_the_line_that_stands_for_a_message() -> None:
    assert (
        subject_of(document(alert("Lag"), alert("Lag"), db="orders", alertname="Lag")) == "[FIRING:2] Lag (db=orders)"
    )
    assert subject_of(document(alert("Lag"), alert("Slow", 1_800_000_001_000))) == "[FIRING:1] Lag and 1 more"
    assert subject_of(document(alert("Lag", 1_800_000_001_000), run="r")) == "[RESOLVED:1] Lag"
    assert subject_of(document(alert("Lag"), alert("Lag"), alert("Lag"), most=1)) == "[FIRING:3] Lag"


def test_what_stopped_sending_is_not_called_resolved() -> None:
    over = alert("Lag", 1_800_000_001_000)
    stopped = replace(over, annotations={"ended": "stopped-sending"})
    assert subject_of(document(stopped)) == "[STOPPED SENDING:1] Lag"
    assert subject_of(document(stopped, over)) == "[RESOLVED:2] Lag"

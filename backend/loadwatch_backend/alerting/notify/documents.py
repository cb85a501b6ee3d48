"""What is sent of a group of alerts: Alertmanager's webhook document, version 4, and a line that stands for it."""

from collections.abc import Mapping, Sequence
from typing import Any

from loadwatch_formats.times import NEVER, format_rfc3339

from loadwatch_backend.alerting.notify.model import NotifiedAlert, has_stopped
from loadwatch_backend.core.language import Language, in_language
from loadwatch_backend.core.texts.words import Texts

FIRING, RESOLVED = "firing", "resolved"


def sort_alerts(alerts: Mapping[str, NotifiedAlert]) -> list[tuple[str, NotifiedAlert]]:
    """By job, instance and the other labels, as Alertmanager sorts them; with their fingerprints."""

    def place(item: tuple[str, NotifiedAlert]) -> tuple[bool, str, bool, str, int, list[tuple[str, str]]]:
        labels = item[1].labels
        job, instance = labels.get("job"), labels.get("instance")
        return job is None, job or "", instance is None, instance or "", len(labels), sorted(labels.items())

    return sorted(alerts.items(), key=place)


def alert_document(print_: str, alert: NotifiedAlert, language: Language = Language.EN) -> dict[str, Any]:
    return {
        "status": FIRING if alert.ends_ms is None else RESOLVED,
        "labels": dict(sorted(alert.labels.items())),
        "annotations": dict(sorted(in_language(alert.annotations, language).items())),
        "startsAt": format_rfc3339(alert.starts_ms),
        "endsAt": NEVER if alert.ends_ms is None else format_rfc3339(alert.ends_ms),
        "generatorURL": alert.generator_url,
        "fingerprint": print_,
    }


def group_document(
    alerts: Sequence[Mapping[str, Any]],
    *,
    receiver: str,
    group_key: str,
    group_labels: Mapping[str, str],
    external_url: str,
    most: int = 0,
) -> dict[str, Any]:
    """The whole document.

    Args:
        alerts: as `alert_document` makes them, in order.
        receiver: its name.
        group_key: Alertmanager's.
        group_labels: the labels that all have, by which they are grouped.
        external_url: where the page is.
        most: alerts that the receiver takes in one message; 0 is all. `truncatedAlerts` says how many were left out.
    """
    kept = alerts[:most] if most else alerts
    return {
        "version": "4",
        "groupKey": group_key,
        "truncatedAlerts": len(alerts) - len(kept),
        "status": FIRING if any(alert["status"] == FIRING for alert in kept) else RESOLVED,
        "receiver": receiver,
        "groupLabels": dict(group_labels),
        "commonLabels": common([alert["labels"] for alert in kept]),
        "commonAnnotations": common([alert["annotations"] for alert in kept]),
        "externalURL": external_url,
        "alerts": list(kept),
    }


def common(given: Sequence[Mapping[str, str]]) -> dict[str, str]:
    left = dict(given[0]) if given else {}
    for one in given[1:]:
        if not left:
            break
        for name in [name for name, value in left.items() if one.get(name) != value]:
            del left[name]
    return left


def subject_of(document: Mapping[str, Any], language: Language = Language.EN) -> str:
    """`[FIRING:2] PoolWaits (db=orders)`: how many, of what, and the group's labels."""
    texts = Texts("notify", language)
    alerts: Sequence[Mapping[str, Any]] = document["alerts"]
    count = sum(1 for alert in alerts if alert["status"] == document["status"]) + int(document["truncatedAlerts"])
    names = sorted({str(alert["labels"].get("alertname", "")) for alert in alerts})
    name = names[0] if len(names) == 1 else texts("subject_more", name=names[0], count=len(names) - 1)
    others = ", ".join(
        f"{label}={value}" for label, value in document["groupLabels"].items() if label not in ("alertname", "run")
    )
    stopped = all(alert["status"] == RESOLVED and has_stopped(alert["annotations"]) for alert in alerts)
    return f"[{texts('STOPPED' if stopped else document['status'].upper())}:{count}] {name}" + (
        f" ({others})" if others else ""
    )

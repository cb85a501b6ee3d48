"""Bodies of webhooks as Loadwatch writes them, for Alertmanager's own types to read; prints a JSON list."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from loadwatch_backend.alerting.notify.documents import alert_document, group_document
from loadwatch_backend.alerting.notify.model import NotifiedAlert
from loadwatch_backend.alerting.notify.routing.routing import fingerprint

NOW_MS = 1_800_000_000_123


def alert(name: str, *, ends_ms: int | None = None, **labels: str) -> NotifiedAlert:
    """An alert that began at a fixed time."""
    return NotifiedAlert(
        key=f"{name}-{sorted(labels.items())}",
        labels={"alertname": name, **labels},
        annotations={"summary": f"{name} <&> 接続待ち", "runbook_url": "https://docs.example.org/r"},
        starts_ms=NOW_MS,
        ends_ms=ends_ms,
        generator_url="https://watch.example.org/?from=1&to=2",
    )


CASES: Sequence[tuple[Sequence[NotifiedAlert], int]] = (
    ([alert("PoolWaits", job="api", severity="critical")], 0),
    ([alert("PoolWaits", ends_ms=NOW_MS + 61_000, job="api")], 0),
    ([alert("PoolWaits", instance="a"), alert("PoolWaits", ends_ms=NOW_MS + 1, instance="b")], 0),
    ([alert("Many", n=str(number)) for number in range(20)], 5),
    ([alert("日本語", room='三階 "b"\\n')], 0),
)


def payloads() -> list[dict[str, Any]]:
    """One body for each case."""
    found: list[dict[str, Any]] = []
    for alerts, most in CASES:
        documents = [alert_document(fingerprint(one.labels), one) for one in alerts]
        name = alerts[0].labels["alertname"]
        found.append(
            group_document(
                documents,
                receiver="team",
                group_key=f'{{}}:{{alertname="{name}"}}',
                group_labels={"alertname": name},
                external_url="https://watch.example.org",
                most=most,
            )
        )
    return found


if __name__ == "__main__":
    json.dump(payloads(), sys.stdout)

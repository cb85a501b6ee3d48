"""What ran out, for an alert that fires: the finding of the moment, as annotations. Nothing is computed here."""

from collections.abc import Callable, Mapping

from loadwatch_backend.alerting.alerts.evaluation.state import TrackedAlert
from loadwatch_backend.alerting.notify.causes.explained import Explain
from loadwatch_backend.alerting.notify.causes.fitting import annotations_of, finding_of
from loadwatch_backend.findings.snapshot import FindingsSnapshot


def explainer(
    explained: Explain, findings_now: Callable[[], FindingsSnapshot | None]
) -> Callable[[TrackedAlert], Mapping[str, str]]:
    """What the state machine asks; an empty answer where nothing is known of the present, or nothing fits."""

    def explain(alert: TrackedAlert) -> Mapping[str, str]:
        snapshot = findings_now()
        if snapshot is None or not snapshot.findings:
            return {}
        found = finding_of(alert.labels, alert.active_ms, snapshot, explained)
        return {} if found is None else annotations_of(found, snapshot)

    return explain

"""What ran out, for an alert that fires: the finding of the moment, as annotations. Nothing is computed here."""

from collections.abc import Callable, Mapping

from loadwatch_backend.alerts.evaluation.state import TrackedAlert
from loadwatch_backend.findings.standing import Moment
from loadwatch_backend.notify.causes.fitting import annotations_of, finding_of


def explainer(standing: Callable[[], Moment | None]) -> Callable[[TrackedAlert], Mapping[str, str]]:
    """What the state machine asks; an empty answer where nothing is known of the present, or nothing fits."""

    def explain(alert: TrackedAlert) -> Mapping[str, str]:
        moment = standing()
        if moment is None or not moment.findings:
            return {}
        found = finding_of(alert.labels, alert.active_ms, moment)
        return {} if found is None else annotations_of(found, moment)

    return explain

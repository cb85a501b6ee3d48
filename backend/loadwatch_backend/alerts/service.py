"""Alerts and rules for the endpoints."""

from collections.abc import Sequence

from loadwatch_backend.alerts.schemas import (
    AlertDetail,
    AlertList,
    AlertOut,
    AlertSeries,
    AlertState,
    HistoryList,
    RuleList,
)


class AlertService:
    """Reads alerts and rules; acknowledges and dismisses."""

    def list(
        self, states: Sequence[AlertState] | None, search: str, matchers: Sequence[str], limit: int, *, sparklines: bool
    ) -> AlertList:
        """See the endpoint."""
        raise NotImplementedError

    def history(self, start_ms: int, end_ms: int, search: str, run_id: str, limit: int) -> HistoryList:
        """See the endpoint."""
        raise NotImplementedError

    def read(self, alert_id: str) -> AlertDetail:
        """See the endpoint."""
        raise NotImplementedError

    def series(self, alert_id: str, start_ms: int | None, end_ms: int | None) -> AlertSeries:
        """See the endpoint."""
        raise NotImplementedError

    def acknowledge(self, alert_id: str, by: str, comment: str) -> AlertOut:
        """See the endpoint."""
        raise NotImplementedError

    def unacknowledge(self, alert_id: str, by: str) -> AlertOut:
        """See the endpoint."""
        raise NotImplementedError

    def dismiss(self, alert_id: str, by: str) -> AlertOut:
        """See the endpoint."""
        raise NotImplementedError

    def rules(self) -> RuleList:
        """See the endpoint."""
        raise NotImplementedError

    def reload_rules(self) -> RuleList:
        """See the endpoint."""
        raise NotImplementedError

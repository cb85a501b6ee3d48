"""Notifications for the endpoints."""

from collections.abc import Sequence

from loadwatch_backend.notify.schemas import (
    DeliveryDetail,
    DeliveryList,
    DeliveryOut,
    DeliveryState,
    ReceiverList,
    ReceiverOut,
    TrialResults,
)


class DeliveryService:
    """Receivers, tests and the log of deliveries."""

    def receivers(self) -> ReceiverList:
        """See the endpoint."""
        raise NotImplementedError

    def test(self, receiver: str, integration: str | None) -> TrialResults:
        """See the endpoint."""
        raise NotImplementedError

    def enable(self, receiver: str, integration: str) -> ReceiverOut:
        """See the endpoint."""
        raise NotImplementedError

    def list(
        self, states: Sequence[DeliveryState] | None, receiver: str, search: str, before: str | None, limit: int
    ) -> DeliveryList:
        """See the endpoint."""
        raise NotImplementedError

    def read(self, delivery_id: str) -> DeliveryDetail:
        """See the endpoint."""
        raise NotImplementedError

    def retry(self, delivery_id: str) -> DeliveryOut:
        """See the endpoint."""
        raise NotImplementedError

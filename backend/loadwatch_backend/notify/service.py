"""Notifications for the endpoints."""

from collections.abc import Sequence

from loadwatch_backend.notify.schemas import (
    DeliveryDetail,
    DeliveryList,
    DeliveryOut,
    DeliveryState,
    MatcherDocument,
    ReceiverList,
    ReceiverOut,
    RouteAnswer,
    RouteQuestion,
    RoutingOut,
    SilenceIn,
    SilenceList,
    SilenceOut,
    SilencePreview,
    SilenceState,
    TrialResults,
)


class RoutingService:
    """Routes and the file they come from."""

    def read(self) -> RoutingOut:
        """See the endpoint."""
        raise NotImplementedError

    def reload(self) -> RoutingOut:
        """See the endpoint."""
        raise NotImplementedError

    def resolve(self, question: RouteQuestion) -> RouteAnswer:
        """See the endpoint."""
        raise NotImplementedError


class SilenceService:
    """Silences."""

    def list(self, states: Sequence[SilenceState] | None) -> SilenceList:
        """See the endpoint."""
        raise NotImplementedError

    def create(self, given: SilenceIn, author: str) -> SilenceOut:
        """See the endpoint."""
        raise NotImplementedError

    def read(self, silence_id: str) -> SilenceOut:
        """See the endpoint."""
        raise NotImplementedError

    def replace(self, silence_id: str, given: SilenceIn, author: str) -> SilenceOut:
        """See the endpoint."""
        raise NotImplementedError

    def expire(self, silence_id: str) -> SilenceOut:
        """See the endpoint."""
        raise NotImplementedError

    def preview(self, matchers: Sequence[MatcherDocument]) -> SilencePreview:
        """See the endpoint."""
        raise NotImplementedError


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

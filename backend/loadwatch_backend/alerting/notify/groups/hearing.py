"""Who has been told of alerts: what integrations know, but for those that do not take messages."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from loadwatch_backend.alerting.notify.file.model import Configuration
from loadwatch_backend.alerting.notify.groups import repository
from loadwatch_backend.alerting.notify.groups.flush import notified_id
from loadwatch_backend.alerting.notify.groups.groups import TOLD
from loadwatch_backend.alerting.notify.outbox.messages import IntegrationKey
from loadwatch_backend.alerting.notify.outbox.repository import find_failing_integrations
from loadwatch_backend.core.database.relational import Session


class Hearing:
    """Within one transaction; reads when it is asked."""

    def __init__(self, session: Session, configuration: Configuration, *, lock: bool) -> None:
        self._session = session
        self._configuration = configuration
        self._lock = lock

    @cached_property
    def failing(self) -> frozenset[IntegrationKey]:
        """Integrations for which messages wait that they do not take."""
        found = find_failing_integrations(self._session, self._configuration).failing
        return frozenset((one.receiver, one.integration) for one in found)

    def receivers_notified(self, keys: Sequence[str]) -> Mapping[str, set[str]]:
        """Receivers whose last message of a group named the alert as firing, by the alert's key."""
        found: dict[str, set[str]] = {}
        alerts = repository.find_alerts(self._session, keys, lock=self._lock)
        memberships = repository.groups_of(self._session, alerts, lock=self._lock)
        groups = repository.find_groups(
            self._session, {id for ids in memberships.values() for id in ids}, lock=self._lock
        )
        places: dict[str, tuple[str, str]] = {}
        for group in groups.values():
            route = self._configuration.routes.get(group.route)
            if route is not None:
                for integration in self._configuration.receivers[route.receiver].integrations:
                    if (route.receiver, integration.id) not in self.failing:
                        places[notified_id(group, route.receiver, integration)] = group.id, route.receiver
        for id, notified in repository.find_notified(self._session, places, lock=self._lock).items():
            group_id, receiver = places[id]
            for key, kept in alerts.items():
                if group_id in memberships.get(key, ()) and notified.alerts.get(kept.fingerprint, 0) & TOLD:
                    found.setdefault(key, set()).add(receiver)
        return found

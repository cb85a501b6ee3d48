"""Notifications, put together."""

from collections.abc import Callable
from dataclasses import dataclass

from loadwatch_backend.findings.standing import Moment
from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.notify.file.configuration import ConfigurationFile
from loadwatch_backend.notify.file.model import Configuration
from loadwatch_backend.notify.groups.dispatch import Dispatcher
from loadwatch_backend.notify.notifier import News, Notifier
from loadwatch_backend.notify.outbox.outbox import Outbox
from loadwatch_backend.notify.outbox.service import DeliveryService
from loadwatch_backend.notify.outbox.worker import Workers
from loadwatch_backend.notify.routing.holding import Holders
from loadwatch_backend.notify.routing.service import RoutingService
from loadwatch_backend.notify.senders.model import SendContext
from loadwatch_backend.notify.senders.sockets import Dialer
from loadwatch_backend.notify.senders.transport import Transport
from loadwatch_backend.notify.silences.repository import SilenceBook
from loadwatch_backend.notify.silences.service import SilenceService
from loadwatch_backend.store.relational import Relational, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationParts:
    """What notifications are made of, given by the application.

    `fence` raises when this server does not lead; `standing` are the findings of the present, where they are known.
    """

    relational: Relational
    file: ConfigurationFile
    clock: Clock
    dialer: Dialer
    fence: Callable[[Session], None]
    news: News
    external_url: str
    standing: Callable[[], Moment | None] = lambda: None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationServices:
    """What the endpoints and alerts use; each has a file of its own."""

    configuration: Callable[[], Configuration]
    routing: RoutingService
    silences: SilenceService
    deliveries: DeliveryService
    dispatcher: Dispatcher
    notifier: Notifier
    transport: Transport
    context: SendContext

    def close(self) -> None:
        """End what was started."""
        self.notifier.stop()
        self.transport.close()


def build_notifications(parts: NotificationParts) -> NotificationServices:
    """Nothing is sent before the notifier is started."""
    relational, file, clock = parts.relational, parts.file, parts.clock
    book = SilenceBook()
    holders = Holders(book, parts.standing)
    outbox = Outbox(clock)
    transport = Transport(parts.dialer)
    context = SendContext(transport=transport, clock=clock)
    dispatcher = Dispatcher(
        relational=relational,
        file=file,
        holders=holders,
        outbox=outbox,
        external_url=parts.external_url,
        fence=parts.fence,
    )
    workers = Workers(relational=relational, configuration=lambda: file.current, context=context, fence=parts.fence)
    notifier = Notifier(
        relational=relational, dispatcher=dispatcher, outbox=outbox, workers=workers, clock=clock, news=parts.news
    )
    file.subscribe(notifier.wake)
    return NotificationServices(
        configuration=lambda: file.current,
        routing=RoutingService(relational, file, holders, clock),
        silences=SilenceService(relational, book, holders, clock),
        deliveries=DeliveryService(
            relational=relational,
            configuration=lambda: file.current,
            context=context,
            external_url=parts.external_url,
            wake=notifier.wake,
        ),
        dispatcher=dispatcher,
        notifier=notifier,
        transport=transport,
        context=context,
    )

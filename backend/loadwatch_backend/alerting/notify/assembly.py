"""Notifications, put together."""

from collections.abc import Callable
from dataclasses import dataclass

from loadwatch_backend.alerting.notify.causes import Explain
from loadwatch_backend.alerting.notify.file.configuration import ConfigurationFile
from loadwatch_backend.alerting.notify.file.model import Configuration
from loadwatch_backend.alerting.notify.groups.dispatch import Dispatcher
from loadwatch_backend.alerting.notify.notifier import News, Notifier
from loadwatch_backend.alerting.notify.outbox.outbox import Outbox
from loadwatch_backend.alerting.notify.outbox.service import DeliveryService
from loadwatch_backend.alerting.notify.outbox.worker import Workers
from loadwatch_backend.alerting.notify.routing.holding import Holders
from loadwatch_backend.alerting.notify.routing.service import RoutingService
from loadwatch_backend.alerting.notify.senders.model import SendContext
from loadwatch_backend.alerting.notify.senders.sockets import Dialer, NetworkPolicy, NetworksError, parse_allowed
from loadwatch_backend.alerting.notify.senders.transport import Transport
from loadwatch_backend.alerting.notify.silences.repository import SilenceBook
from loadwatch_backend.alerting.notify.silences.service import SilenceService
from loadwatch_backend.core.database.leadership import Leadership
from loadwatch_backend.core.settings import SettingsError
from loadwatch_backend.findings.snapshot import FindingsSnapshot
from loadwatch_backend.series.foundation import Foundation


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationServices:
    configuration: Callable[[], Configuration]
    routing: RoutingService
    silences: SilenceService
    deliveries: DeliveryService
    dispatcher: Dispatcher
    notifier: Notifier
    transport: Transport
    context: SendContext

    def close(self) -> None:
        self.notifier.stop()
        self.transport.close()


def open_notifications(
    ground: Foundation,
    leadership: Leadership,
    news: News,
    explained: Explain,
    findings_now: Callable[[], FindingsSnapshot | None],
) -> NotificationServices:
    """Sent while this server leads; `findings_now` are the findings of the present, where they are known.

    Raises:
        SettingsError: networks that cannot be read.
    """
    settings, relational, clock = ground.settings, ground.relational, ground.clock
    try:
        policy = NetworkPolicy(allowed=parse_allowed(settings.notify_networks))
    except NetworksError as error:
        raise SettingsError(str(error)) from error
    file, fence = ConfigurationFile(settings.notifications, clock), leadership.check
    book = SilenceBook()
    holders = Holders(book, explained, findings_now)
    outbox = Outbox(clock)
    transport = Transport(Dialer(policy=policy))
    context = SendContext(transport=transport, clock=clock)
    dispatcher = Dispatcher(
        relational=relational, file=file, holders=holders, outbox=outbox, external_url=ground.external_url, fence=fence
    )
    workers = Workers(relational=relational, configuration=lambda: file.current, context=context, fence=fence)
    notifier = Notifier(
        relational=relational, dispatcher=dispatcher, outbox=outbox, workers=workers, clock=clock, news=news
    )
    file.subscribe(notifier.wake)
    services = NotificationServices(
        configuration=lambda: file.current,
        routing=RoutingService(relational, file, holders, clock),
        silences=SilenceService(relational, book, holders, clock),
        deliveries=DeliveryService(
            relational=relational,
            configuration=lambda: file.current,
            context=context,
            external_url=ground.external_url,
            wake=notifier.wake,
        ),
        dispatcher=dispatcher,
        notifier=notifier,
        transport=transport,
        context=context,
    )
    if settings.notifications is not None:
        ground.stack.enter_context(file.watch())
    leadership.subscribe(notifier.lead)
    ground.stack.callback(services.close)
    return services

"""Sends what is due. Runs on the server that leads, and on no other.

One thread queries deliveries that are due and claims them; others send. What follows from an attempt is written with
the attempt in one transaction. A process that dies leaves claims behind; the next one that leads takes them back at
once and sends again, with the same id.

An integration that fails rests between its turns, at each of which one message is tried, whoever of those that wait is
next; what was never tried does not wait for its turn, and the first that arrives has all the others sent.
"""

import itertools
import random as random_numbers
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from queue import SimpleQueue
from uuid import uuid4

import orjson
import structlog
from loadwatch_formats.backoff import backoff_seconds

from loadwatch_backend.alerting.notify.file.model import Configuration
from loadwatch_backend.alerting.notify.groups.repository import find_firing
from loadwatch_backend.alerting.notify.outbox.messages import DueDelivery, IntegrationKey, unpack
from loadwatch_backend.alerting.notify.outbox.outcomes import digest_of, postpone, record, timed_attempt
from loadwatch_backend.alerting.notify.outbox.repository import (
    any_waiting,
    claim,
    find_due,
    find_failing,
    find_waiting_since,
    forget_ended,
    hasten,
    hasten_integration,
    take_back,
    withdraw,
)
from loadwatch_backend.alerting.notify.outbox.schedule import CARE_MS, Random, is_due
from loadwatch_backend.alerting.notify.schemas import DeliveryState
from loadwatch_backend.alerting.notify.senders.model import AttemptOutcome, Integration, Result, SendContext, SendRules
from loadwatch_backend.alerting.notify.senders.registry import sender_of
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.outages import DatabaseError
from loadwatch_backend.core.database.relational import Relational, Session, Stillness
from loadwatch_backend.core.faults import fault
from loadwatch_backend.core.periodic import Periodic

KEPT_MS = 30 * 86_400_000
BATCH = 1_000
GIVEN_UP = "given up: nothing in it fires any more, and it could not be delivered for 24 hours"
NOWHERE = "given up: for 24 hours the configuration has had no such receiver or integration"


def keep_house(
    relational: Relational, now_ms: int, fence: Callable[[Session], None], known: Collection[IntegrationKey]
) -> int:
    """Give up what is over, and delete deliveries that ended and are older than 30 days; how many were deleted.

    In small transactions. `known` are the integrations of the configuration.
    """
    with relational.transaction() as session:
        fence(session)
        _give_up(session, now_ms, known)
    total = 0
    while True:
        with relational.transaction() as session:
            fence(session)
            deleted = forget_ended(session, now_ms - KEPT_MS, BATCH)
        if not deleted:
            return total
        total += deleted


def _give_up(session: Session, now_ms: int, known: Collection[IntegrationKey]) -> None:
    """Give up messages that waited for a day and whose alerts no longer fire or whose integration is gone."""
    waiting = find_waiting_since(session, now_ms - CARE_MS)
    firing = find_firing(session, lock=False) if waiting else {}
    for row in waiting:
        has_place = (row.receiver, row.integration) in known
        if has_place and not firing.keys().isdisjoint(orjson.loads(unpack(row.alert_keys))):
            continue
        withdraw(session, [row.seq], GIVEN_UP if has_place else NOWHERE, DeliveryState.DEAD)


logger = structlog.get_logger(__name__)

THREADS = 16
FAILING_THREADS = 12
"""Integrations that fail take no more threads than this together: others must not wait behind their time-outs."""
FAILING_PARALLEL = 1
POLL_SECONDS = 1.0
"""How late a change by another server (a retry, an enabled integration) may be seen."""
TAKE_BACK_SECONDS = 10.0
"""How often claims of others, and integrations that lead elsewhere now, are queried."""
HOUSE_SECONDS = 600.0
STOP_SECONDS = 5.0
MOST_FAILURES = 1_000
FAILURE_SECONDS = 600.0
"""Failures older than this are forgotten once there are more than `MOST_FAILURES`."""
MISSING_MS = 60_000
"""Pause before an integration that the configuration does not have is tried again."""

Fence = Callable[[Session], None]
"""Raises when this server does not lead any more; within the transaction that relies on it."""


@dataclass(slots=True, kw_only=True)
class SendCounts:
    """Since the start of the process."""

    attempts: Counter[str] = field(default_factory=Counter[str])
    kinds: Counter[str] = field(default_factory=Counter[str])
    seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class _Line:
    """What is under way to one integration; times are on the monotonic clock."""

    flying: int = 0
    not_before: float = 0.0
    failing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    due: DueDelivery
    claim: str


class Workers:
    """Start and stop as often as the lead comes and goes; `wake` from any thread."""

    def __init__(
        self,
        *,
        relational: Relational,
        configuration: Callable[[], Configuration],
        context: SendContext,
        fence: Fence,
        random: Random = random_numbers.random,
    ) -> None:
        self.counts = SendCounts()
        self._relational = relational
        self._configuration = configuration
        self._context = context
        self._fence = fence
        self._random = random
        self._lock = threading.Lock()
        self._lines: dict[IntegrationKey, _Line] = {}
        self._claims: set[str] = set()
        self._asked: dict[int, float] = {}
        self._failures: dict[str, float] = {}
        self._still = Stillness(relational, TAKE_BACK_SECONDS)
        self._stopping = threading.Event()
        self._taken_back = self._house_kept = 0.0
        self._routed_by: str = ""
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._senders: list[threading.Thread] = []
        self._feeder = Periodic("notify-feed", self._feed_due, POLL_SECONDS)

    @property
    def _clock(self) -> Clock:
        return self._context.clock

    def start(self) -> None:
        if self._senders:
            return
        self._stopping.clear()
        self._taken_back, self._house_kept = 0.0, time.monotonic()
        self._routed_by = ""
        self._jobs = SimpleQueue()
        self._senders = [
            threading.Thread(target=self._send_all, args=(self._jobs,), name=f"notify-send-{number}", daemon=True)
            for number in range(THREADS)
        ]
        for thread in self._senders:
            thread.start()
        self._feeder.start()

    def stop(self) -> None:
        """Claim nothing more, and wait a while for attempts under way; what does not end in time is sent again."""
        self._stopping.set()
        ends = time.monotonic() + STOP_SECONDS
        self._feeder.close(STOP_SECONDS)
        senders, self._senders = self._senders, []
        for _ in senders:
            self._jobs.put(None)
        for thread in senders:
            thread.join(max(0.0, ends - time.monotonic()))

    def wake(self) -> None:
        self._feeder.wake()

    # Looking for what is due ------------------------------------------------------------------------------------------

    def _feed_due(self) -> float:
        digest = self._configuration().digest
        if time.monotonic() - self._taken_back >= TAKE_BACK_SECONDS or digest != self._routed_by:
            self._take_back()
            self._welcome(begins=not self._routed_by)
            self._taken_back, self._routed_by = time.monotonic(), digest
        if time.monotonic() - self._house_kept >= HOUSE_SECONDS:
            receivers = self._configuration().receivers.values()
            known = {(one.name, integration.id) for one in receivers for integration in one.integrations}
            keep_house(self._relational, self._clock(), self._fence, known)
            self._house_kept = time.monotonic()
        return self._feed()

    def _welcome(self, *, begins: bool) -> None:
        """Try integrations at once that fail and lead elsewhere now, and when sending begins those that refuse.

        What they refused for may have been of this server: its settings, its certificates.
        """
        with self._relational.transaction() as session:
            for row in find_failing(session):
                key = row.receiver, row.integration
                integration = self._integration(key)
                if integration is None:
                    continue
                target = digest_of(integration)
                if target != row.target or (begins and row.refused):
                    self._fence(session)
                    row.target = target
                    hasten_integration(session, key, self._clock())

    def _take_back(self) -> None:
        with self._relational.transaction() as session:
            self._fence(session)
            with self._lock:
                mine = set(self._claims)
            count = take_back(session, mine)
        if count:
            logger.warning("deliveries were under way in a server that ended; they are sent again", count=count)

    def _feed(self) -> float:
        """Hand out all that can be sent now; the seconds until something may be to do again."""
        while True:
            busy, free, pause = self._busy()
            if not free:
                return pause
            claimed, seen = self._claim_some(busy, free)
            for job in claimed:
                self._jobs.put(job)
            if not seen:
                return pause

    def _busy(self) -> tuple[set[IntegrationKey], int, float]:
        """Integrations that may not be sent to now, how many threads are free, and how long to wait at most."""
        now = time.monotonic()
        pause = POLL_SECONDS
        with self._lock:
            crowded = self._crowded()
            busy: set[IntegrationKey] = set()
            for key, line in list(self._lines.items()):
                if line.not_before > now:
                    pause = min(pause, line.not_before - now)
                    busy.add(key)
                elif line.flying >= self._most(key, line) or (line.failing and crowded):
                    busy.add(key)
                elif not line.flying and not line.failing:
                    del self._lines[key]
            return busy, THREADS - len(self._claims), pause

    def _crowded(self) -> bool:
        return sum(line.flying for line in self._lines.values() if line.failing) >= FAILING_THREADS

    def _claim_some(self, busy: Collection[IntegrationKey], free: int) -> tuple[list[_Job], bool]:
        """Claim what there is; whether anything was found that was not busy."""
        jobs: list[_Job] = []
        if self._still.holds:
            return [], False
        written = self._relational.written
        with self._relational.transaction() as session:
            now_ms = self._clock()
            if not any_waiting(session):
                self._still.note(written)
                return [], False
            found = find_due(session, now_ms, busy, free, self._resting(session, now_ms))
            if not found:
                return [], False
            self._fence(session)
            for due in found:
                token = uuid4().hex
                if due.head is not None and not self._is_turn(due):
                    hasten(session, due.head)
                elif self._reserve(due.key, token):
                    if claim(session, due.seq, token):
                        jobs.append(_Job(due=due, claim=token))
                    else:
                        self._release(due.key, token)
        return jobs, True

    def _resting(self, session: Session, now_ms: int) -> set[IntegrationKey]:
        """Integrations that fail and whose turn has not come; at their turn they are sent one message."""
        rows = find_failing(session)
        with self._lock:
            for row in rows:
                self._lines.setdefault((row.receiver, row.integration), _Line()).failing = True
        return {(row.receiver, row.integration) for row in rows if not is_due(row.next_ms, row.delay_ms, now_ms)}

    def _integration(self, key: IntegrationKey) -> Integration | None:
        receiver = self._configuration().receivers.get(key[0])
        return None if receiver is None else receiver.integration(key[1])

    def _is_turn(self, due: DueDelivery) -> bool:
        """Whether the first of the group has failed again since it was asked for on behalf of this one.

        So a group that waits for its receiver is sent in order when that is back, and one whose first message can
        never be taken is sent the rest.
        """
        now = time.monotonic()
        with self._lock:
            asked = self._asked.setdefault(due.seq, now)
            if self._failures.get(due.order_hash, 0.0) <= asked:
                return False
            del self._asked[due.seq]
            return True

    def _note_failure(self, due: DueDelivery, result: Result) -> None:
        now = time.monotonic()
        with self._lock:
            self._asked.pop(due.seq, None)
            if result.outcome is not AttemptOutcome.DELIVERED and due.head is None:
                self._failures[due.order_hash] = now
            if len(self._failures) > MOST_FAILURES:
                self._failures = {key: at for key, at in self._failures.items() if now - at < FAILURE_SECONDS}

    # Places in line ---------------------------------------------------------------------------------------------------

    def _rules(self, key: IntegrationKey) -> SendRules:
        integration = self._integration(key)
        return SendRules() if integration is None else sender_of(integration).rules

    def _most(self, key: IntegrationKey, line: _Line) -> int:
        # One that fails takes one thread at most: others must not wait behind its time-outs.
        return FAILING_PARALLEL if line.failing else self._rules(key).parallel

    def _reserve(self, key: IntegrationKey, token: str) -> bool:
        now = time.monotonic()
        with self._lock:
            line = self._lines.setdefault(key, _Line())
            if line.flying >= self._most(key, line) or line.not_before > now or (line.failing and self._crowded()):
                return False
            line.flying += 1
            line.not_before = now + self._rules(key).pace_seconds
            self._claims.add(token)
            return True

    def _release(self, key: IntegrationKey, token: str, result: Result | None = None) -> None:
        with self._lock:
            line = self._lines.setdefault(key, _Line())
            line.flying = max(0, line.flying - 1)
            self._claims.discard(token)
            if result is not None:
                line.failing = result.outcome is not AttemptOutcome.DELIVERED
                if result.retry_after_seconds is not None:
                    line.not_before = time.monotonic() + result.retry_after_seconds

    # Sending ----------------------------------------------------------------------------------------------------------

    def _send_all(self, jobs: "SimpleQueue[_Job | None]") -> None:
        while (job := jobs.get()) is not None:
            result: Result | None = None
            try:
                result = self._send(job)
            except Exception:
                logger.exception("a delivery could not be handled", delivery=job.due.message.id)
            finally:
                self._release(job.due.key, job.claim, result)
                self._feeder.wake()

    def _send(self, job: _Job) -> Result | None:
        due = job.due
        integration = self._integration(due.key)
        if integration is None:
            self._miss(job)
            return None
        fault("after-claim")
        fresh = due.attempts == 0
        done = timed_attempt(due.key, integration, due.message, self._context, early=due.early, fresh=fresh)
        fault("after-send")
        with self._lock:
            self.counts.attempts[done.result.outcome.value] += 1
            self.counts.kinds[integration.kind] += 1
            self.counts.seconds += done.seconds
        self._write(lambda session: record(session, due.seq, job.claim, done, self._random))
        self._note_failure(due, done.result)
        fault("after-record")
        return done.result

    def _miss(self, job: _Job) -> None:
        """The configuration has no such integration: a new one may."""
        due = job.due
        now_ms = self._clock()
        reason = f"the configuration has no receiver {due.receiver!r} with an integration {due.integration!r}"
        self._write(lambda session: postpone(session, due.seq, job.claim, reason, now_ms, MISSING_MS))
        self._note_failure(due, Result(outcome=AttemptOutcome.PASSING))

    def _write(self, work: Callable[[Session], object]) -> None:
        """Note what was sent; a database that is away is waited for, or the message would be sent twice."""
        for failures in itertools.count():
            try:
                with self._relational.transaction() as session:
                    work(session)
                    return
            except DatabaseError as error:
                if self._stopping.is_set():
                    raise
                logger.warning("an attempt could not be noted; trying again", error=type(error).__name__)
                time.sleep(backoff_seconds(failures, 0.1, 5.0))

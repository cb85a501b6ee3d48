"""Orders for profiles: made, handed to agents one at a time for each process, and ended."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.core.schemas import Count, Milliseconds, Schema
from loadwatch_backend.evidence.files.schemas import EvidenceFile, EvidenceIn, EvidenceKind
from loadwatch_backend.evidence.files.service import EvidenceFiles
from loadwatch_backend.evidence.profiles.capture.planning import (
    MOST_A_RUN,
    MOST_PROCESSES,
    Cause,
    OpenOrder,
    OrderState,
    Process,
    ProfileOrderLimitError,
    ProfileOrderNotFoundError,
    ProfileOrderRuleError,
    RunNow,
    Wanted,
    given_up,
)
from loadwatch_backend.evidence.profiles.capture.repository import (
    add_orders,
    count_of_run,
    end,
    find_ended,
    find_of_run,
    find_open,
    find_order,
    take,
)
from loadwatch_backend.evidence.profiles.capture.tables import NAME_LENGTH, REASON_LENGTH, ProfileOrderRow

RUN_ID_PATTERN = r"^[a-z0-9][a-z0-9-]{2,39}$"
"""Of `runs.fields`, which this layer does not know."""
Name = Annotated[str, Field(min_length=1, max_length=NAME_LENGTH)]


class ProfileKindName(StrEnum):
    """A kind of profile that agents take."""

    CPU = "cpu"
    MUTEX = "mutex"
    BLOCK = "block"
    HEAP = "heap"
    GOROUTINE = "goroutine"
    ALLOCS = "allocs"


class AgentOrder(Schema):
    """A profile to take, as an agent is told."""

    id: Count
    job: str
    instance: str
    kind: ProfileKindName
    seconds: Count


class AgentOrderList(Schema):
    """What agents are to take now: of each process no more than one."""

    orders: list[AgentOrder]


class ProfileFailure(Schema):
    """Why a profile could not be taken."""

    reason: str = Field(max_length=2_000)


class ProfileOrderIn(Schema):
    """Profiles to take now, of a run under way; of all its processes unless `job` and `instance` name one."""

    run: str = Field(pattern=RUN_ID_PATTERN)
    kinds: list[ProfileKindName] = Field(min_length=1, max_length=6)
    job: Name | None = None
    instance: Name | None = None


class ProfileOrderOut(Schema):
    """An order and what became of it."""

    id: Count
    job: str
    instance: str
    kind: ProfileKindName
    seconds: Count
    cause: Cause
    asked_by: str = Field(description="The rule of the alert, or the person.")
    state: OrderState
    created_ms: Milliseconds
    taken_ms: Milliseconds | None
    ended_ms: Milliseconds | None
    reason: str = Field(description="Why it failed, in the words of the agent.")


class ProfileProcess(Schema):
    """A process that profiles can be taken of now."""

    job: str
    instance: str
    kinds: list[ProfileKindName]
    seconds: Count


class ProfileOrderList(Schema):
    """The orders of a run, and the processes that there are."""

    orders: list[ProfileOrderOut]
    processes: list[ProfileProcess]
    under_way: bool = Field(description="Whether profiles can be taken now: the run goes on.")


RunsNow = Callable[[], Sequence[RunNow]]
"""The runs that go on, the newest first."""
Processes = Callable[[], Sequence[Process]]


@dataclass(eq=False)
class ProfileOrders:
    """Safe to use from any thread."""

    _relational: Relational
    _files: EvidenceFiles
    _runs: RunsNow
    _processes: Processes
    _clock: Clock

    # People -----------------------------------------------------------------------------------------------------------

    def of_run(self, run_id: str) -> ProfileOrderList:
        """What was ordered of a run, the oldest first."""
        under_way = run_id in {run.id for run in self._runs()}
        with self._relational.transaction() as session:
            orders = [ProfileOrderOut.model_validate(row, from_attributes=True) for row in find_of_run(session, run_id)]
        return ProfileOrderList(
            orders=orders,
            processes=[ProfileProcess.model_validate(one, from_attributes=True) for one in self._processes()]
            if under_way
            else [],
            under_way=under_way,
        )

    def order(self, given: ProfileOrderIn, by: str) -> ProfileOrderList:
        """Order profiles by hand.

        Raises:
            ProfileOrderRuleError: the run does not go on, or there is no such process.
            ProfileOrderLimitError: the run has too many.
        """
        if given.run not in {run.id for run in self._runs()}:
            raise ProfileOrderRuleError(f"The run {given.run} does not go on: profiles are taken of runs under way.")
        kinds = {str(kind) for kind in given.kinds}
        wanted = [
            Wanted(
                run_id=given.run,
                job=process.job,
                instance=process.instance,
                kind=kind,
                seconds=process.seconds,
                cause=Cause.HAND,
                asked_by=by[:NAME_LENGTH],
            )
            for process in self._named(given)[:MOST_PROCESSES]
            for kind in process.kinds
            if kind in kinds
        ]
        if not wanted:
            raise ProfileOrderRuleError(
                f"No process offers {', '.join(sorted(kinds))}: its target needs a block pprof with these kinds, and "
                "its agent must be running."
            )
        with self._relational.transaction() as session:
            self.add(session, wanted)
        return self.of_run(given.run)

    def _named(self, given: ProfileOrderIn) -> list[Process]:
        return [
            one for one in self._processes() if given.job in (None, one.job) and given.instance in (None, one.instance)
        ]

    def add(self, session: Session, wanted: Sequence[Wanted]) -> None:
        """Write orders of one run.

        Raises:
            ProfileOrderLimitError: the run has too many.
        """
        if count_of_run(session, wanted[0].run_id) + len(wanted) > MOST_A_RUN:
            raise ProfileOrderLimitError(f"A run has at most {MOST_A_RUN} profiles; delete those that say nothing.")
        add_orders(session, wanted, self._clock())

    # Agents -----------------------------------------------------------------------------------------------------------

    def open(self, jobs: Sequence[str]) -> AgentOrderList:
        """What agents of these jobs are to take now; of a process at work on one there is nothing."""
        with self._relational.transaction() as session:
            busy: set[tuple[str, str]] = set()
            orders: list[AgentOrder] = []
            # Those being carried out come first, whatever their number.
            for row in sorted(find_open(session), key=lambda row: (row.taken_ms is None, row.id)):
                process = (row.job, row.instance)
                if process not in busy and row.taken_ms is None and row.job in jobs:
                    orders.append(_agent_order(row))
                busy.add(process)
        return AgentOrderList(orders=orders)

    def job_of(self, order_id: int) -> str:
        """The job of an order.

        Raises:
            ProfileOrderNotFoundError: there is none.
        """
        with self._relational.transaction() as session:
            row = find_order(session, order_id)
            if row is None:
                raise _gone(order_id)
            return row.job

    def begin(self, order_id: int) -> AgentOrder:
        """An agent begins; of two only one does.

        Raises:
            ProfileOrderNotFoundError: it is not to be taken, or not any more.
        """
        with self._relational.transaction() as session:
            if not take(session, order_id, self._clock()):
                raise _gone(order_id)
            row = find_order(session, order_id)
            if row is None:
                raise _gone(order_id)
            return _agent_order(row)

    def fail(self, order_id: int, reason: str) -> None:
        """An agent could not take it.

        Raises:
            ProfileOrderNotFoundError: it was not begun, or was given up.
        """
        with self._relational.transaction() as session:
            row = self._taken(session, order_id)
            end(session, row, OrderState.FAILED, self._clock(), reason=" ".join(reason.split())[:REASON_LENGTH])

    async def deliver(self, order_id: int, chunks: AsyncIterator[bytes], announced: int | None) -> EvidenceFile:
        """Keep the profile that an agent has taken, with its run.

        Raises:
            ProfileOrderNotFoundError: it was not begun, or was given up.
            RunNotFoundError, EvidenceLimitError, UploadTooLargeError, UploadBrokenError, DiskFullError.
        """
        run_id, given = await asyncio.to_thread(self._describe, order_id)
        kept = await self._files.receive(run_id, given, chunks, announced)
        await asyncio.to_thread(self._done, order_id, kept.id)
        return kept

    def _describe(self, order_id: int) -> tuple[str, EvidenceIn]:
        with self._relational.transaction() as session:
            row = self._taken(session, order_id)
            facts: dict[str, Any] = {
                "kind": row.kind,
                "job": row.job,
                "instance": row.instance,
                "seconds": row.seconds,
                "cause": row.cause,
                "asked_by": row.asked_by,
            }
            name = f"{row.kind}-{row.instance}.pb.gz"
            return row.run_id, EvidenceIn(kind=EvidenceKind.PROFILE, name=name, at_ms=row.taken_ms, facts=facts)

    def _done(self, order_id: int, file_id: str) -> None:
        with self._relational.transaction() as session:
            row = find_order(session, order_id)
            if row is not None:
                end(session, row, OrderState.DONE, self._clock(), file_id=file_id)

    def _taken(self, session: Session, order_id: int) -> ProfileOrderRow:
        row = find_order(session, order_id)
        if row is None or row.state != OrderState.TAKEN:
            raise _gone(order_id)
        return row

    # Time -------------------------------------------------------------------------------------------------------------

    def give_up(self, session: Session, under_way: set[str]) -> int:
        """Ends orders that can no longer be carried out; returns how many."""
        now_ms = self._clock()
        rows = find_open(session)
        last: dict[tuple[str, str], int] = {}
        for row in find_ended(session, {row.run_id for row in rows}):
            key = (row.job, row.instance)
            last[key] = max(last.get(key, 0), row.ended_ms or 0)
        for row in rows:
            if row.taken_ms is not None:
                last[row.job, row.instance] = now_ms
        ended = 0
        for row in rows:
            state = given_up(
                OpenOrder(
                    id=row.id,
                    run_id=row.run_id,
                    seconds=row.seconds,
                    created_ms=row.created_ms,
                    taken_ms=row.taken_ms,
                    free_ms=last.get((row.job, row.instance), 0),
                ),
                under_way,
                now_ms,
            )
            if state is not None:
                end(session, row, state, now_ms)
                ended += 1
        return ended


def _gone(order_id: int) -> ProfileOrderNotFoundError:
    return ProfileOrderNotFoundError(
        f"The order {order_id} is not to be carried out: another agent has it, or it is over."
    )


def _agent_order(row: ProfileOrderRow) -> AgentOrder:
    return AgentOrder.model_validate(row, from_attributes=True)

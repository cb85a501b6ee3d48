"""Configuration snapshots of runs: taken, kept, compared."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog
from pydantic import TypeAdapter

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.outages import ConstraintError
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.runs.errors import RunNotFoundError
from loadwatch_backend.runs.registry.documents import pack, unpack
from loadwatch_backend.runs.registry.repository import find_baseline, find_run, find_snapshots, find_taken, keep
from loadwatch_backend.runs.registry.tables import RunRow, RunSnapshotRow
from loadwatch_backend.runs.schemas import SettingOut, SnapshotOut, SnapshotWhen
from loadwatch_backend.runs.snapshots import ConfigurationDifference, SnapshotList, Snapshotter, difference

logger = structlog.get_logger(__name__)

_SETTINGS: TypeAdapter[list[SettingOut]] = TypeAdapter(list[SettingOut])
AHEAD_MS = 60_000
"""How far a run's time may be ahead of the server's: clocks are corrected by an estimate."""
ORDER = tuple(SnapshotWhen)


@dataclass(eq=False)
class Configuration:
    """Safe to use from any thread."""

    _relational: Relational
    _snapshots: Snapshotter
    _clock: Clock
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def capture(self, run_id: str, when: SnapshotWhen) -> None:
        """Take and keep a snapshot, in the place of one that is there; a failure is logged and costs nothing else."""
        with self._relational.transaction() as session:
            row = find_run(session, run_id)
            at_ms = row.started_ms if when is SnapshotWhen.BEFORE else row.ended_ms
        if at_ms is None or at_ms > self._clock() + AHEAD_MS:
            # What is in force today says nothing about a time that has not come.
            return
        try:
            settings = self._snapshots.take(min(at_ms, self._clock()))
        except Exception:
            logger.exception("no snapshot could be taken", run=run_id, when=when.value)
            return
        if not settings:
            return
        document = pack(_SETTINGS.dump_json(settings))
        try:
            with self._lock, self._relational.transaction() as session:
                find_run(session, run_id)
                keep(session, RunSnapshotRow(run_id=run_id, taken=when, at_ms=at_ms, document=document))
        except (RunNotFoundError, ConstraintError):
            logger.info("a run was deleted while its configuration was read", run=run_id)

    def capture_missing(self, run_id: str) -> None:
        """Take what is not there: of a run that was imported, for whose window there may be samples."""
        with self._relational.transaction() as session:
            known = find_taken(session, run_id)
        for when in ORDER:
            if when not in known:
                self.capture(run_id, when)

    def snapshots(self, run_id: str, *, everything: bool) -> SnapshotList:
        with self._relational.transaction() as session:
            find_run(session, run_id)
            found = read_snapshots(session, run_id)
        if everything:
            return SnapshotList(snapshots=found)
        return SnapshotList(
            snapshots=[
                one.model_copy(update={"settings": [setting for setting in one.settings if setting.important]})
                for one in found
            ]
        )

    def difference(self, run_id: str, base: str | None) -> ConfigurationDifference:
        """What differs between two runs before their load, the state that their results depend on.

        Raises:
            RunNotFoundError: there is no such run, or nobody said against which and its scenario has no baseline.
        """
        with self._relational.transaction() as session:
            row = find_run(session, run_id)
            against = base if base is not None else find_baseline(session, row.scenario)
            if against is None:
                return ConfigurationDifference(base="", run=run_id, changes=[], missing=_no_baseline(row))
            find_run(session, against)
            sides = {one: _first(read_snapshots(session, one)) for one in (against, run_id)}
        lacking = [one for one, snapshot in sides.items() if snapshot is None]
        if lacking:
            missing = f"There is no configuration of {' and '.join(lacking)}: no target sent any at that time."
            return ConfigurationDifference(base=against, run=run_id, changes=[], missing=missing)
        before, after = (sides[one] for one in (against, run_id))
        changes = difference([] if before is None else before.settings, [] if after is None else after.settings)
        return ConfigurationDifference(base=against, run=run_id, changes=changes, missing=None)


def read_snapshots(session: Session, run_id: str) -> list[SnapshotOut]:
    """All snapshots of a run, in order of time."""
    return [
        SnapshotOut(
            when=SnapshotWhen(row.taken), at_ms=row.at_ms, settings=_SETTINGS.validate_json(unpack(row.document))
        )
        for row in sorted(find_snapshots(session, run_id), key=lambda row: ORDER.index(SnapshotWhen(row.taken)))
    ]


def snapshot_row(run_id: str, snapshot: SnapshotOut) -> RunSnapshotRow:
    """A snapshot that another server took."""
    document = pack(_SETTINGS.dump_json(snapshot.settings))
    return RunSnapshotRow(run_id=run_id, taken=snapshot.when, at_ms=snapshot.at_ms, document=document)


def _first(snapshots: Sequence[SnapshotOut]) -> SnapshotOut | None:
    return snapshots[0] if snapshots else None


def _no_baseline(row: RunRow) -> str:
    if not row.scenario:
        return "The run has no scenario, so it has no baseline: name a run to compare it with."
    return f"The scenario {row.scenario!r} has no baseline: pin one, or name a run to compare this one with."

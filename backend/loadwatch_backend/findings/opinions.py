"""Rules of marks: one for each finding of a run, and mutes that hold for every finding on their target."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import orjson

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.core.errors import InvalidError, NotFoundError
from loadwatch_backend.findings.documents import headline_of
from loadwatch_backend.findings.model import Opinion, key_of
from loadwatch_backend.findings.repository import (
    MOST_MUTES,
    add_mark,
    delete_mark,
    find_mark,
    find_marks,
    find_mutes,
    find_newest,
)
from loadwatch_backend.findings.schemas import FindingOut, FindingsOut, MarkedOut, MarkIn, MarkList, MarkOut
from loadwatch_backend.findings.tables import OpinionRow


class MarkNotFoundError(NotFoundError, code="mark-not-found"):
    """There is no mute or mark with this id."""


class MuteLimitError(InvalidError, code="mute-limit"):
    """There are too many mutes."""


class Opinions:
    """Keeps what people mute and mark wrong; safe to use from any thread."""

    def __init__(self, relational: Relational, clock: Clock) -> None:
        self._relational = relational
        self._clock = clock

    def mark_wrong(self, run_id: str, finding: FindingOut, given: MarkIn, actor: str) -> MarkedOut:
        """Mark a finding of a run as wrong, in place of the mark before."""
        with self._relational.transaction() as session:
            for row in find_marks(session, [run_id]):
                if row.finding_key == finding.key:
                    delete_mark(session, row)
            row = self._row(Opinion.REJECTED, finding.id, finding.labels, given.reason, actor)
            row.run_id, row.finding_key = run_id, finding.key
            add_mark(session, row)
            return _marked_out(row)

    def mute(self, finding_id: str, labels: Mapping[str, str], reason: str, actor: str) -> MarkedOut:
        """Mute findings on a target; the same again changes nothing.

        Raises:
            MuteLimitError: there are as many as there may be.
        """
        with self._relational.transaction() as session:
            mutes = find_mutes(session)
            for row in mutes:
                if row.finding_id == finding_id and _labels(row) == labels:
                    return _marked_out(row)
            if len(mutes) >= MOST_MUTES:
                raise MuteLimitError(f"There are {MOST_MUTES} mutes already; take one back first.")
            row = self._row(Opinion.MUTED, finding_id, labels, reason, actor)
            add_mark(session, row)
            return _marked_out(row)

    def take_back(self, mark_id: int) -> None:
        """Take a mute or a mark back.

        Raises:
            MarkNotFoundError: there is none.
        """
        with self._relational.transaction() as session:
            row = find_mark(session, mark_id)
            if row is None:
                raise MarkNotFoundError(f"There is no mark {mark_id}.")
            delete_mark(session, row)

    def marks(self) -> MarkList:
        """Mutes and marks, the newest first."""
        with self._relational.transaction() as session:
            return MarkList(marks=[_marked_out(row) for row in find_newest(session)])

    def judged(self, session: Session, findings: Sequence[FindingOut], run_id: str | None = None) -> list[FindingOut]:
        marks = {} if run_id is None else {row.finding_key: row for row in find_marks(session, [run_id])}
        return with_opinions(findings, marks, find_mutes(session))

    def muted(self, session: Session, run_ids: Sequence[str]) -> Callable[[str, str, Mapping[str, str]], bool]:
        """Whether a finding of a run, by its id and labels, is muted or marked wrong: asked once for many."""
        mutes, marks = find_mutes(session), find_marks(session, run_ids)
        rejected = {(mark.run_id, mark.finding_key) for mark in marks if mark.opinion == Opinion.REJECTED}
        return lambda run_id, id, labels: (
            (run_id, key_of(id, labels)) in rejected or any(_mutes(mute, id, labels) for mute in mutes)
        )

    def judged_now(self, found: FindingsOut) -> FindingsOut:
        with self._relational.transaction() as session:
            judged = self.judged(session, found.findings, found.run or None)
        return found.model_copy(update={"findings": judged, "headline": headline_of(found, judged)})

    def _row(self, opinion: Opinion, finding_id: str, labels: Mapping[str, str], reason: str, actor: str) -> OpinionRow:
        return OpinionRow(
            opinion=opinion.value,
            finding_id=finding_id,
            finding_key="",
            labels=orjson.dumps(dict(labels), option=orjson.OPT_SORT_KEYS).decode(),
            reason=reason,
            author=actor,
            said_ms=self._clock(),
        )


def with_opinions(
    findings: Iterable[FindingOut], marks: Mapping[str, OpinionRow], mutes: Sequence[OpinionRow]
) -> list[FindingOut]:
    judged: list[FindingOut] = []
    for finding in findings:
        mark = marks.get(finding.key)
        mute = next((one for one in mutes if _mutes(one, finding.id, finding.labels)), None)
        update = {
            "mark": None if mark is None else MarkOut.model_validate(mark, from_attributes=True),
            "muted": mute is not None,
            "mute": None if mute is None else mute.id,
        }
        judged.append(finding.model_copy(update=update))
    return judged


def _mutes(mute: OpinionRow, id: str, labels: Mapping[str, str]) -> bool:
    return mute.finding_id == id and _labels(mute).items() <= labels.items()


def _labels(row: OpinionRow) -> dict[str, str]:
    return orjson.loads(row.labels)


def _marked_out(row: OpinionRow) -> MarkedOut:
    mark = MarkOut.model_validate(row, from_attributes=True)
    return MarkedOut(**dict(mark), run=row.run_id, finding_id=row.finding_id, labels=_labels(row))

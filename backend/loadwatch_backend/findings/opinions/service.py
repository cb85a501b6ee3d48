"""Rules of opinions: one for each finding of a run, and mutes that hold for every finding on their target."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import orjson

from loadwatch_backend.findings.documents import headline_of
from loadwatch_backend.findings.model import Opinion, key_of
from loadwatch_backend.findings.opinions.repository import (
    add_opinion,
    count_opinions,
    delete_opinion,
    find_marks,
    find_mute,
    find_mutes,
)
from loadwatch_backend.findings.opinions.schemas import MarkIn, MuteIn, MuteList, MuteOut, Precision, PrecisionRow
from loadwatch_backend.findings.opinions.tables import OpinionRow
from loadwatch_backend.findings.schemas import FindingOut, FindingsOut, MarkOut
from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.kit.errors import InvalidError, NotFoundError
from loadwatch_backend.store.relational import Relational, Session

MOST_MUTES = 500


class MuteNotFoundError(NotFoundError):
    """There is no mute with this id."""

    code = "mute-not-found"


class MuteLimitError(InvalidError):
    """There are too many mutes."""

    code = "mute-limit"


class Opinions:
    """Keeps what people say of findings; safe to use from any thread."""

    def __init__(self, relational: Relational, clock: Clock) -> None:
        self._relational = relational
        self._clock = clock

    def mark(self, run_id: str, finding: FindingOut, given: MarkIn, actor: str) -> None:
        """Keep an opinion on a finding of a run, or take it back."""
        with self._relational.transaction() as session:
            for row in find_marks(session, [run_id]):
                if row.finding_key == finding.key:
                    delete_opinion(session, row)
            if given.opinion is not None:
                add_opinion(session, self._row(run_id, finding.id, finding.key, finding.labels, given, actor))

    def mute(self, given: MuteIn, actor: str) -> MuteOut:
        """Mute findings on a target; the same again changes nothing.

        Raises:
            MuteLimitError: there are as many as there may be.
        """
        with self._relational.transaction() as session:
            mutes = find_mutes(session, MOST_MUTES)
            for row in mutes:
                if row.finding_id == given.finding_id and _labels(row) == given.labels:
                    return _mute_out(row)
            if len(mutes) >= MOST_MUTES:
                raise MuteLimitError(f"There are {MOST_MUTES} mutes already; take one back first.")
            row = self._row(None, given.finding_id, "", given.labels, given, actor)
            add_opinion(session, row)
            return _mute_out(row)

    def unmute(self, mute_id: int) -> None:
        """Take a mute back.

        Raises:
            MuteNotFoundError: there is none.
        """
        with self._relational.transaction() as session:
            row = find_mute(session, mute_id)
            if row is None:
                raise MuteNotFoundError(f"There is no mute {mute_id}.")
            delete_opinion(session, row)

    def mutes(self) -> MuteList:
        """All mutes, the newest first."""
        with self._relational.transaction() as session:
            return MuteList(mutes=[_mute_out(row) for row in find_mutes(session, MOST_MUTES)])

    def precision(self) -> Precision:
        """How often findings were right, by the people who looked."""
        counts: dict[str, dict[str, int]] = {}
        with self._relational.transaction() as session:
            for finding, opinion, number in count_opinions(session):
                counts.setdefault(finding, {})[opinion] = number
        rows = [_precision_row(finding, counts[finding]) for finding in sorted(counts)]
        confirmed, rejected = sum(row.confirmed for row in rows), sum(row.rejected for row in rows)
        return Precision(
            findings=rows, confirmed=confirmed, rejected=rejected, precision=_precision(confirmed, rejected)
        )

    def judged(self, session: Session, findings: Sequence[FindingOut], run_id: str | None = None) -> list[FindingOut]:
        """Findings with what people said of them."""
        marks = {} if run_id is None else {row.finding_key: row for row in find_marks(session, [run_id])}
        return with_opinions(findings, marks, find_mutes(session, MOST_MUTES))

    def muted(self, session: Session, run_ids: Sequence[str]) -> Callable[[str, str, Mapping[str, str]], bool]:
        """Whether a finding of a run, by its id and labels, is muted or rejected: one question for many findings."""
        mutes, marks = find_mutes(session, MOST_MUTES), find_marks(session, run_ids)
        rejected = {(mark.run_id, mark.finding_key) for mark in marks if mark.opinion == Opinion.REJECTED}
        return lambda run_id, id, labels: (
            (run_id, key_of(id, labels)) in rejected or any(_mutes(mute, id, labels) for mute in mutes)
        )

    def judged_now(self, found: FindingsOut) -> FindingsOut:
        """What is said of the present, with its findings `judged` in a transaction of its own."""
        with self._relational.transaction() as session:
            judged = self.judged(session, found.findings, found.run or None)
        return found.model_copy(update={"findings": judged, "headline": headline_of(found, judged)})

    def _row(
        self, run_id: str | None, id: str, key: str, labels: Mapping[str, str], given: MarkIn | MuteIn, actor: str
    ) -> OpinionRow:
        opinion = given.opinion if isinstance(given, MarkIn) and given.opinion is not None else Opinion.MUTED
        return OpinionRow(
            run_id=run_id,
            opinion=opinion.value,
            finding_id=id,
            finding_key=key,
            labels=orjson.dumps(dict(labels), option=orjson.OPT_SORT_KEYS).decode(),
            reason=given.reason,
            author=actor,
            said_ms=self._clock(),
        )


def with_opinions(
    findings: Iterable[FindingOut], marks: Mapping[str, OpinionRow], mutes: Sequence[OpinionRow]
) -> list[FindingOut]:
    """Findings with the opinion on each, and whether it is muted. Pure."""
    return [
        finding.model_copy(
            update={
                "mark": None if finding.key not in marks else _mark_out(marks[finding.key]),
                "muted": any(_mutes(mute, finding.id, finding.labels) for mute in mutes),
            }
        )
        for finding in findings
    ]


def _mutes(mute: OpinionRow, id: str, labels: Mapping[str, str]) -> bool:
    return mute.finding_id == id and _labels(mute).items() <= labels.items()


def _labels(row: OpinionRow) -> dict[str, str]:
    return orjson.loads(row.labels)


def _mark_out(row: OpinionRow) -> MarkOut:
    return MarkOut(opinion=Opinion(row.opinion), reason=row.reason, author=row.author, said_ms=row.said_ms)


def _mute_out(row: OpinionRow) -> MuteOut:
    return MuteOut(
        id=row.id,
        finding_id=row.finding_id,
        labels=_labels(row),
        reason=row.reason,
        author=row.author,
        said_ms=row.said_ms,
    )


def _precision_row(finding: str, counts: Mapping[str, int]) -> PrecisionRow:
    confirmed, rejected = counts.get(Opinion.CONFIRMED, 0), counts.get(Opinion.REJECTED, 0)
    return PrecisionRow(
        finding_id=finding,
        confirmed=confirmed,
        rejected=rejected,
        muted=counts.get(Opinion.MUTED, 0),
        precision=_precision(confirmed, rejected),
    )


def _precision(confirmed: int, rejected: int) -> float | None:
    return confirmed / (confirmed + rejected) if confirmed + rejected else None

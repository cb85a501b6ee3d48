"""Executions of prepared statements, which servers do not count by their text. Pure.

A prepared statement has a row of its own while it lives. What it did after the last reading is lost with it; how much
that is tells the sum over all executions, which servers keep.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from loadwatch_formats.statements.fingerprint import digest_of, first_word
from loadwatch_formats.statements.masking import mask

from loadwatch_collectors.sources.statements import NOTHING, Counts, Key, add, subtract

MOST_INSTANCES = 20_000


class Instance(NamedTuple):
    """One prepared statement of one session; `id` is never used again while the server runs."""

    id: tuple[str, ...]
    text: str
    schema: str
    counts: Counts


class Executed(NamedTuple):
    """What prepared statements did since the last reading; `unseen` is what no text is known of."""

    grown: Mapping[Key, Counts]
    texts: Mapping[Key, str]
    words: Mapping[Key, str]
    unseen: Counts


class PreparedStatements:
    """Remembers the rows of prepared statements, and tells how they grew."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], Counts] = {}
        self._begun = False
        self._total: Counts | None = None
        self._seen = NOTHING
        self._unseen = NOTHING
        self._all = NOTHING

    def update(self, instances: Sequence[Instance], total: Counts) -> Executed:
        """What was executed since the last reading.

        Args:
            instances: every prepared statement that is there.
            total: of all executions since the server began.
        """
        grown: dict[Key, Counts] = {}
        texts: dict[Key, str] = {}
        words: dict[Key, str] = {}
        seen = NOTHING
        known: dict[tuple[str, ...], Counts] = {}
        for one in instances[:MOST_INSTANCES]:
            before = self._known.get(one.id)
            known[one.id] = one.counts
            if before is None:
                step = one.counts if self._begun else NOTHING
            else:
                step = subtract(one.counts, before) if one.counts[0] >= before[0] else one.counts
            if step == NOTHING:
                continue
            key = Key(one.schema, digest_of(one.text))
            grown[key] = add(grown.get(key, NOTHING), step)
            texts[key], words[key] = mask(one.text), first_word(one.text)
            seen = add(seen, step)
        self._known, self._begun = known, True
        return Executed(grown=grown, texts=texts, words=words, unseen=self._missing(total, seen))

    def _missing(self, total: Counts, seen: Counts) -> Counts:
        """What the sum over all executions has more. The two are read one after the other, so it may come back."""
        before, self._total = self._total, total
        if before is None:
            return NOTHING
        self._all = add(self._all, total if total[0] < before[0] else subtract(total, before))
        self._seen = add(self._seen, seen)
        missing = subtract(self._all, self._seen)
        step = subtract(missing, self._unseen)
        if not step[0]:  # sums of times differ by what was read between the two readings; no call, nothing missing
            return NOTHING
        self._unseen = add(self._unseen, step)
        return step

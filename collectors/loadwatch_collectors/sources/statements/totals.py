"""Running sums by statement as samples: the dearest by name, the rest together, no sum ever falling. Pure."""

from collections.abc import Iterable, Mapping

from loadwatch_formats.metrics.mysql_statements import FIELDS, OTHER, UNSEEN
from loadwatch_formats.own_traffic import COMMENT, NAME

from loadwatch_collectors.collector import KEPT, Labels, Sample
from loadwatch_collectors.sources.statements.counts import MOST_KNOWN, NOTHING, SECONDS, Counts, Key, add

REPEAT_MS = 30_000
"""A sum that stands still is sent again so often: who asks for the newest value looks back five minutes at most."""
OVERTAKING = 2.0
"""How many times the time of the least of those with a name one must have taken to get a name in its place."""
OTHER_KEY, UNSEEN_KEY, OWN_KEY = Key("", OTHER), Key("", UNSEEN), Key("", NAME)
TEXTS = {
    OTHER_KEY: "(all other statements)",
    OWN_KEY: "(Loadwatch's own statements)",
    UNSEEN_KEY: "(prepared statements whose text was gone before it could be read)",
}
LABELS = ("schema", "digest", "digest_text")


class _Named:
    """A statement with series of its own."""

    def __init__(self, labels: Labels, born_ms: int) -> None:
        self.labels = labels
        self.counts = NOTHING
        self.sent: list[float | None] = [None] * len(NOTHING)
        self.born_ms = born_ms
        self.sent_ms = 0


class Totals:
    """Sums by statement since the collector began."""

    def __init__(
        self,
        most: int,
        now_ms: int,
        *,
        names: Mapping[str, str] = FIELDS,
        labels: tuple[str, str, str] = LABELS,
    ) -> None:
        """`most` statements have names at a time.

        Args:
            most: see above.
            now_ms: since when is counted.
            names: of the metrics, by the field that they tell; fields without one are not sent.
            labels: names of the labels for database, digest and text.
        """
        self._most = most
        self._names = [(place, names[field]) for place, field in enumerate(FIELDS) if field in names]
        self._labels = labels
        self._named: dict[Key, _Named] = {}
        self._waiting: dict[Key, Counts] = {}
        self._before_ms = now_ms
        self._own: set[Key] = set()

    def wanted(self, grown: Mapping[Key, Counts]) -> list[Key]:
        """Those that get a name with this reading, if their texts can be told; the dearest first."""
        for key, counts in grown.items():
            if (
                key not in self._named
                and key not in self._own
                and (key in self._waiting or len(self._waiting) < MOST_KNOWN)
            ):
                self._waiting[key] = add(self._waiting.get(key, NOTHING), counts)
        fresh = [key for key in grown if key in self._waiting]
        fresh.sort(key=lambda key: -self._waiting[key][SECONDS])
        room = self._most - sum(key not in TEXTS for key in self._named)
        if len(fresh) <= room:
            return fresh
        held = sorted((named.counts[SECONDS], key) for key, named in self._named.items() if key not in TEXTS)
        chosen = fresh[: max(room, 0)]
        for key, (least, loser) in zip(fresh[max(room, 0) :], held, strict=False):
            if self._waiting[key][SECONDS] < OVERTAKING * least or not self._waiting[key][SECONDS]:
                break
            # Its series ends; what it does from now on is among the others.
            del self._named[loser]
            chosen.append(key)
        return chosen

    def add(self, grown: Mapping[Key, Counts], texts: Mapping[Key, str]) -> None:
        """Count what has grown; those of `wanted` have their texts in `texts`: own ones have `COMMENT` in theirs."""
        own = {key for key, text in texts.items() if COMMENT in text}
        self._own |= own
        for key in own:
            self._waiting.pop(key, None)
        texts = {**texts, OWN_KEY: TEXTS[OWN_KEY]}
        for statement, counts in grown.items():
            key = OWN_KEY if statement in self._own else statement
            named = self._named.get(key)
            if named is None and key in texts:
                named = self._named[key] = self._name(key, texts[key])
                self._waiting.pop(key, None)
            if named is None:
                named = self._named.setdefault(OTHER_KEY, self._name(OTHER_KEY, TEXTS[OTHER_KEY]))
            named.counts = add(named.counts, counts)

    def samples(self, now_ms: int) -> Iterable[Sample]:
        """All sums; those that did not change are marked as kept.

        A series that begins has a 0 at the time of the reading before, so that what it grew by then is not lost.
        """
        for named in self._named.values():
            repeat = now_ms - named.sent_ms >= REPEAT_MS
            for place, name in self._names:
                value, before = named.counts[place], named.sent[place]
                if before is None:
                    yield Sample(name, value, named.labels)
                    if named.born_ms < now_ms:
                        yield Sample(name, 0.0, named.labels, named.born_ms)
                elif before != value or repeat:
                    yield Sample(name, value, named.labels)
                else:
                    yield Sample(name, value, named.labels, KEPT)
                named.sent[place] = value
            if repeat:
                named.sent_ms = now_ms
        self._before_ms = now_ms

    def _name(self, key: Key, text: str) -> _Named:
        return _Named(tuple(zip(self._labels, (*key, text), strict=True)), self._before_ms)

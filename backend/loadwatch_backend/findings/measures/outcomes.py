"""How a detector is written: a function that yields what it sees of each target. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.evidence import evidence
from loadwatch_backend.findings.measures.facts import since_start, together
from loadwatch_backend.findings.messages import DECLARED, kind, message, messages, step
from loadwatch_backend.findings.model import Detector, Evidence, Finding, Look, Severity, Step
from loadwatch_backend.findings.window import Episode, Window


@dataclass(frozen=True, slots=True)
class Clear:
    """Outcome of a detector that rules its finding out, with the figure that shows it."""

    words: Words


@dataclass(frozen=True, slots=True)
class Observation:
    """Outcome of a detector that saw something full or unusual which did no harm."""

    words: Words


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Outcome of a detector that cannot decide although its metrics are there, with the reason."""

    words: Words


Outcome = Finding | Clear | Observation | Unjudged


def detector(
    id: str, *, needs: Sequence[str] = (), reads: Sequence[str] = (), least_seconds: float = 0.0
) -> Callable[[Callable[[Window], Iterator[Outcome]]], Detector]:
    """Makes a detector of the function below it; the arguments are those of `Detector`, the rest is in the messages."""

    def declare(see: Callable[[Window], Iterator[Outcome]]) -> Detector:
        return Detector(
            kind=kind(id),
            look=lambda window: gather(see(window)),
            needs=needs,
            reads=reads,
            least_seconds=least_seconds,
            **{name: messages()[id][name] for name in DECLARED if name in messages()[id]},
        )

    return declare


def gather(outcomes: Iterable[Outcome]) -> Look:
    seen = list(outcomes)
    return Look(
        findings=[one for one in seen if isinstance(one, Finding)],
        clear=together([one.words for one in seen if isinstance(one, Clear)]),
        unjudged=together([one.words for one in seen if isinstance(one, Unjudged)]),
        observations=[one.words for one in seen if isinstance(one, Observation)],
    )


class Draft:
    """A finding in the making, of an episode or of the whole window: its texts share their fields.

    `labels` are a field, too. Of its sentence and steps `when` and `at` say since when it is so, as `since_start` has
    it, and `last` is what the last evidence says.
    """

    def __init__(self, window: Window, episode: Episode | None, labels: Mapping[str, str], /, **fields: object) -> None:
        self._window, self._labels = window, labels
        self._from_ms, self._to_ms = window.from_ms, window.to_ms
        if episode is not None:
            self._from_ms, self._to_ms = window.grid.time_ms(episode.first), window.grid.time_ms(episode.end - 1)
        self._fields: dict[str, object] = {"labels": labels, **fields}

    def show(
        self,
        key: str,
        values: FloatArray | float,
        /,
        *,
        value: float | None = None,
        at: int | None = None,
        limit: float | None = None,
        **more: object,
    ) -> Evidence:
        return evidence(self._window, key, values, value=value, at=at, limit=limit, **{**self._fields, **more})

    def finding(
        self,
        key: str,
        shown: Sequence[Evidence],
        steps: Sequence[Step | str] | None = None,
        /,
        *,
        severity: Severity | None = None,
        follows: Sequence[str] | None = None,
        **more: object,
    ) -> Finding:
        """`key` names the sentence; the part before its dot is the kind. `steps` default to the kind's."""
        id = key.partition(".")[0]
        fields = {
            "when": since_start(self._window, self._from_ms),
            "at": since_start(self._window, self._from_ms, "at "),
            "last": shown[-1].text if shown else SILENT,
            **self._fields,
            **more,
        }
        sentence = message(key, **fields)
        return Finding(
            kind=kind(id),
            sentence=Words(sentence.en.rstrip(), sentence.ja),
            from_ms=self._from_ms,
            to_ms=self._to_ms,
            labels=self._labels,
            evidence=shown,
            steps=[
                step(one, **fields) if isinstance(one, str) else one
                for one in (messages()[id].get("steps", ()) if steps is None else steps)
            ],
            severity=severity,
            follows=follows,
        )


def further(seen: Sequence[Evidence]) -> Words:
    return Words(f" {seen[0].text.en}", seen[0].text.ja) if seen else SILENT

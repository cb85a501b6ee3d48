"""How a detector is written: a function that yields what it sees of each target. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.findings.measures.facts import since_start, together
from loadwatch_backend.findings.messages import DECLARED, kind, message, messages
from loadwatch_backend.findings.model import Detector, Evidence, Finding, Look, Severity, Step
from loadwatch_backend.findings.window import Episode, Window


@dataclass(frozen=True, slots=True)
class Clear:
    """Why it is not this, with the figure that shows it."""

    words: Words


@dataclass(frozen=True, slots=True)
class Observation:
    """What was full or unusual and hurt nobody."""

    words: Words


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Why it cannot tell, though its metrics are there."""

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
    """All that was yielded, as one look."""
    seen = list(outcomes)
    return Look(
        findings=[one for one in seen if isinstance(one, Finding)],
        clear=together([one.words for one in seen if isinstance(one, Clear)]),
        unjudged=together([one.words for one in seen if isinstance(one, Unjudged)]),
        observations=[one.words for one in seen if isinstance(one, Observation)],
    )


def finding(
    window: Window,
    episode: Episode | None,
    key: str,
    /,
    *,
    labels: Mapping[str, str],
    evidence: Sequence[Evidence],
    steps: Sequence[Step] = (),
    severity: Severity | None = None,
    follows: Sequence[str] | None = None,
    **fields: object,
) -> Finding:
    """A finding of an episode, or of the whole window; `key` is that of its sentence, before the dot stands the kind.

    Fields of every sentence are `when` and `at`: since when it is so, as `since_start` has it.
    """
    from_ms, to_ms = window.from_ms, window.to_ms
    if episode is not None:
        from_ms, to_ms = window.grid.time_ms(episode.first), window.grid.time_ms(episode.end - 1)
    fields |= {"when": since_start(window, from_ms), "at": since_start(window, from_ms, "at ")}
    sentence = message(key, **fields)
    return Finding(
        kind=kind(key.partition(".")[0]),
        sentence=Words(sentence.en.rstrip(), sentence.ja),
        from_ms=from_ms,
        to_ms=to_ms,
        labels=labels,
        evidence=evidence,
        steps=steps,
        severity=severity,
        follows=follows,
    )


def further(seen: Sequence[Evidence]) -> Words:
    """The first of what was seen as one more sentence; nothing without any."""
    return Words(f" {seen[0].text.en}", seen[0].text.ja) if seen else SILENT

"""What a finding is, what it is made of, and what a detector gives. No I/O."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from loadwatch_backend.catalogue.signals.model import Unit
from loadwatch_backend.core.texts.words import Words

if TYPE_CHECKING:
    from loadwatch_backend.findings.window import Window

ENGINE = 3
"""Version of the engine: raised with every change that may say something else of the same samples."""


class Severity(StrEnum):
    """How bad it is, worst first."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"
    """Worth knowing, and nobody's fault: noise of the host, say. It accuses nothing."""


class Link(StrEnum):
    """What a piece of evidence shows; together they are the chain that a finding stands on."""

    LIMIT = "limit"
    """Something is at its limit, or set so that it has to be."""
    DEMAND = "demand"
    """More was wanted than there was: waits, refusals, drops, a queue."""
    EFFECT = "effect"
    """Somebody outside felt it: failures, slow answers, late rows."""


class Certainty(StrEnum):
    """How complete the chain of evidence is; no score."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A few values over the window; value i is of `start_ms + i * step_ms` up to the next; None where there is none."""

    start_ms: int
    step_ms: int
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One measured thing.

    Attributes:
        text: what it says, with its figure.
        expression: PromQL that shows it, for whoever wants to look.
        value, at_ms: the figure and its time, in `unit`.
        limit: what it is held against; None without one.
    """

    text: Words
    link: Link
    expression: str
    unit: Unit
    value: float
    at_ms: int
    limit: float | None = None
    chart: Chart | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What to do next, with values; `code` is to be pasted."""

    text: Words
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule of thumb and where it comes from."""

    text: Words
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What all findings of one id share.

    Attributes:
        id: stable, documented; the page, the API, silences and marks refer to it.
        explanation: why this happens and what it does.
        is_fact: what it says was read as it stands, such as two versions; there is no chain to complete.
        refuted_by: what would show that the finding is wrong.
        resource: id of the signals' resource that runs out; empty where it is none of those.
    """

    id: str
    severity: Severity
    title: Words
    explanation: Words
    rule: Rule
    refuted_by: Words
    is_fact: bool = False
    resource: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harm:
    """What one instance suffers, by which the instances of a fleet are held against each other.

    Attributes:
        lost: all of it, such as the seconds that its requests waited together: where most is lost is the worst.
        seconds: what one request suffers; NaN where nothing tells.
        words: what it does for so long, with {} for the time.
    """

    lost: float
    seconds: float
    words: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A diagnosed limit.

    Attributes:
        sentence: says it aloud, with its figures.
        from_ms: when harm began.
        to_ms: when it was last seen.
        labels: of the target it is about; those of a fleet's finding name no instance.
        instances: those that a fleet's finding is about, the worst first; none of a single one.
    """

    kind: Kind
    sentence: Words
    from_ms: int
    to_ms: int
    labels: Mapping[str, str]
    evidence: Sequence[Evidence]
    steps: Sequence[Step] = ()
    severity: Severity | None = None
    """Other than the kind's."""
    follows: Sequence[str] | None = None
    """Fewer possible causes than those of the detector, where this one cannot follow from some."""
    harm: Harm | None = None
    instances: Sequence[str] = ()
    surest: Certainty = Certainty.CERTAIN
    """No surer than this, whatever evidence there is."""
    began_earlier: bool = False
    """It began at `from_ms` or at any time before: nobody looked further back."""

    @property
    def id(self) -> str:
        """The kind's."""
        return self.kind.id

    @property
    def key(self) -> str:
        """Tells it from others of its window: the id, and its labels where there are any."""
        return key_of(self.kind.id, self.labels)

    @property
    def weight(self) -> Severity:
        """How bad it is."""
        return self.severity or self.kind.severity

    @property
    def certainty(self) -> Certainty:
        """By how many kinds of evidence there are."""
        if self.kind.is_fact:
            return Certainty.CERTAIN
        found = _CERTAINTY[len({one.link for one in self.evidence})]
        return max(found, self.surest, key=list(Certainty).index)


def key_of(id: str, labels: Mapping[str, str]) -> str:
    """The id, and labels where there are any."""
    return "|".join([id, *(f"{name}={labels[name]}" for name in sorted(labels))])


_CERTAINTY = {0: Certainty.POSSIBLE, 1: Certainty.POSSIBLE, 2: Certainty.LIKELY, 3: Certainty.CERTAIN}


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a detector saw.

    Attributes:
        clear: why it is not this, with the figure that shows it; None where nothing could be seen.
        unjudged: why it cannot tell, though its metrics are there: "needs 20 s of load; there were 12 s".
        observations: what was full or unusual and hurt nobody.
    """

    findings: Sequence[Finding] = ()
    clear: Words | None = None
    unjudged: Words | None = None
    observations: Sequence[Words] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """One way to run out.

    Attributes:
        needs: metrics that it cannot do without; none of them in the window is "cannot tell".
        reads: further metrics that it looks at.
        follows: ids of findings that may be the cause of this one.
        usual: a system of the usual kind has what it needs; without it, nobody can say that nothing ran out.
        switched_on_by: lines of loadwatch.yml that bring what it needs; empty where no line does.
        least_seconds: in a shorter time it finds nothing, and cannot tell.
        measures: it looks at a system, and at none of `needs`: what it needs is there.
    """

    kind: Kind
    look: "Callable[[Window], Look]"
    needs: Sequence[str]
    reads: Sequence[str] = ()
    follows: Sequence[str] = ()
    usual: bool = True
    switched_on_by: str = ""
    least_seconds: float = 0.0
    measures: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A kind that was looked at and was not it, or that could not be judged, and why."""

    kind: Kind
    text: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """What could not be looked at, with the lines that switch it on."""

    kind: Kind
    needs: Sequence[str]
    switched_on_by: str
    usual: bool = True
    unwatched: bool = False
    """It is seen to be used: the lines are those of its own host and port."""


class Opinion(StrEnum):
    """What people say of a finding."""

    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    MUTED = "muted"
    """Not to be said any more on this target."""


class HeadlineKind(StrEnum):
    """What is said first of a window."""

    FOUND = "found"
    MUTED = "muted"
    """What accuses is muted or marked wrong, and nothing else does."""
    FULL = "full"
    """Something was full, and no harm was seen."""
    NONE = "none"
    CANNOT_TELL = "cannot-tell"


class DiagnosisState(StrEnum):
    """The answer in one word."""

    FOUND = "found"
    NONE = "none"
    CANNOT_TELL = "cannot-tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What is said of a window.

    Attributes:
        findings: in order: causes before consequences, then by when harm began; those that accuse nothing last.
        because_of: keys of the causes, by the key of the consequence.
        unjudged: kinds that had their metrics and could not tell.
        symptoms: what went wrong with the load, whether or not a finding explains it.
        failed: detectors that ended with an error of their own, by id; what they would have said is unknown.
    """

    state: DiagnosisState
    from_ms: int
    to_ms: int
    findings: Sequence[Finding] = ()
    because_of: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    observations: Sequence[Words] = ()
    checked: Sequence[Checked] = ()
    unjudged: Sequence[Checked] = ()
    symptoms: Sequence[Words] = ()
    missing: Sequence[Missing] = ()
    failed: Mapping[str, Exception] = field(default_factory=dict[str, Exception])
    engine: int = ENGINE

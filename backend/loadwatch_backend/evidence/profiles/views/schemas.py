"""Documents of profiles."""

from pydantic import Field

from loadwatch_backend.core.schemas import Count, Milliseconds, Schema
from loadwatch_backend.evidence.request_counts import Normalised, RequestsBy


class ProfileOut(Schema):
    """A profile that is kept with a run: an evidence file, and what it is of."""

    id: str
    name: str
    kind: str = Field(description="cpu, mutex, block, heap, goroutine, allocs, or what its content was recognised as.")
    job: str = Field(description="Empty for a file that somebody brought.")
    instance: str
    at_ms: Milliseconds
    seconds: float | None = Field(description="How long it was taken; None where nothing tells.")
    cause: str = Field(description="run, alert, hand or upload.")
    asked_by: str
    bytes: Count
    requests: float | None = Field(description="Of the whole run, in those seconds.")
    requests_by: RequestsBy | None = Field(description="Who counted them.")


class ProfileRun(Schema):
    """A run with its profiles."""

    run: str
    name: str
    profiles: list[ProfileOut]


class ProfileBase(Schema):
    """A run that profiles can be held against."""

    run: str
    name: str
    started_ms: Milliseconds


class ProfileList(Schema):
    """Profiles of a run, and those of the run that it is held against."""

    profiles: list[ProfileOut]
    base: ProfileRun | None
    baseline: str | None = Field(description="The run that it is held against where nobody says which.")
    bases: list[ProfileBase] = Field(description="Other runs of the scenario that keep profiles, the newest first.")


class SampleTypeOut(Schema):
    """What a value counts, in the words of the profile."""

    name: str
    unit: str


class ProfileFunction(Schema):
    """A function: what it took itself (flat), and with all it called (cum)."""

    name: str
    file: str
    flat: float
    cum: float
    base_flat: float | None
    base_cum: float | None
    words: str | None = Field(description="What a known function means, in the language asked for.")


class ProfileTree(Schema):
    """All stacks as one tree, in columns: a parent stands before its children, the first node is the root."""

    names: list[str]
    func: list[int] = Field(description="Of each node the place of its name.")
    parent: list[int]
    value: list[float]
    own: list[float] = Field(description="Of the stacks that end at the node.")
    base: list[float] | None
    base_own: list[float] | None
    hidden: dict[str, int] = Field(description='Of nodes named "(other)", how many each stands for.')


class ProfileStack(Schema):
    """A stack that one side has and the other has not; the leaf first."""

    functions: list[str]
    value: float


class ProfileStacks(Schema):
    """Stacks of one side only, the largest first; `smaller` ones may be missing on the other by chance."""

    stacks: list[ProfileStack]
    count: Count
    smaller: Count


class LabelValue(Schema):
    """What fell on one value of a label."""

    text: str
    value: float


class ProfileLabel(Schema):
    """A profile by the values of a label that the application set, such as its route."""

    key: str
    values: list[LabelValue]
    without: float


class ProfileView(Schema):
    """One or several profiles of a kind together, alone or held against others."""

    kind: str = Field(description="As of a profile in the list.")
    type: SampleTypeOut
    types: list[SampleTypeOut]
    total: float = Field(description="Of all stacks, without their signs, as pprof takes shares of.")
    base_total: float | None
    normalised: Normalised
    requests: float | None
    base_requests: float | None
    requests_by: RequestsBy | None = Field(description="Who counted them: `routes` where it was so on either side.")
    functions: list[ProfileFunction]
    function_count: Count
    tree: ProfileTree
    new: ProfileStacks | None
    gone: ProfileStacks | None
    labels: list[ProfileLabel]
    notes: list[str] = Field(description="What was cut or left out while it was read.")

"""Documents of opinions."""

from typing import Annotated

from pydantic import AfterValidator, Field

from loadwatch_backend.findings.model import Opinion
from loadwatch_backend.kit.schemas import Count, Milliseconds, Schema

KEY_LENGTH = 4_000
REASON_LENGTH = 2_000
MOST_LABELS = 5


def _printable(text: str) -> str:
    """Refuse what no keyboard sends and some databases cannot store, such as NUL."""
    for character in text:
        if ord(character) < 32 and character not in "\n\t":
            raise ValueError(f"must not hold the control character U+{ord(character):04X}")
    return text


FindingId = Annotated[str, Field(pattern=r"^[a-z0-9-]{1,64}$", examples=["pool-exhausted"])]
Line = Annotated[str, Field(max_length=200), AfterValidator(_printable)]
Author = Annotated[
    str,
    Field(max_length=100, description="Who says it; left empty, who is signed in."),
    AfterValidator(_printable),
]
Reason = Annotated[str, Field(max_length=REASON_LENGTH), AfterValidator(_printable)]


class MarkIn(Schema):
    """An opinion on a finding of a run; it takes the place of the one before."""

    key: Annotated[str, Field(min_length=1, max_length=KEY_LENGTH), AfterValidator(_printable)] = Field(
        description="The finding's key."
    )
    opinion: Opinion | None = Field(description="`confirmed`, `rejected`, or null to take it back.")
    reason: Reason = Field(default="", description="Why; asked for where a finding is rejected.")
    author: Author = ""


class MuteIn(Schema):
    """Findings of this id, on targets with all of these labels, are not said any more."""

    finding_id: FindingId
    labels: Annotated[dict[Line, Line], Field(max_length=MOST_LABELS)] = Field(
        default_factory=dict[str, str],
        description="None mute the finding everywhere.",
        examples=[{"instance": "app-1"}],
    )
    reason: Reason = ""
    author: Author = ""


class MuteOut(MuteIn):
    """A mute that stands."""

    id: int
    said_ms: Milliseconds


class MuteList(Schema):
    """All mutes, the newest first."""

    mutes: list[MuteOut]


class PrecisionRow(Schema):
    """How often one finding was right, by the people who looked."""

    finding_id: str
    confirmed: Count
    rejected: Count
    muted: Count = Field(description="Targets on which it is muted.")
    precision: float | None = Field(description="confirmed / (confirmed + rejected); null while nobody judged.")


class Precision(Schema):
    """Of this installation; findings that nobody has judged are left out."""

    findings: list[PrecisionRow]
    confirmed: Count
    rejected: Count
    precision: float | None

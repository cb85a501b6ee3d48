"""Documents of marks: findings that people mute, or mark wrong in a run."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from loadwatch_backend.core.schemas import Schema
from loadwatch_backend.findings.schemas import MarkOut

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
    str, Field(max_length=100, description="Who says it; left empty, who is signed in."), AfterValidator(_printable)
]
Reason = Annotated[str, Field(max_length=REASON_LENGTH), AfterValidator(_printable)]


class MarkIn(Schema):
    """Of a run: its finding of this key is wrong. Else: findings of this id are muted on targets with these labels."""

    run: Annotated[str, Field(max_length=40)] = ""
    key: Annotated[str, Field(max_length=KEY_LENGTH), AfterValidator(_printable)] = Field(
        default="", description="Of the run's finding."
    )
    finding_id: FindingId | None = None
    labels: Annotated[dict[Line, Line], Field(max_length=MOST_LABELS)] = Field(
        default_factory=dict[str, str],
        description="None mute the finding everywhere.",
        examples=[{"instance": "app-1"}],
    )
    reason: Reason = Field(default="", description="Required where a run's finding is marked wrong.")
    author: Author = ""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if self.run and not (self.key and self.reason.strip()):
            raise ValueError("a finding of a run is marked wrong by its key, with a reason")
        if not self.run and self.finding_id is None:
            raise ValueError("a mute names finding_id")
        return self


class MarkedOut(MarkOut):
    """A mark, with what it is about."""

    run: str | None = Field(description="Whose finding is marked wrong; null for a mute.")
    finding_id: str
    labels: dict[str, str]


class MarkList(Schema):
    """Mutes and marks, the newest first."""

    marks: list[MarkedOut]

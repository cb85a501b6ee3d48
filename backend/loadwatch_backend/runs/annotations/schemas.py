"""Documents of the annotation endpoints."""

from typing import Annotated

from pydantic import AfterValidator, Field

from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.runs.fields import printable

AUTHOR_LENGTH = 100
TEXT_LENGTH = 4_000
COMMIT_LENGTH = 100
ISSUE_LENGTH = 200
TAG_LENGTH = 50
TAG_COUNT = 20


def _printable(text: str) -> str:
    """Refuse what no keyboard sends and some databases cannot store, such as NUL."""
    printable(text)
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def _name(text: str) -> str:
    return _printable(text) if text.strip() else ""


Author = Annotated[
    str,
    Field(max_length=AUTHOR_LENGTH, description="Who writes it; left empty, who is signed in."),
    AfterValidator(_name),
]
Commit = Annotated[
    str,
    Field(max_length=COMMIT_LENGTH, description="Of what was deployed or changed.", examples=["3f2c1aa"]),
    AfterValidator(_name),
]
Issue = Annotated[
    str,
    Field(max_length=ISSUE_LENGTH, description="Number or address of the issue behind it.", examples=["#27"]),
    AfterValidator(_name),
]
Text = Annotated[str, Field(min_length=1, max_length=TEXT_LENGTH), AfterValidator(_printable)]
Tag = Annotated[str, Field(min_length=1, max_length=TAG_LENGTH), AfterValidator(_printable)]
Tags = Annotated[list[Tag], Field(max_length=TAG_COUNT)]


class AnnotationIn(Schema):
    """A note at an instant (no end) or over a span."""

    author: Author = ""
    text: Text
    start_ms: Milliseconds
    end_ms: Milliseconds | None = None
    tags: Tags = Field(default_factory=list[Tag])
    commit: Commit = ""
    issue: Issue = ""


class AnnotationPatch(Schema):
    """Any subset of an annotation's fields; what is left out stays. `end_ms: null` makes an instant of a span."""

    author: Author | None = None
    text: Text | None = None
    start_ms: Milliseconds | None = None
    end_ms: Milliseconds | None = None
    tags: Tags | None = None
    commit: Commit | None = None
    issue: Issue | None = None


class AnnotationOut(Schema):
    """An annotation as it is kept."""

    id: int
    author: str
    text: str
    start_ms: Milliseconds
    end_ms: Milliseconds | None
    tags: list[str]
    commit: str
    issue: str
    created_ms: Milliseconds
    updated_ms: Milliseconds


class AnnotationList(Schema):
    """Annotations in order of their start."""

    annotations: list[AnnotationOut]

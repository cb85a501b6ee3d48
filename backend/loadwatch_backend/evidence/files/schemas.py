"""Documents of files of a run."""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, Field

from loadwatch_backend.core.errors import LimitError, NotFoundError
from loadwatch_backend.core.schemas import Count, Milliseconds, Schema


class EvidenceNotFoundError(NotFoundError, code="evidence-not-found"):
    """There is no file with this id, or its content is gone."""


class EvidenceLimitError(LimitError, code="evidence-limit"):
    """A run has as many files, or bytes of them, as it may."""


MOST_FILE_BYTES, MOST_RUN_BYTES = 64 << 20, 512 << 20
MOST_FILES = 200
ID_LENGTH, NAME_LENGTH, AUTHOR_LENGTH, NOTE_LENGTH = 32, 200, 100, 2_000
FACTS_BYTES = 64 << 10
FILE_ID_PATTERN = rf"^[0-9a-f]{{{ID_LENGTH}}}$"


class EvidenceKind(StrEnum):
    """What a file is evidence of."""

    PROFILE = "profile"
    ACCESS_LOG = "access_log"
    SLOW_LOG = "slow_log"
    ATTACHMENT = "attachment"
    PATCH = "patch"
    OUTPUT = "output"
    LOG_PATTERNS = "log_patterns"


def printable(text: str) -> str:
    """Refuse what no keyboard sends and some databases cannot store, such as NUL."""
    for character in text:
        if ord(character) < 32 and character not in "\n\t":
            raise ValueError(f"must not hold the control character U+{ord(character):04X}")
    return text


def bounded(most: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A check that an object has at most so many bytes as JSON."""

    def check(facts: dict[str, Any]) -> dict[str, Any]:
        try:
            size = len(orjson.dumps(facts))
        except (TypeError, orjson.JSONEncodeError) as error:
            raise ValueError("must be an object of JSON") from error
        if size > most:
            raise ValueError(f"must have at most {most} bytes as JSON, and has {size}")
        return facts

    return check


Facts = Annotated[dict[str, Any], AfterValidator(bounded(FACTS_BYTES))]
Note = Annotated[str, Field(max_length=NOTE_LENGTH), AfterValidator(printable)]
Author = Annotated[str, Field(max_length=AUTHOR_LENGTH), AfterValidator(printable)]
FileId = Annotated[str, Field(pattern=FILE_ID_PATTERN)]


class EvidenceIn(Schema):
    """What is said of a file whose content follows."""

    kind: EvidenceKind
    name: str = Field(max_length=1_000, description="Kept as a plain file name.")
    at_ms: Milliseconds | None = Field(default=None, description="When it was taken; now by default.")
    note: Note = ""
    author: Author = ""
    facts: Facts = Field(default_factory=dict[str, Any])


class EvidencePatch(Schema):
    """What can be said of a file later; what is left out stays."""

    note: Note | None = None


class EvidenceFile(Schema):
    """A file that is kept with a run."""

    id: FileId
    run: str
    kind: EvidenceKind
    name: Annotated[str, Field(min_length=1, max_length=NAME_LENGTH), AfterValidator(printable)]
    media_type: Annotated[str, Field(max_length=100)] = Field(description="What the content was recognised as.")
    bytes: Count
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    at_ms: Milliseconds
    author: Author
    note: Note
    facts: Facts = Field(description="What whoever put the file there says of it.")


class EvidenceList(Schema):
    """Files of a run, the oldest first, and what there is room for."""

    files: list[EvidenceFile]
    bytes: Count = Field(description="Of all files of the run together.")
    most_file_bytes: Count
    most_run_bytes: Count
    most_files: Count

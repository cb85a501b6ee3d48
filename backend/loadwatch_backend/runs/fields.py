"""What the documents of runs are made of: checked texts, lists and enumerations."""

from enum import StrEnum
from typing import Annotated

from loadwatch_formats.run_facts import LINE_LENGTH
from pydantic import AfterValidator, BeforeValidator, Field

from loadwatch_backend.kit.schemas import Schema

ID_PATTERN = r"^[a-z0-9][a-z0-9-]{2,39}$"
NAME_LENGTH = LINE_LENGTH
TEXT_LENGTH = 20_000


def printable(text: str) -> str:
    """The text, if nothing in it steers a terminal.

    Raises:
        ValueError: it names the character.
    """
    for character in text:
        if ord(character) < 32 and character not in "\n\t":
            raise ValueError(f"must not hold the control character U+{ord(character):04X}")
    return text


Line = Annotated[str, Field(max_length=NAME_LENGTH), AfterValidator(printable)]
Name = Annotated[str, Field(min_length=1, max_length=NAME_LENGTH), AfterValidator(printable)]
Text = Annotated[str, Field(max_length=TEXT_LENGTH), AfterValidator(printable)]
RunId = Annotated[
    str, Field(pattern=ID_PATTERN, description="Made by the sender or the server.", examples=["20261121-142053-k7f3"])
]
Finite = Annotated[float, Field(allow_inf_nan=False)]
"""JSON's 1e999 is a number that no JSON can answer with."""
ExitCode = Annotated[int, Field(ge=-(2**31), lt=2**31)]


def _kept_exit_code(given: object) -> object:
    too_large = isinstance(given, int) and not -(2**31) <= given < 2**31
    return None if too_large else given


ReportedExitCode = Annotated[ExitCode | None, BeforeValidator(_kept_exit_code)]
"""The end of a run is never refused for a code that no table holds (Windows has such): the run has none then."""


class RunState(StrEnum):
    """How far a run is."""

    RUNNING = "running"
    FINISHED = "finished"
    ABORTED = "aborted"
    IMPORTED = "imported"


class Verdict(StrEnum):
    """By the thresholds of a run; `invalid` when figures cannot tell (no requests, generator saturated, aborted)."""

    PASSED = "passed"
    FAILED = "failed"
    INVALID = "invalid"


class Link(Schema):
    """An issue, a pull request, a dashboard."""

    url: Annotated[str, Field(pattern=r"^https?://\S+$", max_length=2_000)]
    title: Line = ""


class Window(Schema):
    """A part of a run, in seconds since its start."""

    from_seconds: Finite = Field(ge=0)
    to_seconds: Finite = Field(gt=0)

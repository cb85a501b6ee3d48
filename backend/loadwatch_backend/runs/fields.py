"""What the documents of runs are made of: checked texts, lists and enumerations."""

from enum import StrEnum
from typing import Annotated, Any

from loadwatch_formats import run_facts
from loadwatch_formats.run_facts import FACTS, FILTERS, LINE_LENGTH, OPTIONS, Fact, facts_of
from pydantic import AfterValidator, BeforeValidator, Field

from loadwatch_backend.core.schemas import Schema

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
"""Refuses infinity, as which JSON's 1e999 is read: no JSON can answer with it."""
ExitCode = Annotated[int, Field(ge=-(2**31), lt=2**31)]


def _kept_exit_code(given: object) -> object:
    too_large = isinstance(given, int) and not -(2**31) <= given < 2**31
    return None if too_large else given


ReportedExitCode = Annotated[ExitCode | None, BeforeValidator(_kept_exit_code)]
"""A code beyond 32 bits, as Windows has, becomes None: it must not make the end of a run fail."""


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


class RunLink(Schema):
    """An issue, a pull request, a dashboard."""

    url: Annotated[str, Field(pattern=r"^https?://\S+$", max_length=2_000)]
    title: Line = ""


class Window(Schema):
    """A part of a run, in seconds since its start."""

    from_seconds: Finite = Field(ge=0)
    to_seconds: Finite = Field(gt=0)


def checked(kind: type[run_facts.RunFacts]) -> dict[str, Any]:
    """Annotations of a document that is sent or received: with bounds, defaults and descriptions."""
    return {fact.name: _described(fact) for fact in facts_of(kind)}


def patched() -> dict[str, Any]:
    """Fields of a change, each of which may be left out."""
    return {fact.name: (_checked(fact) | None, None) for fact in FACTS if fact.patched}


def listed() -> dict[str, Any]:
    """Fields of a line in a list, all of which are there."""
    return {fact.name: fact.type for fact in FACTS if fact.listed}


def stored() -> dict[str, Any]:
    """Annotations of what is kept: it was checked when it came, by the bounds of its time."""
    return {fact.name: Annotated[_plain(fact), Field(default_factory=fact.make)] for fact in FACTS}


def asked() -> dict[str, Any]:
    """Fields of an import's query, each of which may be left out; pairs are `key=value`."""
    return {fact.query or fact.name: _asked(fact) for fact in OPTIONS}


def filtered() -> dict[str, Any]:
    """Fields of a list's query, each of which may be left out."""
    return {fact.name: (str | None, None) for fact in FILTERS}


def facets(values: type) -> dict[str, Any]:
    return {fact.facet: (values, ...) for fact in FACTS if fact.facet}


def _described(fact: Fact) -> Any:
    default = Field(default_factory=fact.make) if fact.several else Field(default=fact.make())
    examples = [list(fact.examples)] if fact.examples else None
    return Annotated[_checked(fact), default, Field(description=fact.description or None, examples=examples)]


def _asked(fact: Fact) -> tuple[Any, Any]:
    if fact.several:
        return Annotated[list[str], Field(description=(fact.metavar or "").lower() or None)], []
    text: Any = Annotated[str, Field(max_length=fact.longest)]
    number: Any = Annotated[float, Field(ge=0)]
    return (number if fact.nullable else text) | None, None


def _plain(fact: Fact) -> Any:
    return list[RunLink] if fact.type == list[run_facts.Link] else fact.type


def _checked(fact: Fact) -> Any:
    if fact.type == float | None:
        number: Any = Annotated[Finite, Field(ge=0)]
        return number | None
    if fact.nullable:
        return fact.type
    if fact.type is str:
        return _text(fact)
    several: dict[object, Any] = {dict[str, str]: dict[Name, _text(fact)], list[run_facts.Link]: list[RunLink]}
    return Annotated[several.get(fact.type, list[_entry(fact)]), Field(max_length=fact.most)]


def _text(fact: Fact) -> Any:
    return Annotated[str, Field(max_length=fact.longest), AfterValidator(printable)]


def _entry(fact: Fact) -> Any:
    if fact.longest is None:
        return str
    bounded = Annotated[str, Field(min_length=1, max_length=fact.longest)]
    # What is longer than a line is no name that is shown as it is.
    return Annotated[bounded, AfterValidator(printable)] if fact.longest <= LINE_LENGTH else bounded

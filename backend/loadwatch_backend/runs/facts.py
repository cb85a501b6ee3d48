"""The facts of a run, of the ground floor's catalogue, as fields of documents."""

from typing import Annotated, Any

from loadwatch_formats import run_facts
from loadwatch_formats.run_facts import FACTS, FILTERS, LINE_LENGTH, OPTIONS, Fact, facts_of
from pydantic import AfterValidator, Field

from loadwatch_backend.runs.fields import Finite, Link, Name, printable


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
    """Values in use, by what lists call them."""
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
    return list[Link] if fact.type == list[run_facts.Link] else fact.type


def _checked(fact: Fact) -> Any:
    if fact.type == float | None:
        number: Any = Annotated[Finite, Field(ge=0)]
        return number | None
    if fact.nullable:
        return fact.type
    if fact.type is str:
        return _text(fact)
    several: dict[object, Any] = {dict[str, str]: dict[Name, _text(fact)], list[run_facts.Link]: list[Link]}
    return Annotated[several.get(fact.type, list[_entry(fact)]), Field(max_length=fact.most)]


def _text(fact: Fact) -> Any:
    return Annotated[str, Field(max_length=fact.longest), AfterValidator(printable)]


def _entry(fact: Fact) -> Any:
    if fact.longest is None:
        return str
    bounded = Annotated[str, Field(min_length=1, max_length=fact.longest)]
    # What is longer than a line is no name that is shown as it is.
    return Annotated[bounded, AfterValidator(printable)] if fact.longest <= LINE_LENGTH else bounded

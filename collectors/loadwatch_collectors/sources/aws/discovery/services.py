"""Rows of describe calls to resources with their facts, as `services.yml` says."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, cast

import yaml

from loadwatch_collectors.sources.aws.client.client import Document
from loadwatch_collectors.sources.aws.discovery.facts import attributes, info, number, partition
from loadwatch_collectors.sources.aws.discovery.part import Item, Look, tag_pairs
from loadwatch_collectors.sources.aws.model import Pairs, Resource


def search(expression: str, document: Any) -> Any:
    """What an expression of JMESPath finds in a document."""
    from loadwatch_collectors.sources.aws.discovery import expressions  # The base install lacks JMESPath.

    return expressions.search(expression, document)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of resource; all texts are expressions."""

    name: str
    arn: str
    names: str
    dimensions: Mapping[str, str]
    info: Mapping[str, Mapping[str, str]]
    """Labels by name, of each info series."""
    tags: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])
    numbers: Mapping[str, str] = field(default_factory=dict[str, str])
    list: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def rows(self, look: Look) -> Iterator[Document]:
        """The rows of the describe call, each with the parts that are resources of their own."""
        place = look.place
        where = {"partition": partition(place.region), "region": place.region, "account_id": place.account_id}
        for page in look.pages(self.list["service"], self.list["operation"], self.list["parameters"]):
            for row in search(self.list["rows"], page) or ():
                parts: Sequence[Document] = search(self.list["each"], row) if "each" in self.list else [{}]
                for part in parts or ():
                    yield where | row | part

    def items(self, look: Look, row: Document) -> Iterator[Item]:
        """The resource of a row where it is chosen."""
        if presets := self.choose(look, row):
            yield self.item(look, row, presets)

    def choose(self, look: Look, row: Document) -> tuple[str, ...]:
        """The presets that read the resource of a row."""
        names: Sequence[str | None] = search(self.names, row)
        arn = search(self.arn, row)
        if not arn:
            raise KeyError(self.arn)
        return look.choose(self.name, [name for name in names if name], arn, self._tags(row))

    def item(self, look: Look, row: Document, presets: tuple[str, ...]) -> Item:
        """The resource of a row with its facts."""
        place, arn = look.place, search(self.arn, row)
        dimensions = tuple((name, text) for name, text in _found(self.dimensions, row).items() if text)
        return Item(
            resource=Resource(
                kind=self.name,
                name=arn,
                place=place,
                dimensions=dimensions,
                tags=self._tags(row) or (),
                presets=presets,
                attributes=attributes(**_found(self.attributes, row)),
            ),
            facts=(
                *(info(metric, place, arn, **_found(labels, row)) for metric, labels in self.info.items()),
                *(
                    fact
                    for metric, value in _found(self.numbers, row).items()
                    for fact in number(metric, place, arn, value, dimensions)
                ),
            ),
        )

    def _tags(self, row: Document) -> Pairs | None:
        tags = search(self.tags, row) if self.tags else None
        return None if tags is None else tag_pairs(tags)


def read_lists(look: Look, kinds: Mapping[str, Kind]) -> Iterator[Item]:
    """What a service lists that needs no more than `services.yml`."""
    for kind in kinds.values():
        for row in kind.rows(look):
            yield from kind.items(look, row)


def read_services() -> Mapping[str, Any]:
    """The entries of `services.yml` by name, their kinds as `Kind`."""
    text = (files(__package__ or "") / "services.yml").read_text(encoding="utf-8")
    services = cast("dict[str, dict[str, Any]]", yaml.safe_load(text))
    for service in services.values():
        service["kinds"] = {name: Kind(name=name, **kind) for name, kind in service["kinds"].items()}
    return services


def _found(expressions: Mapping[str, str], row: Document) -> dict[str, Any]:
    return {name: search(expression, row) for name, expression in expressions.items()}

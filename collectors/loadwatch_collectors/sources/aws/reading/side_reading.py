"""What the readers beside GetMetricData give, and which resources each of them reads."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from loadwatch_collectors.collector import Labels, MissingPrivilege, Sample
from loadwatch_collectors.sources.aws.client.client import Document
from loadwatch_collectors.sources.aws.client.errors import AwsError, RequestError
from loadwatch_collectors.sources.aws.discovery.part import Permission
from loadwatch_collectors.sources.aws.model import Resource
from loadwatch_collectors.sources.aws.presets import PresetFile, dimension_label, fits

RESOURCE_ID = "resource_id"
"""The attribute by which Performance Insights and Enhanced Monitoring know an instance (`DbiResourceId`)."""


@dataclass(slots=True, kw_only=True)
class SideReading:
    """What one poll gave; errors of single resources leave the others as they are."""

    samples: list[Sample] = field(default_factory=list[Sample])
    missing: list[MissingPrivilege] = field(default_factory=list[MissingPrivilege])
    errors: list[AwsError] = field(default_factory=list[AwsError])

    def note_missing(self, action: str, what: str, instances: int) -> None:
        lost = f"{what} of {instances} instance{'' if instances == 1 else 's'}"
        self.missing.append(Permission(action, lost).missing())


class TooMuchError(RequestError):
    """There is more than one poll may read."""


def pages_by_token(
    ask: Callable[[Mapping[str, Any]], Document], parameters: Mapping[str, Any], token: str, most: int, what: str
) -> Iterator[Document]:
    """The pages of an operation whose answers name the next one by a token; `what` it is, for the error.

    Raises:
        TooMuchError: there are more than `most`.
    """
    seen: set[str] = set()
    for _ in range(most):
        page = ask(parameters)
        yield page
        following = str(page.get(token) or "")
        if not following or following in seen:
            return
        seen.add(following)
        parameters = {**parameters, token: following}
    raise TooMuchError(f"{what}: more than {most} pages")


class SideTask(NamedTuple):
    preset: PresetFile
    resource: Resource
    resource_id: str


def side_tasks(reader: str, resources: Iterable[Resource], presets: Mapping[str, PresetFile]) -> list[SideTask]:
    own = [preset for preset in presets.values() if preset.reader == reader]
    tasks: list[SideTask] = []
    for resource in resources:
        resource_id = dict(resource.attributes).get(RESOURCE_ID, "")
        tasks += [
            SideTask(preset, resource, resource_id)
            for preset in own
            if resource_id
            and preset.kind == resource.kind
            and (not resource.presets or preset.name in resource.presets)
            and fits(preset.only, resource.attributes)
        ]
    return tasks


def side_labels(resource: Resource) -> Labels:
    place = resource.place
    own = [(dimension_label(name), value) for name, value in resource.dimensions if name == "DBInstanceIdentifier"]
    own += [("account_id", place.account_id), ("name", resource.name), ("region", place.region)]
    return tuple(sorted(own))

"""JMESPath with functions of our own. It comes with boto3: this module is imported where boto3 is sure to be there."""

from functools import cache
from typing import Any

import jmespath
from jmespath.functions import Functions, signature

from loadwatch_collectors.collector import Labels, Sample
from loadwatch_collectors.sources.aws.model import AccountRegion, Pairs

GIB = 1024**3


def base_labels(place: AccountRegion, name: str) -> Labels:
    """The labels that every series about one resource has; `name` is its ARN or id."""
    return (("account_id", place.account_id), ("name", name), ("region", place.region))


def info(metric: str, place: AccountRegion, name: str, **labels: object) -> Sample:
    """An info series. Labels that are None or empty are left out; booleans are written `true` and `false`."""
    own = tuple((label, text) for label, value in labels.items() if (text := _text(value)))
    return Sample(metric, 1.0, base_labels(place, name) + own)


def number(
    metric: str, place: AccountRegion, name: str, value: float | None, dimensions: Pairs = ()
) -> tuple[Sample, ...]:
    """A number about a resource, with the labels of its CloudWatch series, so that both match; none if it is None."""
    if value is None:
        return ()
    labels = base_labels(place, name) + tuple((f"dimension_{key}", text) for key, text in dimensions)
    return (Sample(metric, float(value), labels),)


def attributes(**values: object) -> Pairs:
    """What presets may ask for: sorted, empty ones left out, booleans written `true` and `false`."""
    return tuple(sorted((name, text) for name, value in values.items() if (text := _text(value))))


def partition(region: str) -> str:
    """The first part of an ARN of a region: `aws`, `aws-cn` or `aws-us-gov`."""
    if region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov-") else "aws"


def _text(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


_compile = cache(jmespath.compile)


class _Functions(Functions):
    @signature({"types": ["string", "null"]}, {"types": ["string"]})
    def _func_split(self, text: str | None, separator: str) -> list[str]:
        return text.split(separator) if text else []

    @signature({"types": ["string"]}, {"types": ["object"]})
    def _func_format(self, template: str, values: dict[str, Any]) -> str:
        return template.format_map(values)

    @signature({"types": ["number", "null"]})
    def _func_gibibytes(self, size: float | None) -> float | None:
        return None if size is None else size * GIB


_OPTIONS = jmespath.Options(custom_functions=_Functions())


def search(expression: str, document: Any) -> Any:
    """What an expression finds in a document; None where it finds nothing."""
    return _compile(expression).search(document, options=_OPTIONS)

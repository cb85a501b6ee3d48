"""JMESPath with functions of our own. It comes with boto3: this module is imported where boto3 is sure to be there."""

from functools import cache
from typing import Any

import jmespath
from jmespath.functions import Functions, signature

from loadwatch_collectors.sources.aws.discovery.part import GIB

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

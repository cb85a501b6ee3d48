"""Whether a preset is meant for a resource, by what is known of the resource. Pure."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from loadwatch_collectors.sources.aws.model import Pairs

Only = tuple[tuple[str, tuple[str, ...]], ...]
"""Names of attributes, each with the patterns that its value must match."""


def fits(only: Only, attributes: Pairs) -> bool:
    """Whether a resource has all that a preset asks for: `engine` matches `aurora*`, or does not match `!aurora*`.

    An attribute that is not known excludes nothing: a metric too many costs a little, one too few is missed.
    """
    known = dict(attributes)
    return all(_matches(known[name], patterns) for name, patterns in only if known.get(name))


def _matches(value: str, patterns: Sequence[str]) -> bool:
    refused = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    accepted = [pattern for pattern in patterns if not pattern.startswith("!")]
    if any(fnmatchcase(value, pattern) for pattern in refused):
        return False
    return not accepted or any(fnmatchcase(value, pattern) for pattern in accepted)

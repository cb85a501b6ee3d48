"""The secrets of a notification file: whether their files can be read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

from loadwatch_backend.notify.file.model import Configuration, Secret, SecretError


def unreadable_secrets(configuration: Configuration) -> list[str]:
    """A sentence for each secret whose file cannot be read now."""
    reasons: dict[str, None] = {}
    for receiver in configuration.receivers.values():
        for integration in receiver.integrations:
            for secret in secrets_in(integration):
                try:
                    secret.reveal()
                except SecretError as error:
                    reasons[f"receiver {receiver.name!r}, {integration.id}: {error}"] = None
    return list(reasons)


def secrets_in(value: object) -> Iterator[Secret]:
    """All secrets in a part of the configuration."""
    if isinstance(value, Secret):
        yield value
    elif is_dataclass(value):
        for one in fields(value):
            yield from secrets_in(getattr(value, one.name))
    elif isinstance(value, Mapping):
        for one in cast(Mapping[Any, object], value).values():
            yield from secrets_in(one)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for one in cast(Sequence[object], value):
            yield from secrets_in(one)

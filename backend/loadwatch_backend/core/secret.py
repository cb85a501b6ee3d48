"""Secrets of settings and of the notification file: shown in no repr, log line or document."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, cast


class SecretError(Exception):
    """A secret's file cannot be read, or is empty; the text names the file."""


class Secret:
    """A text that is shown nowhere: given in the file itself, or as the path of a file that is read at each use."""

    __slots__ = ("_text", "path")

    def __init__(self, text: str | None = None, path: Path | None = None) -> None:
        self._text = text
        self.path = path

    def reveal(self) -> str:
        """The text, without white space at its ends when it comes from a file.

        Raises:
            SecretError: the file cannot be read, or is empty.
        """
        if self._text is not None:
            return self._text
        try:
            text = (self.path or Path()).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise SecretError(f"cannot read the secret's file {self.path}: {reason}") from error
        if not text:
            raise SecretError(f"the secret's file {self.path} is empty")
        return text

    def __repr__(self) -> str:
        return f"Secret(path={str(self.path)!r})" if self.path else "Secret(***)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and (self._text, self.path) == (other._text, other.path)

    def __hash__(self) -> int:
        return hash((self._text, self.path))


def secrets_in(value: object) -> Iterator[Secret]:
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

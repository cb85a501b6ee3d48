"""Mappings of the notification file as records: a dataclass's fields are the keys, its hints say what they may hold.

A key of null is as if it were absent. The texts of errors never hold a secret.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_args, get_type_hints
from urllib.parse import urlsplit

from loadwatch_formats.durations import parse_duration
from pydantic import AfterValidator, BeforeValidator, InstanceOf, ValidationError, ValidationInfo, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import InitErrorDetails, PydanticCustomError

from loadwatch_backend.core.secret import Secret

_FLAGS = {**dict.fromkeys(("true", "yes", "on", "y"), True), **dict.fromkeys(("false", "no", "off", "n"), False)}
INTERNAL = "no key of the file"
"""Marks a field that whoever reads the file sets afterwards."""


class ConfigurationError(Exception):
    """The file is wrong at a line. `text` says what, and what is expected; it never holds a secret."""

    def __init__(self, path: str, line: int | None, text: str) -> None:
        super().__init__(f"{path}:{line}: {text}" if line else f"{path}: {text}")
        self.path = path
        self.line = line
        self.text = text


@dataclass(frozen=True, slots=True)
class Joined:
    """Marks a field that further keys give: `others` are their names, by the field's own.

    `join` answers the field's value from its own key and the values of the others that are given, and from the file's
    folder.
    """

    others: Callable[[str], Sequence[str]]
    join: Callable[[str, Any, Mapping[str, Any], Path], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A mapping of the file, read by `typed_yaml`."""

    unsupported: ClassVar[Mapping[str, str]] = {}
    """Keys that Alertmanager knows and Loadwatch does not, and what to do instead."""
    missing: ClassVar[Mapping[str, str]] = {}
    """Keys that must be given and not empty, and what is said without them."""

    @model_validator(mode="before")
    @classmethod
    def _of_keys(cls, data: Any, info: ValidationInfo[Any]) -> Any:
        if not isinstance(data, dict):
            return data
        hints = keys_of(cls)
        joined = {key: mark for key, hint in hints.items() for mark in _marks(hint) if isinstance(mark, Joined)}
        known = [*hints, *(other for key, mark in joined.items() for other in mark.others(key))]
        given: dict[str, Any] = {key: value for key, value in data.items() if value is not None or key not in known}  # pyright: ignore[reportUnknownVariableType] - of YAML
        for key in given:
            if key not in known:
                raise error_at((key,), "", known=known, instead=cls.unsupported.get(key))
        for key, mark in joined.items():
            others = {other: given.pop(other) for other in mark.others(key) if other in given}
            value = mark.join(key, given.get(key), others, info.context["folder"]) if others else None
            if value is not None:
                given[key] = value
        for key, text in cls.missing.items():
            if not given.get(key):
                raise ValueError(text)
        return given


def error_at(at: Sequence[str | int], text: str, **more: Any) -> ValidationError:
    """What a validator of a record raises for a place within it; `known` makes it that of a key that nobody knows."""
    kind = PydanticCustomError(
        "extra_forbidden" if "known" in more else "value_error", "{text}", {"text": text, **more}
    )
    return ValidationError.from_exception_data("", [InitErrorDetails(type=kind, loc=tuple(at), input=None)])


@cache
def keys_of(record: type[Record]) -> Mapping[str, Any]:
    keys: dict[str, Any] = {}
    for name, hint in get_type_hints(record, include_extras=True).items():
        marks = getattr(hint, "__metadata__", ())
        if INTERNAL not in marks and not str(hint).startswith("typing.ClassVar"):
            aliases = [mark.alias for mark in marks if isinstance(mark, FieldInfo) and mark.alias]
            keys[aliases[-1] if aliases else name] = hint
    return keys


def _marks(hint: Any) -> list[Any]:
    return [*getattr(hint, "__metadata__", ()), *(mark for part in get_args(hint) for mark in _marks(part))]


# Values ---------------------------------------------------------------------------------------------------------------


def parsed(parse: Callable[[str], Any]) -> BeforeValidator:
    return BeforeValidator(lambda value: parse(text_of(value)))


def text_of(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text")
    return value


def list_of(value: object) -> Any:
    if not isinstance(value, list):
        raise ValueError("must be a list (lines that begin with `- `)")
    return value  # pyright: ignore[reportUnknownVariableType] - of YAML


def one_of(values: Mapping[str, Any], hint: str = "") -> BeforeValidator:
    """A validator that maps a word to its value in `values`, and refuses other words."""

    def choose(text: str) -> Any:
        if text not in values:
            raise ValueError(f"must be one of {', '.join(values)}{hint}")
        return values[text]

    return parsed(choose)


def _flag(text: str) -> bool:
    flag = _FLAGS.get(text.lower())
    if flag is None:
        raise ValueError("must be true or false")
    return flag


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ValueError("must be a whole number from 0 to 999999999")
    return int(text)


def plain(text: str) -> str:
    """The text, which must hold no template."""
    if "{{" in text:
        raise ValueError(
            "must be a plain text, but holds a template; Loadwatch has no templates in this place: leave the key out "
            "for Loadwatch's own message"
        )
    return text


def _url(text: str) -> str:
    plain(text)
    try:
        parts = urlsplit(text)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        fine = False
    if not fine:
        raise ValueError("must be a whole URL: https://host/path")
    return text


Raw = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""The text as it stands in the file; empty for a key without a value."""
Text = Annotated[Raw, AfterValidator(plain)]
"""A text without templates."""
Url = Annotated[str, parsed(_url)]
"""An absolute http or https URL."""
Flag = Annotated[bool, parsed(_flag)]
Count = Annotated[int, parsed(_count)]
Duration = Annotated[int, parsed(parse_duration)]
"""Milliseconds."""


def _path(value: object, folder: Path) -> Path | None:
    return folder / plain(text) if (text := text_of(value)) else None


def _secret_file(key: str, inline: Any, others: Mapping[str, Any], folder: Path) -> Any:
    (name,) = others
    try:
        path = _path(others[name], folder)
    except ValueError as error:
        raise error_at((name,), str(error)) from None
    if inline is not None and path is not None:
        raise error_at((key,), f"give {key} or {name}, not both")
    return inline if path is None else Secret(path=path)


def secret_of(check: Callable[[str], str]) -> BeforeValidator:
    """A secret: a text that passes, or that of the file which `<key>_file` names."""

    def read(value: object) -> Secret:
        if isinstance(value, Secret):
            return value
        if not value:
            raise ValueError("must not be empty")
        return Secret(check(text_of(value)))

    return BeforeValidator(read)


IN_A_FILE = Joined(lambda key: (f"{key}_file",), _secret_file)
SecretText = Annotated[InstanceOf[Secret], secret_of(plain), IN_A_FILE]
SecretUrl = Annotated[InstanceOf[Secret], secret_of(_url), IN_A_FILE]
"""A secret that is an http(s) URL; the error does not show it."""


def _with_folder(read: Callable[[Path | None], Any]) -> BeforeValidator:
    return BeforeValidator(lambda value, info: read(_path(value, info.context["folder"])))


FilePath = Annotated[Path | None, _with_folder(lambda path: path)]
"""None of an empty text. Relative ones are below the file's directory, as in Alertmanager."""
SecretFile = Annotated[InstanceOf[Secret], _with_folder(lambda path: Secret(path=path))]

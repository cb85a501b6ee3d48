"""YAML with places: each value knows its line, each key must be known, and an error says where and what is expected."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import yaml
from loadwatch_formats.durations import parse_duration
from loadwatch_formats.yaml_nodes import YamlError, compose, is_null, kind_of, read_mapping, unknown_key

from loadwatch_backend.core.secret import Secret

Parsed = TypeVar("Parsed")

_FLAGS = {
    **dict.fromkeys(("true", "yes", "on", "y"), True),
    **dict.fromkeys(("false", "no", "off", "n"), False),
}


class ConfigurationError(Exception):
    """The file is wrong at a line. `text` says what, and what is expected; it never holds a secret."""

    def __init__(self, path: str, line: int | None, text: str) -> None:
        super().__init__(f"{path}:{line}: {text}" if line else f"{path}: {text}")
        self.path = path
        self.line = line
        self.text = text


def parse_document(text: str, path: str) -> "Section":
    """The one YAML document of a file, as a mapping.

    Raises:
        ConfigurationError: it is not YAML, or no mapping.
    """
    try:
        node = compose(text)
    except YamlError as error:
        raise ConfigurationError(path, error.line, error.text) from None
    if node is None:
        raise ConfigurationError(path, 1, "the file is empty; it needs at least `route` and `receivers`")
    return Value(node, path, "the file").section()


class Value:
    """One YAML node and what it is called in errors."""

    def __init__(self, node: Any, path: str, name: str) -> None:
        self.node = node
        self.path = path
        self.name = name

    @property
    def line(self) -> int:
        """Of its first character, from 1."""
        return int(self.node.start_mark.line) + 1

    def error(self, text: str) -> ConfigurationError:
        """An error at this place."""
        return ConfigurationError(self.path, self.line, text)

    def is_null(self) -> bool:
        """Whether nothing is written."""
        return is_null(self.node)

    def text(self) -> str:
        """A scalar as it is written."""
        if not isinstance(self.node, yaml.ScalarNode):
            raise self.error(f"{self.name} must be a text")
        return "" if self.is_null() else str(self.node.value)

    def plain(self) -> str:
        """A text without templates."""
        text = self.text()
        if "{{" in text:
            raise self.error(
                f"{self.name} holds a template; Loadwatch has no templates in this place: write a plain text, or leave "
                "the key out for Loadwatch's own message"
            )
        return text

    def section(self) -> "Section":
        """A mapping."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.error(f"{self.name} must be a mapping of keys, not {kind_of(self.node)}")
        return Section(self)

    def items(self) -> "list[Value]":
        """Parts of a list; none for null."""
        if self.is_null():
            return []
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.error(f"{self.name} must be a list (- item)")
        return [Value(node, self.path, f"each of {self.name}") for node in self.node.value]

    def read(self, parse: Callable[[str], Parsed]) -> Parsed:
        """The text, parsed; a ValueError becomes an error at this line."""
        text = self.text()
        try:
            return parse(text)
        except ValueError as error:
            raise self.error(f"{self.name}: {error}") from error


class Section:
    """A mapping whose keys are taken one by one; `finish` refuses those that nobody took."""

    def __init__(self, value: Value) -> None:
        self.value = value
        self._known: dict[str, None] = {}
        self._entries = read_mapping(value.node, value.name, self._refuse)
        self._fields = {name: Value(entry.value, value.path, name) for name, entry in self._entries.items()}

    @property
    def line(self) -> int:
        """Of its first key."""
        return self.value.line

    def error(self, text: str) -> ConfigurationError:
        """An error at this mapping."""
        return self.value.error(text)

    def take(self, name: str) -> Value | None:
        """The value of a key; None when it is absent or null."""
        self._known[name] = None
        found = self._fields.get(name)
        return None if found is None or found.is_null() else found

    def text(self, name: str, default: str = "") -> str:
        """A plain text."""
        found = self.take(name)
        return default if found is None else found.plain()

    def texts(self, name: str) -> list[str] | None:
        """A list of texts; None when absent."""
        found = self.take(name)
        return None if found is None else [item.text() for item in found.items()]

    def pairs(self, name: str) -> Mapping[str, Value]:
        """A mapping with any keys."""
        found = self.take(name)
        return {} if found is None else found.section().all()

    def all(self) -> Mapping[str, Value]:
        """Every key, taken."""
        self._known.update(dict.fromkeys(self._fields))
        return self._fields

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        found = self.take(name)
        if found is None:
            return default
        flag = _FLAGS.get(found.text().lower())
        if flag is None:
            raise found.error(f"{name} must be true or false")
        return flag

    def count(self, name: str) -> int:
        """A whole number from 0; 0 when absent."""
        found = self.take(name)
        if found is None:
            return 0
        text = found.text()
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise found.error(f"{name} must be a whole number from 0 to 999999999")
        return int(text)

    def duration(self, name: str) -> int | None:
        """Milliseconds; None when absent."""
        found = self.take(name)
        return None if found is None else found.read(parse_duration)

    def sections(self, name: str) -> "list[Section]":
        """A list of mappings."""
        found = self.take(name)
        return [] if found is None else [item.section() for item in found.items()]

    def section(self, name: str) -> "Section | None":
        """A mapping; None when absent."""
        found = self.take(name)
        return None if found is None else found.section()

    def part(self, name: str) -> "Section":
        """A mapping; an empty one when absent."""
        mark = self.value.node.start_mark
        return self.section(name) or Section(Value(yaml.MappingNode("", [], mark, mark), self.value.path, name))

    def path(self, name: str) -> Path | None:
        """A path; relative ones are below the file's directory, as in Alertmanager."""
        text = self.text(name)
        return Path(self.value.path).parent / text if text else None

    def secret(self, name: str) -> Secret | None:
        """The secret `name`, or in the file `name_file`.

        Raises:
            ConfigurationError: both are given.
        """
        inline, path = self.take(name), self.path(f"{name}_file")
        if inline is not None and path is not None:
            raise inline.error(f"give {name} or {name}_file, not both")
        if inline is not None:
            text = inline.plain()
            if not text:
                raise inline.error(f"{name} is empty")
            return Secret(text)
        return None if path is None else Secret(path=path)

    def secret_url(self, name: str) -> Secret | None:
        """A secret that is an http(s) URL; the error does not show it."""
        secret = self.secret(name)
        found = self.take(name)
        if secret is not None and found is not None:
            check_url(found)
        return secret

    def finish(self, what: str, unsupported: Mapping[str, str] | None = None) -> None:
        """Refuse what nobody took.

        Args:
            what: what the mapping is, for the message.
            unsupported: keys that Alertmanager knows and Loadwatch does not, and what to do instead.
        """
        for name, entry in self._entries.items():
            if name in self._known:
                continue
            if unsupported is not None and name in unsupported:
                self._refuse(
                    entry.key, f"Loadwatch does not support {name} of Alertmanager's {what}: {unsupported[name]}"
                )
            self._refuse(entry.key, unknown_key(name, what, self._known))

    def _refuse(self, node: yaml.Node, text: str) -> None:
        raise Value(node, self.value.path, "").error(text)


def check_url(value: Value) -> str:
    """An absolute http or https URL."""
    text = value.plain()
    try:
        parts = urlsplit(text)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        fine = False
    if not fine:
        raise value.error(f"{value.name} must be a whole URL: https://host/path")
    return text

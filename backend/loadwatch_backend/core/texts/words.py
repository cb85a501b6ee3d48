"""A text in every language, and the one way to read it: from message files, one for each subject.

An entry has `en` and `ja`. Their lines are joined, by a space in English and by nothing in Japanese. Values stand in
braces, with the formats of `Formats`; a brace that is meant is written twice. A file is read at the first use of its
subject.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import yaml

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts import numbers

MESSAGES = Path(__file__).parent / "messages"
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class MessageError(Exception):
    """A message file is not as it should be."""


class Formats(Formatter):
    """`str.format` with figures as a person says them, such as `{waits:count}` and `{mean:duration}`.

    The formats are the functions of `numbers`; `{waits:counted:request|requests}` is a number with its thing, and
    `{labels:selector}` labels as PromQL has them. A value that is Words is read in the language of the text; all other
    formats are those of Python.
    """

    def __init__(self, language: Language) -> None:
        self._language = language
        duration = numbers.duration_ja if language is Language.JA else numbers.duration
        self._formats = {
            "count": numbers.count,
            "duration": duration,
            "figure": numbers.figure,
            "share": numbers.share,
            "size": numbers.size,
            "selector": numbers.selector,
        }

    def format_field(self, value: Any, format_spec: str) -> Any:
        if isinstance(value, Words):
            return value.read(self._language)
        name, _, things = format_spec.partition(":")
        if name == "counted":
            return numbers.counted(value, *things.split("|"))
        if name in self._formats:
            return self._formats[name](value)
        return super().format_field(value, format_spec)


@dataclass(frozen=True, slots=True)
class Words:
    """The same text in English and in Japanese; both have the same `{placeholders}`."""

    en: str
    ja: str

    def read(self, language: Language) -> str:
        return self.ja if language is Language.JA else self.en

    def fill(self, /, **values: object) -> "Words":
        return Words(
            _FORMATS[Language.EN].vformat(self.en, (), values), _FORMATS[Language.JA].vformat(self.ja, (), values)
        )

    def __bool__(self) -> bool:
        return self.en != ""


_FORMATS = {language: Formats(language) for language in Language}

SILENT = Words("", "")


def read_entries(file: Path) -> Mapping[str, Any]:
    """The entries of a message file, by key.

    Raises:
        MessageError: it is no YAML.
    """
    try:
        return yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER)
    except yaml.YAMLError as error:
        raise MessageError(f"{file.name}: {error}") from error


def words_of(entry: Mapping[str, str]) -> Words:
    return Words(entry["en"].replace("\n", " "), entry["ja"].replace("\n", ""))


@cache
def catalogue(subject: str) -> Mapping[str, Words]:
    return {key: words_of(entry) for key, entry in read_entries(MESSAGES / f"{subject}.yml").items()}


def message_of(subject: str, key: str, /, **values: object) -> Words:
    """A text with its values filled in; one that is missing is a defect and raises KeyError."""
    return catalogue(subject)[key].fill(**values)


@dataclass(frozen=True, slots=True)
class Texts:
    subject: str
    language: Language

    def __call__(self, key: str, **values: object) -> str:
        """The text of a key with its values filled in; one that is missing is a defect and raises KeyError."""
        return _FORMATS[self.language].vformat(catalogue(self.subject)[key].read(self.language), (), values)

    def known(self, key: str, otherwise: str, **values: object) -> str:
        """The text of a key that comes from data, which may be one that this version does not know."""
        return self(key, **values) if key in catalogue(self.subject) else otherwise

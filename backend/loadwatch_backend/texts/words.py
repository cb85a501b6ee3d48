"""A text in every language, and the one way to read it. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass

from loadwatch_backend.kit.language import Language


@dataclass(frozen=True, slots=True)
class Words:
    """The same text in English and in Japanese; both have the same `{placeholders}`."""

    en: str
    ja: str

    def read(self, language: Language) -> str:
        """The text in a language."""
        return self.ja if language is Language.JA else self.en

    def fill(self, **values: object) -> "Words":
        """Both texts with their values filled in; one that is Words itself is read in the same language."""
        english = {name: value.en if isinstance(value, Words) else value for name, value in values.items()}
        japanese = {name: value.ja if isinstance(value, Words) else value for name, value in values.items()}
        return Words(self.en.format(**english), self.ja.format(**japanese))

    def __bool__(self) -> bool:
        """Whether anything is said."""
        return self.en != ""


SILENT = Words("", "")
"""Nothing to say."""

Catalogue = Mapping[str, Words]
"""The texts of one subject, by key."""


@dataclass(frozen=True, slots=True)
class Texts:
    """A catalogue in one language; a text that is missing is a defect and raises KeyError."""

    catalogue: Catalogue
    language: Language

    def __call__(self, key: str, **values: object) -> str:
        """The text of a key with its values filled in."""
        text = self.catalogue[key].read(self.language)
        return text.format(**values) if values else text

    def known(self, key: str, otherwise: str, **values: object) -> str:
        """The text of a key that comes from data, which may be one that this version does not know."""
        return self(key, **values) if key in self.catalogue else otherwise

"""Languages of titles, help and messages, and annotations of rules in more than one of them. No I/O."""

from collections.abc import Mapping
from enum import StrEnum


class Language(StrEnum):
    """A language that Loadwatch speaks."""

    EN = "en"
    JA = "ja"


TRANSLATED = ("summary", "description", "runbook_url", "finding")
"""Annotations that a rule may give in a further language, as `loadwatch_summary_ja`; a finding's sentence has both."""
TRANSLATIONS: Mapping[str, tuple[str, Language]] = {
    f"loadwatch_{name}_{language}": (name, language)
    for name in TRANSLATED
    for language in Language
    if language is not Language.EN
}


def translation_key(name: str, language: Language) -> str:
    return f"loadwatch_{name}_{language}"


def in_language(annotations: Mapping[str, str], language: Language) -> dict[str, str]:
    """Annotations as they read in a language; where there is no translation, as they were written."""
    found = {name: text for name, text in annotations.items() if name not in TRANSLATIONS}
    for key, (name, given) in TRANSLATIONS.items():
        if given is language and annotations.get(key):
            found[name] = annotations[key]
    return found


def translations_of(annotations: Mapping[str, str]) -> dict[Language, dict[str, str]]:
    found: dict[Language, dict[str, str]] = {}
    for key, (name, language) in TRANSLATIONS.items():
        if annotations.get(key):
            found.setdefault(language, {})[name] = annotations[key]
    return found


def preferred_language(accepted: str) -> Language:
    """The first of the header `Accept-Language` that there is; its weights are in order in every browser's."""
    for part in accepted.split(","):
        name = part.partition(";")[0].strip().lower().partition("-")[0]
        if name in set(Language):
            return Language(name)
    return Language.EN

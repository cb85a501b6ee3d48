"""Reads the messages of findings, and fills in their values. Each file is read at the first use of any message.

An entry `pool-churn` is what all findings of one id share: a `Kind`, the keys of their `steps` where these are always
the same, and of its `Detector` what it may follow from (`follows`), whether most systems have what it needs (`usual`),
and the lines of loadwatch.yml that bring that (`switched_on_by`). An entry `pool-churn.sentence` is a text of its
detector, `en` and `ja`: a step may have `code`, which is to be pasted, and evidence has its `link`, its `unit` and the
`expression` that shows it. The lines of a text are joined: by a space in English, by nothing in Japanese. Values stand
in braces, with the formats of `Formats`.
"""

from collections.abc import Mapping, Set
from functools import cache
from pathlib import Path
from typing import Any, cast

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Formats, MessageError, Words, read_entries, words_of
from loadwatch_backend.findings.model import Kind, Rule, Severity, Step

FOLDER = Path(__file__).parent
DECLARED = ("follows", "usual", "switched_on_by")
"""Keys of an entry that describe the detector rather than its findings."""
_NEEDED, _OPTIONAL = (
    {"severity", "title", "explanation", "rule", "refuted_by"},
    {"is_fact", "resource", "steps", *DECLARED},
)
_EVIDENCE = {"link", "unit", "expression"}
_CODE = Formats(Language.EN)
_LANGUAGES = {language.value for language in Language}


def message(key: str, /, **values: object) -> Words:
    return words_of(messages()[key]).fill(**values)


def step(key: str, /, **values: object) -> Step:
    return Step(text=message(key, **values), code=code(key, "code", **values))


def code(key: str, part: str, /, **values: object) -> str:
    """What is the same in all languages, such as the `expression` of evidence; empty where the entry has none."""
    text: str = messages()[key].get(part, "")
    return _CODE.vformat(text, (), values)


@cache
def kind(id: str, /, **values: object) -> Kind:
    entry = messages()[id]
    return Kind(
        id=id,
        severity=Severity(entry["severity"]),
        title=words_of(entry["title"]).fill(**values),
        explanation=words_of(entry["explanation"]).fill(**values),
        rule=Rule(text=words_of(entry["rule"]).fill(**values), source=entry["rule"]["source"]),
        refuted_by=words_of(entry["refuted_by"]).fill(**values),
        is_fact=entry.get("is_fact", False),
        resource=entry.get("resource", ""),
    )


@cache
def messages() -> Mapping[str, Mapping[str, Any]]:
    """All entries, by key.

    Raises:
        MessageError: a file is no YAML, or an entry lacks a language, has an unknown key, or is there twice.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for file in sorted(FOLDER.glob("*.yml")):
        entries = read_file(file)
        if twice := found.keys() & entries.keys():
            raise MessageError(f"{file.name}: another file has {', '.join(sorted(twice))}")
        found |= entries
    return found


def read_file(file: Path) -> Mapping[str, Mapping[str, Any]]:
    """The entries of one file.

    Raises:
        MessageError: as for `messages`.
    """
    entries = read_entries(file)
    for key, entry in entries.items():
        place = f"{file.name}: {key}"
        if "." in key:
            _check(place, entry, _LANGUAGES | (_EVIDENCE if "link" in entry else set()), {"code"})
            continue
        _check(place, entry, _NEEDED, _OPTIONAL)
        _check(f"{place}: rule", entry["rule"], {*_LANGUAGES, "source"})
        for name in ("title", "explanation", "refuted_by"):
            _check(f"{place}: {name}", entry[name], _LANGUAGES)
    return entries


def _check(place: str, entry: Any, needed: Set[str], optional: Set[str] = frozenset()) -> None:
    if not isinstance(entry, dict):
        raise MessageError(f"{place}: is no mapping")
    keys = set(cast("Mapping[str, Any]", entry))
    if missing := needed - keys:
        raise MessageError(f"{place}: lacks {', '.join(sorted(missing))}")
    if unknown := keys - needed - optional:
        raise MessageError(f"{place}: has the unknown {', '.join(sorted(unknown))}")
    for name in keys & {*_LANGUAGES, *_EVIDENCE, "code", "source", "switched_on_by"}:
        if not isinstance(entry[name], str):
            raise MessageError(f"{place}: {name} is no text")

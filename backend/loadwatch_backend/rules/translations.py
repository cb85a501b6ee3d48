"""Texts of the rules that come with Loadwatch in further languages: `defaults/<language>/<file>.yml`.

They stand apart from the rules, which so read as any other rule file. Rules of users carry their own, as annotations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import yaml

from loadwatch_backend.kit.language import Language, translation_key
from loadwatch_backend.rules.model import Rule, RuleGroup

RUNBOOK_PATH = "/runbooks/"

Texts = Mapping[str, Mapping[str, str]]
"""By the alert's name: `summary` and `description`, templates."""


@lru_cache(maxsize=64)
def read_texts(path: Path) -> Texts:
    """The texts of a file; empty when there is none."""
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}


def translated(groups: Sequence[RuleGroup], path: Path) -> tuple[RuleGroup, ...]:
    """Groups of a built-in file with their texts in all languages."""
    by_language = {
        language: read_texts(path.parent / language / path.name) for language in Language if language is not Language.EN
    }
    return tuple(
        replace(group, rules=tuple(_with_texts(rule, by_language) for rule in group.rules)) for group in groups
    )


def _with_texts(rule: Rule, by_language: Mapping[Language, Texts]) -> Rule:
    found: dict[str, str] = {}
    for language, texts in by_language.items():
        own = texts.get(rule.name, {})
        found |= {translation_key(name, language): text for name, text in own.items()}
        runbook = rule.annotations.get("runbook_url", "")
        if own and RUNBOOK_PATH in runbook:
            found[translation_key("runbook_url", language)] = f"{runbook}?lang={language}"
    return replace(rule, annotations={**rule.annotations, **found}) if found else rule

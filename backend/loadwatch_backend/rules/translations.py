"""Texts of the rules that come with Loadwatch in further languages: they stand before the runbook in that language.

So the rules read as any other rule file. Rules of users carry their own, as annotations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from loadwatch_backend.kit.language import Language, translation_key
from loadwatch_backend.rules.model import Rule, RuleGroup
from loadwatch_backend.texts.runbook_pages import PAGES, split_front_matter

RUNBOOK_PATH = "/runbooks/"
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's, which is ten times as fast, where PyYAML was built with it."""

Texts = Mapping[str, Mapping[str, str]]
"""By the alert's name: `summary` and `description`, templates."""


@cache
def read_texts(page: Path) -> Texts:
    """What stands before a runbook; empty when there is no such page."""
    if not page.is_file():
        return {}
    return yaml.load(split_front_matter(page.read_text(encoding="utf-8"))[0], Loader=_LOADER) or {}


def translated(groups: Sequence[RuleGroup]) -> tuple[RuleGroup, ...]:
    """Groups of a built-in file with their texts in all languages."""
    return tuple(replace(group, rules=tuple(map(_with_texts, group.rules))) for group in groups)


def _with_texts(rule: Rule) -> Rule:
    runbook = rule.annotations.get("runbook_url", "")
    page = runbook.partition(RUNBOOK_PATH)[2]
    found: dict[str, str] = {}
    for language in Language:
        own = read_texts(PAGES / language / f"{page}.md").get(rule.name, {})
        found |= {translation_key(name, language): text for name, text in own.items()}
        if own:
            found[translation_key("runbook_url", language)] = f"{runbook}?lang={language}"
    return replace(rule, annotations={**rule.annotations, **found}) if found else rule

"""The rules that come with Loadwatch say the same in every language."""

import re
from pathlib import Path

import pytest
from loadwatch_backend.kit.language import Language, translation_key, translations_of
from loadwatch_backend.rules.files import BUILT_IN, RuleFiles
from loadwatch_backend.rules.model import Rule
from loadwatch_backend.rules.read import read_rules
from loadwatch_backend.rules.translations import read_texts, translated
from loadwatch_backend.texts.runbook_pages import PAGES

FILES = sorted(path.name for path in BUILT_IN.glob("*.yml"))
ACTION = re.compile(r"{{-?\s*(.*?)\s*-?}}", re.DOTALL)
JAPANESE = re.compile(r"[ぁ-んァ-ヶ一-龠]")


def rules_of(name: str) -> list[Rule]:
    path = BUILT_IN / name
    groups = translated(read_rules(path.read_bytes(), str(path), 1_000).groups)
    return [rule for group in groups for rule in group.rules if rule.annotations]


@pytest.mark.parametrize("name", FILES)
def test_every_rule_has_its_texts(name: str) -> None:
    rules = rules_of(name)
    pages = {rule.annotations["runbook_url"].rpartition("/")[2] for rule in rules}
    texts = [name for page in pages for name in read_texts(PAGES / Language.JA / f"{page}.md")]
    assert sorted(texts) == sorted({rule.name for rule in rules})
    for rule in rules:
        found = translations_of(rule.annotations)[Language.JA]
        assert found.keys() == {"summary", "description", "runbook_url"}, rule.name
        assert JAPANESE.search(found["summary"]), rule.name
        assert JAPANESE.search(found["description"]), rule.name
        assert found["runbook_url"] == rule.annotations["runbook_url"] + "?lang=ja"
        for text in ("summary", "description"):
            # The same values, conditions and queries; their order is the language's own.
            assert sorted(ACTION.findall(found[text])) == sorted(ACTION.findall(rule.annotations[text])), rule.name


def test_the_texts_of_the_default_rules_are_sent_by_their_key() -> None:
    rules = RuleFiles([], lambda: 0).current()
    first = next(rule for group in rules.groups for rule in group.rules if rule.name == "PoolWaits")
    assert translation_key("summary", Language.JA) in first.annotations


def test_a_file_of_ones_own_needs_none(tmp_path: Path) -> None:
    path = tmp_path / "own.yml"
    path.write_text("groups: [{name: g, rules: [{alert: A, expr: up, annotations: {summary: a}}]}]")
    (group,) = read_rules(path.read_bytes(), str(path), 1_000).groups
    assert translated([group])[0].rules == tuple(group.rules)

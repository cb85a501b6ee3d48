"""The rules that come with Loadwatch say the same in every language."""

import re

from loadwatch_backend.alerting.rules.files import RuleFiles
from loadwatch_backend.alerting.rules.model import RuleKind
from loadwatch_backend.alerting.rules.read import read_rules
from loadwatch_backend.core.language import Language, translations_of

RULES = [rule for group in RuleFiles([], lambda: 0).current().groups for rule in group.rules]
ACTION = re.compile(r"{{-?\s*(.*?)\s*-?}}", re.DOTALL)
JAPANESE = re.compile(r"[ぁ-んァ-ヶ一-龠]")
OWN = """
groups:
  - name: g
    rules: [{alert: A, expr: up, annotations: {summary: a, %s}}]
"""


def test_every_rule_has_its_texts() -> None:
    for rule in RULES:
        assert rule.kind is RuleKind.ALERTING
        found = translations_of(rule.annotations)[Language.JA]
        assert found.keys() == {"summary", "description", "runbook_url"}, rule.name
        assert JAPANESE.search(found["summary"]), rule.name
        assert JAPANESE.search(found["description"]), rule.name
        assert found["runbook_url"] == rule.annotations["runbook_url"] + "?lang=ja"
        for text in ("summary", "description"):
            # The same values, conditions and queries; their order is the language's own.
            assert sorted(ACTION.findall(found[text])) == sorted(ACTION.findall(rule.annotations[text])), rule.name


def test_the_runbook_of_ones_own_rule_is_in_the_languages_that_the_rule_has() -> None:
    def annotations(more: str) -> dict[Language, dict[str, str]]:
        (group,) = read_rules((OWN % more).encode(), "own.yml", 1_000).groups
        return translations_of(group.rules[0].annotations)

    ours = "'{{ $externalURL }}/runbooks/a'"
    assert annotations(f"runbook_url: {ours}") == {}
    both = annotations(f"loadwatch_summary_ja: あ, runbook_url: {ours}")
    assert both == {Language.JA: {"summary": "あ", "runbook_url": "{{ $externalURL }}/runbooks/a?lang=ja"}}
    assert annotations("loadwatch_summary_ja: あ, runbook_url: 'https://a.example/'") == {
        Language.JA: {"summary": "あ"}
    }

"""A default rule with its runbook."""

from tests.adding.example import Edit, Example

PACK = "packs/loadwatch_packs/host"
DEFAULT_RULE = Example(
    kind="default rule",
    most=1,
    names={"pack": "host", "rule": "entropy-low"},
    new={
        f"{PACK}/runbooks/entropy-low.md": "# EntropyLow\n\n## What it means\n\nRandom numbers are short.\n",
        f"{PACK}/runbooks/entropy-low.ja.md": "# EntropyLow\n\n## 意味\n\n乱数が不足しています。\n",
    },
    edits=[
        Edit(
            path=f"{PACK}/rules.yml",
            before="      # When: more than 10 % taken by the hypervisor\n",
            put="""      # When: fewer than 100 bits of entropy are left
      - alert: EntropyLow
        expr: node_entropy_available_bits < 100
        labels: {severity: warning, component: host}
        annotations:
          summary: '{{ $labels.instance }}: {{ $value }} bits of entropy'
          description: Random numbers are short.
          loadwatch_summary_ja: '{{ $labels.instance }}: エントロピーは {{ $value }} ビットです'
          loadwatch_description_ja: 乱数が不足しています。
          runbook_url: '{{ $externalURL }}/runbooks/entropy-low'

""",
        ),
    ],
    check="""
from loadwatch_backend.core.language import Language, translations_of
from loadwatch_backend.alerting.rules.files import RuleFiles
from loadwatch_backend.catalogue.runbooks.rendering import Runbooks

rules = [rule for group in RuleFiles([], lambda: 0).current().groups for rule in group.rules]
(rule,) = [rule for rule in rules if rule.name == "EntropyLow"]
japanese = translations_of(rule.annotations)[Language.JA]
assert japanese["summary"] == "{{ $labels.instance }}: エントロピーは {{ $value }} ビットです"
assert japanese["runbook_url"].endswith("/runbooks/entropy-low?lang=ja")
page = Runbooks().page("entropy-low", Language.JA)
assert "意味" in page
""",
)

"""The rules that come with Loadwatch: sound, tested by promtool's own format, explained by a page each."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from loadwatch_backend.commands.rules import rules as rules_command
from loadwatch_backend.promql.parsing.expression import Selector
from loadwatch_backend.promql.parsing.parse import parse_expression
from loadwatch_backend.rules.files import BUILT_IN
from loadwatch_backend.rules.model import Rule
from loadwatch_backend.rules.presence import metrics_of, presence_of, selectors_of
from loadwatch_backend.rules.read import read_rules
from loadwatch_backend.runbooks.rendering import Runbooks
from loadwatch_backend.signals.catalogue.registry import CATALOGUE
from loadwatch_backend.signals.model import Unit

ROOT = Path(__file__).resolve().parents[3]
RUNBOOKS = ROOT / "docs" / "runbooks"
TESTS = Path(__file__).with_name("defaults")
FILES = sorted(BUILT_IN.glob("*.yml"))
COMPONENTS = {
    "aws",
    "database",
    "pool",
    "process",
    "sockets",
    "ingest",
    "load",
    "host",
    "timeouts",
    "watch",
    "loadwatch",
    "finding",
}
SECTIONS = (
    "What it means",
    "What users notice",
    "Check first",
    "Usual causes",
    "What to do now",
    "What to change later",
    "The rule behind the figure",
)


def rules() -> list[Rule]:
    found: list[Rule] = []
    for file in FILES:
        read = read_rules(file.read_bytes(), str(file), 1_000)
        assert read.all_faults == [], file.name
        found += [rule for group in read.groups for rule in group.rules]
    return found


RULES = rules()
NAMES = sorted({rule.name for rule in RULES})


def page_of(name: str) -> str:
    """`PoolChurn` is explained by `pool-churn.md`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


def cases() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """All (name of an alert, alerts expected) of the test files."""
    for file in sorted(TESTS.glob("*.test.yml")):
        for test in yaml.safe_load(file.read_text(encoding="utf-8"))["tests"]:
            for case in test["alert_rule_test"]:
                yield case["alertname"], case["exp_alerts"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_promtool_accepts_the_file(file: Path):
    done = subprocess.run(["promtool", "check", "rules", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_file_has_its_tests():
    assert {file.stem for file in FILES} <= {test.name.removesuffix(".test.yml") for test in TESTS.glob("*.test.yml")}


@pytest.mark.parametrize("test", sorted(TESTS.glob("*.test.yml")), ids=lambda test: test.stem)
def test_promtool_finds_that_alerts_fire_when_they_must_and_only_then(test: Path):
    done = subprocess.run(["promtool", "test", "rules", test], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("test", sorted(TESTS.glob("*.yml")), ids=lambda test: test.stem)
def test_so_do_our_own_engine_and_state_machine(test: Path):
    """Also that whoever recovers is seen to have recovered: without data an alert would stay."""
    done = CliRunner().invoke(rules_command, ["test", str(test)])
    assert done.exit_code == 0, done.output


def test_every_rule_is_seen_to_fire_and_not_to_fire():
    fired = {(name, alert["exp_labels"]["severity"]) for name, alerts in cases() for alert in alerts}
    quiet = {name for name, alerts in cases() if not alerts}
    assert {(rule.name, rule.labels["severity"]) for rule in RULES} == fired
    assert set(NAMES) == quiet


def test_every_rule_says_how_bad_it_is_and_what_it_is_about():
    for rule in RULES:
        assert rule.labels["severity"] in {"critical", "warning", "info"}, rule.name
        assert rule.labels["component"] in COMPONENTS, rule.name
        # What is said of notifications goes to everybody, for its own receiver may be the one that fails.
        everybodys = {"notify"} if rule.name.startswith("LoadwatchNotifications") else set[str]()
        assert set(rule.labels) == {"severity", "component", *everybodys}, rule.name
        # A load test is over in minutes: what takes longer to be sure comes too late.
        assert rule.for_ms <= 60_000, rule.name


def test_every_rule_has_its_texts_unit_signal_and_page():
    signals = {signal.id for group in CATALOGUE.groups for panel in group.panels for signal in panel.signals}
    for rule in RULES:
        assert rule.annotations["summary"], rule.name
        assert "\n" not in rule.annotations["summary"].strip(), rule.name
        assert len(rule.annotations["description"]) > 80, rule.name
        assert rule.annotations["runbook_url"] == "{{ $externalURL }}/runbooks/" + page_of(rule.name)
        assert rule.unit in set(Unit), rule.name
        assert rule.signal == "" or rule.signal in signals, rule.name


def metric_of(selector: Selector) -> str:
    return next(matcher.value for matcher in selector.matchers if matcher.label == "__name__")


def test_every_resource_of_the_headroom_strip_has_a_rule_or_says_why_not():
    for resource in CATALOGUE.resources:
        assert bool(resource.rule) != bool(resource.no_rule), resource.id
        if resource.rule:
            # The rule watches what the strip shows: all that is used.
            used = metrics_of(parse_expression(resource.used.replace("$window", "1m")))
            read = {metric_of(one) for rule in RULES if rule.name == resource.rule for one in selectors_of(rule.parsed)}
            assert used is not None
            assert used <= read, resource.id


def test_absence_of_data_can_be_told_from_health():
    assert [rule.name for rule in RULES if presence_of(rule.parsed) is None] == []


def test_each_rule_has_its_page_and_each_page_its_rule():
    assert sorted(path.stem for path in RUNBOOKS.glob("*.md")) == sorted(page_of(name) for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_page_has_the_same_form(name: str):
    text = (RUNBOOKS / f"{page_of(name)}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {name}\n")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == list(SECTIONS)
    for section in re.split(r"^## .+$", text, flags=re.MULTILINE)[1:]:
        assert section.strip()
    rendered = re.sub(r"<code>.*?</code>", "", Runbooks(RUNBOOKS).page(page_of(name)))
    assert not re.search(r"\n- |\n\d\. |\]\(|`", rendered), "Markdown that the server's renderer does not know"
    linked = re.findall(r"\]\(([a-z0-9-]+)\.md", text)
    assert set(linked) <= {page_of(other) for other in NAMES}, linked

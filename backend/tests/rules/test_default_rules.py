"""The rules that come with Loadwatch: sound, tested by promtool's own format, explained by a page each."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from loadwatch_backend.alerting.rules.files import shipped_rules
from loadwatch_backend.alerting.rules.model import CAUSE_ANNOTATION, FINDING_ANNOTATION, Rule
from loadwatch_backend.alerting.rules.presence import metrics_of, presence_of, selectors_of
from loadwatch_backend.alerting.rules.read import read_rules
from loadwatch_backend.catalogue.packs.library import shipped_catalogue
from loadwatch_backend.catalogue.runbooks.rendering import Runbooks
from loadwatch_backend.catalogue.signals.model import Unit
from loadwatch_backend.core.language import TRANSLATIONS
from loadwatch_backend.series.promql.parsing.expression import Selector
from loadwatch_backend.series.promql.parsing.parse import parse_expression
from loadwatch_packs import FOLDER

from backend.tests.rules.promtool_format.document import read_test_file
from backend.tests.rules.promtool_format.run import run_test

TESTS = Path(__file__).with_name("defaults")
FILES = shipped_rules()
RUNBOOKS = {path.stem: path for path in FOLDER.glob("*/runbooks/*.md") if "." not in path.stem}
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


def rules() -> dict[str, list[Rule]]:
    found: dict[str, list[Rule]] = {}
    for name, file in FILES.items():
        read = read_rules(file.read_bytes(), name, 1_000)
        assert read.all_faults == [], name
        found[name] = [rule for group in read.groups for rule in group.rules]
    return found


BY_FILE = rules()
RULES = [rule for rules in BY_FILE.values() for rule in rules]
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


def quiet_copy(file: Path, folder: Path) -> str:
    """A rule file without the annotations that are not sent in English."""
    rules = yaml.safe_load(file.read_text(encoding="utf-8"))
    for rule in (rule for group in rules["groups"] for rule in group["rules"]):
        rule["annotations"] = {
            name: text
            for name, text in rule["annotations"].items()
            if name not in (*TRANSLATIONS, FINDING_ANNOTATION, CAUSE_ANNOTATION)
        }
    name = f"{file.parent.name}.yml"
    (folder / name).write_text(yaml.safe_dump(rules, allow_unicode=True), encoding="utf-8")
    return name


@pytest.mark.parametrize("file", FILES.values(), ids=list(FILES))
def test_promtool_accepts_the_file(file: Path):
    done = subprocess.run(["promtool", "check", "rules", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_file_has_its_tests():
    tests = [read_test_file(test.read_bytes()) for test in TESTS.glob("*.test.yml")]
    named = {(TESTS / name).resolve() for test in tests for name, _ in test.rule_files}
    assert {file.resolve() for file in FILES.values()} == named


@pytest.mark.parametrize("test", sorted(TESTS.glob("*.test.yml")), ids=lambda test: test.stem)
def test_promtool_finds_that_alerts_fire_when_they_must_and_only_then(test: Path, tmp_path: Path):
    """Without Japanese texts and names of findings: what promtool compares with is what is sent, in English."""
    text = test.read_text(encoding="utf-8")
    for name in yaml.safe_load(text)["rule_files"]:
        text = text.replace(name, quiet_copy(TESTS / name, tmp_path))
    (tmp_path / test.name).write_text(text, encoding="utf-8")
    # It runs for seconds: collecting its garbage is not worth the CPU.
    environment = {**os.environ, "GOGC": "800"}
    command = ["promtool", "test", "rules", tmp_path / test.name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("test", sorted(TESTS.glob("*.yml")), ids=lambda test: test.stem)
def test_so_do_our_own_engine_and_state_machine(test: Path):
    """Also that whoever recovers is seen to have recovered: without data an alert would stay."""
    file = read_test_file(test.read_bytes())
    assert file.faults == []
    reads = [read_rules((TESTS / name).read_bytes(), name, 1_000) for name, _ in file.rule_files]
    groups = [group for read in reads for group in read.groups]
    assert file.tests
    assert groups
    for one in file.tests:
        assert run_test(file, one, groups) == []


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
    signals = {signal.id for group in shipped_catalogue().groups for panel in group.panels for signal in panel.signals}
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
    for resource in shipped_catalogue().resources:
        alert = resource.alert
        assert alert is not None, resource.id
        made = alert.warning is not None or alert.critical is not None
        assert [bool(alert.rule), bool(alert.none), made].count(True) == 1, resource.id
        if resource.rule:
            # The rule watches what the strip shows: all that is used.
            used = metrics_of(parse_expression(resource.used.replace("$window", "1m")))
            read = {metric_of(one) for rule in RULES if rule.name == resource.rule for one in selectors_of(rule.parsed)}
            assert used is not None
            assert used <= read, resource.id


def test_absence_of_data_can_be_told_from_health():
    assert [rule.name for rule in RULES if presence_of(rule.parsed) is None] == []


def test_each_rule_has_its_page_and_each_page_its_rule():
    found = {name: path.parents[1] for name, path in RUNBOOKS.items()}
    of_resources = {one.alert.runbook for one in shipped_catalogue().resources if one.alert and one.alert.runbook}
    assert of_resources <= found.keys()
    assert {name: folder for name, folder in found.items() if name not in of_resources} == {
        page_of(rule.name): FILES[pack].parent for pack, rules in BY_FILE.items() for rule in rules
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_page_has_the_same_form(name: str):
    path = RUNBOOKS[page_of(name)]
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# {name}\n")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == list(SECTIONS)
    for section in re.split(r"^## .+$", text, flags=re.MULTILINE)[1:]:
        assert section.strip()
    rendered = re.sub(r"<code>.*?</code>", "", Runbooks().page(page_of(name)))
    assert not re.search(r"\n- |\n\d\. |\]\(|`", rendered), "Markdown that the server's renderer does not know"
    for page in (path, path.with_suffix(".ja.md")):
        linked = re.findall(r"\]\(([^)#]+\.md)", page.read_text(encoding="utf-8"))
        assert [one for one in linked if not (page.parent / one).is_file()] == []
        assert {one.endswith(".ja.md") for one in linked} <= {page is not path}

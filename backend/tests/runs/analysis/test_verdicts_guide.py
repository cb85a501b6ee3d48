"""docs/guide/verdicts.md names what there is, and its examples can be read."""

import re
from pathlib import Path

from loadwatch_backend.catalogue.packs.library import shipped_catalogue
from loadwatch_backend.runs.analysis.thresholds import METRICS, OPERATORS, ThresholdError, parse_threshold
from loadwatch_formats.numbers import FACTORS

ROOT = Path(__file__).parents[4]
GUIDE = (ROOT / "docs/guide/verdicts.md").read_text(encoding="utf-8")
ANALYSIS = ROOT / "backend/loadwatch_backend/runs/analysis"
SIGNALS = {
    signal.id: signal.unit for group in shipped_catalogue().groups for panel in group.panels for signal in panel.signals
}


def test_every_metric_operator_and_unit_is_named():
    named = set(re.findall(r"`([^`\n]+)`", GUIDE))
    units = {unit for unit in FACTORS if unit != "µs" and not unit.endswith("B/s")}
    assert {*METRICS, *OPERATORS, *units} <= named


def test_the_examples_can_be_read():
    (examples,) = re.findall(r"```threshold\n(.*?)```", GUIDE, re.DOTALL)
    for example in [*examples.splitlines(), *re.findall(r"--threshold '([^']+)'", GUIDE)]:
        assert parse_threshold(example, SIGNALS)


def test_the_error_is_the_one_that_is_shown():
    try:
        parse_threshold("p95<300", SIGNALS)
    except ThresholdError as refused:
        text = refused.detail
    else:
        text = ""
    assert text
    assert text in GUIDE


def test_every_stable_code_is_named():
    sources = {
        name.rpartition("/")[2]: (ANALYSIS / f"{name}.py").read_text(encoding="utf-8")
        for name in ("phases", "generator", "thresholds", "reconciliation")
    }
    codes = {
        *re.findall(r'False, "([a-z-]+)"\)', sources["phases"]),
        *re.findall(r'found\["([a-z-]+)"\]', sources["generator"]),
        *re.findall(r'return "([a-z-]+)"', sources["generator"]),
        *re.findall(r'doubts\.append\("([a-z-]+)"\)', sources["thresholds"]),
        *re.findall(r'(?:place=|return )"([a-z-]+)"', sources["reconciliation"]),
        "by-hand",
        "stable",
    }
    assert {"too-short", "no-seconds", "waited-for-answers", "held-back", "not-measured", "counter-reset"} <= codes
    assert {code for code in codes if f"`{code}`" not in GUIDE} == set()

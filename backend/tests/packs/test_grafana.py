"""Grafana dashboards as packs: queries, panels, reasons, and a pack over a running server."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from loadwatch_backend.catalogue.packs.grafana import DashboardImport, NotTakenError, Variables, read_dashboard
from loadwatch_backend.catalogue.packs.library import checked
from loadwatch_backend.catalogue.packs.typed_yaml import Document

from backend.tests.conftest import NOW_MS, run_server
from backend.tests.packs.test_commands import packs

CASES: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("grafana.yml").read_text("utf-8"))
DASHBOARD = {
    "templating": {"list": CASES["variables"]},
    "time": {"from": "now-6h", "to": "now"},
    "__inputs": CASES["inputs"],
}
PERCENT = {"defaults": {"unit": "percent"}}


@pytest.mark.parametrize(("query", "expected"), CASES["queries"])
def test_queries_without_variables(query: str, expected: str) -> None:
    assert Variables(DASHBOARD).query(query).text == expected


@pytest.mark.parametrize(("query", "reason"), CASES["refused"])
def test_queries_that_have_no_expression(query: str, reason: str) -> None:
    with pytest.raises(NotTakenError) as error:
        Variables(DASHBOARD).query(query)
    assert reason in str(error.value)


def panel(title: str, *queries: "str | dict[str, Any]", **more: Any) -> dict[str, Any]:
    targets = [{"expr": one} if isinstance(one, str) else one for one in queries]
    letters = [{"refId": letter, **one} for letter, one in zip("ABCD", targets, strict=False)]
    return {"type": "timeseries", "title": title, "targets": letters, **more}


def imported(*panels: dict[str, Any], **more: Any) -> tuple[dict[str, Any], list[str]]:
    """Panels by title, and what is said; the pack is right."""
    board = DASHBOARD | {"title": "Mine", "panels": [*panels], **more}
    found = DashboardImport(board, "mine", ["mine_taken"]).pack()
    assert checked(Document.read(found.text.encode(), "pack.yml"), []).id == "mine"
    assert found.text.count("\n# ") + 1 == len(found.remarks)
    groups = yaml.safe_load(found.text)["groups"]
    return {one["title"]: {**one, "group": group["title"]} for group in groups for one in group["panels"]}, [
        *found.remarks
    ]


@pytest.mark.parametrize(("model", "unit", "expression", "title"), CASES["units"])
def test_units(model: dict[str, Any], unit: str, expression: str, title: str) -> None:
    panels, _ = imported(panel("P", "x", **model))
    (signal,) = panels[title]["signals"]
    assert (signal["unit"], signal["expr"]) == (unit, expression)


def test_titles_and_legends() -> None:
    overrides = [{"matcher": {"id": "byRegexp", "options": "/^Lim/"}, "properties": [{"id": "unit", "value": "s"}]}]
    panels, _ = imported(
        panel("Taken", {"expr": 'x{instance="$node"} / 2', "legendFormat": "{{ mode }} now"}, fieldConfig=PERCENT),
        panel("CPU of $node", {"expr": 'x{job=~"$job"}', "legendFormat": "__auto"}, repeat="job"),
        panel(
            "Two",
            {"expr": 'x{instance="$node"}', "legendFormat": "{{le}} - Used"},
            {"expr": "sum by (a) (y)", "legendFormat": "Limit $q {{a}} {{gone}}"},
            {"expr": 'sum(z_total{job=~"$job"})'},
            {"expr": "hidden", "hide": True},
            fieldConfig={"defaults": {"unit": "short"}, "overrides": overrides},
        ),
        panel("", "some_metric_total"),
    )
    signals = {title: [tuple(each.values()) for each in one["signals"]] for title, one in panels.items()}
    assert signals == {
        "Taken": [("mine_taken_2", "Taken", "ratio", "(x / 2) / 100", "{{instance}} {{mode}} now")],
        "CPU": [("mine_cpu", "CPU", "count", "x", "{{instance}}")],
        "Two": [
            ("mine_two_used", "Used", "count", "x", "{{instance}} {{le}}"),
            ("mine_two_limit_0_9", "Limit 0.9", "seconds", "sum by (a) (y)", "{{a}}"),
            ("mine_two_z", "Z", "count", "sum(z_total)", ""),
        ],
        "Some metric": [("mine_some_metric", "Some metric", "count", "some_metric_total", "{{instance}}")],
    }
    assert panels["CPU"]["split"] == "job"


def test_stacks_and_columns_of_tables() -> None:
    named = {"matcher": {"id": "byName", "options": "Value #B"}, "properties": [{"id": "displayName", "value": "P99"}]}
    unit = {"matcher": {"id": "byName", "options": "First"}, "properties": [{"id": "unit", "value": "s"}]}
    panels, _ = imported(
        panel("By mode", {"expr": "x", "legendFormat": "{{instance}} {{mode}}"}, stack=True, fieldConfig=PERCENT),
        panel("Two", "sum(x)", "sum(y)", fieldConfig={"defaults": {"custom": {"stacking": {"mode": "normal"}}}}),
        panel("Both", "sum by (a) (x)", "sum by (a) (y)", stack=True), panel("Below", "-x", stack=True),
        panel("Table", "x", "y", "z", fieldConfig={"overrides": [named, unit]},
              styles=[{"pattern": "Value #C", "alias": "Z!"}],
              transformations=[{"id": "organize", "options": {"renameByName": {"Value #A": "First"}}}]),
    )  # fmt: skip
    kept = ("title", "layers", "total")
    found = {t: (p.get("form"), [tuple(s[k] for k in kept if k in s) for s in p["signals"]]) for t, p in panels.items()}
    assert found == {
        "By mode": ("stacked", [("By mode", ["mode"], "mean")]),
        "Two": ("stacked", [("X", [], "sum"), ("Y", [], "sum")]),
        "Both": (None, [("X",), ("Y",)]), "Below": (None, [("Below",)]),
        "Table": (None, [("First",), ("P99",), ("Z!",)]),
    }  # fmt: skip
    assert [one["unit"] for one in panels["Table"]["signals"]] == ["seconds", "count", "count"]


def test_rows_of_all_versions() -> None:
    def at(y: int) -> dict[str, Any]:
        return {"gridPos": {"y": y} if y == 1 else {"x": 0, "y": y}}

    folded = {"type": "row", "title": "Folded", "collapsed": True, "panels": [panel("C", "c")], **at(3)}
    opened = {"type": "row", "title": "Open", **at(1)}
    panels, remarks = imported(folded, panel("B", "b", **at(2)), opened, panel("A", "a", **at(0)))
    assert [(title, one["group"]) for title, one in panels.items()] == [
        ("A", "Mine"), ("B", "Mine: Open"), ("C", "Mine: Folded"),
    ]  # fmt: skip
    assert remarks == ["3 of 3 PromQL panels of the Grafana dashboard 'Mine'"]
    old = [{"title": "First", "panels": [panel("A", "a")]}, {"title": "Row", "panels": [panel("B", "b")]}]
    panels, _ = imported(panels=None, rows=old)
    assert {title: one["group"] for title, one in panels.items()} == {"A": "Mine: First", "B": "Mine"}


def test_reasons_for_what_is_not_taken() -> None:
    loki, prometheus = {"type": "loki", "uid": "l"}, {"type": "prometheus", "uid": "p"}
    library = {"type": "timeseries", "title": "Shared", "libraryPanel": {"uid": "u", "name": "Ours"}}
    elements = {"v": {"name": "Known", "model": panel("Known", "known")}}
    sources: list[Any] = [None, "My data", "${ds}", "$IN", prometheus, "$prefix"]
    math = {"type": "__expr__", "uid": "__expr__"}
    panels, remarks = imported(
        *(panel(f"Taken {number}", "x", datasource=source) for number, source in enumerate(sources)),
        panel("Sum", {"expr": "x", "hide": True}, {"expression": "$A * 2", "datasource": math}, timeShift="1d"),
        panel("Words of logs", "x", datasource="${LOGS}"),
        panel("Mixed", {"expr": "x", "datasource": prometheus}, {"expr": '{a="b"}', "datasource": loki},
              datasource={"type": "datasource", "uid": "-- Mixed --"}, transformations=[{"id": "calculateField"}]),
        panel("Half", "x", "y +"), panel("Logs", '{app="x"}', datasource="$logs"),
        panel("Cloud", {"region": "eu"}, datasource={"type": "cloudwatch"}),
        panel("Again", {"panelId": 2}, datasource="-- Dashboard --"), panel("Hidden", {"expr": "x", "hide": True}),
        panel("Wrong", "sum(x"), panel("Range", "x[5m]"), {"type": "text", "title": "Words"},
        library, {**library, "title": "Known", "libraryPanel": {"uid": "v"}},
        __elements=elements,
    )  # fmt: skip
    assert {*panels} == {*(f"Taken {n}" for n in range(6)), "Sum", "Mixed", "Half", "Known"}
    assert remarks[0].startswith("10 of 12 PromQL panels")
    said = [one.split(": no PromQL that")[0] for one in remarks[1:]]
    assert said == [
        "changed: Sum: without its queries of another data source: __expr__",
        "changed: Sum: without its time shift of 1d",
        "changed: Mixed: without its queries of another data source: loki",
        "changed: Mixed: without the transformation calculateField",
        "changed: Half: without 1 of its queries",
        "not taken: Words of logs: another data source: victoriametrics-logs-datasource",
        "not taken: Logs: another data source: loki",
        "not taken: Cloud: another data source: cloudwatch",
        "not taken: Again: another data source: -- dashboard --",
        "not taken: Hidden: all its queries in PromQL are hidden",
        "not taken: Wrong",
        "not taken: Range: its query has no value at an instant (PromQL)",
        "not taken: Words: no query (text)",
        "not taken: Shared: the library panel 'Ours' is not in the file",
    ]


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ([], "no Grafana dashboard"),
        ({"spec": {"elements": {}, "layout": {}}}, "schema v2"),
        ({"dashboard": {"panels": [{"type": "text"}]}}, "no panel can be taken"),
    ],
)
def test_what_is_no_dashboard(model: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        DashboardImport(read_dashboard(model), "mine", []).pack()


def test_a_dashboard_over_a_server_draws_what_its_queries_answer(tmp_path: Path) -> None:
    own = panel(
        "Work", {"expr": 'rate(w_total{instance="$node"}[$__rate_interval])', "legendFormat": "{{kind}}"},
        {"expr": 'sum(w_total{job=~"$job"}) by (kind)'}, {"expr": "time()"}, datasource="${ds}", fieldConfig=PERCENT,
    )  # fmt: skip
    file, folder = tmp_path / "board.json", tmp_path / "packs"
    file.write_text(json.dumps(DASHBOARD | {"title": "Redis", "panels": [own, panel("Wrong", "sum(")]}), "utf-8")
    done = packs(tmp_path, "from-grafana", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"wrote {folder}/redis-grafana/pack.yml\n  1 of 2 PromQL panels" in done.stdout
    assert "(filter the page by job and instance): $job, $node\n  set: $__rate_interval = $window\n" in done.stdout
    assert "  not taken: Wrong: no PromQL that is evaluated here: " in done.stdout
    done = packs(tmp_path, "check", folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "redis-grafana: level basic; 3 signals" in done.stdout
    for more, says in (
        ((), "there is a pack"),
        (("--name", "redis"), "there is a pack"),
        (("--name", "../x"), "pattern"),
    ):
        done = packs(tmp_path, "from-grafana", file, *more)
        assert (done.returncode, says in done.stderr, "Traceback" in done.stderr) == (1, True, False), done.stderr
    out = tmp_path / "other"
    assert packs(tmp_path, "from-grafana", file, "--name", "mine", "--out", out).returncode == 0
    assert (out / "mine" / "pack.yml").exists()

    start_ms = NOW_MS - 100_000
    with run_server(tmp_path / "server", packs=[folder]) as server:
        for number, (host, kind) in enumerate((host, kind) for host in "ab" for kind in ("read", "write")):
            labels = {"__name__": "w_total", "job": "w", "instance": host, "kind": kind}
            server.write((labels, [(NOW_MS + at * 1_000, number * (at + 400.0)) for at in range(-300, 1)]))
        listed = server.client.get("/api/signals").raise_for_status().json()["signals"]
        signals = {one["id"]: one["expression"] for one in listed if one["id"].startswith("redis_grafana_")}
        assert [*signals.values()] == ["rate(w_total[$window]) / 100", "sum(w_total) by (kind) / 100", "time() / 100"]
        question = {"signals": [*signals], "start_ms": start_ms, "end_ms": NOW_MS - 10_000, "step_ms": 1_000}
        answer = server.client.post("/api/signals/query", json=question).raise_for_status().json()
        for result, expression, count in zip(answer["results"], signals.values(), (4, 2, 1), strict=True):
            span = {"start": start_ms / 1_000, "end": NOW_MS / 1_000 - 10, "step": 1}
            query = {"query": expression.replace("$window", "5s"), **span}
            same = server.client.get("/prometheus/api/v1/query_range", params=query).raise_for_status().json()
            expected = [(one["metric"], [float(value) for _, value in one["values"]]) for one in same["data"]["result"]]
            drawn = [(one["labels"], one["values"][: len(expected[0][1])]) for one in result["series"]]
            assert len(drawn) == count
            assert sorted(map(str, (one for one, _ in drawn))) == sorted(map(str, (one for one, _ in expected)))
            for labels, values in drawn:
                assert values == pytest.approx(next(one for known, one in expected if known == labels))

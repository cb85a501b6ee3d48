"""Debian's Prometheus and ours, which hold the same samples, give the same answers to what clients ask.

Prometheus 2.42 is older than what we follow: what it does not know yet is left out here, by the name of each.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest
from loadwatch_backend.core.clock import system_clock
from loadwatch_backend.series.store.port import STALE_NAN

from backend.tests.conftest import SetClock, run_server
from backend.tests.promql.http.beside import Rows, ask, get, run_prometheus, write_to

STEP_MS = 7_000
COUNT = 60


@dataclass(frozen=True)
class Both:
    """Addresses of both, and when their samples end."""

    ours: str
    theirs: str
    end: float

    def get(self, path: str, **fields: Any) -> tuple[Any, Any]:
        """What each says to a GET, as a document."""
        first, second = (get(url, path, **fields) for url in (self.ours, self.theirs))
        assert first.status == second.status, (path, first.data, second.data)
        return first.json(), second.json()


def _rows(end_ms: int) -> Rows:
    times = [end_ms - STEP_MS * place for place in range(COUNT)][::-1]
    rows: list[tuple[dict[str, str], list[tuple[int, float]]]] = []
    for number in range(6):
        labels = {"__name__": "hits_total", "job": "web", "instance": f"web-{number % 3}:80", "code": f"{number % 2}00"}
        labels["path"] = f"/{number}"
        rows.append((labels, [(time, float(place * number)) for place, time in enumerate(times)]))
    for name, value in (("level", 1.5e-9), ("level_large", 12_345_678.25), ("level_nan", float("nan"))):
        rows.append(({"__name__": name, "job": "db", "text": 'a "b"\\\nc'}, [(time, value) for time in times]))
    # One that has ended, and one that was heard last four minutes ago.
    rows.append(({"__name__": "gone", "job": "db"}, [(times[0], 1.0), (times[-1], STALE_NAN)]))
    rows.append(({"__name__": "late", "job": "db"}, [(end_ms - 240_000, 7.0)]))
    rows.append(({"__name__": "too_late", "job": "db"}, [(end_ms - 330_000, 7.0)]))
    return rows


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("beside")
    # From its first moment the server's clock is Prometheus': it deletes what a later one finds old.
    clock = SetClock(system_clock())
    with run_server(folder / "data", clock) as server, run_prometheus(folder / "them") as theirs:
        end_ms = system_clock() - 1_000
        both = Both(f"{server.url}/prometheus", theirs, end_ms / 1_000)
        for url in (both.ours, both.theirs):
            write_to(url, _rows(end_ms))
        yield both


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("series", {"match[]": "hits_total"}),
        ("series", {"match[]": '{job="db"}'}),
        ("labels", {}),
        ("labels", {"match[]": "level"}),
        ("label/instance/values", {}),
        ("label/path/values", {"match[]": 'hits_total{code="100"}'}),
        ("label/__name__/values", {"match[]": '{job="db"}'}),
        ("query_exemplars", {"query": "rate(hits_total[1m])"}),
        ("metadata", {"limit": "1", "limit_per_metric": "1", "metric": "hits_total"}),
        ("rules", {}),
        ("rules", {"type": "alert"}),
        ("alerts", {}),
        ("alertmanagers", {}),
        ("query", {"query": "1+1"}),
        ("query", {"query": "1+1", "time": "4"}),
    ],
)
def test_the_same_answers(both: Both, path: str, fields: dict[str, str]) -> None:
    times = {"query": {"time": both.end}, "series": {"start": both.end - 600, "end": both.end}}.get(path, {})
    ours, theirs = both.get(f"/api/v1/{path}", **(times | fields))
    assert ours == theirs
    assert ours["status"] == "success"


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("query_exemplars", {"query": "hits_total", "start": "2", "end": "1"}),
        ("query_exemplars", {"query": "hits_total", "start": "noon"}),
        ("query_exemplars", {"query": "sum("}),
        ("query_exemplars", {}),
        ("metadata", {"limit": "few"}),
        ("rules", {"type": "none"}),
        ("label/path/values", {"match[]": "("}),
        ("series", {}),
        ("query_range", {"query": "up", "start": "2", "end": "1", "step": "1"}),
    ],
)
def test_the_same_refusals(both: Both, path: str, fields: dict[str, str]) -> None:
    ours, theirs = both.get(f"/api/v1/{path}", **fields)
    assert (ours["status"], ours["errorType"]) == (theirs["status"], theirs["errorType"])
    assert ours["error"]


def _keys(document: Any) -> Any:
    """The shape of a document: keys, and types of what is below."""
    if isinstance(document, dict):
        return {key: _keys(value) for key, value in cast("dict[str, Any]", document).items()}
    return "number" if isinstance(document, int | float) and not isinstance(document, bool) else type(document).__name__


LATER = {"hostname", "serverTime", "GOMEMLIMIT"}
"""Of runtimeinfo, since Prometheus 2.47 and 3.0."""


def test_what_is_said_of_the_server_has_the_same_shape(both: Both) -> None:
    ours, theirs = both.get("/api/v1/status/runtimeinfo")
    assert {key: kind for key, kind in _keys(ours["data"]).items() if key not in LATER} == _keys(theirs["data"])
    ours, theirs = both.get("/api/v1/status/config")
    assert _keys(ours) == _keys(theirs)
    ours, theirs = both.get("/api/v1/status/flags")
    assert all(isinstance(value, str) for value in ours["data"].values())
    # The receiver of OTLP came with 2.47, and got its flag with 3.0.
    assert ours["data"].keys() - theirs["data"].keys() == {"web.enable-otlp-receiver"}
    ours, theirs = both.get("/api/v1/status/buildinfo")
    assert _keys(theirs["data"]).items() <= _keys(ours["data"]).items()
    for state in ("active", "dropped", "any", "other"):
        ours, theirs = both.get("/api/v1/targets", state=state)
        assert ours["data"]["activeTargets"] == theirs["data"]["activeTargets"] == []
        assert ours["data"]["droppedTargets"] == theirs["data"]["droppedTargets"] == []


def test_series_are_counted_alike(both: Both) -> None:
    ours, theirs = both.get("/api/v1/status/tsdb")
    assert ours["data"].keys() == theirs["data"].keys()
    mine, other = ours["data"]["headStats"], theirs["data"]["headStats"]
    assert mine.keys() == other.keys()
    for name in ("numSeries", "maxTime"):
        assert mine[name] == other[name], name


# promtool -----------------------------------------------------------------------------------------------------------


def promtool(*arguments: str) -> str:
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        (["query", "instant", "--time={end}"], ["sum by (code) (rate(hits_total[1m]))"]),
        (["query", "instant", "--time={end}"], ["level_nan"]),
        (["query", "instant", "--format=json", "--time={end}"], ["hits_total"]),
        (["query", "range", "--start={start}", "--end={end}", "--step=31s"], ["hits_total{code='100'}"]),
        (["query", "range", "--format=json", "--start={start}", "--end={end}"], ["sum(hits_total)"]),
        (["query", "series", "--match=hits_total", "--match=level", "--start={start}", "--end={end}"], []),
        (["query", "labels", "--match=hits_total"], ["path"]),
        (["query", "labels"], ["__name__"]),
    ],
)
def test_promtool_says_the_same_of_both(both: Both, command: list[str], arguments: list[str]) -> None:
    filled = [part.format(end=both.end, start=both.end - 300) for part in command]
    ours, theirs = (promtool(*filled, url, *arguments) for url in (both.ours, both.theirs))
    assert ours.strip()
    if "--format=json" in command:
        assert json.loads(ours) == json.loads(theirs)
    else:
        assert sorted(ours.splitlines()) == sorted(theirs.splitlines())


# What Grafana's data source asks ------------------------------------------------------------------------------------


def test_what_grafana_asks(both: Both) -> None:
    span = {"start": f"{both.end - 300:.3f}", "end": f"{both.end:.3f}"}
    # Test of the data source, and which features it may use.
    assert ask(both.ours, "query", query="1+1", time=span["end"])["data"]["result"][1] == "2"
    version = get(both.ours, "/api/v1/status/buildinfo").json()["data"]["version"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    # Browser of metrics, with its limit, by form and by address.
    match = {"match[]": '{__name__="hits_total",code="100"}', "limit": "40000"}
    assert ask(both.ours, "labels", **match, **span)["data"] == ["__name__", "code", "instance", "job", "path"]
    found = get(both.ours, "/api/v1/label/path/values", **match, **span).json()
    assert found["data"] == ["/1", "/3", "/5"]
    cut = ask(both.ours, "series", **(match | {"limit": "2"}), **span)
    assert (len(cut["data"]), cut["warnings"]) == (2, ["results truncated due to limit"])
    # Editor of queries: units and helps, exemplars beside each graph.
    assert get(both.ours, "/api/v1/metadata", limit="1000").json()["data"] == {}
    for answer in (
        ask(both.ours, "query_exemplars", query="rate(hits_total[1m])", **span),
        get(both.ours, "/api/v1/query_exemplars", query="rate(hits_total[1m])", **span).json(),
    ):
        assert answer == {"status": "success", "data": []}
    # Alerting.
    assert get(both.ours, "/api/v1/rules").json()["data"] == {"groups": []}
    assert get(both.ours, "/-/healthy").status == get(both.ours, "/-/ready").status == 200

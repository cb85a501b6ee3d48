"""A benchmark that prints its score: figures of one's own and markers, from the terminal to the webhook."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.run_cli import Cli, wait_until
from tests.serving import LOADWATCH, RealServer

BENCH = """
base="$1"
echo "level: 1"
for step in 1 2 3; do
  echo "score: $((base * step / 4))"
  sleep 1.1
  echo "level: $((step + 1))" >&2
done
echo "image check failed (penalty 100)"
printf '{\\n  "result": {"runs": [{"lag": 0.25}]}\\n}\\n'
echo "final score: $base"
"""
NOTIFICATIONS = """
route: {receiver: team}
receivers: [{name: team, webhook_configs: [{url: '%s'}]}]
loadwatch: {run_notices: [{receiver: team, events: [finished]}]}
"""
BETTER = "more_is_better"
FIGURES = [
    *("--figure", r"score=score: (\d+)", "--figure", "lag=json:$.result.runs[0].lag"),
    *("--figure", "best=promql:max(max_over_time(loadtest_figure{figure='score'}[$window]))"),
    *("--marker", "level: [34]", "--marker", "check failed"),
]


class _Receiver(BaseHTTPRequestHandler):
    heard: "list[dict[str, Any]]"

    def do_POST(self) -> None:
        self.heard.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def heard() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    _Receiver.heard = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Receiver)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/hook", _Receiver.heard
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, heard: tuple[str, Any]) -> Iterator[RealServer]:
    folder = tmp_path_factory.mktemp("server")
    (folder / "notifications.yml").write_text(NOTIFICATIONS % heard[0])
    settings = {
        "LOADWATCH_NOTIFICATIONS": str(folder / "notifications.yml"),
        "LOADWATCH_NOTIFY_NETWORKS": "127.0.0.0/8",
    }
    started = RealServer(folder, settings)
    started.start()
    yield started
    started.stop()


@pytest.fixture
def cli(server: RealServer, tmp_path: Path) -> Cli:
    return Cli(server=server.url, directory=tmp_path)


def get(server: RealServer, path: str, **query: str | list[str]) -> Any:
    answer = httpx.get(f"{server.url}{path}", params=query, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_score_goes_from_the_terminal_to_the_webhook(
    cli: Cli, server: RealServer, heard: tuple[str, list[dict[str, Any]]]
) -> None:
    runs: list[str] = []
    for score, threads, status in ((1000, 8, 0), (600, 16, 3)):
        options = ["--scenario", "bench", "--param", f"threads={threads}", "--commit", f"c{threads}"]
        command = ["sh", "-c", BENCH, "bench", str(score)]
        done = cli("run", *FIGURES, *options, "--threshold", "score>=900", "--", *command)
        assert done.returncode == status, done.stderr
        assert f"final score: {score}" in done.stdout
        assert f"loadwatch:   score: {score:,}\n" in done.stderr
        assert "loadwatch:   lag: 0.250\n" in done.stderr
        assert f"score>=900: {score:,} over whole" in done.stderr
        runs.append(cli.list()[0]["id"])
    run, base = get(server, f"/api/runs/{runs[1]}"), get(server, f"/api/runs/{runs[0]}")
    assert (base["verdict"], run["verdict"], run["verdict_reasons"]) == ("passed", "failed", ["score>=900"])
    told = [(one["name"], one["value"], one["orientation"]) for one in run["own_figures"]]
    assert told == [("score", 600, BETTER), ("lag", 0.25, "neutral"), ("best", 600, "neutral")]
    first = run["key_figures"][0]
    assert [first[key] for key in ("id", "value", "threshold", "state")] == [
        "figure:score",
        600,
        "score>=900",
        "failed",
    ]

    # Each line that was printed is a sample; those that are markers are annotations within the run.
    query = f"loadtest_figure{{figure='score',run='{runs[1]}'}}[1h]"
    (samples,) = get(server, "/prometheus/api/v1/query", query=query)["data"]["result"]
    assert [float(value) for _, value in samples["values"]] == [150, 300, 450, 600]
    notes = get(server, "/api/annotations", tag=runs[1])["annotations"]
    assert [one["text"] for one in notes] == ["level: 3", "level: 4", "image check failed (penalty 100)"]
    assert all(run["started_ms"] <= one["start_ms"] <= run["ended_ms"] for one in notes)

    compared = get(server, "/api/compare", run=runs)
    rows = {row["metric"]["id"]: row["cells"] for row in compared["rows"]}
    assert [cell["value"] for cell in rows["figure:score"]] == pytest.approx([1000, 600])
    assert compared["headlines"][0]["text"].startswith("score 1,000 → 600, −40")
    trend = get(server, "/api/trend", scenario="bench", metric="figure:score")
    assert [point["value"] for point in trend["points"]] == [1000, 600]
    assert trend["metric"]["orientation"] == BETTER
    assert [one["id"] for one in trend["own"]] == ["figure:score", "figure:lag", "figure:best"]
    sweep = get(
        *(server, "/api/sweep"), scenario="bench", parameter="threads", first="figure:score", second="figure:lag"
    )
    assert [(one["value"], round(one["x"]), one["y"]) for one in sweep["points"]] == [
        (8, 1000, pytest.approx(0.25)),
        (16, 600, pytest.approx(0.25)),
    ]
    report = cli("runs", "report", runs[1], "--format", "md", "--lang", "ja")
    assert "| score | 600 |" in report.stdout, report.stdout

    wait_until(lambda: len(heard[1]) >= 2, "the webhook")
    (told,) = [one for one in heard[1] if runs[1] in json.dumps(one)]
    assert "600" in json.dumps(told), told


def test_a_unit_is_told_wherever_the_figure_is(
    cli: Cli, server: RealServer, heard: tuple[str, list[dict[str, Any]]]
) -> None:
    figures = [r"lag[ms]=lag=(\d+)", "moved[KiB/s]=json:$.moved", "hit[%]=promql:vector(98.5)"]
    given = [part for one in figures for part in ("--figure", one)]
    runs: list[str] = []
    for lag in (250, 400):
        options = ["--scenario", "units", "--param", f"n={lag}", "--threshold", "lag<300ms", "--threshold", "hit>=95%"]
        told = f"echo lag={lag}; echo '{{\"moved\": 2}}'"
        done = cli("run", *given, *options, "--", "sh", "-c", told)
        assert f"  lag: {lag} ms\n" in done.stderr, done.stderr
        assert f"lag<300ms: {lag} ms over whole" in done.stderr
        assert "  moved: 2 KiB/s\n" in done.stderr
        assert "  hit: 98.5%\n" in done.stderr
        runs.append(cli.list()[0]["id"])
    run = get(server, f"/api/runs/{runs[1]}")
    assert [(one["name"], one["value"], one["unit"]) for one in run["own_figures"]] == [
        ("lag", 0.4, "seconds"),
        ("moved", 2048, "bytes_per_second"),
        ("hit", 0.985, "ratio"),
    ]
    assert [(one["unit"], one["value"], one["against"]) for one in run["key_figures"][:3]] == [
        ("seconds", 0.4, 0.3),
        ("bytes_per_second", 2048, None),
        ("ratio", 0.985, 0.95),
    ]
    query = f"loadtest_figure{{figure='lag',unit='seconds',run='{runs[1]}'}}[1h]"
    (samples,) = get(server, "/prometheus/api/v1/query", query=query)["data"]["result"]
    assert [float(value) for _, value in samples["values"]] == [0.4]
    compared = get(server, "/api/compare", run=runs)
    assert compared["headlines"][0]["text"].startswith("lag 250 ms → 400 ms, +60")
    units = {row["metric"]["id"]: row["metric"]["unit"] for row in compared["rows"]}
    assert (units["figure:lag"], units["figure:hit"]) == ("seconds", "ratio")
    sweep = get(server, "/api/sweep", scenario="units", parameter="n", first="figure:lag", second="figure:moved")
    assert [sweep[one]["unit"] for one in ("first", "second")] == ["seconds", "bytes_per_second"]
    assert "| lag | 400 ms |" in cli("runs", "report", runs[1], "--format", "md", "--lang", "ja").stdout
    wait_until(lambda: any(runs[1] in json.dumps(one) for one in heard[1]), "the webhook")
    assert "400 ms" in next(text for one in heard[1] if runs[1] in (text := json.dumps(one)))

    # A run whose figure had another unit is told by itself; beside others it would be a thousand times as much.
    cli("run", "--figure", r"lag=lag=(\d+)", "--scenario", "units", "--", "echo", "lag=260")
    cli("run", "--figure", r"lag[ms]=lag=(\d+)", "--scenario", "units", "--", "echo", "lag=270")
    trend = get(server, "/api/trend", scenario="units", metric="figure:lag")
    assert [point["value"] for point in trend["points"]] == [0.25, 0.4, None, 0.27]
    assert trend["metric"]["unit"] == "seconds"


def test_what_has_no_value_says_what_to_do_and_costs_the_verdict_only(cli: Cli, server: RealServer) -> None:
    figures = [
        r"a=never (\d+)",
        r"b=word (\w+)",
        r"c=((a+)+)$",
        "d=json:$.x",
        "e=promql:absent_thing",
        "f=promql:up or vector(1)",
    ]
    given = [part for one in figures for part in ("--figure", one)]
    program = "print('word none'); print('a' * 40 + '!'); print('{\"y\": 1}')"
    done = cli("run", *given, "--threshold", "a>1", "--", sys.executable, "-c", program)
    assert done.returncode == 0, done.stderr
    run = get(server, f"/api/runs/{cli.list()[0]['id']}")
    assert (run["verdict"], run["verdict_reasons"]) == ("invalid", ["not-measured"])
    told = {one["name"]: one["detail"] for one in run["own_figures"]}
    assert told == {
        "a": r"No line of the output matches 'never (\\d+)': check it against a line that the command prints.",
        "b": r"What 'word (\\w+)' found is no number: let it find the number alone.",
        "c": "'((a+)+)$' takes too long on a line: write it without repeats of repeats such as (a+)+.",
        "d": "'$.x' finds nothing in the JSON that was printed: check the path.",
        "e": "'absent_thing' has no value at the end of the run: check that its series were sent.",
        "f": "",
    }
    assert all(one["detail_ja"] for one in run["own_figures"][:5])
    assert told["a"] in run["thresholds"][0]["detail"]
    assert "  a: - (No line of the output" in done.stderr
    strict = cli("run", "--strict", "--figure", r"a=never (\d+)", "--threshold", "a>1", "--", "true")
    assert strict.returncode == 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--figure", "score"], "is not NAME=REGEX"),
        (["--figure", r"score=\d+"], r"put ( and ) around the number"),
        (["--figure", "score=("], "is no regular expression"),
        (["--figure", "score=json:a.b"], "write such as json:$.a.b[0].c"),
        (["--marker", "("], "is no regular expression"),
        (["--figure", "a=(1)", "--figure", "a=(2)"], "give each figure a name of its own"),
        (["--figure", r"p95=(\d+)"], "the name p95 has a meaning already"),
        (["--figure", "a=promql:sum("], "Figure 'a=promql:sum(' cannot be used: invalid PromQL"),
        (["--figure", r"a[furlong]=(\d+)"], "'furlong' is no unit of a figure: write one of us, "),
        (["--figure", r"a[ms]=(\d+)", "--threshold", "a<1KiB"], "`KiB` stands where one of the units us, µs, ms, s, m"),
        (["--figure", r"a[ms]=(\d+)", "--threshold", "a<300"], "300ms"),
        (["--figure", r"a=(\d+)", "--threshold", "b>1"], "column 1: `b>1` stands where one of"),
        (["--figure", r"a=(\d+)", "--threshold", "a>1 over 1s..2s"], "a figure of your own is of the whole run"),
    ],
)
def test_what_is_written_wrong_is_said_before_the_command_runs(cli: Cli, options: list[str], said: str) -> None:
    done = cli("run", *options, "--", "touch", "ran")
    assert done.returncode == 2
    assert said in done.stderr
    assert not (cli.directory / "ran").exists()


def test_output_that_goes_into_a_file_is_read_and_stays_what_it_was(cli: Cli, server: RealServer) -> None:
    with (cli.directory / "out.txt").open("wb") as out:
        command = [str(LOADWATCH), "run", "--figure", r"n=n=(\S+)", "--no-output", "--", "echo", "n=12,345.5"]
        subprocess.run(command, env=cli.environ(), cwd=cli.directory, stdout=out, check=True, timeout=300)
    assert (cli.directory / "out.txt").read_text() == "n=12,345.5\n"
    assert get(server, f"/api/runs/{cli.list()[0]['id']}")["own_figures"][0]["value"] == 12345.5

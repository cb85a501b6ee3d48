from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from loadwatch_collectors.runs.tools import Plan, RunContext, Target, read_target, recognise

SERVER = "http://127.0.0.1:8000/prometheus/api/v1/write"


def make_plan(
    folder: Path,
    command: Sequence[str],
    *,
    terminal: bool = False,
    environment: Mapping[str, str] | None = None,
    online: bool = True,
) -> Plan:
    own = folder / "own"
    own.mkdir(exist_ok=True)
    context = RunContext(
        run="r1",
        directory=own,
        working_directory=folder,
        environment=environment or {},
        stdout_is_terminal=terminal,
        remote_write=SERVER if online else None,
        token="secret",
        started_s=0.0,
    )
    found = recognise(command)
    assert found is not None
    return found[0].plan(command, found[1], context)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("vegeta attack -rate 5", "vegeta"),
        ("/opt/bin/vegeta attack", "vegeta"),
        ("sh -c 'echo|vegeta attack'", "vegeta"),
        ("k6 run s.js", "k6"),
        ("npx k6 run s.js", "k6"),
        ("env A=b k6 run s.js", "k6"),
        ("locust -f l.py --headless", "locust"),
        ("python3.11 -m locust -f l.py", "locust"),
        ("uv run locust", "locust"),
        ("mvn gatling:test", "gatling"),
        ("./mvnw -Pload gatling:test", "gatling"),
        ("./gradlew gatlingRun", "gatling"),
        ("bin/gatling.sh -s S", "gatling"),
        ("java -cp x io.gatling.app.Gatling -s S", "gatling"),
        ("jmeter -n -t p.jmx", "jmeter"),
        ("java -jar lib/ApacheJMeter.jar -n", "jmeter"),
        ("hey http://a", "hey"),
        ("oha http://a", "oha"),
        ("wrk http://a", "wrk"),
        ("wrk2 -R5 http://a", "wrk"),
        ("vegeta report", None),
        ("k6 inspect s.js", None),
        ("./load.sh", None),
        ("mvn test", None),
        ("sh -c 'vegeta report'", None),
    ],
)
def test_which_tool_a_command_is(command: str, name: str | None) -> None:
    import shlex

    found = recognise(shlex.split(command))
    assert (found[0].name if found else None) == name


@pytest.mark.parametrize(
    ("command", "rate", "duration", "concurrency"),
    [
        ("vegeta attack -rate=100/1m -duration=1m30s", 100 / 60, 90, None),
        ("vegeta attack --rate 200 --duration 500ms", 200, 0.5, None),
        ("vegeta attack", 50, None, None),
        ("vegeta attack -rate=0 -max-workers=5", None, None, 5),
        ("vegeta attack -rate=infinity", None, None, None),
        ("sh -c 'vegeta attack -rate=7/s | tee x'", 7, None, None),
        ("hey -q 10 -c 3 -z 5s http://a", 30, 5, 3),
        ("hey -q 10 http://a", 500, None, 50),
        ("hey -n 200 http://a", None, None, 50),
        ("oha -q 100 -z 10s -c 20 http://a", 100, 10, 20),
        ("oha -c8 http://a", None, None, 8),
        ("oha http://a", None, None, 50),
        ("wrk -d30s -t2 http://a", None, 30, 10),
        ("wrk -d 2 -c100 http://a", None, 2, 100),
        ("wrk --connections=40 http://a", None, 10, 40),
        ("wrk2 -R 2000 -d1m -c 64 http://a", 2000, 60, 64),
        ("locust -u 100 -r 10 -t 1m30s", None, 90, 100),
        ("python3 -m locust --users=7", None, None, 7),
        ("k6 run --vus 10 --duration 30s s.js", None, 30, 10),
        ("k6 run -u 3 s.js", None, None, 3),
        ("k6 run s.js", None, None, None),
        ("jmeter -n -t p.jmx", None, None, None),
        ("jmeter -n -t p.jmx -Jthreads=25", None, None, 25),
        ("ab -n 1000 -c 30 http://a/", None, None, 30),
        ("env GOMAXPROCS=1 build/measuring-load -clients=30 -rate=5 http://a", None, None, 30),
        ("mytool -c 5", None, None, None),
        ("python3 -c 5", None, None, None),
    ],
)
def test_what_the_arguments_ask_for(
    command: str, rate: float | None, duration: float | None, concurrency: float | None
) -> None:
    import shlex

    asked = read_target(shlex.split(command))
    assert asked == Target(rate=rate, duration_seconds=duration, concurrency=concurrency)


def test_vegeta_is_captured_or_told_where_to_write(tmp_path: Path) -> None:
    own = tmp_path / "own" / "result.gob"
    piped = make_plan(tmp_path, ["vegeta", "attack", "-rate", "5"])
    assert (list(piped.command), piped.capture, piped.pass_output, piped.own) == (
        ["vegeta", "attack", "-rate", "5"],
        own,
        True,
        True,
    )
    shown = make_plan(tmp_path, ["vegeta", "-cpus", "1", "attack", "-rate", "5"], terminal=True)
    assert list(shown.command) == ["vegeta", "-cpus", "1", "attack", f"-output={own}", "-rate", "5"]
    assert shown.capture is None
    given = make_plan(tmp_path, ["vegeta", "attack", "-output", "r.bin"], terminal=True)
    assert list(given.command) == ["vegeta", "attack", "-output", "r.bin"]
    assert not given.own
    assert given.result() is None
    (tmp_path / "r.bin").write_bytes(b"x")
    assert given.result() == tmp_path / "r.bin"


@pytest.mark.parametrize(
    ("script", "file"),
    [
        ("vegeta attack -output=r.bin", "r.bin"),
        ("echo 'GET http://a' | vegeta attack -rate=5 | tee r.bin | vegeta report", "r.bin"),
        ("vegeta attack -rate=5 > r.bin && vegeta report r.bin", "r.bin"),
        ("vegeta attack | vegeta report", None),
        ("vegeta attack -output=$F", None),
    ],
)
def test_vegeta_in_a_script(tmp_path: Path, script: str, file: str | None) -> None:
    (tmp_path / "r.bin").write_bytes(b"x")
    plan = make_plan(tmp_path, ["sh", "-c", script])
    assert list(plan.command) == ["sh", "-c", script]
    assert plan.result() == (tmp_path / file if file else None)
    assert bool(plan.note) == (file is None)


def test_k6_gets_a_file_and_remote_write(tmp_path: Path) -> None:
    own = tmp_path / "own" / "result.json.gz"
    plan = make_plan(tmp_path, ["k6", "run", "-u", "2", "s.js"])
    added = ["--out", f"json={own}", "--out", "experimental-prometheus-rw", "--tag", "run=r1"]
    assert list(plan.command) == ["k6", "run", *added, "-u", "2", "s.js"]
    assert plan.environment["K6_PROMETHEUS_RW_SERVER_URL"] == SERVER
    assert plan.environment["K6_PROMETHEUS_RW_BEARER_TOKEN"] == "secret"
    assert plan.environment["K6_PROMETHEUS_RW_STALE_MARKERS"] == "true"
    offline = make_plan(tmp_path, ["k6", "run", "s.js"], online=False)
    assert "experimental-prometheus-rw" not in offline.command
    assert offline.environment == {}


def test_what_the_user_gave_k6_stays(tmp_path: Path) -> None:
    command = ["k6", "run", "--out", "csv=mine.csv", "-o", "experimental-prometheus-rw", "--tag", "run=x", "s.js"]
    plan = make_plan(tmp_path, command)
    assert list(plan.command) == command
    assert plan.environment == {}
    assert not plan.own
    named = make_plan(tmp_path, ["k6", "run", "s.js"], environment={"K6_OUT": "influxdb=http://i"})
    assert "influxdb=http://i" in named.command
    elsewhere = make_plan(tmp_path, ["k6", "run", "s.js"], environment={"K6_PROMETHEUS_RW_SERVER_URL": "http://o"})
    assert elsewhere.environment == {}


def test_locust_jmeter_oha_wrk_hey(tmp_path: Path) -> None:
    own = tmp_path / "own"
    locust = make_plan(tmp_path, ["locust", "--headless"])
    assert list(locust.command) == ["locust", "--headless", "--csv", f"{own}/locust", "--csv-full-history"]
    assert locust.environment == {"LOCUST_HTML": f"{own}/locust.html"}
    (own / "locust.html").write_text("x")
    assert locust.companions() == [own / "locust.html"]
    told = make_plan(tmp_path, ["locust", "--headless", "--html", "page.html"])
    assert (told.environment, told.companions()) == ({}, [])
    mine = make_plan(tmp_path, ["locust", "--csv=out", "--csv-full-history"])
    assert list(mine.command) == ["locust", "--csv=out", "--csv-full-history"]
    (tmp_path / "out_stats_history.csv").write_text("x")
    (tmp_path / "out_stats.csv").write_text("x")
    assert (mine.result(), mine.own) == (tmp_path / "out_stats_history.csv", False)
    assert mine.companions()[0] == tmp_path / "out_stats.csv"

    jmeter = make_plan(tmp_path, ["jmeter", "-n", "-t", "p.jmx"])
    assert list(jmeter.command) == ["jmeter", "-n", "-t", "p.jmx", "-l", f"{own}/result.jtl"]
    assert make_plan(tmp_path, ["jmeter", "-n", "-l", "r.jtl"]).own is False
    assert make_plan(tmp_path, ["jmeter"]).note

    oha = make_plan(tmp_path, ["oha", "-z", "5s", "http://a"])
    assert list(oha.command) == ["oha", "--output-format", "json", "-o", f"{own}/result.json", "-z", "5s", "http://a"]
    assert make_plan(tmp_path, ["oha", "-o", "mine", "http://a"]).own is False
    kept = make_plan(tmp_path, ["oha", "--output-format", "csv", "http://a"])
    assert (kept.capture, list(kept.command)) == (own / "result.csv", ["oha", "--output-format", "csv", "http://a"])

    assert make_plan(tmp_path, ["wrk", "http://a"]).capture == own / "result.txt"
    assert make_plan(tmp_path, ["hey", "http://a"]).capture == own / "result.txt"
    assert make_plan(tmp_path, ["hey", "-o", "csv", "http://a"]).capture == own / "result.csv"


def test_the_newest_log_of_gatling_is_found(tmp_path: Path) -> None:
    import os

    plan = make_plan(tmp_path, ["mvn", "gatling:test"])
    assert plan.result() is None
    for name, when in (("old-1", 100), ("new-2", 200)):
        log = tmp_path / "target" / "gatling" / name / "simulation.log"
        log.parent.mkdir(parents=True)
        log.write_text("RUN\t")
        os.utime(log, (when, when))
    assert plan.result() == tmp_path / "target" / "gatling" / "new-2" / "simulation.log"
    elsewhere = make_plan(tmp_path, ["gatling.sh", "-rf", "out"])
    assert elsewhere.result() is None

"""`loadwatch run` streams a result while it grows; vegeta is a stand-in that replays a recorded stream at its pace."""

import gzip
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.run_cli import VEGETA, Cli, query_range, wait_until
from tests.serving import RealServer

SECONDS = 5


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    started = RealServer(tmp_path_factory.mktemp("server"))
    started.start()
    yield started
    started.stop()


@pytest.fixture
def cli(server: RealServer, tmp_path: Path) -> Cli:
    return Cli(server=server.url, directory=tmp_path)


def answered_within(seconds: float) -> int:
    """Records of the recording whose end the stand-in reaches in so many seconds."""
    rows = gzip.decompress((VEGETA / "pool-waits.csv.gz").read_bytes()).decode().splitlines()
    first = min(int(row.split(",")[0]) for row in rows)
    ends = [int(row.split(",")[0]) + int(row.split(",")[2]) - first for row in rows]
    return sum(end / 1e9 <= seconds for end in ends)


def test_the_run_is_seen_while_it_is_under_way_and_the_import_agrees(cli: Cli, server: RealServer) -> None:
    cli.add_vegeta("pool-waits.csv.gz", SECONDS)
    enough = cli.directory / "enough"
    cli.environment = {**cli.environment, "REPLAY_LASTS_UNTIL": str(enough)}
    began = time.time()
    process = cli.start("run", "--name", "live", "--", "vegeta", "attack", "-rate=450/s", "-duration=5s")

    def seen() -> bool:
        series = query_range(server.url, "sum by (outcome) (loadtest_requests_total)", began, time.time())
        return {item["metric"]["outcome"] for item in series} >= {"ok", "timeout"}

    wait_until(seen, "both outcomes in the live series")
    assert process.poll() is None
    live = cli.list()[0]
    (cpu,) = query_range(server.url, "loadtest_generator_cpu_ratio", began, time.time())
    assert cpu["metric"]["run"] == live["id"]
    assert all(0 <= float(value) <= 1 for _, value in cpu["values"])
    assert (live["state"], live["name"], live["tool"]) == ("running", "live", "vegeta")
    assert live["target_rate"] == 450
    enough.touch()
    assert process.wait(180) == 0, cli.errors()

    total = answered_within(SECONDS)
    run = cli.json("runs", "show", live["id"])
    assert run["requests"] == total
    assert run["source"]["format"] == "vegeta-csv"
    assert run["outcomes"]["ok"] + run["outcomes"]["timeout"] == total
    assert run["outcomes"]["timeout"] > 0
    assert run["progress"] is None or run["progress"]["requests"] <= total
    assert not cli.waiting
    series = query_range(server.url, f'loadtest_requests_total{{run="{live["id"]}"}}', began, time.time() + 2)
    last = {item["metric"]["outcome"]: float(item["values"][-1][1]) for item in series}
    assert last == {"ok": run["outcomes"]["ok"], "timeout": run["outcomes"]["timeout"]}


def test_what_was_streamed_is_what_the_import_computes(cli: Cli, server: RealServer) -> None:
    """The result is lost on its way at first, so that only the stream tells; then it is imported."""
    cli.add_vegeta("pool-waits.csv.gz", SECONDS)
    began = int(time.time())
    script = "vegeta attack -rate=450 -duration=5s | tee teed.csv"
    done = cli("run", "--offline", "--", "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    run = cli.waiting[0]
    (cli.state / run / "kept.csv").unlink()
    lost = cli("sync")
    assert lost.returncode == 1
    assert "kept.csv is gone" in lost.stdout

    def series() -> dict[tuple[str, str], list[float]]:
        found: dict[tuple[str, str], list[float]] = {}
        for name, label in (("loadtest_requests_total", "outcome"), ("loadtest_request_duration_seconds", "quantile")):
            for item in query_range(server.url, f'{name}{{run="{run}"}}', began, int(time.time()) + 1):
                found[name, item["metric"][label]] = [float(value) for _, value in item["values"]]
        return found

    streamed = series()
    assert cli("import", "teed.csv", "--run", run).stdout == f"{run}\n"
    assert series() == streamed
    assert sum(values[-1] for (name, _), values in streamed.items() if name.endswith("_total")) == answered_within(
        SECONDS
    )


def test_a_stream_of_gob_with_another_clock(cli: Cli, server: RealServer) -> None:
    """vegeta's own format; the stand-in cannot change its times, so they are those of the recording."""
    cli.add_vegeta("pool-waits.gob.gz", 2)
    done = cli("run", "--", "vegeta", "attack", "-rate=450", "-duration=2s")
    assert done.returncode == 0, done.stderr
    run = cli.json("runs", "show", cli.list()[0]["id"])
    assert run["source"]["format"] == "vegeta-gob"
    assert run["requests"] == answered_within(2)


def test_the_stream_goes_where_it_was_sent(cli: Cli) -> None:
    """Standard output that is a pipe gets every byte, as without us."""
    cli.add_vegeta("pool-waits.gob.gz", 1)
    done = cli("run", "--quiet", "--result", "kept/result.bin", "--", "vegeta", "attack", "-rate=450")
    assert done.returncode == 0, done.stderr
    whole = gzip.decompress((VEGETA / "pool-waits.gob.gz").read_bytes())
    kept = (cli.directory / "kept" / "result.bin").read_bytes()
    assert whole.startswith(kept)
    assert done.stdout == kept.decode("utf-8", "replace")


def test_an_aborted_attack_keeps_what_came_before(cli: Cli) -> None:
    import signal

    cli.add_vegeta("pool-waits.csv.gz", 60)
    process = cli.start("run", "--", "vegeta", "attack", "-rate=450")
    wait_until(lambda: any(path.stat().st_size > 100_000 for path in cli.state.glob("*/result.*")), "some records")
    process.send_signal(signal.SIGINT)
    assert process.wait(180) == 128 + signal.SIGINT
    run = cli.json("runs", "show", cli.list()[0]["id"])
    assert run["state"] == "aborted"
    assert run["requests"] > 100


def test_nothing_is_streamed_when_not_wanted(cli: Cli, server: RealServer) -> None:
    cli.add_vegeta("pool-waits.csv.gz", 1)
    done = cli("run", "--no-stream", "--untouched", "--", "vegeta", "attack", "-rate=450", "-output=kept.csv")
    assert done.returncode == 0, done.stderr
    run = cli.list()[0]["id"]
    assert query_range(server.url, f'loadtest_requests_total{{run="{run}"}}', time.time() - 60, time.time()) == []

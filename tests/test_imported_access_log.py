"""`loadwatch import --access-log`: lines of a log, the digest that is kept with the run, the table of its routes."""

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cramjam
import httpx
import pytest

from collectors.tests.sources.aws.moto_server import ENVIRONMENT, REGION, running_moto
from tests.run_cli import Cli
from tests.serving import RealServer

START_MS = 1_795_395_600_000
"""Of the run, which lasts a minute; its steady window is the second half."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    started = RealServer(tmp_path_factory.mktemp("server"))
    started.start()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def cli(server: RealServer, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    return Cli(server=server.url, directory=tmp_path_factory.mktemp("cli"))


@pytest.fixture
def run(server: RealServer) -> Iterator[str]:
    with httpx.Client(base_url=server.url, timeout=60, verify=False) as client:
        created = client.post("/api/runs", json={"name": "a run", "started_ms": START_MS}).json()["id"]
        ended = {"ended_ms": START_MS + 60_000}
        client.post(f"/api/runs/{created}/finish", json=ended).raise_for_status()
        yield created


def combined(second: float, path: str, status: int, took: float) -> str:
    at = datetime.fromtimestamp(START_MS / 1_000 + second, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
    return f'192.0.2.1 - alice [{at}] "GET {path} HTTP/1.1" {status} 1000 "-" "curl/8" {took:.3f}\n'


LOG = "".join(
    [
        *(combined(second, f"/posts/{second}?token=s3cret", 200, 0.1 if second < 30 else 0.4) for second in range(60)),
        *(combined(second, "/style.css", 304, 0.001) for second in range(60)),
        *(combined(second, "/posts/1", 500, 9) for second in (-30, -1, 61, 900)),
        "this is no request\n",
    ]
)


def routes(server: RealServer, run: str, **params: str) -> Any:
    return (
        httpx.get(f"{server.url}/api/runs/{run}/routes", params=params, timeout=60, verify=False)
        .raise_for_status()
        .json()
    )


def test_that_only_lines_of_the_run_count(cli: Cli, server: RealServer, run: str, tmp_path: Path) -> None:
    data = LOG.encode()
    middle = data.index(b"\n", len(data) // 2) + 1
    old, new = tmp_path / "access.log.1.zst", tmp_path / "access.log.gz"
    old.write_bytes(bytes(cramjam.zstd.compress(bytearray(data[:middle]))))
    new.write_bytes(gzip.compress(data[middle:]))
    done = cli("import", "--access-log", "--run", run, str(old), str(new))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{server.url}/runs/{run}#why\n"
    assert done.stderr == "120 requests of the run, 4 lines outside it, 1 unreadable\n"
    found = routes(server, run)
    posts, style = found["routes"]
    assert (found["source"], found["window"], found["counted_by"]) == (
        *("access_log", "whole"),
        "access.log.1.zst, access.log.gz",
    )
    assert (posts["name"], posts["requests"], posts["statuses"]) == ("GET /posts/:id", 60, {"2xx": 60})
    assert (style["requests"], style["statuses"], style["bytes"]) == (60, {"304": 60}, 60_000)
    assert posts["ranks"]["max"]["value"] == 0.4
    assert "4 of its lines" in found["remarks"][0]
    [kept] = httpx.get(f"{server.url}/api/runs/{run}/evidence", verify=False, timeout=120).json()["files"]
    content = httpx.get(f"{server.url}/api/evidence/{kept['id']}", verify=False, timeout=120).text
    assert json.loads(content)["lines"]["outside"] == 4
    for secret in ("s3cret", "alice", "192.0.2.1", "curl"):
        assert secret not in content, "no line, no query and no address leaves the machine"


def test_that_the_steady_window_is_counted_apart(cli: Cli, server: RealServer, run: str, tmp_path: Path) -> None:
    window = {"from_seconds": 30, "to_seconds": 59.5}
    patched = httpx.patch(f"{server.url}/api/runs/{run}", json={"steady_window": window}, verify=False, timeout=120)
    assert patched.status_code == 200, patched.text
    log = tmp_path / "access.log"
    log.write_text(LOG)
    assert cli("import", "--access-log", "--run", run, str(log)).returncode == 0
    steady, whole = routes(server, run), routes(server, run, window="whole")
    assert (steady["window"], whole["window"]) == ("steady", "whole")
    assert (steady["routes"][0]["requests"], whole["routes"][0]["requests"]) == (30, 60)
    assert steady["routes"][0]["mean_seconds"] == pytest.approx(0.4)
    httpx.patch(
        f"{server.url}/api/runs/{run}", json={"steady_window": {**window, "to_seconds": 50}}, verify=False, timeout=120
    )
    moved = routes(server, run)
    assert moved["window"] == "whole", "of the window as it is now the digest knows nothing"
    assert any("Import it again" in remark for remark in moved["remarks"])


def test_that_names_are_given_by_hand(cli: Cli, server: RealServer, run: str, tmp_path: Path) -> None:
    log = tmp_path / "app.json"
    log.write_text(
        "".join(
            json.dumps({"ts": START_MS / 1_000 + second, "verb": "GET", "where": "/a/b", "code": 200, "s": 0.2}) + "\n"
            for second in range(10)
        )
    )
    keys = [f"--key={pair}" for pair in ("time=ts", "method=verb", "path=where", "status=code", "seconds=s")]
    done = cli("import", "--access-log", "--run", run, *keys, "-m", "^/a/.+", str(log))
    assert done.returncode == 0, done.stderr
    assert [one["route"] for one in routes(server, run)["routes"]] == ["^/a/.+"]


def test_a_unit_and_parameters_that_stay_are_named(cli: Cli, server: RealServer, run: str, tmp_path: Path) -> None:
    log = tmp_path / "app.json"
    one = {"method": "GET", "uri": "/index.php?action=login&token=s3cret", "status": 200, "duration": 250}
    log.write_text("".join(json.dumps(one | {"time": START_MS / 1_000 + second}) + "\n" for second in range(10)))
    done = cli("import", "--access-log", "--run", run, "--unit", "ms", "--keep", "action", str(log))
    assert done.returncode == 0, done.stderr
    [found] = routes(server, run)["routes"]
    assert (found["route"], found["mean_seconds"]) == ("/index.php?action=login", 0.25)
    refused = cli("import", "--access-log", "--run", run, "--keep", "token", str(log))
    assert (refused.returncode, "holds secrets" in refused.stderr) == (1, True)


FOLDER = "AWSLogs/123456789012/elasticloadbalancing/ap-northeast-1"


def alb(second: int, path: str) -> str:
    at = datetime.fromtimestamp(START_MS / 1_000 + second, UTC).strftime("%Y-%m-%dT%H:%M:%S.000000Z")
    return (
        f"https {at} app/shop/50dc6c495c0c9188 192.0.2.9:2817 10.0.0.1:80 0.001 0.098 0.001 200 200 34 366 "
        f'"GET https://shop.example.com:443{path} HTTP/1.1" "curl/8" - - arn:aws:elb "Root=1-58" "-" "-" '
        f'0 {at} "forward" "-" "-" "10.0.0.1:80" "200" "-" "-"\n'
    )


def test_that_files_of_a_load_balancer_are_found_by_the_time_of_the_run(
    server: RealServer, run: str, tmp_path: Path
) -> None:
    with running_moto(tmp_path / "moto") as moto:
        bucket = moto.client("s3")
        bucket.create_bucket(Bucket="logs", CreateBucketConfiguration={"LocationConstraint": REGION})
        for end, second, path in (("0100", -60, "/before"), ("0105", 5, "/users/7?token=s3cret"), ("0110", 400, "/x")):
            name = f"123456789012_elasticloadbalancing_{REGION}_app.shop.50dc6c495c0c9188_20261123T{end}Z_192.0.2.1_5k"
            content = gzip.compress("".join(alb(second + n, path) for n in range(5)).encode())
            bucket.put_object(Bucket="logs", Key=f"{FOLDER}/2026/11/23/{name}.log.gz", Body=content)
        bucket.put_object(Bucket="logs", Key="web-1/access.log", Body=LOG.encode())
        bucket.put_object(Bucket="logs", Key="web-1/empty.log", Body=b"")
        environment = {**ENVIRONMENT, "AWS_ENDPOINT_URL": moto.url}
        cli = Cli(server=server.url, directory=tmp_path, environment=environment)
        done = cli("import", "--access-log", "--run", run, f"s3://logs/{FOLDER}/")
        assert done.returncode == 0, done.stderr
        assert done.stderr == "5 requests of the run, 0 lines outside it\n"
        found = routes(server, run)
        assert [(one["route"], one["requests"]) for one in found["routes"]] == [("/users/:id", 5)]
        assert found["counted_by"] == f"s3://logs/{FOLDER}"
        done = cli("import", "--access-log", "--run", run, "s3://logs/web-1/access.log")
        assert done.stderr == "120 requests of the run, 4 lines outside it, 1 unreadable\n", "a file by its whole name"
        for name, said in (
            ("s3://logs/web-1/", "no file of the run among 2"),
            ("s3://none/x", "NoSuchBucket"),
            ("s3://", "names no bucket"),
        ):
            refused = cli("import", "--access-log", "--run", run, name)
            assert refused.returncode == 1
            assert said in refused.stderr
        assert "with --access-log only" in cli("import", "s3://logs/web-1/access.log").stderr


def test_what_is_refused_says_why(cli: Cli, server: RealServer, run: str, tmp_path: Path) -> None:
    other = tmp_path / "other.log"
    other.write_text("".join(combined(second, "/", 200, 0.1) for second in range(9_000, 9_010)))
    done = cli("import", "--access-log", "--run", run, str(other))
    assert done.returncode == 1
    assert "no line lies within the run" in done.stderr
    assert "time zone" in done.stderr
    notes = tmp_path / "notes.txt"
    notes.write_text("these are my notes\n" * 20)
    assert "notes.txt: its first 20 lines" in cli("import", "--access-log", "--run", run, str(notes)).stderr
    assert cli("import", "--access-log", str(other)).returncode == 2
    assert cli("import", "--access-log", "--run", run, "--key", "path", str(other)).returncode == 1
    under_way = httpx.post(f"{server.url}/api/runs", json={"name": "now"}, verify=False, timeout=120).json()["id"]
    assert "under way" in cli("import", "--access-log", "--run", under_way, str(other)).stderr
    assert httpx.get(f"{server.url}/api/runs/{run}/evidence", verify=False, timeout=120).json()["files"] == []

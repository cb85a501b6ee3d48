import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime

import click
import pytest
from click.testing import CliRunner, Result
from loadwatch_backend.app.commands.digest import files
from loadwatch_backend.app.commands.digest.group import digest
from loadwatch_formats.access_logs.blocks import Range

from collectors.tests.sources.aws.moto_server import ENVIRONMENT, REGION, running_moto

FOLDER = "AWSLogs/123456789012/elasticloadbalancing/ap-northeast-1"


def key(day: str, end: str) -> str:
    name = (
        f"123456789012_elasticloadbalancing_ap-northeast-1_app.shop.50dc6c495c0c9188_{end}Z_192.0.2.1_5k1a2b3c.log.gz"
    )
    return f"{FOLDER}/{day}/{name}"


def line(at: str, path: str) -> str:
    return (
        f"https {at} app/shop/50dc6c495c0c9188 192.0.2.9:2817 10.0.0.1:80 0.001 0.098 0.001 200 200 34 366 "
        f'"GET https://shop.example.com:443{path} HTTP/1.1" "curl/8" - - arn:aws:elb "Root=1-58" "-" "-" '
        f'0 {at} "forward" "-" "-" "10.0.0.1:80" "200" "-" "-"\n'
    )


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_which_files_are_of_a_time() -> None:
    wanted = Range(start=at("2026-11-24T10:02:00"), end=at("2026-11-24T10:07:00"))
    ends = ("20261124T1000", "20261124T1005", "20261124T1010", "20261124T1015")
    assert [end for end in ends if wanted.wants(key("2026/11/24", end))] == ["20261124T1005", "20261124T1010"]
    assert not wanted.wants("ELBAccessLogTestFile"), "what says no time is none of it"
    assert Range().wants("anything.log")


def test_that_only_days_of_the_time_are_looked_through() -> None:
    wanted = Range(start=at("2026-11-24T23:50:00"), end=at("2026-11-24T23:58:00"))
    assert wanted.prefixes(f"{FOLDER}/") == [f"{FOLDER}/2026/11/24/", f"{FOLDER}/2026/11/25/"]
    assert wanted.prefixes("logs") == ["logs"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(digest, ["access", *arguments])


@pytest.fixture(scope="module")
def moto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An S3 that answers, with three files of a load balancer."""
    with running_moto(tmp_path_factory.mktemp("moto")) as server:
        client = server.client("s3")
        client.create_bucket(Bucket="logs", CreateBucketConfiguration={"LocationConstraint": REGION})
        for end, path in (("1005", "/users/1?token=s3cret"), ("1010", "/cart"), ("1100", "/x")):
            content = gzip.compress("".join(line(f"2026-11-24T10:0{n}:00.000000Z", path) for n in range(5)).encode())
            client.put_object(Bucket="logs", Key=key("2026/11/24", f"20261124T{end}"), Body=content)
        client.put_object(Bucket="logs", Key=f"{FOLDER}/ELBAccessLogTestFile", Body=b"Enable AccessLog for ELB")
        yield server.url


@pytest.fixture
def bucket(moto: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**ENVIRONMENT, "AWS_ENDPOINT_URL": moto}.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("bucket")
def test_the_logs_of_a_load_balancer_of_a_time() -> None:
    span = ("--from", "2026-11-24T10:01:00Z", "--to", "2026-11-24T10:09:00Z")
    result = run(f"s3://logs/{FOLDER}/", *span, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert sorted((one["route"], one["count"]) for one in found["routes"]) == [("/cart", 5), ("/users/:id", 5)]
    assert found["routes"][0]["p50"] == pytest.approx(0.1, rel=0.005)
    assert "s3cret" not in result.output


@pytest.mark.usefixtures("bucket")
def test_what_cannot_be_read_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = run("s3://logs/none", "--from", "2026-11-24T10:00:00Z")
    assert nothing.exit_code == 1
    assert "five minutes" in nothing.output
    assert "s3:ListBucket" in run("s3://other/").output
    assert "names no bucket" in run("s3://").output
    assert "no time with its zone" in run("s3://logs/", "--from", "10:00").output
    monkeypatch.setattr(files, "MOST_FILES", 2)
    assert "longer prefix" in run("s3://logs/").output
    monkeypatch.setattr(files, "find_spec", {"botocore": None}.get)
    with pytest.raises(click.ClickException, match="loadwatch\\[aws\\]"):
        files.list_files("s3://logs/", Range())

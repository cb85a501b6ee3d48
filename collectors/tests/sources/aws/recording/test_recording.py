"""A recording has nothing of the user's, and a replay of it gives what the collector gave."""

import json
import re
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.sources.aws.client.client import Account, ConnectOptions
from loadwatch_collectors.sources.aws.cloudwatch import CloudWatchCollector
from loadwatch_collectors.sources.aws.model import DataQuery, DataRequest
from loadwatch_collectors.sources.aws.presets import preset_files
from loadwatch_collectors.sources.aws.recording.format import decode_metric, read_recordings
from loadwatch_collectors.sources.aws.recording.recording import Recorder
from loadwatch_collectors.sources.aws.recording.replay import Replay
from loadwatch_collectors.sources.aws.recording.session import render_samples, replay_recordings
from loadwatch_collectors.sources.aws.settings import CloudWatchSettings, SelectSettings

from collectors.tests.sources.aws.aws_world import (
    make_balancer,
    make_cache,
    make_cluster,
    make_ec2,
    make_function,
    make_instance,
    make_nat_gateway,
    make_proxy,
    make_queue,
    make_scaling_group,
    make_service,
)
from collectors.tests.sources.aws.fault_proxy.fault_proxy import AwsRequest, FaultProxy, running_proxy
from collectors.tests.sources.aws.fault_proxy.faults import expire
from collectors.tests.sources.aws.fault_proxy.insights import Insights
from collectors.tests.sources.aws.fault_proxy.metrics import CloudWatchData
from collectors.tests.sources.aws.fault_proxy.protocols import Answer
from collectors.tests.sources.aws.moto_server import ACCESS_KEY, ACCOUNT, SECRET_KEY, MotoServer
from collectors.tests.sources.aws.recorded_shop import (
    GOLDEN,
    NAMES,
    POLLS,
    Clock,
    make_settings,
    poll_shop,
    replay_shop,
    serve_shop,
    value_of,
)

ROLE = f"arn:aws:iam::{ACCOUNT}:role/monitoring"
pytestmark = pytest.mark.usefixtures("aws_environment")


@pytest.fixture
def shop(clock: Clock) -> Iterator[FaultProxy]:
    with running_proxy("http://127.0.0.1:9") as proxy:
        serve_shop(proxy, CloudWatchData(now=clock, value=value_of, hold_back=30.0, page_points=30))
        yield proxy


@pytest.fixture
def clock() -> Clock:
    return Clock()


def facts_of(lines: list[str]) -> list[tuple[str, ...]]:
    """Name, value and time of each line that is a sample: what redaction must not change, but for metrics of one's own.

    Durations are those of the requests of a listing taken together, and the clock's offset is rounded.
    """
    unlike = ("#", "aws_api_request_duration", "aws_clock_offset_seconds")
    samples = [line for line in lines if not line.startswith(unlike)]
    return sorted(
        (re.sub(r"^aws_(shop|x[0-9a-f]{10})_\w+(?=_)", "own", re.split("[{ ]", line)[0]), *line.rsplit(" ", 2)[1:])
        for line in samples
    )


def test_a_replay_gives_what_the_collector_gave(shop: FaultProxy, clock: Clock, tmp_path: Path) -> None:
    began = int(clock.now * 1000)
    live = poll_shop(make_settings(shop.url, record=str(tmp_path)), clock)
    assert sum(len(samples) for samples in live) > 100
    asked = len(shop.requests)
    replayed = list(replay_recordings(tmp_path))
    assert len(shop.requests) == asked, "a replay asks nobody"
    assert not [line for line in replayed if line.startswith(("# not in", "# error", "# trouble"))]
    assert [line for line in replayed if line.startswith("# lacks")] == [
        line for line in replayed if line.startswith("# lacks rds:DescribeDBParameters")
    ]
    polls = "\n".join(replayed).split("# poll ")[1:]
    assert len(polls) == POLLS
    for number, (samples, text) in enumerate(zip(live, polls, strict=True)):
        assert facts_of(text.splitlines()[1:]) == facts_of(render_samples(samples, began + number * 60_000))


def test_nothing_of_the_users_is_recorded(shop: FaultProxy, clock: Clock, tmp_path: Path) -> None:
    poll_shop(make_settings(shop.url, record=str(tmp_path)), clock)
    (file,) = tmp_path.glob("*.jsonl")
    text = file.read_text(encoding="utf-8")
    assert file.stat().st_mode & 0o077 == 0
    for word in (*NAMES, "team", "cabc123", "Paid", ACCOUNT, ACCESS_KEY, SECRET_KEY, "Signature", "127.0.0.1"):
        assert word not in text, word
    for word in ("aurora-mysql", "db.r6g.large", "DBInstanceClassMemory", "DBLoad", "AWS/SQS", "Forbidden"):
        assert word in text, word


def test_the_committed_recording_gives_its_golden_file() -> None:
    """Made by `python -m collectors.tests.sources.aws.recorded_shop`, which writes both again when presets change."""
    assert replay_shop() == GOLDEN.read_text(encoding="utf-8").splitlines()


def test_a_request_in_other_batches_is_answered_by_metric(shop: FaultProxy, clock: Clock, tmp_path: Path) -> None:
    poll_shop(make_settings(shop.url, record=str(tmp_path)), clock)
    ((name, lines),) = read_recordings(tmp_path).items()
    replay = Replay(name, lines)
    request = next(line["ask"] for line in lines if line["kind"] == "answer" and line["ask"]["what"] == "data")
    client = replay.connect(*_account(), observe=lambda _call, _seconds: None)
    id, metric, statistic, period, unit = request["queries"][0]
    query = DataQuery(id=id, metric=decode_metric(metric), statistic=statistic, period_seconds=period, unit=unit)
    start, end = request["start_ms"], request["end_ms"]
    replay.begin_poll(0)
    page = client.get_metric_data(DataRequest(queries=(query,), start_ms=start, end_ms=end - 60_000))
    assert list(page.results[0].times_ms) == list(range(start, end - 60_000, 60_000))
    other = DataQuery(id="q0", metric=decode_metric(["AWS/RDS", "Unheard", []]), statistic="Sum", period_seconds=60)
    page = client.get_metric_data(DataRequest(queries=(other,), start_ms=start, end_ms=end))
    assert not page.results[0].values
    assert any("Unheard" in what for what in replay.lacking)


def switch_insights_on(request: AwsRequest, answer: Answer) -> Answer:
    """moto knows nothing of Performance Insights, so its instances would never be asked for it."""
    if request.operation != "DescribeDBInstances":
        return answer
    end = b"</DbiResourceId>"
    on = b"<PerformanceInsightsEnabled>true</PerformanceInsightsEnabled>"
    return replace(answer, body=answer.body.replace(end, end + on))


def make_world(moto: MotoServer, proxy: FaultProxy) -> None:
    """Something of every kind that is read; what moto has no data of is answered as documented."""
    make_cluster(moto)
    make_instance(moto, "orders", MonitoringInterval=60, MonitoringRoleArn=ROLE, EnablePerformanceInsights=True)
    make_balancer(moto, "web")
    make_balancer(moto, "inner", kind="network")
    make_ec2(moto, "app", 2, Team="checkout")
    make_service(moto, "prod", "api")
    make_scaling_group(moto, "workers")
    make_cache(moto, "sessions")
    make_function(moto, "resize")
    make_queue(moto, "mails")
    make_proxy(moto, "pool", "orders")
    make_nat_gateway(moto, "outward")
    now = int(time.time())
    proxy.answers["pi", "GetResourceMetrics"] = Insights(newest_ms=now * 1000).answer
    proxy.after(switch_insights_on)
    message = json.dumps({"engine": "MYSQL", "instanceID": "orders", "numVCPUs": 2, "cpuUtilization": {"total": 12.5}})
    proxy.answers["logs", "FilterLogEvents"] = lambda request: {
        "events": [
            {"logStreamName": name, "timestamp": now * 1000, "message": message}
            for name in request.parameters["logStreamNames"]
        ]
    }
    CloudWatchData(value=value_of, hold_back=30.0).attach(proxy)


def test_everything_that_is_asked_is_found_again(moto: MotoServer, proxy: FaultProxy, tmp_path: Path) -> None:
    make_world(moto, proxy)
    for folder, select in (("all", {}), ("by-tags", {"alb": SelectSettings(tags={"team": "*"})})):
        settings = CloudWatchSettings(
            regions=("ap-northeast-1",),
            endpoint_url=proxy.url,
            record=str(tmp_path / folder),
            select=select,
            presets=tuple(preset_files()),
        )
        collector = CloudWatchCollector(settings)
        try:
            live = collector.collect()
        finally:
            collector.close()
        replayed = list(replay_recordings(tmp_path / folder))
        assert not [line for line in replayed if line.startswith("# not in")]
        sides = ("aws_rds_os_", "aws_rds_insights_")
        counts = Counter(s.name for s in live if s.name.endswith("_info") or s.name.startswith(sides))
        assert len(counts) >= 10, counts
        for side in sides:
            assert any(name.startswith(side) for name in counts), counts
        for name, count in counts.items():
            assert sum(line.startswith(f"{name}{{") for line in replayed) == count, name


def _account() -> tuple[Any, str, Any]:
    return Account(), "ap-northeast-1", ConnectOptions()


def run(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    """The real command."""
    program = Path(sys.executable).parent / "loadwatch"
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120, check=False)


def write_config(folder: Path, url: str) -> Path:
    path = folder / "loadwatch.yml"
    path.write_text(
        "server: {url: 'http://127.0.0.1:9'}\n"
        "targets:\n"
        "  - job: shop\n"
        f"    cloudwatch: {{endpoint_url: '{url}', regions: [ap-northeast-1], presets: [sqs]}}\n"
    )
    return path


def test_the_commands_record_an_archive_and_replay_it(shop: FaultProxy, clock: Clock, tmp_path: Path) -> None:
    archive = tmp_path / "aws.tar.gz"
    config = write_config(tmp_path, shop.url)
    recorded = run("aws-record", "--config", config, "--output", archive)
    assert recorded.returncode == 0, recorded.stderr
    assert "poll 1 of 1" in recorded.stderr
    assert archive.stat().st_mode & 0o077 == 0
    with tarfile.open(archive) as opened:
        assert len(opened.getnames()) == 1
    replayed = run("aws-replay", archive)
    assert replayed.returncode == 0, replayed.stderr
    assert "\naws_sqs_info{" in replayed.stdout
    assert "# not in the recording" not in replayed.stdout
    assert all(line.startswith(("#", "aws_")) for line in replayed.stdout.splitlines())


def test_a_refusal_is_recorded_too(shop: FaultProxy, clock: Clock, tmp_path: Path) -> None:
    shop.before(expire([ACCESS_KEY]), first=True)
    archive = tmp_path / "aws.tar.gz"
    recorded = run("aws-record", "--config", write_config(tmp_path, shop.url), "--output", archive)
    assert recorded.returncode == 1, recorded.stderr
    assert "credentials have expired" in recorded.stderr
    replayed = run("aws-replay", archive)
    assert replayed.returncode == 0, replayed.stderr
    assert "ExpiredToken (recorded)" in replayed.stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"nonsense", "cannot be read as a recording"),
        (b'{"kind":"poll","at_ms":1}\n', "does not begin as a recording"),
        (b'{"kind":"recording","version":99,"settings":{}}\n', "version 99"),
        (b'{"kind":"recording","version":1,"settings":{"surprise":1}}\n', "surprise"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "some.jsonl"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=words):
        list(replay_recordings(file))
    archive = tmp_path / "some.tar.gz"
    archive.write_bytes(content)
    with pytest.raises(ConfigError, match="cannot be read as a recording"):
        list(replay_recordings(archive))


def test_the_command_tells_what_is_no_recording(tmp_path: Path) -> None:
    found = run("aws-replay", tmp_path / "missing.tar.gz")
    assert found.returncode == 2
    assert "missing.tar.gz cannot be read" in found.stderr


def test_a_full_recording_ends_and_the_collector_goes_on(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, make_settings("http://127.0.0.1:9"), key=b"k", max_bytes=3_000)
    for number in range(500):
        recorder.begin_poll(number)
    recorder.close()
    lines = recorder.path.read_bytes().splitlines()
    assert json.loads(lines[-1]) == {"kind": "full"}
    assert recorder.path.stat().st_size < 3_100


def test_a_folder_that_cannot_be_written_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        Recorder(tmp_path / "file", make_settings("http://127.0.0.1:9"))

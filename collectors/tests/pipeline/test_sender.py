import json
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from loadwatch_collectors.pipeline.sender import (
    TIME_HEADER,
    Sender,
    SendResult,
    ServerClock,
    judge_status,
    read_refused,
)
from loadwatch_collectors.pipeline.spool import Spool
from loadwatch_collectors.series import SampleRow, Series, encode_labels
from loadwatch_formats.metrics.model import MetricInfo
from structlog.testing import capture_logs

from collectors.tests.receiver import TAKE, Receiver, Reply, running
from tests.ports import free_port

SERIES = [Series(encode_labels({"__name__": "m", "x": str(index)})) for index in range(100)]
METRICS = [MetricInfo(name="m", type="gauge", help="A number.")]
NOW_MS = 1_700_000_000_000


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    spool = Spool(tmp_path / "spool", max_bytes=10_000_000, max_age_seconds=3600, clock=lambda: NOW_MS / 1000)
    yield spool
    spool.close()


def fill(spool: Spool, ticks: int, start: int = 0) -> None:
    for tick in range(start, start + ticks):
        spool.append([SampleRow(NOW_MS + tick, SERIES, [float(tick)] * len(SERIES))])


def sender_of(spool: Spool, url: str, token: str | None, wall: Callable[[], float]) -> Sender:
    return Sender(
        spool,
        url=url,
        token=token,
        timeout_seconds=60,
        metrics=lambda: METRICS,
        wall=wall,
        monotonic=lambda: 0.0,
        clock=ServerClock(wall, lambda: 0.0),
    )


@contextmanager
def sending(
    spool: Spool, url: str, token: str | None = None, wall: Callable[[], float] = time.time
) -> Generator[Sender]:
    sender = sender_of(spool, url, token, wall)
    sender.start()
    try:
        yield sender
    finally:
        sender.stop(60)


def values_of_one_series(receiver: Receiver) -> list[float]:
    return [sample.value for sample in receiver.named("m") if sample.labels["x"] == "7"]


def test_a_request_is_as_the_specification_asks(spool: Spool) -> None:
    with running(Receiver()) as receiver, sending(spool, receiver.url, token="s3cret"):
        fill(spool, 1)
        receiver.wait_for(lambda: len(receiver.samples) == 100)
    headers = receiver.headers[0]
    assert headers["Content-Type"] == "application/x-protobuf"
    assert headers["Content-Encoding"] == "snappy"
    assert headers["X-Prometheus-Remote-Write-Version"] == "0.1.0"
    assert headers["Authorization"] == "Bearer s3cret"
    assert receiver.helps == {"m": "A number."}
    assert spool.waiting() == (0, 0)


def test_a_backlog_goes_out_in_large_requests_and_in_order(spool: Spool) -> None:
    fill(spool, 500)
    with running(Receiver()) as receiver, sending(spool, receiver.url) as sender:
        receiver.wait_for(lambda: len(receiver.samples) == 50_000)
    assert values_of_one_series(receiver) == [float(tick) for tick in range(500)]
    assert len(receiver.sizes) <= 4
    assert sender.counts.sent_samples == 50_000


def test_errors_are_tried_again_until_it_works(spool: Spool) -> None:
    replies: list[Reply] = [(503, {}, "busy"), (500, {}, "broken"), (429, {"Retry-After": "0"}, "slow down"), TAKE]
    with running(Receiver(reply=lambda number: replies[min(number, 4) - 1])) as receiver:
        with capture_logs() as logs, sending(spool, receiver.url) as sender:
            fill(spool, 1)
            receiver.wait_for(lambda: len(receiver.samples) == 100)
    assert sender.counts.failed_requests == 3
    assert [entry["event"] for entry in logs] == [
        "the server takes no samples; they wait in the spool",
        "the server takes samples again",
    ]
    assert logs[0]["reason"] == "the server answered 503: busy"


def test_a_refused_batch_is_dropped_loudly_and_the_next_one_goes_on(spool: Spool) -> None:
    replies: list[Reply] = [(422, {}, "too many labels; raise --max-labels"), TAKE]
    with running(Receiver(reply=lambda number: replies[min(number, 2) - 1])) as receiver:
        with capture_logs() as logs, sending(spool, receiver.url) as sender:
            fill(spool, 1)
            receiver.wait_for(lambda: len(receiver.headers) == 1)
            fill(spool, 1, start=1)
            receiver.wait_for(lambda: len(receiver.samples) == 100)
    assert values_of_one_series(receiver) == [1.0]
    assert (sender.counts.refused_samples, spool.dropped_samples) == (100, 100)
    [entry] = [entry for entry in logs if entry["log_level"] == "error"]
    assert (entry["status"], entry["answer"], entry["samples"]) == (422, "too many labels; raise --max-labels", 100)


def test_what_the_server_kept_of_a_refused_batch_is_not_counted_as_dropped(spool: Spool) -> None:
    answer = json.dumps({"code": "samples-rejected", "detail": "7 of 100 samples were refused", "rejected": 7})
    with running(Receiver(reply=lambda _: (400, {}, answer))) as receiver:
        with sending(spool, receiver.url) as sender:
            fill(spool, 1)
            receiver.wait_for(lambda: len(receiver.headers) == 1)
    assert (sender.counts.refused_samples, sender.counts.sent_samples, spool.dropped_samples) == (7, 93, 7)


@pytest.mark.parametrize("answer", [b"", b"no", b"[]", b'{"rejected": "7"}', b'{"rejected": 0}', b'{"rejected": 101}'])
def test_without_a_count_a_refused_batch_is_refused_as_a_whole(answer: bytes) -> None:
    assert read_refused(answer, 100) == 100


def test_too_large_a_request_is_made_smaller(spool: Spool) -> None:
    fill(spool, 64)
    receiver = Receiver()
    sizes: list[int] = []

    def reply(number: int) -> Reply:
        sizes.append(int(receiver.headers[number - 1]["Content-Length"]))
        return (413, {}, "at most 20,000 bytes") if sizes[-1] > 4_000 else TAKE

    receiver.reply = reply
    with running(receiver), sending(spool, receiver.url):
        receiver.wait_for(lambda: len(receiver.samples) == 6_400)
    assert values_of_one_series(receiver) == [float(tick) for tick in range(64)]
    assert sizes[0] > 4_000
    assert spool.dropped_samples == 0


def test_a_server_that_comes_back_gets_everything(spool: Spool) -> None:
    receiver = Receiver(port=free_port())
    with sending(spool, receiver.url) as sender:
        fill(spool, 30)
        while sender.counts.failed_requests < 2:
            time.sleep(0.01)
        with running(receiver):
            receiver.wait_for(lambda: len(receiver.samples) == 3_000)
    assert values_of_one_series(receiver) == [float(tick) for tick in range(30)]


def test_samples_from_before_the_servers_clock_was_known_get_its_time(spool: Spool) -> None:
    spool.append([SampleRow(NOW_MS, SERIES[:1], [1.0]), SampleRow(NOW_MS + 600_000, SERIES[:1], [2.0])])
    receiver = Receiver(reply=lambda number: (503, {TIME_HEADER: str(NOW_MS)}, "") if number == 1 else TAKE)
    with running(receiver), sending(spool, receiver.url, wall=lambda: NOW_MS / 1000 + 600):
        receiver.wait_for(lambda: len(receiver.samples) == 2)
    assert [sample.timestamp_ms for sample in receiver.samples] == [NOW_MS, NOW_MS]


def test_a_clock_that_is_set_while_a_request_is_under_way_is_measured_as_it_is_then(spool: Spool) -> None:
    host = [NOW_MS / 1000]

    def set_the_clock(_number: int) -> Reply:
        host[0] += 600
        return 204, {TIME_HEADER: str(NOW_MS)}, ""

    with running(Receiver(reply=set_the_clock)) as receiver:
        sender = sender_of(spool, receiver.url, None, lambda: host[0])
        sender.ask_time(60)
    assert sender.counts.clock_skew_seconds == 600


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (200, SendResult.TAKEN),
        (204, SendResult.TAKEN),
        (302, SendResult.LATER),
        (400, SendResult.REFUSED),
        (401, SendResult.REFUSED),
        (408, SendResult.LATER),
        (413, SendResult.TOO_LARGE),
        (415, SendResult.REFUSED),
        (429, SendResult.LATER),
        (503, SendResult.LATER),
    ],
)
def test_what_a_status_means(status: int, answer: SendResult) -> None:
    assert judge_status(status) is answer

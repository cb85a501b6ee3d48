from collections.abc import Sequence
from typing import Any

import pytest
from loadwatch_collectors.pipeline.write_client import WriteAnswer, WriteClient, WriteFailedError
from loadwatch_collectors.series import Series, encode_labels
from loadwatch_collectors.transfers.errors import TransferError
from loadwatch_collectors.transfers.sending import BatchSender

from collectors.tests.receiver import TAKE, Receiver, Reply, running

SERIES = [Series(encode_labels({"__name__": "m", "i": str(i)})) for i in range(4)]


def sender(url: str, slept: list[float], patience: float = 60) -> BatchSender:
    client = WriteClient(url, None, user_agent="test", timeout_seconds=60)
    clock = [0.0]

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += seconds

    return BatchSender(client, lambda: (), patience_seconds=patience, sleep=sleep, monotonic=lambda: clock[0])


def answering(*replies: Reply) -> Receiver:
    return Receiver(reply=lambda number: replies[number - 1])


def add(to: BatchSender, count: int) -> None:
    for place in range(count):
        to.add(SERIES[place % 4], 1_700_000_000_000 + place, float(place))
    to.flush()


def test_a_server_that_is_busy_is_asked_again_when_it_says() -> None:
    slept: list[float] = []
    with running(answering((429, {"Retry-After": "3"}, ""), (503, {}, ""), TAKE)) as receiver:
        one = sender(receiver.url, slept)
        add(one, 10)
        assert (one.counts.stored, one.counts.refused) == (10, 0)
        assert len(receiver.samples) == 10
    assert slept[0] >= 3
    assert len(slept) == 2


def test_what_is_too_large_is_sent_in_halves() -> None:
    with running(answering((413, {}, ""), (413, {}, ""), TAKE, TAKE, TAKE)) as receiver:
        one = sender(receiver.url, [])
        add(one, 11)
        assert one.counts.stored == 11
        assert sorted(sample.value for sample in receiver.samples) == [float(place) for place in range(11)]


def test_what_is_refused_is_counted_with_its_reason() -> None:
    body = '{"detail": "3 of 10 samples were refused", "rejected": 3}'
    with running(answering((400, {}, body), (404, {}, "nothing here"))) as receiver:
        one = sender(receiver.url, [])
        add(one, 10)
        assert (one.counts.stored, one.counts.refused) == (7, 3)
        assert one.counts.reasons == ["3 of 10 samples were refused"]
        with pytest.raises(TransferError, match="404: nothing here"):
            add(one, 1)


def test_a_server_that_takes_nothing_is_given_up() -> None:
    class Away:
        def post(self, body: bytes) -> WriteAnswer:
            raise WriteFailedError("refused")

    clock = iter(range(0, 1_000, 40))
    one = BatchSender(
        _as_client(Away()), _nothing, patience_seconds=60, sleep=lambda _: None, monotonic=lambda: float(next(clock))
    )
    with pytest.raises(TransferError, match="has taken nothing for 60 s; it cannot be reached: refused"):
        add(one, 1)


def _as_client(stand_in: Any) -> WriteClient:
    return stand_in


def _nothing() -> Sequence[Any]:
    return ()

"""Samples in batches to a server, each until the server has it or has refused it."""

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from loadwatch_formats.metrics.model import MetricInfo
from loadwatch_formats.retry_after import parse_retry_after

from loadwatch_collectors.pipeline.remote_write import encode_metadata, encode_samples
from loadwatch_collectors.pipeline.sender import (
    MAX_RETRY_AFTER_SECONDS,
    MAX_SAMPLES_PER_REQUEST,
    SendResult,
    backoff_seconds,
    judge_status,
    read_refused,
)
from loadwatch_collectors.pipeline.write_client import WriteAnswer, WriteClient, WriteFailedError
from loadwatch_collectors.series import Series
from loadwatch_collectors.transfers.errors import TransferError

Samples = dict[Series, list[tuple[int, float]]]
SHOWN = 5


@dataclass(slots=True)
class SendCounts:
    """What became of the samples."""

    stored: int = 0
    refused: int = 0
    metadata: int = 0
    reasons: list[str] = field(default_factory=list[str])
    """Why samples were refused: the first different texts of the server."""


class BatchSender:
    """Gathers samples and sends them; in the caller's thread."""

    def __init__(
        self,
        client: WriteClient,
        metadata: Callable[[], Sequence[MetricInfo]],
        *,
        patience_seconds: float,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`metadata` is what goes with the next request; a server that takes nothing is given so much time."""
        self.counts = SendCounts()
        self._client = client
        self._metadata = metadata
        self._patience_seconds = patience_seconds
        self._sleep = sleep
        self._monotonic = monotonic
        self._samples: Samples = {}
        self._count = 0

    def add(self, series: Series, timestamp_ms: int, value: float) -> None:
        """One more sample; sends when enough are there.

        Raises:
            TransferError: the server does not take them.
        """
        rows = self._samples.get(series)
        if rows is None:
            rows = self._samples[series] = []
        rows.append((timestamp_ms, value))
        self._count += 1
        if self._count >= MAX_SAMPLES_PER_REQUEST:
            self.flush()

    def flush(self) -> None:
        """Send what is there; raises as `add`."""
        samples, count = self._samples, self._count
        self._samples, self._count = {}, 0
        said = self._metadata()
        if count or said:
            self._send(samples, count, said)
            self.counts.metadata += len(said)

    def _send(self, samples: Samples, count: int, said: Sequence[MetricInfo]) -> None:
        answer = self._deliver(encode_samples(samples) + encode_metadata(said))
        match judge_status(answer.status):
            case SendResult.TAKEN:
                self.counts.stored += count
            case SendResult.TOO_LARGE if count > 1:
                first, second = _halves(samples, count)
                self._send(first, count // 2, said)
                self._send(second, count - count // 2, ())
            case _:
                self._refuse(answer, count)

    def _refuse(self, answer: WriteAnswer, count: int) -> None:
        if answer.status in (401, 403):
            raise TransferError(f"{_detail(answer)} (give --token-file or LOADWATCH_TOKEN)")
        refused = read_refused(answer.data, count)
        if refused == count and answer.status != 400:
            raise TransferError(f"the server answered {answer.status}: {_detail(answer)}")
        self.counts.refused += refused
        self.counts.stored += count - refused
        reason = _detail(answer)
        if len(self.counts.reasons) < SHOWN and reason not in self.counts.reasons:
            self.counts.reasons.append(reason)

    def _deliver(self, body: bytes) -> WriteAnswer:
        """The answer that is one: until then it is tried again."""
        begun, attempt = self._monotonic(), 0
        while True:
            asked = None
            try:
                answer = self._client.post(body)
            except WriteFailedError as error:
                said = f"it cannot be reached: {error}"
            else:
                if judge_status(answer.status) is not SendResult.LATER:
                    return answer
                said = f"it answers {answer.status}: {_detail(answer)}"
                now_ms = time.time_ns() // 1_000_000
                asked = parse_retry_after(answer.headers.get("Retry-After"), now_ms, MAX_RETRY_AFTER_SECONDS)
            if self._monotonic() - begun > self._patience_seconds:
                raise TransferError(f"the server has taken nothing for {self._patience_seconds:g} s; {said}")
            self._sleep(max(asked or 0.0, backoff_seconds(attempt, random.random())))
            attempt += 1


def _halves(samples: Samples, count: int) -> tuple[Samples, Samples]:
    first: Samples = {}
    second: Samples = {}
    left = count // 2
    for series, rows in samples.items():
        if left > 0:
            first[series] = rows[:left]
        if len(rows) > left:
            second[series] = rows[max(left, 0) :]
        left = max(left - len(rows), 0)
    return first, second


def _detail(answer: WriteAnswer) -> str:
    try:
        document = json.loads(answer.data)
        return str(document.get("detail") or document.get("error") or answer.text)[:1_000]
    except (ValueError, AttributeError, RecursionError):
        return answer.text

import threading
from collections.abc import Sequence

import pytest
from loadwatch_collectors.pipeline.runner import Gatherer, join_rows
from loadwatch_collectors.series import SampleRow, Series
from structlog.testing import capture_logs

ONE, TWO = Series(b"1"), Series(b"2")


class Sink:
    def __init__(self) -> None:
        self.batches: list[list[SampleRow]] = []
        self.written = threading.Semaphore(0)

    def write(self, rows: Sequence[SampleRow]) -> None:
        self.batches.append(list(rows))
        self.written.release()


@pytest.fixture
def sink() -> Sink:
    return Sink()


def test_all_results_of_a_tick_become_one_batch(sink: Sink) -> None:
    gatherer = Gatherer(sink.write, window_seconds=30)
    gatherer.start()
    gatherer.expect(2)
    gatherer.put([SampleRow(1000, [ONE], [1.0])], expected=True)
    gatherer.put([SampleRow(1000, [TWO], [2.0])], expected=True)
    assert sink.written.acquire(timeout=120)
    assert sink.batches == [[SampleRow(1000, [ONE, TWO], [1.0, 2.0])]]
    gatherer.close()


def test_one_that_is_late_holds_the_others_up_for_the_window_only(sink: Sink) -> None:
    gatherer = Gatherer(sink.write, window_seconds=0.01)
    gatherer.start()
    gatherer.expect(2)
    gatherer.put([SampleRow(1000, [ONE], [1.0])], expected=True)
    assert sink.written.acquire(timeout=120)
    gatherer.put([SampleRow(1000, [TWO], [2.0])], expected=True)
    assert sink.written.acquire(timeout=120)
    assert len(sink.batches) == 2
    gatherer.close()


def test_close_writes_what_is_left(sink: Sink) -> None:
    gatherer = Gatherer(sink.write, window_seconds=30)
    gatherer.start()
    gatherer.expect(1)
    gatherer.put([SampleRow(1000, [ONE], [1.0])], expected=False)
    gatherer.close()
    assert sink.batches == [[SampleRow(1000, [ONE], [1.0])]]


def test_blocks_are_joined_by_time_in_order() -> None:
    joined = join_rows([SampleRow(2000, [ONE], [1.0]), SampleRow(1000, [TWO], [2.0]), SampleRow(2000, [TWO], [3.0])])
    assert joined == [SampleRow(1000, [TWO], [2.0]), SampleRow(2000, [ONE, TWO], [1.0, 3.0])]


def test_a_batch_that_cannot_be_written_is_not_the_end(sink: Sink) -> None:
    def write(rows: Sequence[SampleRow]) -> None:
        sink.write(rows)
        if len(sink.batches) == 1:
            raise RuntimeError("broken")

    with capture_logs() as logs:
        gatherer = Gatherer(write, window_seconds=30)
        gatherer.start()
        for tick in (1000, 2000):
            gatherer.expect(1)
            gatherer.put([SampleRow(tick, [ONE], [1.0])], expected=True)
            assert sink.written.acquire(timeout=120)
        gatherer.close()
    assert len(sink.batches) == 2
    assert [entry["event"] for entry in logs] == ["a batch cannot be written; it is lost"]

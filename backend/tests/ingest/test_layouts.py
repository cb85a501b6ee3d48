"""A request that looks like an earlier one gives what its scan gives, whatever has changed in it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loadwatch_backend.series.ingest import layouts as module
from loadwatch_backend.series.ingest.decode import IngestLimits, decode
from loadwatch_backend.series.ingest.errors import MalformedError
from loadwatch_backend.series.ingest.layouts import Layouts
from loadwatch_backend.series.store.port import STALE_NAN_BITS
from loadwatch_backend.series.store.remote_pb2 import MetricMetadata

from backend.tests.ingest.writing import NOW_MS, request, series, value_of

LIMITS = IngestLimits()
VALUES = [0.0, 1.5, -0.0, value_of(STALE_NAN_BITS), 1e300]


def message(time_ms: int, values: list[float], *, label: str = "a") -> bytes:
    """A series per value; a value of 0 is left out, as senders in Go do."""
    return request(
        *(
            series({"__name__": "m", "job": label * (number % 3 + 1), "i": str(number)}, (time_ms, value))
            for number, value in enumerate(values)
        )
    )


class Both:
    """Reads by scan and by layout, and holds that they agree."""

    def __init__(self) -> None:
        self.known: dict[bytes, int] = {}
        self.layouts = Layouts()

    def scan(self, data: bytes) -> None:
        """As the service does with a request of no known layout."""
        columns = decode(data, self.known, LIMITS)
        for fresh in columns.fresh:
            if fresh.prefix is not None:
                self.known.setdefault(fresh.prefix, len(self.known))
        self.layouts.note(data, columns)

    def agrees(self, data: bytes) -> bool:
        """Whether there is a layout; then it says what the scan says, bit by bit."""
        found = self.layouts.read(data)
        if found is None:
            return False
        expected = decode(data, self.known, LIMITS)
        assert not expected.fresh
        assert found.series.tolist() == expected.series.tolist()
        assert found.timestamps.tolist() == expected.timestamps.tolist()
        assert found.values.view(np.uint64).tolist() == expected.values.view(np.uint64).tolist()
        return True


@pytest.fixture
def both() -> Both:
    """One that has met a request three times: once to know its series, twice to know its layout."""
    both = Both()
    for second in range(3):
        both.scan(message(NOW_MS + second, VALUES))
    return both


def test_a_layout_is_known_when_it_comes_for_the_third_time(both: Both):
    assert both.agrees(message(NOW_MS + 5_000, [0.0, 2.5, 3.5, 4.5, float("inf")]))


def test_a_value_that_becomes_0_another_label_and_another_order_are_another_layout(both: Both):
    assert not both.agrees(message(NOW_MS, [1.0, *VALUES[1:]]))
    assert not both.agrees(message(NOW_MS, VALUES, label="b"))
    assert not both.agrees(message(NOW_MS, VALUES[::-1]))
    assert not both.agrees(b"")


def test_each_byte_that_is_no_value_and_no_time_is_compared(both: Both):
    data = message(NOW_MS + 7_000, VALUES)
    taken = 0
    for place in range(len(data)):
        for bit in (0x01, 0x80):
            changed = bytearray(data)
            changed[place] ^= bit
            try:
                taken += both.agrees(bytes(changed))
            except MalformedError:
                pytest.fail(f"byte {place} is malformed, and the layout took it")
    # Eight bytes of four values, and the seven bits of time in six bytes of five times.
    assert taken == 4 * 8 * 2 + 5 * 6


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_whatever_is_taken_by_its_layout_is_what_the_scan_gives(data: st.DataObject):
    both = Both()
    shape = data.draw(st.lists(st.booleans(), min_size=1, max_size=6))
    value = st.floats(width=64).filter(lambda one: one != 0 or str(one) == "-0.0")
    time_ms = st.integers(2**35, 2**42 - 1)
    for _ in range(6):
        values = [data.draw(value) if there else 0.0 for there in shape]
        content = message(data.draw(time_ms), values)
        both.agrees(content)
        both.scan(content)
    assert both.agrees(message(NOW_MS, [1.0 if there else 0.0 for there in shape]))


def test_what_is_more_than_samples_is_not_remembered():
    both = Both()
    for _ in range(4):
        sent = request(series({"__name__": "m"}, (NOW_MS, 1.0)), metadata=[MetricMetadata(metric_family_name=b"m")])
        both.scan(sent)
        assert not both.agrees(sent)


def test_the_memory_is_bounded_and_the_least_met_goes_first(monkeypatch: pytest.MonkeyPatch):
    both = Both()
    sent = [message(NOW_MS, VALUES, label=label) for label in "abc"]
    monkeypatch.setattr(module, "MOST_TOTAL_BYTES", 1 << 30)
    for _ in range(3):
        for one in sent[:2]:
            both.scan(one)
    assert [both.agrees(one) for one in sent] == [True, True, False]
    monkeypatch.setattr(module, "MOST_TOTAL_BYTES", both.layouts.nbytes)
    assert both.agrees(sent[0])
    for _ in range(3):
        both.scan(sent[2])
    assert [both.agrees(one) for one in sent] == [True, False, True]

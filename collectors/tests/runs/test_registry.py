import gzip
from collections import Counter
from pathlib import Path

import pytest
from loadwatch_collectors.runs.streams.event import Event, RequestEvent, SecondEvent, StreamError, UsersEvent
from loadwatch_collectors.runs.streams.registry import AnyReader

REAL = Path(__file__).parents[3] / "backend" / "tests" / "importers" / "fixtures"
"""Files that the real tools wrote, beside the importers that have the last word on them."""


def read(data: bytes, piece: int) -> tuple[str | None, list[Event]]:
    reader = AnyReader()
    events: list[Event] = []
    for at in range(0, len(data), piece):
        events += reader.feed(data[at : at + piece])
    return reader.format, events


@pytest.mark.parametrize(
    ("name", "form", "requests", "ok"),
    [
        ("gatling/binary.log.gz", "gatling-binary", 264, 150),
        ("gatling/text.log.gz", "gatling-text", 264, 150),
        ("jmeter/default.jtl.gz", "jmeter-jtl", 888, 480),
        ("jmeter/tab.csv.gz", "jmeter-jtl", 168, 80),
        ("k6/run.json.gz", "k6-json", 117, 71),
    ],
)
@pytest.mark.parametrize("packed", [True, False])
def test_results_of_the_real_tools(name: str, form: str, requests: int, ok: int, packed: bool) -> None:
    raw = (REAL / name).read_bytes()
    data = raw if packed else gzip.decompress(raw)
    found, whole = read(data, len(data))
    assert found == form
    outcomes = Counter(event.outcome for event in whole if isinstance(event, RequestEvent))
    assert outcomes.total() == requests
    assert outcomes["ok"] == ok
    assert outcomes["http_5xx"] > 0
    assert read(data, 113) == (form, whole)
    users = [event.users for event in whole if isinstance(event, UsersEvent)]
    if form.startswith("gatling"):
        assert users[-1] == 0
        assert max(users) > 0


def test_the_history_of_locust() -> None:
    data = (REAL / "locust" / "full" / "run_stats_history.csv").read_bytes()
    form, events = read(data, 100)
    assert form == "locust-history"
    seconds = [event for event in events if isinstance(event, SecondEvent)]
    assert len(seconds) == len(events)
    assert [event.requests for event in seconds] == sorted(event.requests for event in seconds)
    assert seconds[-1].users == 6
    assert dict(seconds[-1].quantiles).keys() == {0.5, 0.9, 0.95, 0.99, 1.0}


def test_what_cannot_be_followed_is_said() -> None:
    for data in (b"these are notes\n" * 100, gzip.compress(b"notes\n" * 100_000)):
        with pytest.raises(StreamError, match="no format"):
            read(data, 50)
    with pytest.raises(StreamError, match="compressed"):
        read(b"\x1f\x8b" + b"\x00" * 100, 200)
    with pytest.raises(StreamError, match="row 2 "):
        read(b"timeStamp,elapsed,label,success\n2026/11/21,1,a,true\n", 1000)

import gzip
import re
from collections import Counter
from pathlib import Path

import pytest
from loadwatch_collectors.runs.live_seconds import LiveSeconds
from loadwatch_collectors.runs.session import Follower
from loadwatch_collectors.runs.streams import AnyReader, Event, RequestEvent, SecondEvent, StreamError, UsersEvent
from loadwatch_formats.outcomes import Outcome

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
    assert outcomes[Outcome.OK] == ok
    assert outcomes[Outcome.HTTP_5XX] > 0
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


@pytest.mark.parametrize("name", ["gatling/text.log.gz", "jmeter/default.jtl.gz", "k6/run.json.gz"])
def test_a_byte_order_mark_costs_nothing(name: str) -> None:
    data = gzip.decompress((REAL / name).read_bytes())
    for piece in (1, len(data)):
        assert read(b"\xef\xbb\xbf" + data[:3_000], piece) == read(data[:3_000], piece)


def test_damage_ends_the_view_and_not_the_run(tmp_path: Path) -> None:
    """A watcher that raised would take the signs of life of the run with it."""
    lines = gzip.decompress((REAL / "k6/run.json.gz").read_bytes()).splitlines(keepends=True)
    path = tmp_path / "result.json"
    path.write_bytes(b"".join(lines))
    seconds = LiveSeconds("r")
    follower = Follower(seconds, lambda: path)
    follower.step(0)
    assert (follower.problem, seconds.requests) == ("", 117)
    point = next(line for line in lines if b'"metric":"http_req_duration","type":"Point"' in line)
    with path.open("ab") as file:
        file.write(re.sub(rb'"value":[^,}]+', b'"value":1e999', point))
    follower.step(0)
    assert "damaged" in follower.problem
    assert f"byte {path.stat().st_size}" in follower.problem
    assert follower.finish()
    assert seconds.requests == 117

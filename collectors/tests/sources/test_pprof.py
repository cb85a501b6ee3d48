import gzip
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.pprof import PPROF, PprofCollector, PprofSettings, ProfileTaker, offered_kinds
from loadwatch_formats.profile_kinds import PROFILE_KINDS

from collectors.tests import measuring_server
from collectors.tests.mariadb import MariaDB
from collectors.tests.servers import answer_always, endless, response, tcp_server

INDEX = b"<a href='goroutine?debug=1'>goroutine</a> <a href='heap?debug=1'>heap</a>"


def settings(port: int, **keys: Any) -> PprofSettings:
    return PprofSettings(url=f"http://127.0.0.1:{port}/debug/pprof/", **keys)


def taken(answer: bytes, kind: str = "heap", **keys: Any) -> bytes:
    with tcp_server(answer_always(answer)) as port:
        taker = ProfileTaker(settings(port, **keys))
        try:
            return taker.take(kind, 1)
        finally:
            taker.close()


def test_a_real_process_is_found_and_profiled(mariadb: MariaDB, measuring_server_program: Path, tmp_path: Path) -> None:
    with measuring_server.running(measuring_server_program, mariadb, tmp_path / "log") as server:
        own = PprofSettings(url=f"{server.url}/debug/pprof", seconds=1)
        collector = PPROF.build(own)
        try:
            [sample] = collector.collect()
        finally:
            collector.close()
        assert (sample.name, sample.value) == ("profile_source_info", 1.0)
        assert dict(sample.labels) == {"kinds": "cpu,mutex,block,heap,goroutine,allocs", "seconds": "1"}
        taker = ProfileTaker(own)
        try:
            for kind in PROFILE_KINDS:
                assert gzip.decompress(taker.take(kind, 30)), kind
        finally:
            taker.close()


def test_a_process_that_dies_meanwhile_ends_the_profile_with_words(
    mariadb: MariaDB, measuring_server_program: Path, tmp_path: Path
) -> None:
    with measuring_server.running(measuring_server_program, mariadb, tmp_path / "log") as server:
        taker = ProfileTaker(PprofSettings(url=f"{server.url}/debug/pprof", seconds=60))
        killing = threading.Thread(target=lambda: (time.sleep(0.3), server.process.kill()))
        killing.start()
        with pytest.raises(CollectorError, match=r"/debug/pprof: \w+"):
            taker.take("cpu", 60)
        killing.join()
        taker.close()


def test_what_is_no_profile_is_refused() -> None:
    with pytest.raises(CollectorError, match="the heap profile is not in pprof's format: 'hello'"):
        taken(response(b"hello"))
    with pytest.raises(CollectorError, match="answered 404"):
        taken(response(b"404 page not found", status="404 Not Found"))
    with pytest.raises(CollectorError, match="larger than 10 bytes"):
        taken(response(b"\x1f\x8b" + b"x" * 100), max_body=10)
    with pytest.raises(CollectorError, match="is not among this target's kinds"):
        taken(response(b"\x1f\x8b"), kind="cpu", kinds=("heap",))


def test_an_endless_answer_is_cut_off() -> None:
    with tcp_server(endless) as port:
        taker = ProfileTaker(settings(port, max_body=1_000_000))
        with pytest.raises(CollectorError):
            taker.take("heap", 1)
        taker.close()


def test_only_what_is_offered_is_told() -> None:
    with tcp_server(answer_always(response(INDEX, "text/html"))) as port:
        collector = PprofCollector(settings(port, kinds=("mutex", "heap")))
        [sample] = collector.collect()
        assert dict(sample.labels)["kinds"] == "heap"
        assert collector.explain() == ["not offered by the process: mutex"]
        collector.close()
    with tcp_server(answer_always(response(b"<h1>Shop</h1>", "text/html"))) as port:
        collector = PPROF.build(settings(port))
        with pytest.raises(CollectorError, match="no profiles are listed there"):
            collector.collect()
        collector.close()


def test_an_index_without_links_offers_nothing() -> None:
    assert offered_kinds(b"") == frozenset()
    assert offered_kinds(INDEX) == {"cpu", "goroutine", "heap"}


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"url": "localhost:6060"}, "is not an address"),
        ({"url": "http://h/debug/pprof?seconds=3"}, "has a query"),
        ({"kinds": ("cpus",)}, "'cpus' is none of cpu, mutex"),
        ({"kinds": ()}, "kinds is empty"),
        ({"seconds": 0.5}, "whole number from 1 to 60"),
        ({"seconds": 61.0}, "whole number from 1 to 60"),
        ({"max_body": 100_000_000}, "at most 64000000 bytes"),
    ],
)
def test_settings_say_what_is_wrong(keys: dict[str, Any], text: str) -> None:
    given: dict[str, Any] = {"url": "http://h/debug/pprof", **keys}
    with pytest.raises(ValueError, match=text):
        PprofSettings(**given)

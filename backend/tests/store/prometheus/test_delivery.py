"""How samples reach an engine: in order, again, in halves, within limits, and as whom."""

import base64
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loadwatch_backend.core.cancellation import Cancellation
from loadwatch_backend.core.clock import SteadyClock
from loadwatch_backend.core.secret import Secret
from loadwatch_backend.core.settings import Settings, load_settings
from loadwatch_backend.series.store.errors import (
    EngineAnswerError,
    EngineAwayError,
    EngineSettingsError,
    QueryLimitError,
    StoreBusyError,
)
from loadwatch_backend.series.store.port import Batch, Matcher, MatchOperator
from loadwatch_backend.series.store.prometheus.connection import Login, RemoteSettings
from loadwatch_backend.series.store.prometheus.engine import PrometheusStore, open_prometheus
from loadwatch_backend.series.store.sample_store import open_sample_store

from backend.tests.store.prometheus.engines import wait_for
from backend.tests.store.prometheus.stub import NOTHING, OK, Asked, Reply, StubEngine, mutual_tls
from collectors.tests.servers import make_certificate

NOW_MS = 1_750_000_000_000


@pytest.fixture
def engine() -> Iterator[StubEngine]:
    stub = StubEngine()
    yield stub
    stub.close()


@contextmanager
def opened(
    directory: Path, engine: StubEngine, login: Login | None = None, **limits: Any
) -> Generator[PrometheusStore]:
    settings = RemoteSettings(
        data_directory=directory,
        url=engine.url,
        write_url=f"{engine.url}/write",
        login=login or Login(),
        **limits,
    )
    store = open_prometheus(settings, lambda: NOW_MS)
    try:
        yield store
    finally:
        store.close()


def append(store: PrometheusStore, name: str, *seconds: int) -> None:
    ids = store.resolve([{"__name__": "m", "i": name}])
    times = np.array([NOW_MS + second * 1000 for second in seconds], np.int64)
    batch = Batch(series=np.repeat(ids, len(times)), timestamps=times, values=np.array(seconds, np.float64))
    store.append(batch).result(timeout=60)


def append_until_busy(store: PrometheusStore) -> int:
    """How many samples were taken, a second each."""
    for second in range(10_000):
        try:
            append(store, "a", second)
        except StoreBusyError:
            return second
    raise AssertionError("the queue has no limit")


def place(second: int) -> int:
    return NOW_MS // 1000 + second


def delivered(store: PrometheusStore) -> None:
    wait_for("everything is delivered", lambda: store.statistics().engine_queue_samples == 0)


def test_samples_come_in_order_and_again_until_they_are_taken(tmp_path: Path, engine: StubEngine) -> None:
    replies: list[Reply] = [(503, {}, b"busy"), (429, {"retry-after": "0"}, b""), (500, {}, b"")]
    engine.reply = lambda _asked: replies.pop(0) if replies else OK
    with opened(tmp_path, engine) as store:
        for second in range(5):
            append(store, "a", second)
        delivered(store)
        assert store.statistics().engine_retries_total == 3
        assert store.statistics().engine_dropped_samples_total == 0
    assert engine.rows() == [("a", place(second), float(second)) for second in range(5)]
    assert engine.taken[0].headers["x-prometheus-remote-write-version"] == "0.1.0"


# Prometheus 2.42 answers 500 to a sample that its out-of-order window does not reach, today and tomorrow.
@pytest.mark.parametrize("refusal", [(400, {}, b"out of bounds"), (500, {}, b"too old sample\n")])
def test_what_the_engine_does_not_take_is_dropped_and_nothing_else(
    tmp_path: Path, engine: StubEngine, refusal: Reply
) -> None:
    def reply(asked: Asked) -> Reply:
        bad = any(2000.0 in one.values for one in asked.series if one.labels["i"] == "b")
        return refusal if bad else OK

    engine.reply = reply
    with opened(tmp_path, engine) as store:
        ids = store.resolve([{"__name__": "m", "i": name} for name in "abc"])
        times = np.tile(NOW_MS + np.arange(3) * 1000, 3)
        values = np.tile(np.array([0.0, 1000.0, 2000.0]), 3)
        store.append(Batch(series=np.repeat(ids, 3), timestamps=times, values=values)).result(timeout=60)
        delivered(store)
        assert store.statistics().engine_dropped_samples_total == 1
        assert store.statistics().engine_delivered_samples_total == 8
    assert sorted(engine.rows()) == sorted(
        (name, place(second), second * 1000.0) for name in "abc" for second in range(3) if (name, second) != ("b", 2)
    )


def test_a_login_that_ran_out_loses_nothing(tmp_path: Path, engine: StubEngine) -> None:
    token = tmp_path / "token"
    token.write_text("old\n")
    engine.reply = lambda asked: OK if asked.headers["authorization"] == "Bearer new" else (401, {}, b"expired")
    with opened(tmp_path / "data", engine, Login(token=Secret(path=token))) as store:
        append(store, "a", 1)
        wait_for("it was refused", lambda: store.statistics().engine_retries_total > 0)
        token.write_text("new\n")
        delivered(store)
    assert engine.rows() == [("a", place(1), 1.0)]


def test_at_its_limit_the_queue_takes_no_more_and_loses_nothing(tmp_path: Path, engine: StubEngine) -> None:
    engine.reply = lambda _asked: (503, {}, b"")
    with opened(tmp_path, engine, queue_bytes=2_000) as store:
        accepted = append_until_busy(store)
    assert accepted > 10
    engine.reply = lambda _asked: OK
    with opened(tmp_path, engine, queue_bytes=2_000) as store:
        delivered(store)
        append(store, "a", accepted)
        delivered(store)
    assert engine.rows() == [("a", place(second), float(second)) for second in range(accepted + 1)]


def test_no_request_is_too_large_for_an_engine(tmp_path: Path, engine: StubEngine) -> None:
    with opened(tmp_path, engine, request_samples=1_000) as store:
        ids = store.resolve([{"__name__": "m", "i": str(number), "about": "x" * 200_000} for number in range(50)])
        more = store.resolve([{"__name__": "m", "i": str(number)} for number in range(2_500)])
        ids = np.concatenate([ids, more])
        store.append(
            Batch(series=ids, timestamps=np.full(len(ids), NOW_MS, np.int64), values=np.arange(len(ids), dtype=float))
        ).result(timeout=60)
        delivered(store)
    assert len(engine.rows()) == 2_550
    assert len({row[2] for row in engine.rows()}) == 2_550
    for asked in engine.taken:
        assert len(asked.series) <= 1_000
        assert sum(len(one.labels.get("about", "")) for one in asked.series) <= 4 << 20


def test_what_was_queued_is_read_after_a_start_before_it_is_delivered(tmp_path: Path, engine: StubEngine) -> None:
    engine.reply = lambda _asked: (503, {}, b"")
    for _ in range(2):
        with opened(tmp_path, engine) as store:
            append(store, "a", 1)
    with opened(tmp_path, engine) as store:
        found = store.select([], NOW_MS, NOW_MS + 5000)
        assert [dict(labels) for labels in found.labels] == [{"__name__": "m", "i": "a"}]
        assert found.values.tolist() == [1.0]


def test_a_damaged_frame_is_counted_and_the_others_go_on(tmp_path: Path, engine: StubEngine) -> None:
    engine.reply = lambda _asked: (503, {}, b"")
    with opened(tmp_path, engine) as store:
        append(store, "a", 1)
        append(store, "b", 2)
    (segment,) = (tmp_path / "engine-queue").glob("*.frames")
    content = bytearray(segment.read_bytes())
    content[40] ^= 0xFF
    segment.write_bytes(content + b"LWQ1 cut off")
    engine.reply = lambda _asked: OK
    with opened(tmp_path, engine) as store:
        append(store, "c", 3)
        delivered(store)
        assert store.statistics().engine_dropped_samples_total == 1
    assert engine.rows() == [("b", place(2), 2.0), ("c", place(3), 3.0)]


@pytest.mark.parametrize(
    ("login", "expected"),
    [
        (Login(tenant="team-a"), {"x-scope-orgid": "team-a"}),
        (Login(tenant="t", tenant_header="THANOS-TENANT"), {"thanos-tenant": "t"}),
        (
            Login(user="lw", password=Secret("secret")),
            {"authorization": f"Basic {base64.b64encode(b'lw:secret').decode()}"},
        ),
        (Login(token=Secret("secret")), {"authorization": "Bearer secret"}),
    ],
)
def test_each_request_says_who_we_are(
    tmp_path: Path, engine: StubEngine, login: Login, expected: dict[str, str]
) -> None:
    seen: list[dict[str, str]] = []

    def read(asked: Asked) -> Reply:
        seen.append(asked.headers)
        return NOTHING

    engine.read = read
    with opened(tmp_path, engine, login) as store:
        append(store, "a", 1)
        delivered(store)
    for headers in [*seen, *(asked.headers for asked in engine.asked)]:
        assert expected.items() <= headers.items()
    assert "secret" not in repr(login)


def test_requests_to_amazon_are_signed(tmp_path: Path, engine: StubEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI")
    with opened(tmp_path, engine, Login(aws_region="eu-west-1")) as store:
        append(store, "a", 1)
        delivered(store)
    signature = engine.taken[0].headers["authorization"]
    assert signature.startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "/eu-west-1/aps/aws4_request" in signature
    assert "wJalr" not in signature


def test_both_sides_show_certificates(tmp_path: Path) -> None:
    key, certificate = make_certificate(tmp_path)
    engine = StubEngine(tls=mutual_tls(certificate, key))
    ours = Login(ca_file=certificate, cert_file=certificate, key_file=key)
    with opened(tmp_path / "data", engine, ours) as store:
        append(store, "a", 1)
        delivered(store)
    assert engine.rows() == [("a", place(1), 1.0)]
    for index, login in enumerate((Login(ca_file=certificate), Login())):
        with pytest.raises(EngineSettingsError), opened(tmp_path / str(index), engine, login):
            pass
    engine.close()


def test_a_query_is_passed_on_with_its_error_and_its_limit(tmp_path: Path, engine: StubEngine) -> None:
    with opened(tmp_path, engine, answer_bytes=1_000) as store:
        engine.read = lambda asked: (200, {}, b"answer to " + asked.body)
        answer = b"".join(store.query("query", [("query", "up")], Cancellation()))
        assert answer == b"answer to query=up"
        engine.read = lambda _asked: (422, {}, b'{"status":"error","errorType":"execution","error":"too many points"}')
        with pytest.raises(EngineAnswerError, match="too many points") as raised:
            b"".join(store.query("query", [("query", "up")], Cancellation()))
        assert raised.value.status == 422
        engine.read = lambda _asked: (200, {}, b"x" * 2_000)
        with pytest.raises(QueryLimitError):
            b"".join(store.query("query", [("query", "up")], Cancellation()))
        engine.read = lambda _asked: (302, {"location": "http://elsewhere.example"}, b"")
        with pytest.raises(EngineAwayError, match="redirect"):
            b"".join(store.query("query", [("query", "up")], Cancellation()))


def test_a_start_is_refused_where_the_engine_refuses_us(tmp_path: Path, engine: StubEngine) -> None:
    engine.read = lambda _asked: (401, {}, b"who are you?")
    with pytest.raises(EngineSettingsError, match="refuses Loadwatch with status 401"), opened(tmp_path, engine):
        pass


def test_a_start_without_the_engine_goes_on_where_it_was_known_before(tmp_path: Path) -> None:
    engine = StubEngine()
    with opened(tmp_path, engine):
        pass
    engine.close()
    with opened(tmp_path, engine) as store:
        append(store, "a", 1)
    with pytest.raises(EngineSettingsError, match="does not answer"), opened(tmp_path / "new", engine):
        pass


def test_while_the_engine_is_away_what_the_server_says_of_itself_is_in_memory(
    tmp_path: Path, engine: StubEngine
) -> None:
    own = (Matcher("__name__", MatchOperator.EQUAL, "loadwatch_store_engine_queue_seconds"),)
    with opened(tmp_path, engine) as store:
        engine.reply = engine.read = lambda _asked: (503, {}, b"not now")
        ids = store.resolve([{"__name__": own[0].value, "instance": "server"}])
        times = np.array([NOW_MS, NOW_MS + 5_000], np.int64)
        store.append(Batch(series=np.repeat(ids, 2), timestamps=times, values=np.array([1.0, 6.0]), own=True)).result(
            60
        )
        append(store, "a", 1)
        found = store.select_newest([own, own], NOW_MS, NOW_MS + 60_000)
        assert [selection.values.tolist() for selection in found] == [[1.0, 6.0]] * 2
        with pytest.raises(EngineAwayError):
            store.select_many([own, (Matcher("__name__", MatchOperator.EQUAL, "m"),)], NOW_MS, NOW_MS + 60_000)


def test_an_engine_that_hangs_keeps_a_thousand_rules_waiting_once(tmp_path: Path, engine: StubEngine) -> None:
    wanted = (Matcher("__name__", MatchOperator.EQUAL, "m"),)
    answer = threading.Event()

    def hang(_asked: Asked) -> Reply:
        asked.append(_asked)
        answer.wait(30)
        return OK

    asked: list[Asked] = []
    with opened(tmp_path, engine, timeout_seconds=1.0) as store:
        engine.read = hang
        for _ in range(1_000):
            with pytest.raises(EngineAwayError, match="does not answer"):
                store.select(wanted, NOW_MS, NOW_MS + 60_000)
        # One for each wait and as long again, on however slow a machine.
        assert len(asked) < 100
        answer.set()


def settings(tmp_path: Path, **given: str) -> Settings:
    return load_settings(data=tmp_path, **given)


def test_settings_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineSettingsError, match="LOADWATCH_STORE_URL is not"):
        open_sample_store(settings(tmp_path, store_write_url="http://x/write"), SteadyClock(lambda: NOW_MS))
    both = settings(tmp_path, store_url="http://127.0.0.1:9", store_user="a", store_token="b")
    with pytest.raises(EngineSettingsError, match="STORE_USER and LOADWATCH_STORE_TOKEN"):
        open_sample_store(both, SteadyClock(lambda: NOW_MS))
    missing = settings(tmp_path, store_url="https://127.0.0.1:9", store_ca_file=str(tmp_path / "none.pem"))
    with pytest.raises(EngineSettingsError, match="LOADWATCH_STORE_CA_FILE"):
        open_sample_store(missing, SteadyClock(lambda: NOW_MS))

"""Against a real redis-server: what is counted, and what is sent while it is full, held, refusing or away."""

import signal
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import redis
from loadwatch_collectors.collector import Sample, TargetIdentity
from loadwatch_collectors.config import CollectorSettings
from loadwatch_collectors.pipeline.runner import Runner
from loadwatch_collectors.sources.redis import REDIS, RedisCollector
from loadwatch_collectors.transport.redis_session import NoAnswerError, RedisLogin

from collectors.tests.pipeline.test_runner import Sink
from collectors.tests.redis_server import own_redis
from collectors.tests.servers import make_certificate, tcp_server
from tests.ports import free_port


def reading(port: int, user: str = "", **options: Any) -> "closing[RedisCollector]":
    return closing(RedisCollector(RedisLogin(url=f"redis://{user}127.0.0.1:{port}", **options)))


def value(samples: Sequence[Sample], name: str, **labels: str) -> float:
    """Of the first such series; -1 without one."""
    return next((one.value for one in samples if one.name == name and labels.items() <= dict(one.labels).items()), -1)


def refusal(collector: RedisCollector) -> str:
    assert collector.collect() == [Sample("redis_up", 0.0)]
    fault = collector.fault()
    assert fault is not None
    assert fault.total
    return fault.text


def answered(collector: RedisCollector) -> Sequence[Sample]:
    while True:
        with suppress(NoAnswerError):
            return collector.collect()


def unanswered(collector: RedisCollector, times: int) -> None:
    while times:
        try:
            assert value(collector.collect(), "redis_up") == 1
        except NoAnswerError:
            times -= 1


def run_until_killed(app: Any) -> None:
    with suppress(redis.ResponseError):
        app.eval("while true do end", 0)


def test_that_commands_of_others_are_counted_exactly_and_own_ones_not():
    with own_redis("--slowlog-log-slower-than 0") as server, reading(server.port) as collector, server.client() as app:
        app.ping()
        first = collector.collect()
        assert value(first, "redis_commands_processed_total") == 0, "what was before counting began is not counted"
        for number in range(20):
            app.set(f"key-{number}", "secret", ex=1_000)
        for number in range(30):
            app.get(f"key-{number}")
        with pytest.raises(redis.ResponseError):
            app.lpush("key-1", "a")
        app.info()
        collector.collect()
        samples = collector.collect()
        assert [one["name"] for one in app.client_list() if one["name"]] == ["loadwatch"]
    assert value(samples, "redis_commands_processed_total") == 52
    assert value(samples, "redis_commands_total", cmd="get") == 30
    assert value(samples, "redis_commands_total", cmd="info") == 1
    assert value(samples, "redis_commands_duration_seconds_total", cmd="set") > 0
    assert not {dict(one.labels).get("cmd") for one in samples} & {"slowlog|get", "latency|latest", "config|get"}
    assert value(samples, "redis_keyspace_misses_total") == 10
    assert value(samples, "redis_errors_total", err="WRONGTYPE") == 1
    assert value(samples, "redis_db_keys", db="db0") == 20
    assert value(samples, "redis_slowlog_last_id") > value(first, "redis_slowlog_last_id") >= 0
    assert not any("secret" in text for one in samples for _, text in one.labels)
    sent = {one.name for one in samples}
    assert sent <= {metric.name for metric in REDIS.metrics}
    assert {
        "redis_cpu_user_main_thread_seconds_total",
        "redis_total_system_memory_bytes",
        "redis_instance_info",
    } <= sent


def test_that_a_full_server_is_seen_by_who_was_there_and_refuses_who_comes():
    with own_redis("--maxclients 3") as server, reading(server.port) as collector, reading(server.port) as late:
        collector.collect()
        with server.client() as one, server.client() as other:
            assert one.ping()
            assert other.ping()
            assert "max number of clients" in refusal(late)
            samples = collector.collect()
    assert value(samples, "redis_rejected_connections_total") >= 1
    assert value(samples, "redis_connected_clients") == value(samples, "redis_config_maxclients") == 3


def test_that_a_held_server_has_one_question_to_answer_and_tells_all_afterwards():
    with own_redis("--busy-reply-threshold 100") as server, reading(server.port) as collector:
        collector.set_pace(0.3, 5)
        app = server.client(socket_timeout=None)
        app.ping()
        before = collector.collect()
        server.signal(signal.SIGSTOP)  # silent, as in a command that never looks around
        unanswered(collector, 3)
        server.signal(signal.SIGCONT)
        answered(collector)
        held = threading.Thread(target=run_until_killed, args=(app,), daemon=True)
        held.start()
        unanswered(collector, 3)  # BUSY, once the script runs for long
        server.client().script_kill()
        held.join(60)
        after = answered(collector)
    assert value(after, "redis_up") == 1
    assert value(after, "redis_exporter_last_scrape_duration_seconds") > 0.5
    assert value(after, "redis_commands_duration_seconds_total", cmd="eval") > 0.1
    cpu, dialled = "redis_cpu_user_main_thread_seconds_total", "redis_connections_received_total"
    assert value(after, cpu) > value(before, cpu)
    assert value(after, dialled) - value(before, dialled) == 1, "by who ended the script"


def test_that_the_agent_says_how_long_it_waited():
    sink, stop = Sink(), threading.Event()
    with own_redis() as server:
        read = CollectorSettings(
            source=REDIS,
            settings=RedisLogin(url=f"redis://127.0.0.1:{server.port}"),
            identity=TargetIdentity(job="cache", instance="here"),
            interval_seconds=0.5,
            timeout_seconds=60,
            where="test.yml:1",
        )
        runner = threading.Thread(target=Runner([read], sink.write).run, args=(stop,))
        runner.start()
        sink.wait_for(lambda: bool(sink.of("redis_up")))
        server.signal(signal.SIGSTOP)
        sink.wait_for(lambda: len([one for one in sink.of("up") if one.value == 0]) >= 3)
        server.signal(signal.SIGCONT)
        stop.set()
        runner.join(60)
    down = {one.timestamp_ms for one in sink.of("up") if one.value == 0}
    waits = [one.value for one in sink.of("scrape_duration_seconds", "redis") if one.timestamp_ms in down]
    assert len(waits) == len(down)
    assert min(waits) > 0.2
    assert not any(one.value == 0 for one in sink.of("redis_up"))


@pytest.mark.parametrize("policy", ["allkeys-lru", "noeviction"])
def test_that_full_memory_is_told_by_evictions_or_refused_writes(policy: str):
    with own_redis(f"--maxmemory 3mb --maxmemory-policy {policy}") as server, reading(server.port) as collector:
        with server.client() as app, app.pipeline(transaction=False) as pipeline:
            for number in range(400):
                pipeline.set(f"key-{number}", "x" * 10_000)
            pipeline.execute(raise_on_error=False)
        samples = collector.collect()
    evicted, refused = value(samples, "redis_evicted_keys_total"), value(samples, "redis_errors_total", err="OOM")
    assert (evicted > 0, refused > 0) == (policy == "allkeys-lru", policy == "noeviction")
    assert value(samples, "redis_memory_max_bytes") == value(samples, "redis_config_maxmemory") == 3 * 2**20
    assert value(samples, "redis_instance_info", maxmemory_policy=policy) == 1


def test_that_a_refused_login_says_where_and_what_to_do(tmp_path: Path):
    wrong, right = tmp_path / "wrong", tmp_path / "right"
    wrong.write_text("hunter2")
    right.write_text("pass\n")
    with own_redis("--requirepass pass") as server:
        with reading(server.port) as collector:
            assert "the password in password_file or password_env" in refusal(collector)
        with reading(server.port, password_file=str(wrong)) as collector:
            said = refusal(collector)
            assert f"127.0.0.1:{server.port} refused the default user" in said
            assert f"the password in {wrong}" in said
            assert "hunter2" not in said
        with reading(server.port, password_file=str(right)) as collector:
            assert value(collector.collect(), "redis_up") == 1


def test_that_a_server_that_comes_back_is_read_again():
    with own_redis() as server, reading(server.port) as collector:
        began = value(collector.collect(), "redis_start_time_seconds")
        server.stop()
        assert "Connection refused" in refusal(collector)
        server.start()
        assert value(collector.collect(), "redis_up") == 1
        assert collector.fault() is None
        server.stop()
        server.start()
        samples = collector.collect()
        assert value(samples, "redis_up") == 1, "one new dial within the reading"
        assert value(samples, "redis_start_time_seconds") >= began


def test_that_without_rights_it_goes_on():
    with own_redis("--user watcher on nopass +info +slowlog") as server:
        with reading(server.port, "watcher@") as collector:
            collector.collect()
            samples = collector.collect()
            assert {one.permission for one in collector.missing_privileges()} == {"CONFIG GET", "LATENCY LATEST"}
        assert value(samples, "redis_config_maxclients") == -1
        assert value(samples, "redis_max_clients") == 10_000
        assert value(samples, "redis_errors_total", err="NOPERM") == 3, "asked once for each, and for its name"
        server.client().acl_setuser("watcher", enabled=True, commands=["-info"])
        with reading(server.port, "watcher@") as collector:
            assert "ACL SETUSER watcher +info" in refusal(collector)


def test_that_replicas_and_the_cluster_are_told():
    with own_redis("--cluster-enabled yes") as server, reading(server.port) as collector:
        collector.collect()
        assert value(collector.collect(), "redis_cluster_state") == 0
    with (
        own_redis("--repl-diskless-sync-delay 0") as source,
        own_redis(f"--replicaof 127.0.0.1 {source.port}") as replica,
        reading(source.port) as one,
        reading(replica.port) as other,
    ):
        while value(other.collect(), "redis_master_link_up") != 1:
            pass
        while value(one.collect(), "redis_connected_slave_lag_seconds", slave_state="online") < 0:
            pass
        assert value(other.collect(), "redis_slave_info", master_port=str(source.port)) == 1


def test_that_an_answer_has_a_bound_and_the_host_is_proved(tmp_path: Path):
    def without_end(connection: Any) -> None:
        connection.sendall(b"$999999999999\r\n")
        while True:
            connection.sendall(b"x" * 65_536)

    with tcp_server(without_end) as port, reading(port, deadline=30) as collector:
        assert "is this its port?" in refusal(collector)
    (key, cert), port = make_certificate(tmp_path), free_port()
    with own_redis(f"--tls-port {port} --tls-cert-file {cert} --tls-key-file {key} --tls-auth-clients no"):
        with closing(RedisCollector(RedisLogin(url=f"rediss://127.0.0.1:{port}"))) as collector:
            assert "ca_file names the certificates to trust" in refusal(collector)
        with closing(RedisCollector(RedisLogin(url=f"rediss://127.0.0.1:{port}", ca_file=str(cert)))) as collector:
            assert value(collector.collect(), "redis_up") == 1


@pytest.mark.parametrize("url", ["http://h", "redis://", "redis://u:secret@h", "redis://h:x", "redis://h?db=1"])
def test_that_an_address_that_cannot_be_is_refused(url: str):
    with pytest.raises(ValueError, match=r"url|ort") as refused:
        RedisLogin(url=url)
    assert "secret" not in str(refused.value)

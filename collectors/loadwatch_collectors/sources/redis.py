"""Redis and Valkey: INFO with the time of each command, the slow log, latency events, and the limits.

Names, labels and types are redis_exporter's. One thread runs all commands, so that a server that is held by one of them
answers nobody: then nothing is sent but how long the question waits (`scrape_duration_seconds`), and no `redis_up`.

Source of names, labels and types: redis_exporter, exporter/exporter.go, info.go, slowlog.go and latency.go.
"""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loadwatch_collectors.collector import CollectFault, Collector, MissingPrivilege, Sample, Source
from loadwatch_collectors.errors import CollectorError, PrivilegeError
from loadwatch_collectors.transport.redis_session import Command, NoAnswerError, RedisLogin, RedisSession


def _fields(text: str) -> Mapping[str, str]:
    """Metrics by field, from words such as `used_memory=memory_used_bytes`; a field alone has its own name."""
    pairs = (word.partition("=") for word in text.split())
    return {field: f"redis_{name or field}" for field, _, name in pairs}


FIELDS = _fields("""
    uptime_in_seconds io_threads_active configured_hz
    connected_clients blocked_clients tracking_clients clients_in_timeout_table cluster_connections
    maxclients=max_clients client_recent_max_output_buffer=client_recent_max_output_buffer_bytes
    client_recent_max_input_buffer=client_recent_max_input_buffer_bytes
    used_memory=memory_used_bytes used_memory_rss=memory_used_rss_bytes used_memory_peak=memory_used_peak_bytes
    used_memory_lua=memory_used_lua_bytes used_memory_overhead=memory_used_overhead_bytes
    used_memory_startup=memory_used_startup_bytes used_memory_dataset=memory_used_dataset_bytes
    used_memory_scripts=memory_used_scripts_bytes maxmemory=memory_max_bytes
    total_system_memory=total_system_memory_bytes mem_fragmentation_ratio mem_fragmentation_bytes
    allocator_active=allocator_active_bytes allocator_allocated=allocator_allocated_bytes
    allocator_resident=allocator_resident_bytes mem_clients_slaves mem_clients_normal
    mem_not_counted_for_evict=mem_not_counted_for_eviction_bytes lazyfree_pending_objects active_defrag_running
    loading=loading_dump_file async_loading rdb_changes_since_last_save rdb_bgsave_in_progress
    rdb_last_save_time=rdb_last_save_timestamp_seconds rdb_last_bgsave_status
    rdb_last_bgsave_time_sec=rdb_last_bgsave_duration_sec rdb_current_bgsave_time_sec=rdb_current_bgsave_duration_sec
    rdb_last_cow_size=rdb_last_cow_size_bytes aof_enabled aof_rewrite_in_progress aof_rewrite_scheduled
    aof_last_rewrite_time_sec=aof_last_rewrite_duration_sec
    aof_current_rewrite_time_sec=aof_current_rewrite_duration_sec aof_last_cow_size=aof_last_cow_size_bytes
    aof_current_size=aof_current_size_bytes aof_base_size=aof_base_size_bytes aof_buffer_length
    aof_pending_bio_fsync aof_delayed_fsync aof_last_bgrewrite_status aof_last_write_status
    current_eviction_exceeded_time=current_eviction_exceeded_time_ms pubsub_channels pubsub_patterns
    connected_slaves repl_backlog_size=replication_backlog_bytes repl_backlog_active=repl_backlog_is_active
    repl_backlog_histlen=repl_backlog_history_bytes master_repl_offset second_repl_offset
    sync_full=replica_resyncs_full sync_partial_ok=replica_partial_resync_accepted
    sync_partial_err=replica_partial_resync_denied cluster_enabled
    cluster_state cluster_slots_assigned cluster_slots_ok cluster_slots_pfail cluster_slots_fail cluster_known_nodes
    cluster_size cluster_current_epoch cluster_my_epoch
    total_connections_received=connections_received_total rejected_connections=rejected_connections_total
    total_commands_processed=commands_processed_total total_net_input_bytes=net_input_bytes_total
    total_net_output_bytes=net_output_bytes_total rdb_saves=rdb_saves_total
    total_net_repl_input_bytes=net_repl_input_bytes_total total_net_repl_output_bytes=net_repl_output_bytes_total
    expired_keys=expired_keys_total expired_time_cap_reached_count=expired_time_cap_reached_total
    evicted_keys=evicted_keys_total evicted_clients=evicted_clients_total
    total_eviction_exceeded_time=eviction_exceeded_time_ms_total keyspace_hits=keyspace_hits_total
    keyspace_misses=keyspace_misses_total used_cpu_sys=cpu_sys_seconds_total used_cpu_user=cpu_user_seconds_total
    used_cpu_sys_children=cpu_sys_children_seconds_total used_cpu_user_children=cpu_user_children_seconds_total
    used_cpu_sys_main_thread=cpu_sys_main_thread_seconds_total
    used_cpu_user_main_thread=cpu_user_main_thread_seconds_total total_error_replies unexpected_error_replies
    client_query_buffer_limit_disconnections=client_query_buffer_limit_disconnections_total
    client_output_buffer_limit_disconnections=client_output_buffer_limit_disconnections_total
    acl_access_denied_auth=acl_access_denied_auth_total acl_access_denied_cmd=acl_access_denied_cmd_total
    cluster_stats_messages_sent=cluster_messages_sent_total
    cluster_stats_messages_received=cluster_messages_received_total
""")
"""A server has some of them only; `ok` is 1, `err` and `fail` are 0."""


INFO: Command = ("INFO", "ALL")
CLUSTER: Command = ("CLUSTER", "INFO")
CONFIG: Command = ("CONFIG", "GET", "max*")
SLOWLOG_LENGTH: Command = ("SLOWLOG", "LEN")
SLOWLOG_LAST: Command = ("SLOWLOG", "GET", "1")
LATENCY: Command = ("LATENCY", "LATEST")
LOST: Mapping[Command, str] = {
    SLOWLOG_LENGTH: "how long the slow log is",
    SLOWLOG_LAST: "how many commands were slow",
    LATENCY: "events that held the server",
    CONFIG: "maxclients of servers before Redis 7",
    CLUSTER: "the state of the cluster",
}
GRANT = "ACL SETUSER {user} +info +slowlog +latency +config|get +cluster|info +client|setname"

MOST_ROWS = 500
"""Of each kind: commands, errors, databases, replicas, events."""
_LONGEST_LABEL = 100
_SHARE_OF_INTERVAL = 0.9
_TOTAL = "total_commands_processed"
_WORDS = {"ok": 1.0, "up": 1.0, "err": 0.0, "fail": 0.0, "down": 0.0}
_ROW = re.compile(r"(cmdstat_|errorstat_|latency_percentiles_usec_|db|slave)(.+)")
_ROW_METRICS: Mapping[str, Mapping[str, str]] = {
    "cmdstat_": {
        **{"calls": "redis_commands_total", "usec": "redis_commands_duration_seconds_total"},
        **{key: f"redis_commands_{key}_total" for key in ("rejected_calls", "failed_calls")},
    },
    "errorstat_": {"count": "redis_errors_total"},
    "db": {"keys": "redis_db_keys", "expires": "redis_db_keys_expiring", "avg_ttl": "redis_db_avg_ttl_seconds"},
    "slave": {"offset": "redis_connected_slave_offset_bytes", "lag": "redis_connected_slave_lag_seconds"},
    "latency_percentiles_usec_": {},
}
_FACTORS = {"usec": 1e-6, "avg_ttl": 1e-3}
_ROW_LABELS = {"errorstat_": "err", "db": "db"}
_INSTANCE = (
    *("role", "redis_version", "valkey_version", "redis_build_id", "redis_mode", "os", "maxmemory_policy", "tcp_port"),
    *("run_id", "process_id", "master_replid"),
)
_OF_REPLICA = ("master_link_status", "master_sync_in_progress", "master_last_io_seconds_ago", "slave_repl_offset")

Row = Mapping[str, str | float]


class _Others:
    """Counts of commands without this collector's own; they begin at 0, as counters do when their source starts."""

    def __init__(self) -> None:
        self._before: Mapping[str, Row] | None = None
        self._own = Counter[str]()
        self._sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    def only(self, commands: Mapping[str, Row], own: Counter[str]) -> dict[str, Row]:
        """The rows, with the others' calls and time where we call the command too; none where nobody else does.

        `own` counts our calls since the session's start, up to and with this INFO, which the rows have one tick later.
        """
        grown, first = own - self._own, self._before is None
        others: dict[str, Row] = {}
        for command, row in commands.items():
            if command not in own:
                others[command] = row
                continue
            before = row if first else (self._before or {}).get(command, {})
            calls, spent = (_number(row.get(key)) or 0.0 for key in ("calls", "usec"))
            old_calls, old_spent = (_number(before.get(key)) or 0.0 for key in ("calls", "usec"))
            if calls < old_calls:  # the server was started anew, or CONFIG RESETSTAT
                old_calls = old_spent = 0.0
            theirs = max(calls - old_calls - grown[command], 0.0)
            sums = self._sums[command]
            if theirs:
                sums[0] += theirs
                sums[1] += (spent - old_spent) * theirs / (calls - old_calls)
            if sums[0]:
                others[command] = {**row, "calls": sums[0], "usec": sums[1]}
        self._before, self._own = commands, own
        return others


class RedisCollector(Collector):
    def __init__(self, login: RedisLogin) -> None:
        """Read the password; the connection is opened by the first `collect`."""
        self._session = RedisSession(login)
        self._wait = login.deadline
        self._others = _Others()
        self._refused: dict[Command, str] = {}
        self._clustered = False
        self._started = ("", 0.0)
        self._fault: CollectFault | None = None

    def set_pace(self, interval_seconds: float, timeout_seconds: float) -> None:
        """Leave each tick time to tell that there is no answer yet."""
        self._wait = min(self._wait, _SHARE_OF_INTERVAL * min(interval_seconds, timeout_seconds))

    def collect(self) -> Sequence[Sample]:
        commands = [one for one in LOST if one not in self._refused and (one != CLUSTER or self._clustered)]
        self._fault = None
        try:
            return list(self._samples(self._session.ask([*commands, INFO], self._wait)))
        except NoAnswerError:
            raise
        except CollectorError as error:
            self._refused.clear()
            self._fault = CollectFault(text=str(error), total=True)
            return [Sample("redis_up", 0.0)]

    def fault(self) -> CollectFault | None:
        return self._fault

    def missing_privileges(self) -> Sequence[MissingPrivilege]:
        """Commands that the user may not call; one that a managed server does not have is none."""
        return [
            MissingPrivilege(permission=" ".join(one[:2]), lost=LOST[one], remedy=self._grant)
            for one, text in self._refused.items()
            if "unknown" not in text
        ]

    def close(self) -> None:
        self._session.close()

    @property
    def _grant(self) -> str:
        return GRANT.format(user=self._session.user or "default")

    def _samples(self, answers: Mapping[Command, Any]) -> Iterator[Sample]:
        info = answers[INFO]
        if isinstance(info, Exception):
            raise PrivilegeError(f"{self._session.where} refused INFO ({str(info)[:100]}): {self._grant}")
        fields, rows = parse_info(info)
        self._clustered = fields.get("cluster_enabled") == "1"
        self._refused |= {one: str(answers[one]) for one in LOST if isinstance(answers.get(one), Exception)}
        own = self._session.answered.copy()
        for command, calls in self._session.answered.items():
            if "|" in command:  # Redis before 7 does not tell subcommands apart
                own[command.partition("|")[0]] += calls
        own[_TOTAL] = self._session.answered.total()
        others = self._others.only({**rows["cmdstat_"], _TOTAL: {"calls": fields.get(_TOTAL, "")}}, own)
        fields[_TOTAL] = str(others.pop(_TOTAL, {}).get("calls", 0))
        rows["cmdstat_"] = others
        rows["latency_percentiles_usec_"] = {
            command: row for command, row in rows["latency_percentiles_usec_"].items() if command in others
        }
        run, uptime = fields.get("run_id", ""), _number(fields.get("uptime_in_seconds"))
        if self._started[0] != run and uptime is not None:
            self._started = run, float(int(time.time() - uptime))  # once: whole seconds of uptime would make it waver
        yield Sample("redis_up", 1.0)
        yield Sample("redis_exporter_last_scrape_duration_seconds", self._session.waited)
        yield Sample("redis_start_time_seconds", self._started[1])
        yield from field_samples(fields)
        yield from row_samples(rows)
        yield from further_samples({key: one for key, one in answers.items() if not isinstance(one, Exception)})


def parse_info(text: bytes) -> tuple[dict[str, str], dict[str, dict[str, Row]]]:
    """Fields of INFO, and its rows by kind and name, such as `cmdstat_` → `get` → `calls` → `21`."""
    fields: dict[str, str] = {}
    rows: dict[str, dict[str, Row]] = {kind: {} for kind in _ROW_METRICS}
    for line in text.decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(":")
        row = _ROW.fullmatch(name) if "=" in value else None
        if row is None:
            fields[name] = value[:_LONGEST_LABEL]
        elif len(rows[row[1]]) < MOST_ROWS:
            pairs = (pair.partition("=") for pair in value.split(","))
            rows[row[1]][row[2][:_LONGEST_LABEL]] = {key: one[:_LONGEST_LABEL] for key, _, one in pairs}
    return fields, rows


def field_samples(fields: Mapping[str, str]) -> Iterator[Sample]:
    for field, name in FIELDS.items():
        if (value := _number(fields.get(field))) is not None:
            yield Sample(name, value)
    if (value := _number(fields.get("latest_fork_usec"))) is not None:
        yield Sample("redis_latest_fork_seconds", value / 1e6)
    yield Sample("redis_instance_info", 1.0, tuple((key, fields[key]) for key in _INSTANCE if key in fields))
    if fields.get("role") == "slave":
        labels = tuple((key, fields.get(key, "")) for key in ("master_host", "master_port"))
        yield Sample("redis_slave_info", 1.0, (*labels, ("read_only", fields.get("slave_read_only", ""))))
        for field in _OF_REPLICA:
            if (value := _number(fields.get(field))) is not None:
                yield Sample(f"redis_{field.replace('link_status', 'link_up')}", value, labels)


def row_samples(rows: Mapping[str, Mapping[str, Row]]) -> Iterator[Sample]:
    for kind, metrics in _ROW_METRICS.items():
        for name, row in rows[kind].items():
            if kind == "slave":
                labels = tuple((f"slave_{key}", str(row.get(key, ""))) for key in ("ip", "port", "state"))
            else:
                labels = ((_ROW_LABELS.get(kind, "cmd"), f"db{name}" if kind == "db" else name),)
            for key, text in row.items():
                value = _number(text)
                if value is not None and key in metrics:
                    yield Sample(metrics[key], value * _FACTORS.get(key, 1.0), labels)
                elif value is not None and not metrics:
                    yield Sample("redis_latency_percentiles_usec", value, (*labels, ("quantile", key[1:])))


def further_samples(answers: Mapping[Command, Any]) -> Iterator[Sample]:
    """What the other commands answered; of the slow log numbers alone, never a text."""
    if SLOWLOG_LENGTH in answers:
        yield Sample("redis_slowlog_length", float(answers[SLOWLOG_LENGTH]))
    if SLOWLOG_LAST in answers:
        number, _, microseconds, *_ = answers[SLOWLOG_LAST][0] if answers[SLOWLOG_LAST] else (0, 0, 0)
        yield Sample("redis_slowlog_last_id", float(number))
        yield Sample("redis_last_slow_execution_duration_seconds", microseconds / 1e6)
    for event, at, milliseconds, *_ in answers.get(LATENCY, [])[:MOST_ROWS]:
        labels = (("event_name", event.decode("utf-8", "replace")[:_LONGEST_LABEL]),)
        yield Sample("redis_latency_spike_last", float(at), labels)
        yield Sample("redis_latency_spike_duration_seconds", milliseconds / 1e3, labels)
    settings = answers.get(CONFIG, [])
    for name, text in zip(settings[::2], settings[1::2], strict=False):
        if name in (b"maxclients", b"maxmemory") and (value := _number(text.decode())) is not None:
            yield Sample(f"redis_config_{name.decode()}", value)
    for field, text in parse_info(answers.get(CLUSTER, b""))[0].items():
        if field in FIELDS and (value := _number(text)) is not None:
            yield Sample(FIELDS[field], value)


def _number(text: str | float | None) -> float | None:
    if text is None or text == "":
        return None
    try:
        return _WORDS[text] if text in _WORDS else float(text)
    except ValueError:
        return None


REDIS = Source(
    name="redis",
    help="Redis and Valkey: commands and their time, memory, clients, evictions, persistence, replication.",
    settings=RedisLogin,
    build=RedisCollector,
    packs=("redis",),
    privileges=(
        MissingPrivilege(
            permission=", ".join(" ".join(one[:2]) for one in LOST),
            lost="; ".join(LOST.values()),
            remedy=GRANT.format(user="loadwatch"),
        ),
    ),
)

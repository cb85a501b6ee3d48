"""What the database runs out of: CPU, disk operations, memory, room."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.cloud import PERIOD_MS, CloudDatabase, cloud_databases, for_minutes
from loadwatch_backend.findings.measures.databases import CONNECTED, RUNNING
from loadwatch_backend.findings.measures.demand import broken, unmet
from loadwatch_backend.findings.measures.evidence import evidence
from loadwatch_backend.findings.measures.facts import added, largest, load_effects, longest_episode, selector, usual
from loadwatch_backend.findings.measures.hosts import (
    FOREIGN,
    HOST_METRICS,
    PROGRAM_CPU,
    PROGRAM_METRICS,
    STOLEN,
    Program,
    instance_of_host,
    programs,
)
from loadwatch_backend.findings.measures.outcomes import Clear, Draft, Observation, Outcome, detector
from loadwatch_backend.findings.messages import message, step
from loadwatch_backend.findings.model import Evidence, Finding
from loadwatch_backend.findings.window import BoolArray, Episode, Table, Window

CPU_FULL = 0.92
CPU_MOST = 0.5
"""Share of a full host from which the database is the one that fills it."""
LEADING = 0.6
"""Share of its cores in use, from which waiting statements belong to the episode that follows."""
CPU_QUEUE = 1.5
"""Statements at work for each core, from which some of them wait for one."""
LEAST_SECONDS = 5.0
CLOUD_FULL = 95.0
"""Percent, as CloudWatch has it: a minute of 95 % has seconds of 100 %."""

CLOUD_CPU = "aws_rds_cpuutilization_average"
CLOUD_LOAD = "aws_rds_dbload_relative_to_num_vcpus_average"


@detector(
    "database-cpu-full",
    least_seconds=LEAST_SECONDS,
    needs=(PROGRAM_CPU, CLOUD_CPU),
    reads=(*PROGRAM_METRICS, CONNECTED, RUNNING, CLOUD_LOAD),
)
def cpu_full(window: Window) -> Iterator[Outcome]:
    """The database uses all the CPU that it may, and more statements wait to be worked on.

    One finding for each database that had no core left while statements waited.
    """
    for program in programs(window):
        most = largest(program.cpu, window.focus)
        if not program.database or not np.isfinite(most + program.allowed):
            continue
        words = message("database-cpu-full.figures", program=program, most=most)
        yield _outcome(_of_program(window, program), words)
    for database in cloud_databases(window, CLOUD_CPU):
        cpu = database.values(window, CLOUD_CPU)
        most = largest(cpu, window.focus)
        if not np.isfinite(most):
            continue
        words = message("database-cpu-full.figures-cloud", name=database.name, most=most / 100)
        yield _outcome(_cpu_of_cloud(window, database, cpu), words)


def _outcome(seen: Finding | bool, words: Words) -> Outcome:
    if isinstance(seen, Finding):
        return seen
    return Observation(words) if seen else Clear(words)


def _of_program(window: Window, program: Program) -> Finding | bool:
    full = longest_episode(window, _full(program), program.interval_ms, seconds=LEAST_SECONDS)
    if full is None:
        return False
    target = {name: program.labels.get(name, "") for name in ("job", "instance")}
    running = window[RUNNING].where(**target).max
    episode = _led_to(window, program, running, full)
    queued, used, limit = usual(running, episode.span), usual(program.cpu, episode.span), program.allowed
    draft, demand = Draft(window, episode, program.labels, program=program, used=used), list[Evidence]()
    if queued > CPU_QUEUE * limit + 1:
        asked = {name: program.labels[name] for name in target if name in program.labels}
        demand.append(draft.show("database-cpu-full.demand", running, limit=limit, queued=queued, labels=asked))
    demand += unmet(window, episode)
    effects = load_effects(window, episode) or broken(window, episode)
    if not demand and not effects:
        return True
    shown = draft.show("database-cpu-full.limit", program.cpu, value=used, at=episode.first, limit=limit)
    return draft.finding("database-cpu-full.sentence", [shown, *demand, *effects])


def _full(program: Program) -> BoolArray:
    """Where it uses all that it may, or most of a full host of which others take little."""
    own = program.cpu >= CPU_FULL * program.allowed
    host = program.host
    if host is None:
        return own
    alone = (host.foreign < FOREIGN * host.cores) & ~(host.stolen >= STOLEN * host.cores)
    return own | (host.full & alone & (program.cpu >= CPU_MOST * host.cores))


def _led_to(window: Window, program: Program, running: FloatArray, episode: Episode) -> Episode:
    """With the instants before, in which statements already waited for cores that were nearly all in use."""
    waited = (running > CPU_QUEUE * program.allowed + 1) & (program.cpu >= LEADING * program.allowed)
    first = episode.first
    while first > window.focus.start and waited[first - 1]:
        first -= 1
    return Episode(first, episode.end)


def _cpu_of_cloud(window: Window, database: CloudDatabase, cpu: FloatArray) -> Finding | bool:
    episode = for_minutes(window, cpu >= CLOUD_FULL)
    if episode is None:
        return bool(np.nan_to_num(largest(cpu, window.focus)) >= CLOUD_FULL)
    load, used = database.values(window, CLOUD_LOAD), usual(cpu, episode.span) / 100
    per_core, minutes = usual(load, episode.span), len(episode) * window.step_seconds / 60
    draft, demand = Draft(window, episode, database.labels, database=database, used=used), list[Evidence]()
    if per_core > 1:
        demand.append(draft.show("database-cpu-full.demand-cloud", load, limit=1.0, per_core=per_core))
    demand += unmet(window, episode)
    effects = load_effects(window, episode) or broken(window, episode)
    if not demand and not effects:
        return True
    shown = draft.show("database-cpu-full.limit-cloud", cpu / 100, limit=1.0)
    return draft.finding("database-cpu-full.sentence-cloud", [shown, *demand, *effects], minutes=minutes)


IOPS_FULL = 0.95
IOPS_BUSY = 0.95
"""Share of the time in which the disk had work; alone it says little of a disk that does many things at once."""
IOPS_QUEUE = 4.0
CLOUD_QUEUE = 10.0
IOPS_OWN = 0.5
"""Share of the disk's bytes that are InnoDB's: with less, somebody else keeps the disk busy."""

READS, WRITES, PROVISIONED, DEPTH = (
    "aws_rds_read_iops_average",
    "aws_rds_write_iops_average",
    "aws_rds_provisioned_iops",
    "aws_rds_disk_queue_depth_average",
)
BUSY_TIME, QUEUE_TIME = "node_disk_io_time_seconds_total", "node_disk_io_time_weighted_seconds_total"
DISK_BYTES = ("node_disk_read_bytes_total", "node_disk_written_bytes_total")
OWN_BYTES = (
    "mysql_global_status_innodb_data_read",
    "mysql_global_status_innodb_data_written",
    "mysql_global_status_innodb_os_log_written",
)


@detector(
    "database-iops-full",
    least_seconds=LEAST_SECONDS,
    needs=(READS, BUSY_TIME),
    reads=(WRITES, PROVISIONED, DEPTH, QUEUE_TIME, *DISK_BYTES, *OWN_BYTES, CONNECTED, *HOST_METRICS),
)
def iops_full(window: Window) -> Iterator[Outcome]:
    """The database's disk does as many operations as it may, and more of them wait.

    One finding for each database whose disk was full while operations waited.
    """
    for database in cloud_databases(window, READS):
        used = added([database.values(window, READS), database.values(window, WRITES)])
        bound, most = database.fact(window, PROVISIONED), largest(used, window.focus)
        if not np.isfinite(bound + most) or bound <= 0:
            continue
        words = message("database-iops-full.figures-cloud", name=database.name, most=most, bound=bound)
        seen = _iops_of_cloud(window, database, used, bound) or bool(most >= IOPS_FULL * bound)
        yield _outcome(seen, words)
    for labels, _ in window[CONNECTED].by("job", "instance"):
        yield from _of_disks(window, labels)


def _iops_of_cloud(window: Window, database: CloudDatabase, used: FloatArray, bound: float) -> Finding | None:
    episode = for_minutes(window, used >= IOPS_FULL * bound)
    if episode is None:
        return None
    depth = database.values(window, DEPTH)
    queued, level = usual(depth, episode.span), usual(used, episode.span)
    draft, demand = Draft(window, episode, database.labels, database=database, level=level), list[Evidence]()
    if queued >= CLOUD_QUEUE:
        demand.append(draft.show("database-iops-full.demand-cloud", depth, queued=queued))
    demand += unmet(window, episode)
    if not demand:
        return None
    shown = [draft.show("database-iops-full.limit-cloud", used, limit=bound), *demand, *load_effects(window, episode)]
    steps = [step("database-iops-full.step-cloud", bound=bound * 2, name=database.name, iops=round(bound * 2))]
    return draft.finding("database-iops-full.sentence-cloud", shown, steps, bound=bound)


def _of_disks(window: Window, labels: Mapping[str, str]) -> Iterator[Outcome]:
    place, name = instance_of_host(window, labels), labels.get("instance", "the database")
    if place is None:
        return
    seen = [
        (group.get("device", ""), table.rate, table.slowest_ms)
        for group, table in window[BUSY_TIME].where(instance=place).by("device")
        if np.isfinite(largest(table.rate, window.focus))
    ]
    if not seen:
        return
    device, busy, interval_ms = max(seen, key=lambda one: float(np.nansum(window.inside(one[1]))))
    on_disk = {"instance": place, "device": device}
    queue = window[QUEUE_TIME].where(**on_disk).rate
    episode = longest_episode(window, (busy >= IOPS_BUSY) & (queue >= IOPS_QUEUE), interval_ms, seconds=LEAST_SECONDS)
    words = message("database-iops-full.figures", device=device, name=name, busy=min(largest(busy, window.focus), 1.0))
    if episode is None:
        yield Clear(words)
        return
    moved = sum(window.total(window[metric].where(**on_disk).rate, episode.span) for metric in DISK_BYTES)
    own = sum(window.total(window[metric].where(**labels).rate, episode.span) for metric in OWN_BYTES)
    effects = load_effects(window, episode)
    if moved <= 0 or own < IOPS_OWN * moved or not effects:
        yield Observation(words)
        return
    draft = Draft(window, episode, labels, device=device, name=name, queued=usual(queue, episode.span))
    used, part = min(usual(busy, episode.span), 1.0), min(own / moved, 1.0)
    shown = [
        draft.show("database-iops-full.limit", busy, limit=1.0, busy=used, labels=on_disk),
        draft.show("database-iops-full.demand", queue, part=part, labels=on_disk),
    ]
    steps = ["database-iops-full.step", "database-iops-full.step-2"]
    yield draft.finding("database-iops-full.sentence", [*shown, *effects], steps, text=effects[0].text)


MEMORY_LOW = 0.05
SWAP_GREW = 64 * 1024**2
LEAST_WAITS = 10.0
"""Waits for a free page per second; a few come with every burst of writes."""

MEMORY_FREE, MEMORY, SWAP = "aws_rds_freeable_memory_minimum", "aws_rds_memory_bytes", "aws_rds_swap_usage_average"
PAGE_WAITS, POOL_SIZE = (
    "mysql_global_status_innodb_buffer_pool_wait_free",
    "mysql_global_variables_innodb_buffer_pool_size",
)
PAGES = "mysql_global_status_buffer_pool_pages"


@detector(
    "database-memory-low",
    least_seconds=LEAST_SECONDS,
    needs=(MEMORY_FREE, PAGE_WAITS),
    reads=(MEMORY, SWAP, POOL_SIZE, PAGES),
)
def memory_low(window: Window) -> Iterator[Outcome]:
    """The database has too little memory: it swaps, or its buffer pool has no free page when one is needed.

    One finding for each database that lacked memory while the load felt it.
    """
    for database in cloud_databases(window, MEMORY_FREE):
        free, whole = database.values(window, MEMORY_FREE), database.fact(window, MEMORY)
        least = -largest(-free, window.focus)
        if not np.isfinite(least + whole) or whole <= 0:
            continue
        words = message("database-memory-low.figures-cloud", name=database.name, least=least, whole=whole)
        yield _outcome(_memory_of_cloud(window, database, free, whole) or least < MEMORY_LOW * whole, words)
    for labels, table in window[PAGE_WAITS].by("job", "instance"):
        if not np.isfinite(window.inside(table.rate)).any():
            continue
        waits, name = window.total(table.rate), labels.get("instance", "the database")
        clear = Clear(message("database-memory-low.clear", waits=waits, name=name))
        yield _of_pages(window, dict(labels), table) or clear


def _memory_of_cloud(window: Window, database: CloudDatabase, free: FloatArray, whole: float) -> Finding | None:
    episode = for_minutes(window, free < MEMORY_LOW * whole)
    if episode is None:
        return None
    swap = database.values(window, SWAP)
    grew = largest(swap, episode.span) + largest(-swap, slice(0, episode.end))
    effects = load_effects(window, episode)
    if not grew >= SWAP_GREW or not effects:
        return None
    least, key, at = -largest(-free, episode.span), "database-memory-low.limit-cloud", episode.first
    draft = Draft(window, episode, database.labels, database=database, grew=grew)
    shown = [
        draft.show(key, free, value=least, at=at, limit=whole, least=least / whole),
        draft.show("database-memory-low.demand-cloud", swap),
        *effects,
    ]
    smaller = step("database-memory-low.step-cloud-2", whole=whole * 0.6, bytes=round(whole * 0.6))
    steps, text = ["database-memory-low.step-cloud", smaller], effects[0].text
    return draft.finding("database-memory-low.sentence-cloud", shown, steps, least=least, whole=whole, text=text)


def _of_pages(window: Window, labels: dict[str, str], table: Table) -> Finding | None:
    waits = table.rate
    episode = longest_episode(window, waits >= LEAST_WAITS, table.slowest_ms, seconds=LEAST_SECONDS, gap=3)
    effects = [] if episode is None else load_effects(window, episode)
    if episode is None or not effects:
        return None
    times = window.total(waits, episode.span)
    whole, name = largest(window[POOL_SIZE].where(**labels).held, slice(None)), labels.get("instance", "the database")
    of, larger = SILENT, step("database-memory-low.step")
    if np.isfinite(whole):
        of = message("database-memory-low.of", whole=whole)
        larger = replace(larger, code=f"SET GLOBAL innodb_buffer_pool_size = {round(whole * 2)};")
    draft = Draft(window, episode, labels, of=of, name=name, times=times)
    free, shown = window[PAGES].where(**labels, state="free").max, list[Evidence]()
    if np.isfinite(least := usual(free, episode.span)):
        target, key = {**labels, "state": "free"}, "database-memory-low.limit"
        shown.append(draft.show(key, free, value=least, at=episode.first, target=target))
    shown.append(draft.show("database-memory-low.demand", waits, most=largest(waits, window.focus)))
    steps = [larger, "database-memory-low.step-2"]
    return draft.finding("database-memory-low.sentence", [*shown, *effects], steps, text=effects[0].text)


STORAGE_FULL = 0.01
STORAGE_LOW = 0.05
LEAST_FAILED = 3

STORAGE_FREE, WHOLE = "aws_rds_free_storage_space_minimum", "aws_rds_allocated_storage_bytes"
DISK_FREE, DISK_WHOLE = "node_filesystem_avail_bytes", "node_filesystem_size_bytes"
NOT_STORED = "ingest_failed_total"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Storage:
    labels: Mapping[str, str]
    name: str
    free: FloatArray
    whole: float
    interval_ms: int
    expression: str
    source: Words


@detector(
    "database-storage-full",
    needs=(STORAGE_FREE, DISK_FREE),
    reads=(WHOLE, DISK_WHOLE, NOT_STORED, CONNECTED, *HOST_METRICS),
)
def storage_full(window: Window) -> Iterator[Outcome]:
    """The database has no room left to write to.

    One finding for each database that failed to write for lack of room; little room is an observation.
    """
    for storage in _storages(window):
        least, before = -largest(-storage.free, window.focus), largest(storage.free, slice(None))
        # What never moves is no file system that a database writes to: a mounted image is always full.
        if not np.isfinite(least + storage.whole) or storage.whole <= 0 or before <= least:
            continue
        episode = longest_episode(window, storage.free <= STORAGE_FULL * storage.whole, storage.interval_ms, samples=2)
        if episode is not None and (harm := _harm(window, episode)):
            yield _finding(window.during(episode), storage, episode, least, harm)
            continue
        words = message("database-storage-full.figures", storage=storage, least=least)
        yield Observation(words) if least < STORAGE_LOW * storage.whole else Clear(words)


def _storages(window: Window) -> Iterator[_Storage]:
    for database in cloud_databases(window, STORAGE_FREE):
        yield _Storage(
            labels=database.labels,
            name=database.name,
            free=database.values(window, STORAGE_FREE),
            whole=database.fact(window, WHOLE),
            interval_ms=PERIOD_MS,
            expression=f"{STORAGE_FREE}{selector(database.key)}",
            source=message("database-storage-full.source"),
        )
    for labels, _ in window[CONNECTED].by("job", "instance"):
        place = instance_of_host(window, labels)
        if place is None:
            continue
        for disk, table in window[DISK_FREE].where(instance=place).by("device", "mountpoint"):
            at = message("database-storage-full.at", mountpoint=disk.get("mountpoint", "?"))
            yield _Storage(
                labels={**labels, **{name: disk[name] for name in ("mountpoint",) if name in disk}},
                name=labels.get("instance", "The database"),
                free=table.max,
                whole=largest(window[DISK_WHOLE].where(instance=place, **disk).held, slice(None)),
                interval_ms=table.slowest_ms,
                expression=f"{DISK_FREE}{selector({'instance': place, **disk})}",
                source=at,
            )


def _harm(window: Window, episode: Episode) -> list[Evidence]:
    """Rows that could not be stored, and what the load felt; both are wanted: a full disk may be anybody's."""
    lost = window[NOT_STORED].rate
    failed = window.total(lost, episode.span)
    if failed < LEAST_FAILED or not np.isfinite(failed):
        return []
    return [evidence(window, "database-storage-full.demand", lost, failed=failed), *load_effects(window, episode)]


def _finding(window: Window, storage: _Storage, episode: Episode, least: float, harm: list[Evidence]) -> Finding:
    draft, key, whole = (
        Draft(window, episode, storage.labels, storage=storage),
        "database-storage-full.limit",
        storage.whole,
    )
    shown = draft.show(key, storage.free, value=least, at=episode.first, limit=whole, least=least / whole)
    steps = ["database-storage-full.step", step("database-storage-full.step-2", whole=whole * 2)]
    return draft.finding("database-storage-full.sentence", [shown, *harm], steps, least=least, text=harm[0].text)

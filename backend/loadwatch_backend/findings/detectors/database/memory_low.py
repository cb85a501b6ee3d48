"""The database has too little memory: it swaps, or its buffer pool has no free page when one is needed."""

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.cloud import BY_MINUTE, SWITCHED_ON_BY, CloudDatabase, cloud_databases, for_minutes
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, selector, since_start, together, usual
from loadwatch_backend.findings.seen.numbers import count, figure, share, size
from loadwatch_backend.findings.window import Table, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

LOW = 0.05
SWAP_GREW = 64 * 1024**2
LEAST_WAITS = 10.0
"""Waits for a free page per second; a few come with every burst of writes."""
LEAST_SECONDS = 5.0

FREE, MEMORY, SWAP = "aws_rds_freeable_memory_minimum", "aws_rds_memory_bytes", "aws_rds_swap_usage_average"
PAGE_WAITS, POOL_SIZE = (
    "mysql_global_status_innodb_buffer_pool_wait_free",
    "mysql_global_variables_innodb_buffer_pool_size",
)
PAGES = "mysql_global_status_buffer_pool_pages"

KIND = Kind(
    id="database-memory-low",
    severity=Severity.CRITICAL,
    title=Words("The database is short of memory", "DBのメモリ不足"),
    explanation=Words(
        "Without memory to spare the database swaps, or a statement first has to wait until a dirty page has been "
        "written out to make room. Each connection, sort and temporary table takes memory beside the buffer pool; in "
        "the end the server is killed and started anew.",
        "メモリに余裕がないとDBはスワップするか、空きページを作るためにダーティページの書き出しを待つ。接続、ソート、"
        "一時テーブルはバッファプールとは別にメモリを使う。最後には強制終了され再起動する。",
    ),
    rule=Rule(
        text=Words(
            "Innodb_buffer_pool_wait_free should be small; otherwise the buffer pool is too small, or pages are "
            "flushed too slowly.",
            "Innodb_buffer_pool_wait_freeは小さくあるべき。大きければバッファプールが小さいか、書き出しが遅い。",
        ),
        source="MySQL Reference Manual, Server Status Variables, Innodb_buffer_pool_wait_free",
    ),
    refuted_by=Words(
        "Swap that was in use before the load and does not move, or answers as slow with a larger buffer pool.",
        "スワップが負荷前から使われたまま増えないこと、またはバッファプールを増やしても応答が同じだけ遅いこと。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each database that lacked memory while the load felt it."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for database in cloud_databases(window, FREE):
        free, whole = database.values(window, FREE), database.fact(window, MEMORY)
        least = -largest(-free, window.focus)
        if not np.isfinite(least + whole) or whole <= 0:
            continue
        finding = _of_cloud(window, database, free, whole)
        words = Words(
            f"{database.name} had {size(least)} of {size(whole)} of memory free at least ({BY_MINUTE.en}).",
            f"{database.name}の空きメモリは最小{size(least)} / {size(whole)}({BY_MINUTE.ja})。",
        )
        if finding is not None:
            findings.append(finding)
        else:
            (observations if least < LOW * whole else clear).append(words)
    for labels, table in window[PAGE_WAITS].by("job", "instance"):
        if not np.isfinite(window.inside(table.rate)).any():
            continue
        finding = _of_pages(window, dict(labels), table)
        if finding is not None:
            findings.append(finding)
            continue
        waits, name = window.total(table.rate), labels.get("instance", "the database")
        clear.append(
            Words(
                f"{count(waits)} statements of {name} waited for a free page.",
                f"{name}で空きページを待った文は{count(waits)}件。",
            )
        )
    return Look(findings=findings, clear=together(clear), observations=observations)


def _of_cloud(window: Window, database: CloudDatabase, free: FloatArray, whole: float) -> Finding | None:
    episode = for_minutes(window, free < LOW * whole)
    if episode is None:
        return None
    swap = database.values(window, SWAP)
    grew = largest(swap, episode.span) + largest(-swap, slice(0, episode.end))
    effects = felt(window, episode)
    if not grew >= SWAP_GREW or not effects:
        return None
    least = -largest(-free, episode.span)
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{database.name} had {size(least)} of {size(whole)} of memory left, and swapped {size(grew)} out "
            f"({BY_MINUTE.en}). {effects[0].text.en}",
            f"{database.name}の空きメモリは{size(whole)}中{size(least)}で、スワップが{size(grew)}増えた({BY_MINUTE.ja})。"
            f"{effects[0].text.ja}",
        ),
        from_ms=window.grid.time_ms(episode.first),
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=database.labels,
        evidence=[
            show(
                window,
                Words(
                    f"{share(least / whole)} of the memory left ({BY_MINUTE.en}).",
                    f"空きメモリ{share(least / whole)}({BY_MINUTE.ja})。",
                ),
                link=Link.LIMIT,
                expression=f"{FREE}{selector(database.key)}",
                unit=Unit.BYTES,
                values=free,
                value=least,
                at=episode.first,
                limit=whole,
            ),
            show(
                window,
                Words(f"{size(grew)} more in swap ({BY_MINUTE.en}).", f"スワップが{size(grew)}増加({BY_MINUTE.ja})。"),
                link=Link.DEMAND,
                expression=f"{SWAP}{selector(database.key)}",
                unit=Unit.BYTES,
                values=swap,
            ),
            *effects,
        ],
        steps=[
            Step(
                text=Words(
                    "Take connections away (each has buffers of its own), then a larger class.",
                    "接続数を減らし(接続ごとにバッファを使う)、それでも足りなければ大きなクラスにする。",
                )
            ),
            Step(
                text=Words(
                    f"Or a smaller buffer pool: {size(whole * 0.6)} leave room for connections and sorts.",
                    f"またはバッファプールを減らす。{size(whole * 0.6)}なら接続やソートの余地が残る。",
                ),
                code=f"innodb_buffer_pool_size = {round(whole * 0.6)}",
            ),
        ],
    )


def _of_pages(window: Window, labels: dict[str, str], table: Table) -> Finding | None:
    waits = table.rate
    least = least_instants(window.grid, table.slowest_ms, seconds=LEAST_SECONDS)
    found = episodes(focused(window, waits >= LEAST_WAITS), least=least, gap=3)
    if not found:
        return None
    episode = window.one_of(found)
    effects = felt(window, episode)
    if not effects:
        return None
    from_ms = window.grid.time_ms(episode.first)
    when, times = since_start(window, from_ms), window.total(waits, episode.span)
    whole, name = largest(window[POOL_SIZE].where(**labels).held, slice(None)), labels.get("instance", "the database")
    of = Words(f" of {size(whole)}" if np.isfinite(whole) else "", f"({size(whole)})" if np.isfinite(whole) else "")
    return Finding(
        kind=KIND,
        sentence=Words(
            f"The buffer pool{of.en} of {name} had no free page from {when.en}: {count(times)} times a statement "
            f"waited for one. {effects[0].text.en}",
            f"{when.ja}から{name}のバッファプール{of.ja}に空きページがなく、{count(times)}回待ちが発生した。"
            f"{effects[0].text.ja}",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=labels,
        evidence=[*_pages_shown(window, labels, episode.span), _waits_shown(window, labels, waits), *effects],
        steps=[
            Step(
                text=Words(
                    "Give the buffer pool more memory, where the host has it.",
                    "ホストに余裕があればバッファプールを増やす。",
                ),
                code=f"SET GLOBAL innodb_buffer_pool_size = {round(whole * 2)};" if np.isfinite(whole) else "",
            ),
            Step(
                text=Words(
                    "Or write pages out sooner, where the disk has operations to spare.",
                    "ディスクに余裕があればページの書き出しを早める。",
                ),
                code="SET GLOBAL innodb_io_capacity = 2000;",
            ),
        ],
    )


def _pages_shown(window: Window, labels: dict[str, str], span: slice) -> list[Evidence]:
    free = window[PAGES].where(**labels, state="free").max
    least = usual(free, span)
    if not np.isfinite(least):
        return []
    return [
        show(
            window,
            Words(f"{count(least)} free pages in the buffer pool.", f"バッファプールの空きページは{count(least)}。"),
            link=Link.LIMIT,
            expression=f"{PAGES}{selector({**labels, 'state': 'free'})}",
            unit=Unit.COUNT,
            values=free,
            value=least,
            at=span.start,
        )
    ]


def _waits_shown(window: Window, labels: dict[str, str], waits: FloatArray) -> Evidence:
    most = figure(largest(waits, window.focus))
    return show(
        window,
        Words(f"Up to {most} waits for a free page a second.", f"空きページ待ちは最大毎秒{most}回。"),
        link=Link.DEMAND,
        expression=f"rate({PAGE_WAITS}{selector(labels)}[5s])",
        unit=Unit.PER_SECOND,
        values=waits,
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    least_seconds=LEAST_SECONDS,
    needs=(FREE, PAGE_WAITS),
    reads=(MEMORY, SWAP, POOL_SIZE, PAGES),
    usual=False,
    switched_on_by=SWITCHED_ON_BY,
)

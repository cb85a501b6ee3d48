"""A table has grown since the baseline, and the run went worse."""

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.against import labels_of, pairs, worse
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import together
from loadwatch_backend.findings.seen.numbers import count
from loadwatch_backend.findings.window import Window
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

GROWN = 1.5
SCANS = 1.5
"""A scan takes as many times longer as there are more rows, and some more where they no longer fit into memory."""
LEAST_ROWS = 10_000.0
ROWS, ESTIMATE = "table_rows", "mysql_info_schema_table_rows"

KIND = Kind(
    id="tables-grown",
    severity=Severity.WARNING,
    title=Words("Tables have grown since the baseline", "基準の試験よりテーブルが増大"),
    explanation=Words(
        "Each run leaves its rows behind. Scans take longer, indexes no longer fit into memory, and a run is slower "
        "than an equal one before it without any change of the code.",
        "試験のたびに行が残る。スキャンが長くなり索引がメモリーに収まらなくなるため、コードが同じでも前回より遅くなる。",
    ),
    rule=Rule(
        text=Words(
            "Begin each run from the same data: restore or truncate before it, and record table sizes.",
            "試験は毎回同じデータから始める。開始前に復元またはTRUNCATEし、テーブルサイズを記録する。",
        ),
        source="R. Jain, The Art of Computer Systems Performance Analysis (1991), chapter 2",
    ),
    refuted_by=Words(
        "The same slowness after the table is brought back to its earlier size.",
        "テーブルを元の大きさに戻しても遅いこと。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each database of which a table grew, where the run went worse than the baseline."""
    baseline = window.baseline
    if baseline is None:
        return Look()
    grown: dict[str, list[tuple[str, float, float]]] = {}
    rest: list[Words] = []
    for target, table, before, now in pairs(baseline, "rows"):
        words = Words(
            f"{table} had {count(now)} rows before the load ({count(before)} before {baseline.name}).",
            f"{table}は負荷前に{count(now)}行({baseline.name}では{count(before)}行)。",
        )
        many = now >= GROWN * before and now - before >= LEAST_ROWS
        if many and worse(window, baseline, SCANS * now / max(before, 1.0)):
            grown.setdefault(target, []).append((table, before, now))
        else:
            rest.append(words)
    effects = worse(window, baseline)
    findings = [_finding(window, baseline.name, target, tables, effects) for target, tables in sorted(grown.items())]
    return Look(findings=findings, clear=together(rest[:3]))


def _finding(
    window: Window, name: str, target: str, tables: list[tuple[str, float, float]], effects: list[Evidence]
) -> Finding:
    tables = sorted(tables, key=lambda one: one[1] - one[2])
    table, before, now = tables[0]
    labels = labels_of(target)
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{table} had {count(now)} rows when the run began, {count(before)} before {name}. {effects[0].text.en}",
            f"開始時の{table}は{count(now)}行で、{name}では{count(before)}行だった。{effects[0].text.ja}",
        ),
        from_ms=window.grid.time_ms(window.focus.start),
        to_ms=window.grid.time_ms(window.focus.stop - 1),
        labels=labels,
        evidence=[
            *(
                show(
                    window,
                    Words(
                        f"{one}: {count(after)} rows.",
                        f"{one}: {count(first)}→{count(after)}行。",
                    ),
                    link=Link.LIMIT,
                    expression=f"{ROWS} or {ESTIMATE}",
                    unit=Unit.COUNT,
                    values=np.full(window.grid.count, np.nan),
                    value=after,
                    limit=first,
                )
                for one, first, after in tables[:5]
            ),
            *effects,
        ],
        steps=[
            Step(
                text=Words(
                    "Bring the table back to the size of the baseline, and run again: then only the change differs.",
                    "テーブルを基準の大きさに戻して再試験する。そうすれば差は変更によるものだけになる。",
                ),
                code=f"TRUNCATE TABLE {table};  -- test data only",
            )
        ],
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(ROWS, ESTIMATE),
    usual=False,
    switched_on_by="freshness:\n  tables:\n    - name: hits",
)

"""Packs that tests write into folders."""

from pathlib import Path

PACK = """pack: broker
title: Broker
there_when: [mq_used]
groups:
  - id: broker
    title: Broker
    panels:
      - id: mq-used
        title: {en: Messages held, ja: 保持メッセージ}
        signals:
          - id: mq_used
            title: {en: Held, ja: 保持}
            unit: count
            expr: sum by (job, instance, queue) (mq_used)
            legend: '{{instance}} {{queue}}'
resources:
  - id: broker_queue
    kind: queue
    title: {en: Queue, ja: キュー}
    unit: count
    used: sum by (job, instance, queue) (mq_used)
    limit: sum by (job, instance, queue) (mq_limit)
    demand: [{what: refused, expr: 'sum by (job, instance, queue) (rate(mq_rejected_total[$window]))'}]
    legend: '{{instance}} {{queue}}'
    alert: {warning: 0.8}
"""
CASE = """interval: 1s
input_series:
  - {series: 'mq_used{job="mq", instance="mq-1", queue="orders"}', values: 10x29 100x90}
  - {series: 'mq_limit{job="mq", instance="mq-1", queue="orders"}', values: 100x120}
  - {series: 'mq_rejected_total{job="mq", instance="mq-1", queue="orders"}', values: 0x30 0+5x90}
run: {from: 5s, to: 100s, rate: 100, failed: 5}
expect:
  - {finding: broker-queue-exhausted, first: true, certainty: certain, labels: {queue: orders}, says: ['100 of 100']}
"""
HEALTHY = """input_series:
  - {series: 'mq_used{job="mq", instance="mq-1", queue="orders"}', values: 10x120}
  - {series: 'mq_limit{job="mq", instance="mq-1", queue="orders"}', values: 100x120}
run: {from: 5s, to: 100s}
never: ['*']
"""


def put(folder: Path, name: str, text: str = PACK) -> Path:
    """A pack's file in a folder of packs."""
    file = folder / name / "pack.yml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def small_pack(number: int, signals: int = 1, more: str = "") -> str:
    """A pack with signals of its own."""
    each = "".join(
        f"          - {{id: s{number}_{one}, title: T, unit: count, expr: m{number}, legend: ''}}\n"
        for one in range(signals)
    )
    return (
        f"pack: p{number}\ntitle: P\nthere_when: m{number}\ngroups:\n  - id: g{number}\n    panels:\n"
        f"      - id: p{number}\n        signals:\n{each}{more}"
    )

"""Alerts of resources: what a pack says of a limit becomes rules that the reader takes and the engine evaluates."""

from pathlib import Path

import pytest
from loadwatch_backend.alerting.rules.evaluate import RuleEvaluator
from loadwatch_backend.alerting.rules.files import RuleFiles
from loadwatch_backend.alerting.rules.model import Rule, RuleFileState
from loadwatch_backend.alerting.rules.presence import presence_of
from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.catalogue.signals.headroom import join_limits
from loadwatch_backend.catalogue.signals.model import Resource
from loadwatch_backend.core.language import Language, translations_of
from loadwatch_backend.series.promql.engine import Engine

from backend.tests.rules.promtool_format.store import MemoryStore

NOW_MS = 1_800_000_000_000
PACK = """
pack: valkey
title: Valkey
there_when: valkey_up
groups:
  - id: valkey
    title: Valkey
    panels:
      - id: valkey-clients
        title: Clients
        signals:
          - {id: valkey_clients, title: Clients, unit: count, legend: '{{instance}}', resource: valkey_clients,
             expr: 'max by (job, instance) (valkey_clients)'}
resources:
  - id: valkey_clients
    title: {en: Valkey clients, ja: Valkeyの接続}
    unit: count
    used: %s
    limit: %s
    legend: '{{instance}}'
    advice: {en: Close idle ones., ja: 使わない接続を閉じる。}
"""
LIMIT = "valkey_clients_limit"
USED = "'max by (job, instance) (valkey_clients)'"


def files(folder: Path, text: str, *, built_in: bool = False) -> RuleFiles:
    (folder / "valkey").mkdir(exist_ok=True)
    (folder / "valkey" / "pack.yml").write_text(text)
    return RuleFiles([], lambda: 1, built_in=built_in, library=Library([folder]))


def rules(folder: Path, text: str) -> list[Rule]:
    (file,) = files(folder, text).current().files
    assert (file.path, file.state, file.built_in) == ("valkey/pack.yml", RuleFileState.OK, False), file.error
    return [rule for group in file.groups for rule in group.rules]


def fires(rule: Rule, **values: float) -> list[tuple[str, float]]:
    """Instances for which the rule's condition holds, with the used share."""
    store = MemoryStore()
    for name, value in values.items():
        metric, _, instance = name.partition("__")
        labels = {"__name__": metric, "job": "valkey", **({"instance": instance} if instance else {})}
        store.put(labels, [(NOW_MS, value)])
    active = RuleEvaluator(Engine(store)).alerting(rule, NOW_MS).active
    return [(one.labels.get("instance", ""), one.value) for one in active]


def test_a_resource_without_a_word_on_alerts_has_one_at_near_and_one_at_full(tmp_path: Path) -> None:
    warning, critical = rules(tmp_path, PACK % (USED, "'max by (job, instance) (valkey_clients_limit)'"))
    assert [rule.name for rule in (warning, critical)] == ["ValkeyClientsHigh"] * 2
    assert [rule.labels["severity"] for rule in (warning, critical)] == ["warning", "critical"]
    assert (warning.for_ms, warning.finding, warning.signal, warning.unit) == (
        15_000,
        "valkey-clients-exhausted",
        "valkey_clients",
        "ratio",
    )
    japanese = translations_of(warning.annotations)[Language.JA]
    assert "Valkeyの接続" in japanese["summary"]
    assert japanese["description"].endswith("使わない接続を閉じる。")
    assert warning.annotations["summary"].startswith("{{ $labels.instance }}: Valkey clients")
    assert warning.annotations["description"].endswith("Close idle ones.")
    series = {"valkey_clients__a": 85.0, "valkey_clients_limit__a": 100.0, "valkey_clients__b": 5.0}
    assert fires(warning, **series, valkey_clients_limit__b=0.0) == [("a", 0.85)]
    assert fires(critical, **series) == []
    assert presence_of(warning.parsed) is not None


@pytest.mark.parametrize(
    ("used", "limit"),
    [
        (USED, "100"),
        ("valkey_clients", LIMIT),
        (USED, LIMIT),
        (USED, "'max by (job) (valkey_clients_limit)'"),
        ("[valkey_missing, valkey_clients]", "[valkey_missing, valkey_clients_limit]"),
        (USED, "{memory: 1000, 'open files': 'max by (instance) (valkey_clients_limit)'}"),
        ('\'label_replace(max by (instance) (valkey_clients), "job", "valkey", "", "")\'', "valkey_clients_limit"),
    ],
)
def test_use_and_limits_are_joined_whatever_they_are(tmp_path: Path, used: str, limit: str) -> None:
    warning, _ = rules(tmp_path, PACK % (used, limit))
    whole = "valkey_clients_limit" if "(job)" in limit else "valkey_clients_limit__a"
    assert fires(warning, **{"valkey_clients__a": 90.0, whole: 100.0}) == [("a", 0.9)]
    assert fires(warning, **{"valkey_clients__a": 70.0, whole: 100.0}) == []


def test_thresholds_that_are_given_count_and_a_reason_or_a_rule_makes_none(tmp_path: Path) -> None:
    text = PACK % (USED, 100)
    (one,) = rules(
        tmp_path, text + "    alert: {critical: 0.9, for: 30s, keep_firing_for: 2m, runbook: valkey-clients}\n"
    )
    assert (one.labels["severity"], one.for_ms, one.keep_firing_for_ms) == ("critical", 30_000, 120_000)
    assert one.annotations["runbook_url"] == "{{ $externalURL }}/runbooks/valkey-clients"
    assert one.annotations["loadwatch_runbook_url_ja"].endswith("valkey-clients?lang=ja")
    for more in ("    alert: {none: tells nothing}\n", "    alert: {rule: Own}\n", "    harm: demand\n"):
        assert not files(tmp_path, text + more).current().files


def test_they_follow_the_pack_and_need_no_default_rules(tmp_path: Path) -> None:
    made = files(tmp_path, PACK % (USED, 100), built_in=True)
    shipped = [file for file in made.current().files if file.built_in]
    assert len(made.current().files) == len(shipped) + 1
    changed = "change: mysql\nresources:\n  - {id: database_connections, near: 0.7}\n"
    (tmp_path / "valkey" / "pack.yml").write_text(changed)
    assert RuleFiles([], lambda: 1, library=Library([tmp_path])).current().files[-1].built_in, "its rule is rules.yml's"


def test_an_alert_says_a_further_name_of_its_target(tmp_path: Path) -> None:
    names = "entity: {kind: cache, names: [{info: valkey_info, on: [job, instance], take: [server]}]}\n"
    warning, _ = rules(tmp_path, PACK % (USED, 100) + names)
    store = MemoryStore()
    for instance, server in (("exporter:9121", "cache-1:6379"), ("cache-2:6379", "cache-2:6379"), ('a "b"', "")):
        target = {"job": "valkey", "instance": instance}
        store.put({"__name__": "valkey_clients", **target}, [(NOW_MS, 90.0)])
        if server:
            store.put({"__name__": "valkey_info", **target, "server": server}, [(NOW_MS - 600_000, 1.0)])
    active = RuleEvaluator(Engine(store)).alerting(warning, NOW_MS).active
    assert sorted(one.annotations["summary"].partition(": Valkey")[0] for one in active) == [
        'a "b"',
        "cache-2:6379",
        "exporter:9121 (cache-1:6379)",
    ]


@pytest.mark.parametrize(
    ("limits", "lowest"),
    [
        ({"maxmemory": 80.0, "host": 100.0}, 80.0),
        ({"maxmemory": 200.0, "host": 100.0}, 100.0),
        ({"host": 1_000.0}, 500.0),
        ({}, 500.0),
    ],
)
def test_of_several_limits_the_lowest_is_the_one_that_pages_show(limits: dict[str, float], lowest: float) -> None:
    texts = {"maxmemory": "maxmemory > 0", "host": "max by (instance) (host)", "declared": "500"}
    resource = Resource.model_validate(
        {"id": "memory", "title": "Memory", "unit": "bytes", "used": "used", "limit": texts}
    )
    store = MemoryStore()
    for name, value in limits.items():
        store.put({"__name__": name, "instance": "a"}, [(NOW_MS, value)])
    found = Engine(store).range(resource.limit, NOW_MS, NOW_MS, 1_000)
    places = join_limits([{"instance": "a"}], found.labels)
    assert [found.values[place, 0] for place in places if place is not None] == [lowest]

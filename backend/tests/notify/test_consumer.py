"""Webhook bodies as Alertmanager's own types and templates read them; `golden/consumer.json` is by `make reference`."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from backend.tests.notify.reference.payloads import payloads

GOLDEN: list[dict[str, Any]] = json.loads((Path(__file__).parent / "golden" / "consumer.json").read_text("utf-8"))


def milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1_000)


@pytest.mark.parametrize("number", range(len(GOLDEN)))
def test_alertmanagers_types_read_what_we_wrote(number: int) -> None:
    ours, theirs = payloads()[number], GOLDEN[number]
    assert (theirs["version"], theirs["group_key"]) == ("4", ours["groupKey"])
    assert (theirs["truncated"], theirs["receiver"]) == (ours["truncatedAlerts"], ours["receiver"])
    assert (theirs["status"], theirs["common_labels"]) == (ours["status"], ours["commonLabels"])
    firing = [one for one in ours["alerts"] if one["status"] == "firing"]
    assert (theirs["firing"], theirs["resolved"]) == (len(firing), len(ours["alerts"]) - len(firing))
    for one, read in zip(ours["alerts"], theirs["alerts"], strict=True):
        assert read["fingerprint_matches"]
        assert (read["status"], read["name"]) == (one["status"], one["labels"]["alertname"])
        assert read["starts_ms"] == milliseconds(one["startsAt"])
        assert read["over"] == (one["status"] == "resolved")
        assert not read["over"] or read["ends_ms"] == milliseconds(one["endsAt"])
        assert read["generator_url"] == one["generatorURL"]


def test_alertmanagers_own_subject() -> None:
    assert [one["subject"] for one in GOLDEN] == [
        "[FIRING:1] PoolWaits (api critical)",
        "[RESOLVED] PoolWaits (api)",
        "[FIRING:1] PoolWaits ",
        "[FIRING:5] Many ",
        '[FIRING:1] 日本語 (三階 "b"\\n)',
    ]


def test_every_body_was_read() -> None:
    assert len(payloads()) == len(GOLDEN)

"""Who a vendor is, only its own sender knows."""

import re
from pathlib import Path

import loadwatch_backend
from loadwatch_backend.alerting.notify.senders.registry import SENDERS

BACKEND = Path(loadwatch_backend.__file__).parent
NAMES = re.compile(r"PagerDuty|pagerduty|Slack|slack_(?!ms)|[Aa]pprise|[Dd]iscord|[Tt]elegram|[Oo]psgenie|[Mm]steams")


def test_a_vendor_is_named_in_its_own_sender_only() -> None:
    own = {f"{name}.py" for name in ("pagerduty", "slack", "registry")}
    holding = [path for path in BACKEND.rglob("*.py") if NAMES.search(path.read_text("utf-8"))]
    assert {path.name for path in holding} == own
    assert {path.parent.name for path in holding} == {"senders"}


def test_each_kind_has_one_sender_in_the_file_of_its_name() -> None:
    kinds = [sender.kind for sender in SENDERS]
    assert len(set(kinds)) == len(kinds)
    assert [type(sender).__module__.rpartition(".")[2] for sender in SENDERS] == kinds

"""What an alert says of its finding: what stands now, else what was kept, with the time at which it was said."""

import orjson
from loadwatch_backend.alerting.alerts.documents import AlertContext, alert_out, steps_of
from loadwatch_backend.alerting.alerts.evaluation.machine import MachineSettings
from loadwatch_backend.alerting.alerts.history.episodes import episode_values, facts_of
from loadwatch_backend.alerting.alerts.history.tables import EpisodeRow
from loadwatch_backend.alerting.alerts.schemas import AlertOut
from loadwatch_backend.alerting.notify.causes import FINDING_SAID, annotations_of
from loadwatch_backend.alerting.rules.model import RuleGroup
from loadwatch_backend.catalogue.runbooks.rendering import Runbooks
from loadwatch_backend.core.language import Language
from loadwatch_backend.findings.schemas import StepOut, TextOut
from loadwatch_backend.findings.snapshot import FindingsSnapshot

from backend.tests.alerts.history.test_incidents import alert
from backend.tests.alerts.machine_parts import make_rule
from backend.tests.notify.causes.moments import APP, AT_MS, moment, standing

SAID = TextOut(en="13 waited.", ja="13件が待った。")
FIRST = standing("pool-exhausted", APP).model_copy(update={"sentence": SAID})
NOW = FIRST.model_copy(
    update={
        "sentence": TextOut(en="689 waited.", ja="689件が待った。"),
        "steps": [StepOut(text=TextOut(en="Stop night_job.", ja="night_jobを停止。"), code="")],
    }
)


def read(now: FindingsSnapshot | None, **changed: object) -> AlertOut:
    rule = make_rule()
    group = RuleGroup(name="g", file="f.yml", interval_ms=1_000, rules=[rule])
    given = alert("a", annotations_of(FIRST, moment(FIRST)))
    row = EpisodeRow(**(episode_values(facts_of(group, rule), given, AT_MS) | changed))
    return alert_out(row, AlertContext(snapshot=now), MachineSettings())


def test_the_sentence_is_the_one_that_stands_when_it_is_read() -> None:
    found = read(moment(NOW, at_ms=AT_MS + 60_000)).finding
    assert found is not None
    assert (found.sentence.en, found.sentence.ja, found.said_ms) == ("689 waited.", "689件が待った。", None)


def test_where_it_does_not_stand_any_more_it_is_the_one_of_then() -> None:
    over = {"state": "resolved", "resolved_ms": AT_MS + 30_000, "resolved_reason": "recovered"}
    for found in (read(None).finding, read(moment()).finding, read(moment(NOW), **over).finding):
        assert found is not None
        assert (found.sentence.en, found.said_ms) == ("13 waited.", AT_MS)


def test_a_time_of_thousands_of_digits_that_a_rule_wrote_is_none() -> None:
    written = {**annotations_of(FIRST, moment(FIRST)), FINDING_SAID: "1" * 5_000}
    found = read(None, annotations=orjson.dumps(written)).finding
    assert found is not None
    assert found.said_ms is None


def test_the_first_step_is_what_the_finding_says() -> None:
    of_ours = read(None).model_copy(update={"runbook_url": "/runbooks/pool-waits"})
    written = steps_of(of_ours, Runbooks(), None)
    found = steps_of(of_ours, Runbooks(), NOW)
    assert [part.text for part in found[Language.JA][0]] == ["night_jobを停止。"]
    assert found[Language.EN][1:] == written[Language.EN][:2]
    assert [len(steps) for steps in steps_of(read(None), Runbooks(), NOW).values()] == [1, 1]

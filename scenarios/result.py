"""The result page, bench/results/scenarios.md: all recordings, and what today's findings say of them."""

import json
from collections.abc import Sequence
from typing import Any

from loadwatch_collectors.runs.replay import Score, Totals, add_up, describe_totals

from bench.machine import describe_machine, write_result
from scenarios.again import score_again
from scenarios.cases import CASES
from scenarios.known_wrong import KNOWN_WRONG
from scenarios.record import FOLDER

_INTRODUCTION = """\
`make scenarios`: labelled cases of the measuring server with a real MariaDB under real load, each in its own network
namespace, recorded; here is what findings say of the recordings. [scenarios/README.md](../../scenarios/README.md) says
how each is made. A finding accuses when its severity is critical or warning and it is not `host-noise`; only those
count. Cases to tune by were looked at while detectors were written; those to judge by were not.
"""


def write_page(*, commit: str) -> str:
    """Score all recordings again, write page and JSON; returns the totals as text. Errors as `score_again`."""
    archives = [path for case in CASES if (path := FOLDER / f"{case.name}.zip").exists()]
    labels = [json.loads(path.with_suffix(".json").read_text(encoding="utf-8")) for path in archives]
    scores = score_again(archives)
    by_purpose = {
        purpose: add_up(one for one in scores if one.label.purpose == purpose) for purpose in ("judge", "tune")
    }
    whole = add_up(scores)
    changed = sum(list(one.said) != label["said"] for one, label in zip(scores, labels, strict=True))
    text = "\n".join(
        [
            _INTRODUCTION,
            f"{len(scores)} of {len(CASES)} cases, findings of commit {commit}."
            f" Of {changed} recordings they say something else than was said when they were played.",
            "",
            *_totals_table({**by_purpose, "all": whole}),
            "",
            *_case_table(scores, labels),
        ]
    )
    result = {
        "machine": describe_machine(),
        "commit": commit,
        "totals": {name: _figures(totals) for name, totals in {**by_purpose, "all": whole}.items()},
        "cases": [
            {
                "case": one.label.case,
                "purpose": one.label.purpose,
                "kind": one.label.kind,
                "expected": label["expected"],
                "said": list(one.said),
                "said_when_played": label["said"],
                "right": one.right,
                "played_at": label["made"]["at"],
                "commit": label["made"]["commit"],
            }
            for one, label in zip(scores, labels, strict=True)
        ],
    }
    write_result("scenarios", "Findings on labelled scenarios", text, result)
    return describe_totals(whole)


def _totals_table(totals: dict[str, Totals]) -> list[str]:
    return [
        "| cases | first finding right | pairs in order | healthy runs accused | wrong findings besides |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {name} | {one.first_right} of {one.with_limits} | {one.pairs_in_order} of {one.pairs}"
            f" | {one.accused} of {one.healthy} | {one.wrong_besides} |"
            for name, one in totals.items()
        ),
    ]


def _case_table(scores: Sequence[Score], labels: Sequence[dict[str, Any]]) -> list[str]:
    return [
        "| case | for | expected | said | right | played |",
        "| --- | --- | --- | --- | --- | --- |",
        *(
            f"| {one.label.case} | {one.label.purpose} | {_ids(label['expected'])} | {_ids(one.said)}"
            f" | {_mark(one)} | {label['made']['at'][:16]}Z, {label['made']['commit']} |"
            for one, label in zip(scores, labels, strict=True)
        ),
    ]


def _ids(ids: Sequence[str]) -> str:
    return ", ".join(ids).replace("|", " or ") or "nothing"


def _mark(one: Score) -> str:
    if one.right:
        return "yes"
    reason = KNOWN_WRONG.get(one.label.case, "")
    return _wrong(one) + (f" ({reason})" if reason else "")


def _wrong(one: Score) -> str:
    if one.first_right is False:
        return "no"
    if one.order_right is False:
        return "the first only" + (f", and wrong besides: {_ids(one.wrong)}" if one.wrong else "")
    return f"wrong: {_ids(one.wrong)}" if one.label.healthy else f"yes, but wrong besides: {_ids(one.wrong)}"


def _figures(totals: Totals) -> dict[str, int]:
    return {
        "first_right": totals.first_right,
        "with_limits": totals.with_limits,
        "pairs_in_order": totals.pairs_in_order,
        "pairs": totals.pairs,
        "healthy": totals.healthy,
        "accused": totals.accused,
        "accusations": totals.accusations,
        "wrong_besides": totals.wrong_besides,
    }

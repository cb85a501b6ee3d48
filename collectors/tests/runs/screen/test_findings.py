from typing import Any

from loadwatch_collectors.runs.screen.pages import describe_findings


def words(text: str) -> dict[str, str]:
    return {"en": text, "ja": "…"}


def finding(id: str, sentence: str, *because_of: str, **other: Any) -> dict[str, Any]:
    return {
        "id": id,
        "key": f"{id}|instance=a",
        "title": words(id.replace("-", " ").capitalize()),
        "sentence": words(sentence),
        "severity": "critical",
        "certainty": "certain",
        "because_of": list(because_of),
        **other,
    }


def missing(title: str, config: str) -> dict[str, Any]:
    return {"id": title, "title": words(title), "needs": [], "config": config}


def diagnosis(state: str, *, missing: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    headline = {"kind": state, "title": words(f"It is {state}"), "text": words("12 checks.")}
    return {"state": state, "headline": headline, "missing": list(missing)}


def test_causes_come_before_what_follows_from_them() -> None:
    found = [
        finding("database-cpu-full", "The database had no CPU left."),
        finding(
            "pool-exhausted",
            "The pool ran out;\n\x1b[31m 9 gave up.",
            "database-cpu-full|instance=a",
            "elsewhere|instance=b",
            severity="warning",
            certainty="likely",
        ),
    ]
    assert describe_findings({"findings": found, "diagnosis": diagnosis("found")}) == [
        "  critical The database had no CPU left. (certain)",
        "  warning  The pool ran out; \\u001b[31m 9 gave up. (likely)",
        "           because of: Database cpu full, elsewhere",
    ]


def test_many_findings_are_counted() -> None:
    found = [finding(f"kind-{number}", "Full.") for number in range(12)]
    lines = describe_findings({"findings": found, "diagnosis": diagnosis("found")})
    assert len(lines) == 11
    assert lines[-1] == "  2 more findings; --json shows them"


def test_where_nothing_is_accused_it_says_what_every_page_says() -> None:
    assert describe_findings({"findings": [], "diagnosis": diagnosis("none")}) == ["  It is none: 12 checks."]
    noise = finding("host-noise", "Another process took the CPU.", severity="info", certainty="possible")
    assert describe_findings({"findings": [noise], "diagnosis": diagnosis("full")}) == [
        "  It is full: 12 checks.",
        "  info     Another process took the CPU. (possible)",
    ]


def test_cannot_tell_names_the_lines_that_switch_it_on_once() -> None:
    absent = tuple(missing(f"Limit {number}", "mysql:\n  host: db") for number in range(5))
    unknown = diagnosis("cannot-tell", missing=(*absent, missing("Other", "")))
    assert describe_findings({"findings": [], "diagnosis": unknown}) == [
        "  It is cannot-tell: 12 checks.",
        "  these lines of a target in loadwatch.yml switch it on:",
        "    mysql:",
        "      host: db",
    ]
    many = diagnosis("cannot-tell", missing=tuple(missing(f"{number}", f"c{number}: x") for number in range(14)))
    assert describe_findings({"findings": [], "diagnosis": many})[-1] == "    2 more lines; --json shows them"


def test_nothing_is_said_of_what_nobody_looked_at() -> None:
    assert describe_findings({"findings": [], "diagnosis": None}) == []
    assert describe_findings({"id": "r"}) == []

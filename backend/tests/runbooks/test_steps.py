"""The first steps of runbooks: of each page that there is, in both languages."""

import pytest
from loadwatch_backend.catalogue.runbooks.rendering import Runbooks
from loadwatch_backend.catalogue.runbooks.steps import Part, first_steps, runbook_name
from loadwatch_backend.core.language import Language

RUNBOOKS = Runbooks()
PAGE = """# X

Prose.

## First

1. Run `ss -lnt`, see [PoolWaits](pool-waits.md#now)
   and **then** rest.
2. Two
"""


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("name", RUNBOOKS.names())
def test_each_runbook_has_a_first_step(name: str, language: Language) -> None:
    steps = RUNBOOKS.steps(name, language)
    assert 1 <= len(steps) <= 3
    for step in steps:
        text = "".join(part.text for part in step)
        assert text.strip()
        assert not any(mark in text for mark in ("](", "**")), text
        for part in step:
            assert not part.href.startswith("/") or runbook_name(part.href.partition("#")[0]) in RUNBOOKS.names()


def test_both_languages_have_as_many() -> None:
    for name in RUNBOOKS.names():
        english, japanese = (RUNBOOKS.steps(name, language) for language in (Language.EN, Language.JA))
        assert len(english) == len(japanese), name


def test_code_and_links_are_told_apart() -> None:
    assert first_steps(PAGE) == [
        [
            Part(text="Run "),
            Part(text="ss -lnt", code=True),
            Part(text=", see "),
            Part(text="PoolWaits", href="/runbooks/pool-waits#now"),
            Part(text=" and then rest."),
        ],
        [Part(text="Two")],
    ]


def test_a_link_that_leads_elsewhere_is_text() -> None:
    assert first_steps("- a [b](../guide/x.md)") == [[Part(text="a "), Part(text="b")]]
    assert first_steps("- a [b](javascript:alert(1))")[0][1].href == ""
    assert first_steps("no list") == []


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://watch.example.org/runbooks/pool-waits", "pool-waits"),
        ("https://watch.example.org/loadwatch/runbooks/pool-waits?lang=ja", "pool-waits"),
        ("/runbooks/pool-waits", "pool-waits"),
        ("https://wiki.example.org/pages/pool-waits", None),
        ("https://watch.example.org/runbooks/pool-waits/more", None),
        ("", None),
    ],
)
def test_the_name_in_an_address(url: str, name: str | None) -> None:
    assert runbook_name(url) == name


def test_a_runbook_that_is_not_there_has_no_steps() -> None:
    assert RUNBOOKS.steps("no-such", Language.EN) == []
    assert RUNBOOKS.steps("../secret", Language.EN) == []

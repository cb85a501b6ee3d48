import re
from dataclasses import replace

import pytest
from loadwatch_backend.core.language import Language
from loadwatch_backend.runs.analysis.schemas import InstanceCounts
from loadwatch_backend.runs.report.html import render_html
from loadwatch_backend.runs.report.markdown import escape_cell, escape_text, render_markdown
from markdown_it import MarkdownIt

from backend.tests.report.making import make_report


def test_every_table_has_as_many_cells_in_each_row() -> None:
    for language in Language:
        document = render_markdown(make_report(language), language)
        width = 0
        for line in document.splitlines():
            if not line.startswith("|"):
                width = 0
                continue
            cells = line.replace("\\|", "").count("|")
            assert width in (0, cells), line
            width = cells


def test_figures_stand_in_the_document() -> None:
    document = render_markdown(make_report(), Language.EN)
    for said in ("**Failed**", "| p95\\<300ms | 400 ms | steady window | Failed |", "+12.5%", "2,615", "### Approach"):
        assert said in document, said
    first, _, _ = document.partition("<details>")
    assert "| Fastest | 10 ms | 10 ms |" in first
    assert "| Slowest | 3.20 s | 3.20 s |" in first
    page, _, _ = render_html(make_report(), Language.EN).partition("<details")
    assert '<td>Fastest</td><td class="n">10 ms</td>' in page


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], None),
        (["previous"], "The run before ended less than a minute earlier"),
        (["next"], "The next run began less than a minute later"),
        (["previous", "next"], "counts of neighbouring runs may mix"),
    ],
)
def test_counts_that_may_be_mixed_with_other_runs_are_told(names: list[str], said: str | None) -> None:
    report = make_report()
    assert report.run.reconciliation is not None
    mixed = report.run.reconciliation.model_copy(update={"mixed_with": names})
    report = replace(report, run=report.run.model_copy(update={"reconciliation": mixed}))
    for document in (render_markdown(report, Language.EN), render_html(report, Language.EN)):
        assert ("less than a minute" in document) == (said is not None)
        assert said is None or said in document


def test_an_annotation_names_the_commit_and_the_issue_behind_it() -> None:
    assert "deployed \\<b\\> · kana · Commit 792c807 · issue https\\://issues.example/27" in render_markdown(
        make_report(), Language.EN
    )
    page = render_html(make_report(), Language.EN)
    assert "Commit <code>792c807</code>" in page
    assert '<a href="https://issues.example/27" rel="noreferrer">' in page


def test_accepted_and_stored_stand_by_instance() -> None:
    report = make_report()
    assert report.run.reconciliation is not None
    counts = InstanceCounts(job="app", instance="shop-2", accepted=1_800, stored=1_200, failed=None, missing=600)
    by_instance = report.run.reconciliation.model_copy(update={"instances": [counts, counts]})
    report = replace(report, run=report.run.model_copy(update={"reconciliation": by_instance}))
    assert "| shop-2 | 1,800 | 1,200 | 600 |" in render_markdown(report, Language.EN)
    assert re.search(
        r'<td class="name">shop-2</td><td class="n">1,800</td><td class="n">1,200</td><td class="n">600</td>',
        render_html(report, Language.EN),
    )


def test_throughput_and_wait_stand_in_the_summary() -> None:
    report = make_report()
    assert report.run.steady is not None
    steady = report.run.steady.model_copy(update={"throughput": 288.71, "wait_seconds": 0.25})
    report = replace(report, run=report.run.model_copy(update={"steady": steady, "throughput": 280.5}))
    document = render_markdown(report, Language.EN)
    assert "| Good, until the last answer | 289/s |" in document, document
    assert "| Wait for the last answer | 250 ms |" in document
    assert "Good, until the last answer" in render_html(report, Language.EN)


def test_cells_break_no_table_and_start_no_markup() -> None:
    assert escape_cell("a|b\n<i>*c*") == "a\\|b \\<i\\>\\*c\\*"


HOSTILE = (
    "# a heading",
    "a\n===",
    "- an item",
    "1. an item",
    "1) an item",
    "    code",
    "```\ncode",
    "~~~\ncode",
    "> quoted",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![picture](https://evil.example/p.png)",
    "[text](https://evil.example)",
    "[text]: https://evil.example",
    "<https://evil.example>",
    "https://evil.example and www.evil.example",
    "&lt;b&gt;",
    "*a* _b_ `c` ~~d~~ $e$",
    "| a | b |\n| - | - |",
    "***",
    "a\\",
    "a\r# b",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_people_write_is_text_and_no_markup(text: str) -> None:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    escaped = escape_text(text)
    # GitHub makes links of bare addresses.
    assert "://" not in escaped.replace("\\://", "")
    assert "www." not in escaped
    tokens = parser.parse(escaped)
    assert {token.type for token in tokens} <= {"paragraph_open", "paragraph_close", "inline"}
    inner = [token for outer in tokens for token in outer.children or ()]
    assert {token.type for token in inner} <= {"text", "text_special", "softbreak", "hardbreak"}
    shown = "".join("\n" if token.type == "hardbreak" else token.content for token in inner)
    lines = [line.strip() for line in text.replace("\r", "\n").splitlines()]
    assert shown == "\n".join(lines)


def test_a_review_keeps_its_lines_and_paragraphs() -> None:
    assert escape_text("one\ntwo\n\n  three \n") == "one\\\ntwo\n\nthree"


def test_numbers_stand_at_the_right() -> None:
    lines = [line for line in render_markdown(make_report(), Language.EN).splitlines() if line.startswith("| ---")]
    assert len(lines) > 5
    assert all(re.fullmatch(r"\| --- \|( ---: \|)+", line) for line in lines)

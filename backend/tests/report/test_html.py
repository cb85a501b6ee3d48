import re
from html.parser import HTMLParser

import pytest
from loadwatch_backend.core.language import Language
from loadwatch_backend.runs.analysis.schemas import LatencyOut
from loadwatch_backend.runs.report.html import page_headers, render_gone, render_html

from backend.tests.report.making import make_report, make_run

EMPTY = LatencyOut(min=None, mean=None, p50=None, p90=None, p95=None, p99=None, max=None)
VOID = {"meta", "br", "link", "img"}


class Balance(HTMLParser):
    """Holds every element to be closed, and gathers what the page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.loaded += [value or "" for name, value in attrs if name in ("src", "srcset", "data", "action")]
        self.loaded += [value or "" for name, value in attrs if name == "href" and tag != "a"]
        assert not any(name.startswith("on") or name == "style" for name, _ in attrs), (tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not any(name.startswith("on") or name == "style" for name, _ in attrs), (tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check(page: str) -> Balance:
    parser = Balance()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


@pytest.mark.parametrize("language", list(Language))
def test_the_page_loads_nothing_and_runs_nothing(language: Language) -> None:
    page = render_html(make_report(language), language)
    found = check(page)
    assert found.loaded == []
    assert found.scripts == 0
    assert "@import" not in page
    assert "url(" not in page


def test_names_are_text_and_never_markup() -> None:
    page = render_html(make_report(), Language.EN)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "deployed <b>" not in page
    assert "<b>waits</b>" not in page


def test_the_page_says_what_was_measured() -> None:
    page = render_html(make_report(), Language.EN)
    for said in ("Failed", "p95&lt;300ms", "400 ms", "450/s", "+12.5%", "Connection pool", "100%", "0:02"):
        assert said in page, said
    assert "and 10 more endpoints" in page
    (watched,) = re.findall(r"<tr><td><code>cpu_seen</code>.*?</tr>", page)
    assert "watched" in watched
    assert "Passed" not in watched
    assert "go_sql_max_open_connections" in page
    assert len(re.findall(r'<svg class="chart"', page)) == 3


def test_japanese_is_whole() -> None:
    page = render_html(make_report(Language.JA), Language.JA)
    assert '<html lang="ja">' in page
    for said in ("不合格", "定常区間", "コネクションプール", "上限（影響のあったものから）", "意図的な設定"):
        assert said in page, said


def test_a_run_of_zero_requests_has_a_report() -> None:
    bare = make_run(requests=0, rate=None, success_ratio=None, latency_seconds=EMPTY, steady=None, steady_window=None)
    report = make_report()
    page = render_html(
        type(report)(
            run=bare.model_copy(update={"endpoints": [], "errors": [], "outcomes": {}, "ramp": None, "resources": []}),
            baseline=None,
            difference=None,
            review=report.review,
            notes=[],
            opening=[],
            charts=[],
            made_ms=report.made_ms,
        ),
        Language.EN,
    )
    check(page)
    assert "No watched resource came near its limit" in page


def test_the_page_stands_in_the_order_of_the_runs_page() -> None:
    page = render_html(make_report(), Language.EN)
    parts = (
        'class="badge failed"',
        'class="key"',
        "Good answers",
        'class="line"',
        '<svg class="chart"',
        "What to know about these figures",
        "Limits, those that did harm first",
        "<h2>Thresholds",
        "<h2>Summary",
        "All other figures",
        "<h2>Sent, accepted, stored",
        "<h2>Ramp",
        "<h2>Charts",
        "<h2>Endpoints",
        "<h2>Review",
    )
    places = [page.index(part, page.index("<body>")) for part in parts]
    assert places == sorted(places)


@pytest.mark.parametrize("language", list(Language))
def test_a_link_that_opens_nothing_is_a_page_with_a_sentence(language: Language) -> None:
    page = render_gone(language)
    assert check(page).loaded == []
    assert {Language.EN: "has expired", Language.JA: "期限が切れた"}[language] in page
    assert f'<html lang="{language.value}">' in page


def test_the_policy_allows_this_very_style_alone() -> None:
    policy = page_headers()["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert re.search(r"style-src 'sha256-[A-Za-z0-9+/=]{44}'", policy)

import re
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.catalogue.runbooks.rendering import RunbookNotFoundError, Runbooks
from loadwatch_backend.core.language import Language
from loadwatch_packs import FOLDER


@pytest.fixture
def runbooks(tmp_path: Path) -> Runbooks:
    folder = tmp_path / "shop" / "runbooks"
    folder.mkdir(parents=True)
    head = "# Pool waits\n\nSee [churn](../../go-sql-pool/runbooks/pool-churn.md#causes).\n\n"
    head += "```sql\nSHOW <STATUS>;\n```\n\n"
    (folder / "pool-waits.md").write_text(head + "| a | b |\n| --- | --- |\n| 1 | 2 |\n")
    (folder / "pool-waits.ja.md").write_text("# 接続待ち\n\n[churn](pool-churn.ja.md)\n")
    (folder / "our-own.md").write_text("# Our own\n")
    (folder / "README.md").write_text("# Not a runbook\n")
    (folder / "secret.txt").write_text("no page")
    return Runbooks([tmp_path])


def test_a_page_is_rendered_with_its_links_and_code(runbooks: Runbooks):
    page = runbooks.page("pool-waits")
    assert "<title>Pool waits · Loadwatch</title>" in page
    assert 'href="/runbooks/pool-churn?lang=en#causes"' in page
    assert "SHOW &lt;STATUS&gt;;" in page
    assert '<div class="wide"><table>' in page


@pytest.mark.parametrize(
    "name", ["", "README", "secret", "../secret", "..%2fsecret", "pool-waits.md", "pool-waits.ja", "*"]
)
def test_only_runbooks_are_pages(runbooks: Runbooks, name: str):
    with pytest.raises(RunbookNotFoundError):
        runbooks.page(name)


def test_a_translation_is_read_where_there_is_one(runbooks: Runbooks, tmp_path: Path):
    page = runbooks.page("pool-waits", Language.JA)
    assert '<html lang="ja">' in page
    assert "<title>接続待ち" in page
    assert 'href="/runbooks/pool-churn?lang=ja"' in page
    assert '<a href="/runbooks/pool-waits?lang=en" lang="en">English</a>' in page
    assert "接続待ち" in runbooks.index(Language.JA)
    (tmp_path / "shop" / "runbooks" / "pool-waits.ja.md").unlink()
    assert '<html lang="en">' in runbooks.page("pool-waits", Language.JA)


@pytest.mark.parametrize(
    ("query", "accepts", "language"),
    [
        ("", "ja,en-US;q=0.7", "ja"),
        ("", "en-GB,ja;q=0.5", "en"),
        ("", "fr", "en"),
        ("?lang=en", "ja", "en"),
        ("", "", "en"),
    ],
)
def test_the_language_is_the_readers(shared_server: Any, query: str, accepts: str, language: str):
    page = shared_server.client.get(f"/runbooks{query}", headers={"accept-language": accepts})
    assert f'<html lang="{language}">' in page.text


def test_every_runbook_stands_in_every_language_with_the_same_parts():
    for name in Runbooks().names():
        (page,) = FOLDER.glob(f"*/runbooks/{name}.md")
        english, japanese = page.read_text(), page.with_suffix(".ja.md").read_text().replace(".ja.md", ".md")
        for pattern in (r"^#{1,3} ", r"^```", r"\]\(([^)]+)\)", r"^- ", r"^\d+\. "):
            found = [re.findall(pattern, text, re.MULTILINE) for text in (english, japanese)]
            assert sorted(found[0]) == sorted(found[1]), (name, pattern)
        # What is typed into a terminal or a file is the same.
        assert set(re.findall(r"`([^`\n]+)`", english)) == set(re.findall(r"`([^`\n]+)`", japanese)), name


def test_the_index_leads_to_each_page(runbooks: Runbooks):
    assert set(runbooks.names()) == {*Runbooks().names(), "our-own"}
    assert '<a href="/runbooks/our-own?lang=en">Our own</a>' in runbooks.index()
    assert '<a href="/runbooks/pool-waits?lang=en">Pool waits</a>' in runbooks.index()


def test_every_packaged_runbook_is_served_without_a_login_and_loads_nothing(server: Any):
    names = Runbooks().names()
    assert names
    index = server.client.get("/runbooks")
    for name in names:
        assert f'"/runbooks/{name}?lang=en"' in index.text
        page = server.client.get(f"/runbooks/{name}")
        assert page.status_code == 200, name
        assert "default-src 'none'" in page.headers["content-security-policy"]
    assert server.client.get("/runbooks/nothing").json()["code"] == "runbook-not-found"

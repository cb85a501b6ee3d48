from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.runbooks.rendering import RunbookNotFoundError, Runbooks


@pytest.fixture
def runbooks(tmp_path: Path) -> Runbooks:
    head = "# Pool waits\n\nSee [churn](pool-churn.md#causes).\n\n```sql\nSHOW <STATUS>;\n```\n\n"
    (tmp_path / "pool-waits.md").write_text(head + "| a | b |\n| --- | --- |\n| 1 | 2 |\n")
    (tmp_path / "README.md").write_text("# Not a runbook\n")
    (tmp_path / "secret.txt").write_text("no page")
    return Runbooks(tmp_path)


def test_a_page_is_rendered_with_its_links_and_code(runbooks: Runbooks):
    page = runbooks.page("pool-waits")
    assert "<title>Pool waits · Loadwatch</title>" in page
    assert 'href="/runbooks/pool-churn#causes"' in page
    assert "SHOW &lt;STATUS&gt;;" in page
    assert '<div class="wide"><table>' in page


@pytest.mark.parametrize("name", ["", "README", "secret", "../secret", "..%2fsecret", "pool-waits.md", "nothing"])
def test_only_runbooks_are_pages(runbooks: Runbooks, name: str):
    with pytest.raises(RunbookNotFoundError):
        runbooks.page(name)


def test_the_index_leads_to_each_page(runbooks: Runbooks):
    assert runbooks.names() == ["pool-waits"]
    assert '<a href="/runbooks/pool-waits">Pool waits</a>' in runbooks.index()


def test_every_packaged_runbook_is_served_without_a_login_and_loads_nothing(server: Any):
    names = Runbooks().names()
    assert names
    index = server.client.get("/runbooks")
    for name in names:
        assert f'"/runbooks/{name}"' in index.text
        page = server.client.get(f"/runbooks/{name}")
        assert page.status_code == 200, name
        assert "default-src 'none'" in page.headers["content-security-policy"]
    assert server.client.get("/runbooks/nothing").json()["code"] == "runbook-not-found"

"""What pages of other sites can make a browser send, and what comes of it."""

import httpx
import pytest

from backend.tests.access.people import PASSWORD, Town

NOTE = {"author": "a", "text": "t", "start_ms": 5}


def send(people: Town, cookie: str, **headers: str) -> httpx.Response:
    with httpx.Client(base_url=people.url, verify=False, timeout=120) as client:
        given = {"cookie": f"loadwatch_session={cookie}", **{name.replace("_", "-"): headers[name] for name in headers}}
        return client.post("/api/annotations", json=NOTE, headers=given)


def test_a_session_changes_things_only_from_the_page_itself(people: Town):
    cookie = people.signed_in("ann").cookies["loadwatch_session"]
    assert send(people, cookie, origin=people.url).status_code == 201
    assert send(people, cookie, origin=people.url, sec_fetch_site="same-origin").status_code == 201
    assert send(people, cookie, sec_fetch_site="same-origin").status_code == 201
    for headers in (
        {},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"origin": people.url, "sec_fetch_site": "cross-site"},
        {"origin": people.url + ".evil.example"},
    ):
        answer = send(people, cookie, **headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "foreign-origin"), headers


def test_programs_with_tokens_need_say_nothing(people: Town):
    headers = people.token("ci", "notes:write")
    assert people.server.client.post("/api/annotations", json=NOTE, headers=headers).status_code == 201


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_what_a_form_can_send_is_no_json(people: Town, kind: str):
    client = people.signed_in("ann")
    content = b'{"author": "a", "text": "t", "start_ms": 5}'
    answer = client.post("/api/annotations", content=content, headers={"content-type": kind})
    assert answer.status_code == 422
    sign_in = people.browser().post(
        "/api/session/password",
        content=b'{"name": "ann", "password": "' + PASSWORD.encode() + b'"}',
        headers={"content-type": kind},
    )
    assert sign_in.status_code == 422
    assert "set-cookie" not in sign_in.headers


def test_answers_forbid_what_pages_could_be_made_to_do(people: Town):
    api = people.server.client.get("/api/session")
    assert api.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert api.headers["cache-control"] == "no-store"
    page = people.server.client.get("/setup", headers={"accept": "text/html"})
    assert page.headers["x-frame-options"] == "DENY"
    # The secret of the first administrator's link is in the fragment and stays in the browser.
    assert page.headers["referrer-policy"] == "same-origin"
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]

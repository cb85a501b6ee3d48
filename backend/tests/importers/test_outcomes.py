import gzip
import re

import numpy as np
import pytest
from loadwatch_backend.runs.importers.outcomes import SORTER, outcomes_of, plain_error
from loadwatch_formats.outcomes import OUTCOMES, Outcome, Sorter, outcome_of_status

from backend.tests.importers.conftest import FIXTURES
from formats.tests.outcome_texts import TEXTS


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        *((200, Outcome.OK), (101, Outcome.OK), (304, Outcome.OK), (404, Outcome.HTTP_4XX), (503, Outcome.HTTP_5XX)),
        *((600, Outcome.OTHER), (0, Outcome.OTHER), (99, Outcome.OTHER)),
    ],
)
def test_statuses(status: int, outcome: Outcome) -> None:
    assert OUTCOMES[outcomes_of(np.array([status]), None, [])[0]] is outcome


def test_columns_agree_with_single_requests() -> None:
    texts = [text for _, text in TEXTS]
    status = np.array([0, 200, 500] * len(texts))
    codes = np.repeat(np.arange(len(texts), dtype=np.int32), 3)
    found = outcomes_of(status, codes, texts)
    expected = [
        outcome_of_status(int(s)) if s else SORTER.of_error(texts[c]) for s, c in zip(status, codes, strict=True)
    ]
    assert [OUTCOMES[code] for code in found] == expected
    assert OUTCOMES[outcomes_of(np.array([0]), np.array([-1], dtype=np.int32), [])[0]] is Outcome.OTHER


def test_the_engine_of_the_agent_reads_every_text_alike() -> None:
    agent = Sorter(lambda pattern: re.compile(pattern, re.ASCII))
    texts = {text: text for _, text in TEXTS}
    for path in (path for path in FIXTURES.rglob("*") if path.is_file()):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for line in set(data.decode(errors="replace").splitlines()):
            # Times, sizes and ports tell no outcome, so one text stands for those that differ in them only.
            texts.update((re.sub(r"\d{4,}", "0", text), text) for text in (line, *re.split(r'[\t,"<>]', line)))
    for text in texts.values():
        assert agent.of_error(text) is SORTER.of_error(text), text
        assert agent.of_gatling(text) is SORTER.of_gatling(text), text
        assert agent.of_jmeter("", text, "", success=False) is SORTER.of_jmeter("", text, "", success=False), text


def test_what_differs_per_request_is_taken_out() -> None:
    assert plain_error("read tcp 1.2.3.4:5->6.7.8.9:80: read: x") == "read tcp 1.2.3.4->6.7.8.9:80: read: x"
    assert plain_error("read tcp [::1]:5->[::1]:80: x") == "read tcp [::1]->[::1]:80: x"
    assert plain_error('Get "http://a/b?c=1&d=2": EOF') == 'Get "http://a/b?...": EOF'
    assert plain_error("HTTPError('404 Client Error: Not Found for url: /a?token=x')") == (
        "HTTPError('404 Client Error: Not Found for url: /a?...')"
    )
    assert plain_error("why? #1") == "why? #1"
    assert plain_error("<Connection object at 0x7f3a2b1c0d10>") == "<Connection object at 0x…>"
    assert len(plain_error("x" * 10_000)) == 300

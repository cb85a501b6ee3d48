import json

import pytest
from loadwatch_formats.terminal import echo, terminal_text


def test_what_a_terminal_would_obey_is_shown_as_what_it_is() -> None:
    assert terminal_text("a\x1b[2J\x9b1m\r\u202eb\n\t葵") == "a\\u001b[2J\\u009b1m\\r\\u202eb\n\t葵"


def test_a_document_stays_one(capsys: pytest.CaptureFixture[str]) -> None:
    document = {"name": "a\x9b1m\u202e\x7f\U000e0001葵"}
    echo(json.dumps(document, ensure_ascii=False, indent=2))
    printed = capsys.readouterr().out
    assert all(sign.isprintable() or sign == "\n" for sign in printed)
    assert json.loads(printed) == document

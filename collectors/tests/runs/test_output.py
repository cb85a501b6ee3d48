"""What is kept of a command's output."""

import pytest
from loadwatch_collectors.runs import own_figures
from loadwatch_collectors.runs.own_figures import Output


def said(*pieces: bytes) -> str:
    kept = Output()
    for piece in pieces:
        kept.add(1, piece)
    return kept.text()


def test_a_terminals_drawing_becomes_what_it_showed_at_last():
    assert said(b"\x1b[31mred\x1b[0m\r\n 10 %\r 50 %\r100 %\r\n\x1b]0;title\x07done\n") == "red\n100 %\ndone"
    assert said("接続".encode()[:4], "接続".encode()[4:], b"\xff\n") == "接続\ufffd"
    assert said() == ""


def test_secrets_are_masked():
    text = said(b"GET http://u:hunter2@h/ HTTP/1.1\nAuthorization: Bearer hunter2hunter2\n--password=hunter2\n")
    assert "hunter2" not in text
    assert "GET http://u:***@h/" in text


def test_the_middle_is_let_go_and_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(own_figures, "HEAD_BYTES", 1_000)
    monkeypatch.setattr(own_figures, "TAIL_BYTES", 2_000)
    kept = Output()
    for number in range(10_000):
        kept.add(1, b"line %d\n" % number)
    text = kept.text()
    assert text.startswith("line 0\nline 1\n")
    assert text.endswith("line 9998\nline 9999")
    assert f"[{kept.size - 3_000} bytes are left out]" in text
    assert len(text) < 3_100


def test_a_stream_that_is_no_text_is_not_kept_and_the_other_one_is():
    kept = Output()
    kept.add(1, b"\x0c\xff\x81\0result")
    kept.add(2, b"warning\n")
    kept.add(1, b"more of the result")
    assert (kept.text(), kept.binary, kept.size) == ("warning", 28, 8)

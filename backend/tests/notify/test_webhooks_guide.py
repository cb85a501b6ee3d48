"""The code in docs/guide/notifications.md verifies what we sign."""

import base64
import re
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.alerting.notify.senders.webhook import headers, parse_secret

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "notifications.md"
SECRETS = ["whsec_" + base64.b64encode(letter * 32).decode() for letter in (b"a", b"b")]
BODY = b'{"version": "4"}'
MAIN = """package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

{code}

func main() {{
	header := http.Header{{}}
	for _, pair := range os.Args[2:] {{
		name, value, _ := strings.Cut(pair, "=")
		header.Set(name, value)
	}}
	for _, body := range []string{{`{body}`, `{body} `}} {{
		fmt.Println(Verify(os.Args[1], header, []byte(body)))
	}}
}}
"""


def example(language: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text("utf-8"), re.S)
    assert len(found) == 1
    return str(found[0])


def signed(timestamp: int | None = None) -> Mapping[str, str]:
    at = int(time.time()) if timestamp is None else timestamp
    return headers([parse_secret(secret) for secret in SECRETS], "msg_1", at, BODY)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify")
    (folder / "main.go").write_text(MAIN.format(code=example("go"), body=BODY.decode()))
    command = ["go", "build", "-trimpath", "-o", str(folder / "verify"), str(folder / "main.go")]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    return folder / "verify"


def verify(program: Path, secret: str, given: Mapping[str, str]) -> list[str]:
    pairs = [f"{name}={value}" for name, value in given.items()]
    return subprocess.run([program, secret, *pairs], check=True, capture_output=True, text=True).stdout.split()


def test_go(program: Path) -> None:
    for secret in SECRETS:
        assert verify(program, secret, signed()) == ["true", "false"]
    other = "whsec_" + base64.b64encode(b"c" * 32).decode()
    assert verify(program, other, signed()) == ["false", "false"]
    assert verify(program, SECRETS[0], signed(int(time.time()) - 3_600)) == ["false", "false"]


def test_python() -> None:
    code = example("python").replace("whsec_…", SECRETS[1])
    paged: list[Any] = []
    names: dict[str, Any] = {"seen": set[str](), "page_somebody": paged.append}
    exec(compile(code, "notifications.md", "exec"), names)
    given = dict(signed())
    assert [names["handle"](given, BODY) for _ in range(2)] == [204, 204]
    assert paged == [{"version": "4"}]
    assert names["handle"](given, BODY + b" ") == 401

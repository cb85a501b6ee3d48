"""Asks for the findings of the present while a case is played, as an open page does, and keeps what they accuse."""

import json
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import urllib3

EVERY_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """An accusation that was not there at the look before; seconds since the case began."""

    seconds: float
    id: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """What was accused, and how often Loadwatch was asked and answered: who does not look sees nothing."""

    asked: int
    answered: int
    accused: Sequence[Look]


class Looker:
    """Looks from `__enter__` to `__exit__`, and leaves `looks.json`."""

    def __init__(self, url: str, path: Path) -> None:
        """`url` is Loadwatch's address."""
        self._url, self._path = url, path
        self._over = threading.Event()
        self._asked = self._answered = 0
        self._looks: list[Look] = []
        self._thread = threading.Thread(target=self._run, name="looker")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        looks = Looks(asked=self._asked, answered=self._answered, accused=self._looks)
        self._path.write_text(json.dumps(asdict(looks), indent=1), encoding="utf-8")

    def _run(self) -> None:
        begun = time.monotonic()
        before: set[str] = set()
        while not self._over.wait(EVERY_SECONDS):
            self._asked += 1
            try:
                answer = urllib3.request("GET", f"{self._url}/api/findings", retries=False, timeout=30)
            except urllib3.exceptions.HTTPError:
                continue
            if answer.status != 200:
                continue
            self._answered += 1
            accused = _accused(answer.json())
            for key, one in accused.items():
                if key not in before:
                    self._looks.append(
                        Look(seconds=time.monotonic() - begun, id=one["id"], sentence=one["sentence"]["en"])
                    )
            before = set(accused)


def read_looks(path: Path) -> Looks:
    """What a `Looker` left."""
    found = json.loads(path.read_text(encoding="utf-8"))
    accused = [Look(**one) for one in found["accused"]]
    return Looks(asked=found["asked"], answered=found["answered"], accused=accused)


def _accused(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["key"]: one for one in document["findings"] if one["severity"] != "info"}

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from loadwatch_collectors.commands import import_result as logs
from loadwatch_collectors.commands.import_result import S3Logs
from loadwatch_collectors.runs.errors import UsageError
from loadwatch_formats.access_logs.blocks import Range

CONTENT = bytes(range(256)) * 10


class Bucket:
    """What of AWS' client is used, with one object."""

    def __init__(self) -> None:
        self.asked: list[Mapping[str, Any]] = []

    def pages(self, _service: str, _operation: str, parameters: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        names = [f"{parameters['Prefix']}{number}" for number in range(3)]
        yield {"Contents": [{"Key": name, "Size": len(CONTENT)} for name in names]}
        yield {}

    def call(self, _service: str, _operation: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append(parameters)
        first, last = map(int, parameters["Range"].removeprefix("bytes=").split("-"))
        return {"ETag": '"1"', "Body": CONTENT[first : last + 1]}

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Bucket:
    made = Bucket()

    def connect(*_arguments: object) -> Bucket:
        return made

    monkeypatch.setattr(logs, "default_regions", lambda: ())
    monkeypatch.setattr(logs, "connect", connect)
    return made


def test_that_an_object_is_read_in_parts_of_one_and_the_same_state(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "PART_BYTES", 1_000)
    reader = S3Logs()
    first, *_ = reader.files("s3://logs/a", Range())
    with reader.open(first) as file:
        assert file.peek(6)[:6] == CONTENT[:6]
        assert file.read() == CONTENT
    reader.close()
    assert [(one["Range"], one.get("IfMatch")) for one in bucket.asked] == [
        ("bytes=0-999", None),
        ("bytes=1000-1999", '"1"'),
        ("bytes=2000-2559", '"1"'),
    ]


@pytest.mark.usefixtures("bucket")
def test_that_too_many_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "MOST_FILES", 2)
    with pytest.raises(UsageError, match="longer prefix"):
        S3Logs().files("s3://logs/a", Range())

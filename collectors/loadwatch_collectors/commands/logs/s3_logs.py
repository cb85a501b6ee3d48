"""Logs in S3 for `loadwatch import`: which files are of a time, read in parts as they are needed."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from loadwatch_formats.access_logs.alb_files import MOST_FILES, MOST_LISTED, SCHEME, Range

from loadwatch_collectors.runs.errors import UsageError
from loadwatch_collectors.sources.aws.client.client import Account, AwsClient, ConnectOptions
from loadwatch_collectors.sources.aws.client.connect import connect, default_regions

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PART_BYTES = 8 << 20
_ANY_REGION = "us-east-1"
"""S3 says where a bucket is, and botocore asks there."""


class S3File(NamedTuple):
    """A file in S3.

    Attributes:
        size: in bytes; above 0.
    """

    bucket: str
    key: str
    size: int

    def __str__(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.key}"


class S3Logs:
    """Reads with the credentials that boto3 finds; needs s3:ListBucket and s3:GetObject."""

    def __init__(self) -> None:
        """Nothing is asked yet.

        Raises:
            ConfigError: boto3 is not installed.
        """
        region = next(iter(default_regions()), _ANY_REGION)
        self._client = connect(Account(), region, ConnectOptions(), lambda _call, _seconds: None)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def files(self, name: str, wanted: Range) -> Sequence[S3File]:
        """The files of a time below `s3://BUCKET/PREFIX`, by name; one whose whole name is given is always wanted.

        Raises:
            AwsError: AWS says no.
            UsageError: there are none, or too many.
        """
        bucket, _, prefix = name.removeprefix(SCHEME).partition("/")
        if not bucket:
            raise UsageError(f"{name!r} names no bucket; {SCHEME}BUCKET/PREFIX")
        found: list[S3File] = []
        listed = 0
        for one in wanted.prefixes(prefix):
            for page in self._client.pages("s3", "list_objects_v2", {"Bucket": bucket, "Prefix": one}):
                for item in page.get("Contents", ()):
                    listed += 1
                    key, size = str(item["Key"]), int(item["Size"])
                    if size and (key == prefix or wanted.wants(key)):
                        found.append(S3File(bucket=bucket, key=key, size=size))
                if listed > MOST_LISTED or len(found) > MOST_FILES:
                    raise UsageError(
                        f"{name}: more than {MOST_FILES:,} files of the run, or {MOST_LISTED:,} to look through; name "
                        "a longer prefix, such as one day's folder"
                    )
        if not found:
            raise UsageError(
                f"{name}: no file of the run among {listed:,}; load balancers write each five minutes, and files "
                "appear some minutes after those. A log of another name is read when its whole name is given"
            )
        return sorted(found, key=lambda file: file.key)

    def open(self, file: S3File) -> "io.BufferedReader[_Parts]":
        """What it holds, in parts as it is read."""
        return io.BufferedReader(_Parts(self._client, file))


class _Parts(io.RawIOBase):
    """An object of S3 as a file; raises AwsError, also when it was replaced meanwhile."""

    def __init__(self, client: AwsClient, file: S3File) -> None:
        self._client, self._file = client, file
        self._at = 0
        self._part = memoryview(b"")
        self._tag = ""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        if not self._part and self._at < self._file.size:
            self._read_part()
        target = memoryview(buffer).cast("B")
        count = min(len(target), len(self._part))
        target[:count] = self._part[:count]
        self._part = self._part[count:]
        return count

    def _read_part(self) -> None:
        end = min(self._at + PART_BYTES, self._file.size)
        parameters = {
            "Bucket": self._file.bucket,
            "Key": self._file.key,
            "Range": f"bytes={self._at}-{end - 1}",
            **({"IfMatch": self._tag} if self._tag else {}),
        }
        answer = self._client.call("s3", "get_object", parameters)
        self._tag = str(answer.get("ETag", ""))
        self._part = memoryview(bytes(answer["Body"]))
        self._at = end

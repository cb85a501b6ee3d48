"""Which files of a load balancer of AWS are of a time, by their names in S3.

A load balancer writes a file for each five minutes, which appears some minutes later; its name has their end:
`..._app.my-lb.50dc6c495c0c9188_20261124T1005Z_192.0.2.1_5k1a2b3c.log.gz`.
Source: docs.aws.amazon.com, "Access logs for your Application Load Balancer", "Access log files".
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

SCHEME = "s3://"
MOST_LISTED, MOST_FILES = 100_000, 2_000
INTERVAL = timedelta(minutes=5)
_END = re.compile(r"_([0-9]{8}T[0-9]{4})Z_[^/]*$")
_REGION_FOLDER = re.compile(r"elasticloadbalancing/[a-z0-9-]+/?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """What is wanted; None is open."""

    start: datetime | None = None
    end: datetime | None = None

    def wants(self, key: str) -> bool:
        """Whether a file may have lines of it; with a bound, one whose name has no time is not wanted."""
        if self.start is None and self.end is None:
            return True
        found = _END.search(key)
        if found is None:
            return False
        try:
            end = datetime.strptime(found[1], "%Y%m%dT%H%M").replace(tzinfo=UTC)
        except ValueError:
            return False
        return (self.start is None or end > self.start) and (self.end is None or end - INTERVAL < self.end)

    def prefixes(self, prefix: str) -> list[str]:
        """What to list: only the folders of the days, where the prefix ends where those begin."""
        if self.start is None or self.end is None or not _REGION_FOLDER.search(prefix):
            return [prefix]
        day, last = self.start.astimezone(UTC).date(), (self.end.astimezone(UTC) + INTERVAL).date()
        days: list[str] = []
        while day <= last and len(days) < 400:
            days.append(f"{prefix.rstrip('/')}/{day:%Y/%m/%d}/")
            day += timedelta(days=1)
        return days

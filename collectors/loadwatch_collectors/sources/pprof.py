"""Profiles of a Go process by net/http/pprof: what it offers, and the taking of one.

The collector only says that the process can be asked. Profiles are taken when the server orders one
(`pipeline.profiles`): each costs the process something, and a run wants them in its steady part.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from loadwatch_formats.metrics.pprof import SOURCE
from loadwatch_formats.profile_kinds import MOST_BYTES, MOST_SECONDS, PROFILE_KINDS, target_of

from loadwatch_collectors.collector import Collector, Sample, Source
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.settings import Bytes, Seconds, option
from loadwatch_collectors.transport.http_page import HttpPage, HttpSettings

_ANSWER_SECONDS = 15.0
"""How much longer than the profile itself its answer may take: symbols are written under load, too."""
_LINK = re.compile(rb"href=['\"]?([a-z]+)\?debug")
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True, kw_only=True)
class PprofSettings(HttpSettings):
    url: str = option(
        help="Address of net/http/pprof's index, without what follows pprof/.",
        metavar="http://127.0.0.1:6060/debug/pprof",
    )
    kinds: tuple[str, ...] = option(
        help="Kinds of profiles that may be taken: cpu, mutex, block, heap, goroutine, allocs.",
        default=tuple(PROFILE_KINDS),
    )
    seconds: Seconds = option(
        help="How long a profile lasts, whole seconds up to a minute; a short run takes shorter ones.", default=10.0
    )
    max_body: Bytes = option(help="Largest profile that is read.", default=MOST_BYTES)

    def __post_init__(self) -> None:
        # Not super(): a dataclass with slots is another class than the one whose body this is.
        HttpSettings.__post_init__(self)
        if urlsplit(self.url).query:
            raise ValueError(f"url: {self.url!r} has a query; give the address of the index alone")
        for kind in self.kinds:
            if kind not in PROFILE_KINDS:
                raise ValueError(f"kinds: {kind!r} is none of {', '.join(PROFILE_KINDS)}")
        if not self.kinds:
            raise ValueError("kinds is empty; leave the block out instead")
        if not 1 <= self.seconds <= MOST_SECONDS or self.seconds != int(self.seconds):
            raise ValueError(f"seconds must be a whole number from 1 to {MOST_SECONDS}, not {self.seconds:g}")
        if not self.max_body <= MOST_BYTES:
            raise ValueError(f"max_body must be at most {MOST_BYTES} bytes, the most that the server takes")


class PprofCollector(Collector):
    """Checks which profiles a process offers; `ProfileTaker` takes them."""

    def __init__(self, settings: PprofSettings) -> None:
        self._settings = settings
        self._page = HttpPage(settings)
        self._index = index_of(settings) + "/"
        self._offered: frozenset[str] = frozenset()

    def collect(self) -> Sequence[Sample]:
        page = self._page.get(accept="text/html", target=self._index)
        self._offered = offered_kinds(page.body)
        kinds = [kind for kind in self._settings.kinds if kind in self._offered]
        if not kinds:
            raise CollectorError(
                f"GET {page.url}: no profiles are listed there ({page.excerpt()}); "
                'url must lead to net/http/pprof\'s index: import _ "net/http/pprof", or route /debug/pprof/ to '
                "pprof.Index"
            )
        labels = (("kinds", ",".join(kinds)), ("seconds", f"{self._settings.seconds:g}"))
        return [Sample(SOURCE, 1.0, labels)]

    def explain(self) -> Sequence[str]:
        lacking = [kind for kind in self._settings.kinds if kind not in self._offered]
        return [f"not offered by the process: {', '.join(lacking)}"] if lacking else []

    def close(self) -> None:
        self._page.close()


class ProfileTaker:
    """Takes one profile at a time of one process.

    Its connection stays open: a process that is out of file descriptors can still be asked then.
    """

    def __init__(self, settings: PprofSettings) -> None:
        """Prepare the connection; nothing is dialled yet.

        Raises:
            ConfigError: the token or the certificates cannot be read.
        """
        self._settings = settings
        self._page = HttpPage(settings, deadline=settings.seconds + _ANSWER_SECONDS)

    def take(self, kind: str, seconds: int) -> bytes:
        """The profile as the process gives it.

        Raises:
            CollectorError: there is none; the text says why and what to do.
        """
        if kind not in self._settings.kinds:
            raise CollectorError(
                f"{kind} is not among this target's kinds ({', '.join(self._settings.kinds)}); add it to pprof.kinds"
            )
        # The file is the user's word on what the process may be asked for.
        lasts = min(max(seconds, 1), int(self._settings.seconds))
        page = self._page.get(
            accept="application/octet-stream",
            target=f"{index_of(self._settings)}/{target_of(PROFILE_KINDS[kind], lasts)}",
        )
        if not page.body.startswith(_GZIP):
            raise CollectorError(f"GET {page.url}: the {kind} profile is not in pprof's format: {page.excerpt()}")
        return page.body

    def close(self) -> None:
        """Close the connection; a profile under way ends with an error."""
        self._page.close()


def index_of(settings: PprofSettings) -> str:
    return urlsplit(settings.url).path.rstrip("/")


def offered_kinds(index: bytes) -> frozenset[str]:
    """The kinds that an index links to. `profile` has no count, and an index of before Go 1.11 no link."""
    paths = {link.decode() for link in _LINK.findall(index)}
    if not paths:
        return frozenset()
    return frozenset(kind.name for kind in PROFILE_KINDS.values() if kind.path in paths | {"profile"})


PPROF = Source(
    name="pprof",
    help="Profiles of a Go process by net/http/pprof, taken in the steady part of a run, when a chosen alert fires, or "
    "by a button. One at a time for each process.",
    settings=PprofSettings,
    build=PprofCollector,
    packs=("process",),
    interval_seconds=15.0,
)

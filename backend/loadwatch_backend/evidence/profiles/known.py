"""Frames that everybody meets, by name: what time there means, and whose function waited. The words are in texts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from loadwatch_backend.evidence.profiles.model import Function, Kind, Profile
from loadwatch_backend.evidence.profiles.tree import Stacks, add_up, column_of, stacks_of

# Which functions are the application's own, and which of them called a function of a library.
#
# By the files they come from: Go's standard library lies where its runtime lies, modules of others have a version in
# their path.

_OTHERS = re.compile(
    r"@v\d|/pkg/mod/|/vendor/|/site-packages/|/dist-packages/|/node_modules/|^node:|^internal/|^<|/lib/python3|/usr/lib"
)
_STANDARD = re.compile(
    r"(?:archive|arena|bufio|builtin|bytes|cmp|compress|container|context|crypto|database|debug|embed|encoding|errors"
    r"|expvar|flag|fmt|go|hash|html|image|index|internal|io|iter|log|maps|math|mime|net|os|path|plugin|reflect|regexp"
    r"|runtime|slices|sort|strconv|strings|structs|sync|syscall|testing|text|time|unicode|unique|unsafe|vendor|weak)"
    r"[./]"
)
_GO_FILE = re.compile(r"\.(?:go|s)$")


def own_functions(functions: Sequence[Function]) -> npt.NDArray[np.bool_]:
    """Of each function whether it is the application's own; without a file nothing is."""
    root = _root(functions)
    return np.array([_is_own(one, root) for one in functions], bool)


class Callers:
    def __init__(self, stacks: Stacks) -> None:
        self._stacks = stacks
        self.own = own_functions(stacks.functions)
        self._mine = np.flatnonzero(self.own[stacks.frames])

    def of(self, function: int) -> str | None:
        """The application's function below which most of a function lies; None where it is one itself, or several are.

        In each stack it is the one nearest to the function, on the way to the root. Of several columns of values the
        first is asked in which the function has any.
        """
        if self.own[function]:
            return None
        stacks = self._stacks
        place = np.flatnonzero(stacks.frames == function)
        samples, first = np.unique(np.searchsorted(stacks.offsets, place, side="right") - 1, return_index=True)
        sizes = np.abs(stacks.values[samples])
        columns = np.flatnonzero(sizes.any(axis=0))
        if not len(columns) or not len(self._mine):
            return None
        size = sizes[:, columns[0]]
        after = np.minimum(np.searchsorted(self._mine, place[first], side="right"), len(self._mine) - 1)
        frame = self._mine[after]
        below = (frame > place[first]) & (frame < stacks.offsets[samples + 1])
        sums = add_up(stacks.frames[frame[below]], size[below, None], len(stacks.functions))[:, 0]
        caller = int(np.argmax(sums))
        return stacks.functions[caller].name if 2 * int(sums[caller]) > int(size.sum()) else None


def _root(functions: Sequence[Function]) -> str:
    """Where Go's standard library lies, by a function of its runtime; empty with `-trimpath`."""
    for one in functions:
        if one.name.startswith("runtime.") and (cut := one.file.find("/src/runtime/")) >= 0:
            return one.file[: cut + len("/src/")]
    return ""


def _is_own(one: Function, root: str) -> bool:
    if not one.file or _OTHERS.search(one.file):
        return False
    if not _GO_FILE.search(one.file) or one.name.startswith("main."):
        return True
    if root:
        return not one.file.startswith(root)
    return _STANDARD.match(one.name) is None


WAITING = (Kind.BLOCK, Kind.GOROUTINE)
SPENDING = (Kind.CPU, Kind.OTHER)
MEMORY = (Kind.HEAP, Kind.ALLOCS)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFrame:
    """A meaning and the functions that have it.

    Attributes:
        key: of its words: `frame.<key>` in the catalogue of texts.
        names: whole names, or beginnings that end in `*`.
        kinds: of profiles in which they mean this; empty for all.
    """

    key: str
    names: tuple[str, ...]
    kinds: tuple[Kind, ...] = ()


_MYSQL, _PGX = "github.com/go-sql-driver/mysql.", "github.com/jackc/pgx/"

KNOWN: Sequence[KnownFrame] = (
    KnownFrame(key="pool-wait", names=("database/sql.(*DB).conn",), kinds=WAITING),
    KnownFrame(key="pool-lock", names=("database/sql.(*DB).conn", "database/sql.(*DB).putConn*"), kinds=(Kind.MUTEX,)),
    KnownFrame(
        key="lock-wait",
        names=(
            "sync.(*Mutex).Lock*", "sync.(*Mutex).lock*", "sync.(*RWMutex).Lock*", "sync.(*RWMutex).RLock*",
            "internal/sync.(*Mutex).Lock*", "internal/sync.(*Mutex).lock*", "sync.runtime_SemacquireMutex",
            "sync.runtime_SemacquireRWMutex*", "internal/sync.runtime_SemacquireMutex",
        ),
        kinds=WAITING,
    ),
    KnownFrame(
        key="lock-held",
        names=("sync.(*Mutex).Unlock*", "sync.(*RWMutex).Unlock*", "sync.(*RWMutex).RUnlock*",
               "internal/sync.(*Mutex).Unlock*", "internal/sync.(*Mutex).unlock*"),
        kinds=(Kind.MUTEX,),
    ),
    KnownFrame(
        key="lock-spin",
        names=("sync.(*Mutex).Lock*", "sync.(*Mutex).lock*", "internal/sync.(*Mutex).lock*"),
        kinds=SPENDING,
    ),
    KnownFrame(key="runtime-lock", names=("runtime.lock", "runtime.lock2", "runtime.unlock*", "runtime._Lost*")),
    KnownFrame(key="group-wait", names=("sync.(*WaitGroup).Wait", "sync.(*Cond).Wait", "golang.org/x/sync/errgroup.*")),
    KnownFrame(
        key="channel-wait",
        names=("runtime.chanrecv*", "runtime.chansend*", "runtime.selectgo", "runtime.selectnb*"),
        kinds=WAITING,
    ),
    KnownFrame(key="sleep", names=("time.Sleep", "time.(*Timer).*", "runtime.timeSleep")),
    KnownFrame(key="parked", names=("runtime.gopark", "runtime.goparkunlock"), kinds=(Kind.GOROUTINE,)),
    KnownFrame(
        key="database-answer",
        names=(
            f"{_MYSQL}(*mysqlConn).readPacket", f"{_MYSQL}(*buffer).*", f"{_MYSQL}(*packets).*",
            f"{_MYSQL}(*mysqlConn).readResultSet*", f"{_MYSQL}(*mysqlConn).readUntilEOF",
            f"{_PGX}v5/pgconn.(*PgConn).receiveMessage", f"{_PGX}v5/pgconn.(*PgConn).peekMessage",
            f"{_PGX}v4/pgconn.(*PgConn).receiveMessage", "github.com/lib/pq.(*conn).recv*",
        ),
    ),
    KnownFrame(
        key="database-connect",
        names=(
            f"{_MYSQL}(*connector).Connect", f"{_MYSQL}MySQLDriver.Open*", "database/sql.(*DB).connectionOpener",
            "database/sql.(*DB).openNewConnection", "github.com/lib/pq.Open*", f"{_PGX}v5.connect",
        ),
    ),
    KnownFrame(
        key="database-prepare",
        names=("database/sql.(*DB).Prepare*", "database/sql.(*DB).prepare*", "database/sql.ctxDriverPrepare",
               f"{_MYSQL}(*mysqlConn).Prepare*", f"{_MYSQL}(*mysqlStmt).Close"),
    ),
    KnownFrame(key="database-rows", names=("database/sql.(*Rows).Next*", "database/sql.(*Rows).Scan",
                                           "database/sql.convertAssign*")),
    KnownFrame(key="database-commit", names=("database/sql.(*Tx).Commit", "database/sql.(*Tx).Rollback*")),
    KnownFrame(
        key="database-call",
        names=(
            "database/sql.(*DB).Query*", "database/sql.(*DB).Exec*", "database/sql.(*DB).query*",
            "database/sql.(*DB).exec*", "database/sql.(*Tx).Query*", "database/sql.(*Tx).Exec*",
            "database/sql.(*Stmt).Query*", "database/sql.(*Stmt).Exec*", "database/sql.(*Conn).*",
            f"{_MYSQL}*", f"{_PGX}*", "github.com/lib/pq.*",
        ),
    ),
    KnownFrame(key="redis", names=("github.com/redis/go-redis/*", "github.com/go-redis/redis/*",
                                   "github.com/gomodule/redigo/*")),
    KnownFrame(key="http-handler", names=("net/http.(*conn).serve", "net/http.serverHandler.ServeHTTP")),
    KnownFrame(key="http-call", names=("net/http.(*Transport).roundTrip", "net/http.(*Client).do",
                                       "net/http.(*Client).Do", "net/http.(*persistConn).roundTrip")),
    KnownFrame(key="tls", names=("crypto/tls.*",)),
    KnownFrame(key="bcrypt", names=("golang.org/x/crypto/bcrypt.*", "golang.org/x/crypto/blowfish.*",
                                    "golang.org/x/crypto/argon2.*", "golang.org/x/crypto/scrypt.*",
                                    "golang.org/x/crypto/pbkdf2.*")),
    KnownFrame(key="hash", names=("crypto/sha*", "crypto/md5*", "crypto/internal/fips140/sha*", "crypto/hmac*",
                                  "crypto/internal/fips140/hmac*")),
    KnownFrame(key="json", names=("encoding/json.*", "encoding/json/v2.*", "encoding/json/jsontext.*")),
    KnownFrame(key="template", names=("html/template.*", "text/template.*")),
    KnownFrame(key="compress", names=("compress/*",)),
    KnownFrame(key="regexp", names=("regexp.*",)),
    KnownFrame(key="log", names=("log.(*Logger).*", "log/slog.*", "log.Print*", "go.uber.org/zap.*",
                                 "github.com/sirupsen/logrus.*")),
    KnownFrame(key="name-lookup", names=("net.(*Resolver).*", "net.cgoLookup*", "net._C2func_getaddrinfo*")),
    KnownFrame(key="dial", names=("net.(*Dialer).Dial*", "net.(*sysDialer).*")),
    KnownFrame(
        key="gc-assist", names=("runtime.gcAssistAlloc*", "runtime.gcDrainN", "runtime.gcParkAssist"), kinds=SPENDING
    ),
    KnownFrame(
        key="gc",
        names=("runtime.gcBgMarkWorker*", "runtime.gcDrain*", "runtime.scanobject*", "runtime.greyobject",
               "runtime.markroot*", "runtime.bgsweep*", "runtime.sweepone", "runtime.gcStart*", "runtime.scanblock",
               "runtime.scanSpan*", "runtime.tryDeferToSpanScan"),
    ),
    KnownFrame(key="allocate", names=("runtime.mallocgc*", "runtime.newobject", "runtime.makeslice*",
                                      "runtime.growslice"), kinds=SPENDING),
    KnownFrame(key="copy-memory", names=("runtime.memmove", "runtime.memclr*", "runtime.duffcopy", "runtime.duffzero")),
    KnownFrame(key="scheduler", names=("runtime.findRunnable", "runtime.findrunnable", "runtime.schedule",
                                       "runtime.mcall", "runtime.park_m", "runtime.stealWork", "runtime.netpoll*")),
    KnownFrame(key="threads", names=("runtime.futex*", "runtime.notesleep", "runtime.notewakeup", "runtime.usleep",
                                     "runtime.osyield", "runtime.startm", "runtime.wakep")),
    KnownFrame(key="file-io", names=("os.(*File).*",)),
    KnownFrame(key="io-wait", names=("internal/poll.runtime_pollWait", "internal/poll.(*pollDesc).*"), kinds=WAITING),
    KnownFrame(key="io", names=("internal/poll.*", "net.(*conn).Read", "net.(*conn).Write", "net.(*netFD).*")),
    KnownFrame(key="system-call", names=("syscall.*", "internal/runtime/syscall.*", "runtime/internal/syscall.*",
                                         "golang.org/x/sys/unix.*")),
    KnownFrame(
        key="profiling",
        names=("runtime/pprof.(*Profile).*", "runtime/pprof.(*profileBuilder).*", "runtime/pprof.write*",
               "runtime/pprof.profile*", "runtime/pprof.runtime_*", "runtime/pprof.StopCPUProfile",
               "runtime.goroutineProfile*", "net/http/pprof.*"),
    ),
)  # fmt: skip
"""The first that fits is taken: what is special stands before what is general."""


@lru_cache(maxsize=8_192)
def known_frame(name: str, kind: Kind) -> str | None:
    """The key of what a function means in a profile of a kind; None where there is nothing to say."""
    return next((one.key for one in KNOWN if _fits(one, name, kind)), None)


def _fits(one: KnownFrame, name: str, kind: Kind) -> bool:
    return (not one.kinds or kind in one.kinds) and any(_is(pattern, name) for pattern in one.names)


def _is(pattern: str, name: str) -> bool:
    if "*" not in pattern.replace("(*", ""):
        return name == pattern
    return pattern.endswith("*") and name.startswith(pattern[:-1])


NANO = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class LockWaits:
    """What was waited for locks in some profiles of one kind.

    Attributes:
        kind: `mutex`: by who held the lock; `block`: by who waited.
        job: of the processes.
        seconds: waited in each second, all together: so many waited at once on average.
        functions: the part of each of the application's functions, the nearest to the lock.
    """

    kind: Kind
    job: str
    seconds: float
    functions: Mapping[str, float]


def lock_waits(profile: Profile) -> tuple[float, Mapping[str, float]]:
    """Seconds that were waited for locks, and those of them that belong to the application's functions.

    Go's mutex profile is of nothing else; in its block profile waits for channels, groups and the pool are left out,
    since workers that have nothing to do wait there, too.

    Raises:
        ProfilesDifferError: it is neither.
    """
    stacks = stacks_of(profile, [column_of(profile, "delay")])
    begins, ends = stacks.offsets[:-1], stacks.offsets[1:]
    locks = np.array([_waits(one.name) for one in stacks.functions], np.bool_)
    chosen = np.zeros(len(begins), np.bool_)
    chosen[stacks.sample_of[np.flatnonzero(locks[stacks.frames])]] = True
    values = np.where(chosen[:, None], stacks.values, 0)
    total = float(values.sum()) * NANO
    mine = np.flatnonzero(own_functions(stacks.functions)[stacks.frames])
    if not len(mine):
        return total, {}
    after = np.searchsorted(mine, begins)
    frame = mine[np.minimum(after, len(mine) - 1)]
    below = (after < len(mine)) & (frame < ends)
    sums = add_up(stacks.frames[frame[below]], values[below], len(stacks.functions))[:, 0]
    return total, {stacks.functions[place].name: float(sums[place]) * NANO for place in np.flatnonzero(sums > 0)}


def _waits(name: str) -> bool:
    return known_frame(name, Kind.BLOCK) == "lock-wait" or known_frame(name, Kind.MUTEX) == "lock-held"

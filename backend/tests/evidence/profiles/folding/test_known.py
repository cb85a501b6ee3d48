import pytest
from loadwatch_backend.core.texts.words import catalogue
from loadwatch_backend.evidence.profiles.known import KNOWN, known_frame
from loadwatch_backend.evidence.profiles.model import Kind
from loadwatch_backend.evidence.profiles.tree import stacks_of

from backend.tests.evidence.profiles.made import go


def test_every_meaning_has_words_and_all_words_a_meaning() -> None:
    assert {f"frame.{one.key}" for one in KNOWN} == {key for key in catalogue("profiles") if key.startswith("frame.")}


def test_names_are_whole_or_beginnings() -> None:
    for one in KNOWN:
        for name in one.names:
            assert "*" not in name.replace("(*", "(").removesuffix("*"), name


@pytest.mark.parametrize(
    ("name", "kind", "key"),
    [
        ("database/sql.(*DB).conn", Kind.BLOCK, "pool-wait"),
        ("database/sql.(*DB).conn", Kind.GOROUTINE, "pool-wait"),
        ("database/sql.(*DB).conn", Kind.CPU, None),
        ("sync.(*Mutex).Lock", Kind.BLOCK, "lock-wait"),
        ("internal/sync.(*Mutex).lockSlow", Kind.BLOCK, "lock-wait"),
        ("sync.(*Mutex).Unlock", Kind.MUTEX, "lock-held"),
        ("sync.(*Mutex).Lock", Kind.CPU, "lock-spin"),
        ("net/http.(*conn).serve", Kind.CPU, "http-handler"),
        ("runtime.gcBgMarkWorker.func2", Kind.CPU, "gc"),
        ("runtime.gcAssistAlloc1", Kind.CPU, "gc-assist"),
        ("syscall.Syscall", Kind.CPU, "system-call"),
        ("internal/runtime/syscall.Syscall6", Kind.CPU, "system-call"),
        ("internal/poll.(*FD).Read", Kind.CPU, "io"),
        ("encoding/json.(*encodeState).marshal", Kind.CPU, "json"),
        ("golang.org/x/crypto/bcrypt.GenerateFromPassword", Kind.CPU, "bcrypt"),
        ("crypto/internal/fips140/sha256.blockSHANI", Kind.CPU, "hash"),
        ("runtime.futex", Kind.CPU, "threads"),
        ("time.Sleep", Kind.GOROUTINE, "sleep"),
        ("database/sql.(*Rows).Next", Kind.CPU, "database-rows"),
        ("github.com/go-sql-driver/mysql.(*mysqlConn).readPacket", Kind.GOROUTINE, "database-answer"),
        ("github.com/go-sql-driver/mysql.(*textRows).readRow", Kind.CPU, "database-call"),
        ("runtime/pprof.Do", Kind.CPU, None),
        ("runtime/pprof.(*Profile).WriteTo", Kind.CPU, "profiling"),
        ("runtime.main", Kind.CPU, None),
        ("main.handler.hash", Kind.CPU, None),
        ("example.com/time.Sleep", Kind.CPU, None),
    ],
)
def test_what_a_frame_means(name: str, kind: Kind, key: str | None) -> None:
    assert known_frame(name, kind) == key


def test_frames_of_a_real_profile_are_known() -> None:
    found = {known_frame(one.name, Kind.BLOCK) for one in stacks_of(go("04-block-now")).functions}
    assert {"lock-wait", "channel-wait", "group-wait"} <= found

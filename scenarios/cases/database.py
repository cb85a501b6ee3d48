"""Cases of the database: its CPU, its locks."""

from examples.rig.load import Load
from scenarios.actions import Deadlocks, HeavyStatements, LockRows
from scenarios.case import Case, Purpose
from scenarios.cases.apps import bounded

CASES = (
    Case(
        name="database-cpu",
        title="Statements that cost the database more CPU than it has",
        purpose=Purpose.TUNE,
        expected=("database-cpu-full",),
        why="Each statement computes 30,000 hashes; the pool of 60 has room for all 40 clients.",
        apps=(bounded(60, "0s", "-db-work=30000"),),
        load=Load(workers=40, rate_per_worker=5),
    ),
    Case(
        name="database-cpu-by-reports",
        title="Another client's reports use the database's CPU",
        purpose=Purpose.JUDGE,
        expected=("database-cpu-full",),
        why="Four connections of another user compute all the time from 5 s on; the application's own statements are"
        " small.",
        apps=(bounded(30, "1ms"),),
        load=Load(workers=30, rate_per_worker=5),
        actions=(HeavyStatements(at=5, seconds=60, connections=4),),
    ),
    Case(
        name="lock-waits",
        title="Another transaction locks the table's rows for 8 s",
        purpose=Purpose.TUNE,
        expected=("database-lock-waits",),
        allowed=frozenset({"pool-exhausted"}),
        why="From 8 s to 16 s every insert waits for another session's lock; the pool of 20 fills.",
        apps=(bounded(20, "5ms"),),
        load=Load(workers=40, rate_per_worker=3),
        actions=(LockRows(at=8, seconds=8),),
    ),
    Case(
        name="lock-waits-twice",
        title="Another transaction locks the table's rows twice",
        purpose=Purpose.JUDGE,
        expected=("database-lock-waits",),
        allowed=frozenset({"pool-exhausted"}),
        why="From 5 s to 10 s and from 14 s to 19 s every insert waits for another session's lock.",
        apps=(bounded(30, "2ms"),),
        load=Load(workers=50, rate_per_worker=2),
        actions=(LockRows(at=5, seconds=5), LockRows(at=14, seconds=5)),
    ),
    Case(
        name="deadlocks",
        title="Two other clients change rows in opposite order",
        purpose=Purpose.TUNE,
        expected=("database-deadlocks",),
        allowed=frozenset({"database-lock-waits"}),
        why="Each pair of transactions ends in a deadlock, some 10 a second; the application is not hindered.",
        apps=(bounded(20, "5ms"),),
        load=Load(workers=20, rate_per_worker=5),
        rows_before=1000,
        actions=(Deadlocks(at=3, seconds=20),),
    ),
    Case(
        name="deadlocks-for-a-while",
        title="Two other clients run into deadlocks for 8 s",
        purpose=Purpose.JUDGE,
        expected=("database-deadlocks",),
        allowed=frozenset({"database-lock-waits"}),
        why="From 8 s to 16 s each pair of another application's transactions ends in a deadlock.",
        apps=(bounded(20, "5ms"),),
        load=Load(workers=20, rate_per_worker=4),
        rows_before=1000,
        actions=(Deadlocks(at=8, seconds=8),),
    ),
)

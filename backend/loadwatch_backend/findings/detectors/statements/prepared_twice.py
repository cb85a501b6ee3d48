"""Statements are prepared for one execution each: two round trips in place of one."""

from collections.abc import Mapping

from loadwatch_backend.findings.model import Detector, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.databases import SWITCHED_ON_BY
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import selector
from loadwatch_backend.findings.seen.numbers import count, figure, share
from loadwatch_backend.findings.window import Window
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

COMMANDS = "mysql_global_status_commands_total"
LEAST_PREPARED = 500.0
LEAST_RATE = 10.0
"""A second on average: fewer are not worth a change."""
LEAST_PART = 0.7
"""Prepared for each execution: a statement that is kept is prepared once for each connection."""

KIND = Kind(
    id="prepared-twice",
    severity=Severity.INFO,
    title=Words("A statement is prepared for each execution", "実行のたびにPREPAREしている"),
    explanation=Words(
        "Go's MySQL driver prepares a statement whenever arguments are given, executes it once and closes it. Each "
        "such statement takes two round trips in place of one, and holds its connection for both.",
        "GoのMySQLドライバーは引数があるとPREPAREし、1回実行して閉じる。1つのSQLに往復が2回かかり、その間接続を占有する。",
    ),
    rule=Rule(
        text=Words(
            "interpolateParams=true sends the arguments within the statement: one round trip. Never with BIG5, CP932, "
            "GB2312, GBK or SJIS, where it opens SQL injection.",
            "interpolateParams=trueなら引数を埋め込んだSQLを1往復で送る。BIG5、CP932、GB2312、GBK、SJISでは"
            "SQLインジェクションの危険があるため使わない。",
        ),
        source="github.com/go-sql-driver/mysql, README, interpolateParams; MySQL Reference Manual, Com_stmt_prepare",
    ),
    refuted_by=Words(
        "Another client of this database that prepares, and the application does not.",
        "PREPAREしているのがこのアプリケーションではなく、同じDBの別のクライアントであること。",
    ),
)


def look(window: Window) -> Look:
    """One note for each database where about as much is prepared as executed."""
    findings: list[Finding] = []
    for labels, table in window[COMMANDS].by("job", "instance"):
        prepares = table.where(command="stmt_prepare").rate
        executes = table.where(command="stmt_execute").rate
        finding = _finding(window, labels, prepares, executes)
        if finding is not None:
            findings.append(finding)
    return Look(findings=findings)


def _finding(window: Window, labels: Mapping[str, str], prepares: FloatArray, executes: FloatArray) -> Finding | None:
    prepared, executed = window.total(prepares), window.total(executes)
    each = prepared / max((window.to_ms - window.from_ms) / 1_000, 1.0)
    if prepared < LEAST_PREPARED or each < LEAST_RATE or executed <= 0 or prepared < LEAST_PART * executed:
        return None
    name = labels.get("instance", labels.get("job", "?"))
    part = min(prepared / executed, 1.0)
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{name}: {count(prepared)} statements were prepared for {count(executed)} executions. Sent whole, they "
            f"save {figure(each)} round trips a second.",
            f"{name}: 実行{count(executed)}回に対しPREPAREが{count(prepared)}回。1往復で送れば毎秒{figure(each)}回の"
            "往復がなくなる。",
        ),
        from_ms=window.from_ms,
        to_ms=window.to_ms,
        labels=labels,
        evidence=[
            show(
                window,
                Words(
                    f"{share(part)} of the executions had a preparation of their own.",
                    f"実行の{share(part)}に、その都度のPREPAREがあった。",
                ),
                link=Link.DEMAND,
                expression=f"rate({COMMANDS}{selector({**labels, 'command': 'stmt_prepare'})}[15s])",
                unit=Unit.PER_SECOND,
                values=prepares,
                value=each,
            )
        ],
        steps=[
            Step(
                text=Words(
                    "Let the driver send statements whole, where the connection speaks utf8mb4. With BIG5, CP932, "
                    "GB2312, GBK or SJIS it opens SQL injection: the driver refuses such a collation, but does not "
                    "see a SET NAMES of your own.",
                    "接続の文字コードがutf8mb4なら、ドライバーに引数を埋め込ませて送る。BIG5、CP932、GB2312、GBK、SJISでは"
                    "SQLインジェクションにつながる。ドライバーは該当する照合順序を拒否するが、自分で実行したSET NAMESは"
                    "検知できない。",
                ),
                code="user:password@tcp(db:3306)/shop?collation=utf8mb4_general_ci&interpolateParams=true",
            ),
            Step(
                text=Words(
                    "Or prepare once, and keep what db.Prepare returns: each connection prepares it once.",
                    "または一度だけdb.Prepareして保持する。PREPAREは接続ごとに1回になる。",
                ),
                code='getUser, err := db.Prepare("SELECT name FROM users WHERE id = ?") // at the start',
            ),
        ],
    )


DETECTOR = Detector(kind=KIND, look=look, needs=(COMMANDS,), usual=False, switched_on_by=SWITCHED_ON_BY)

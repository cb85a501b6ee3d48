"""What is missing in a table of statements, and what to do."""

from loadwatch_backend.texts.words import Catalogue, Words

STATEMENTS: Catalogue = {
    "nobody": Words(
        "Nobody counted statements: add `mysql_statements: {{}}` or `postgresql_statements` to the target in "
        "loadwatch.yml, or `loadwatch import --slow-log FILE --run {run}`.",
        "ステートメントを数えていたものがありません。loadwatch.yml のターゲットに `mysql_statements: {{}}` か "
        "`postgresql_statements` を追加するか、`loadwatch import --slow-log FILE --run {run}` で取り込んでください。",
    ),
    "partly": Words(
        "Statements were counted in {known} of the window only; figures per request are left out.",
        "ステートメントが数えられたのは期間の {known} だけです。リクエストあたりの値は出していません。",
    ),
    "coverage": Words(
        "Only {coverage} of what was executed is told apart by its text, mostly because prepared statements end before "
        "they can be read. Go: interpolateParams=true; any driver: the slow log with long_query_time=0.",
        "実行されたもののうち、文面で区別できたのは {coverage} だけです。多くはプリペアドステートメントが読み取る前に"
        "閉じられるためです。Go は interpolateParams=true、それ以外は long_query_time=0 のスローログを使ってください。",
    ),
    "coverage_postgresql": Words(
        "At most {coverage} of what was executed is counted: the server ended more transactions than "
        "pg_stat_statements counted statements. Set pg_stat_statements.track = top for all roles and raise "
        "pg_stat_statements.max; statements that failed are never counted.",
        "数えられたのは実行されたもののうち多くても {coverage} です。終了したトランザクションが "
        "pg_stat_statements の数えたステートメントより多くあります。すべてのロールで "
        "pg_stat_statements.track = top にし、pg_stat_statements.max を上げてください。"
        "失敗したステートメントは数えられません。",
    ),
    "coverage_unknown": Words(
        "How much of what was executed this holds is unknown: prepared statements may be missing.",
        "実行されたもののうちどれだけが含まれるかは不明です。プリペアドステートメントが欠けている可能性があります。",
    ),
    "others": Words(
        "More than 5 % of the time is of statements that have no line of their own; `statements` of the collector "
        "raises their number.",
        "時間の 5 % 以上は個別の行を持たないステートメントです。コレクターの `statements` で上限を上げられます。",
    ),
    "unread": Words(
        "The slow log's file that was kept last with the run is no digest that can be read; "
        "`loadwatch import --slow-log` writes one.",
        "実行に最後に添付されたスローログのファイルは、読み取れる集計ではありません。"
        "`loadwatch import --slow-log` で取り込み直してください。",
    ),
    "slow_log": Words(
        "From the slow log that was kept with the run; of the whole file.",
        "実行に添付されたスローログの集計で、ファイル全体が対象です。",
    ),
    "slow_log_of_run": Words(
        "From the slow log {file}, imported for this run; {outside} of its executions are outside of it and do not "
        "count.",
        "この実行のために取り込んだスローログ {file} の集計です。実行の期間外の {outside} 件は含みません。",
    ),
    "moved": Words(
        "Of the whole run: the steady window is not the one for which the slow log was imported. Import it again.",
        "実行全体の値です。定常区間がスローログの取り込み時と異なります。もう一度取り込んでください。",
    ),
}

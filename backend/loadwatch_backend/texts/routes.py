"""What is missing in a table of routes, and what to do."""

from loadwatch_backend.texts.words import Catalogue, Words

ROUTES: Catalogue = {
    "nobody": Words(
        "Nobody counted requests by route: add `access_log: {{path: …}}` to the target in loadwatch.yml, or "
        "`loadwatch import --access-log FILE --run {run}`.",
        "ルート別にリクエストを数えていたものがありません。loadwatch.yml のターゲットに "
        "`access_log: {{path: …}}` を追加するか、"
        "`loadwatch import --access-log FILE --run {run}` でログを取り込んでください。",
    ),
    "partly": Words(
        "Requests were counted in {known} of the window only; those of the rest are missing.",
        "リクエストが数えられたのは期間の {known} だけです。残りの分は含まれていません。",
    ),
    "cut": Words(
        "There are more routes, statuses and instances than are read: requests are missing.",
        "ルート・ステータス・インスタンスの組が上限を超えたため、含まれていないリクエストがあります。",
    ),
    "untimed": Words(
        "Whoever counted the requests did not measure how long they took.",
        "リクエストを数えた側が所要時間を計測していません。",
    ),
    "file": Words(
        "From the access log {file}, imported for this run; {outside} of its lines are outside of it and do not count.",
        "この実行のために取り込んだアクセスログ {file} の集計です。実行の期間外の {outside} 行は含みません。",
    ),
    "moved": Words(
        "Of the whole run: the steady window is not the one for which the log was imported. Import it again.",
        "実行全体の値です。定常区間がログの取り込み時と異なります。もう一度取り込んでください。",
    ),
    "whole_file": Words(
        "From the digest of an access log that was kept with the run; of the whole file.",
        "実行に添付されたアクセスログの集計で、ファイル全体が対象です。",
    ),
    "unreadable": Words(
        "{lines} lines of the log could not be read, and are in no figure.",
        "ログの {lines} 行は読み取れず、どの値にも含まれていません。",
    ),
}

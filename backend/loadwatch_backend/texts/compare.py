"""What a comparison says in one sentence."""

from loadwatch_backend.texts.words import Catalogue, Words

COMPARE: Catalogue = {
    "changed": Words("{title} {before} → {after}, {change}", "{title} {before} → {after}({change})"),
    "same": Words("{title} the same ({after})", "{title}は同じ({after})"),
    "route-title": Words("{route}: database time a request", "{route}: DB時間/リクエスト"),
    "route-help": Words(
        "Time of the statements that a request of this route asks, over the whole run; none where that could not be "
        "told.",
        "このルートの1リクエストが実行するSQLの時間(試験全体)。判定できない試験には値がない。",
    ),
    "short": Words("{title} {before} → {after}", "{title} {before} → {after}"),
    "unknown": Words("{title}: no figures", "{title}: 値なし"),
    "ok_rate": Words("good answers", "成功応答"),
    "p95": Words("p95", "p95"),
    "error_rate": Words("failed", "失敗率"),
    "signal:lag_max": Words("longest lag", "最大ラグ"),
    "signal:rps_stored": Words("stored", "保存"),
    "times": Words("×{factor}", "{factor}倍"),
    "percent": Words("{sign}{percent}\u00a0%", "{sign}{percent}%"),
    "runs-1": Words("in these two runs", "この2回の実行"),
    "runs-each": Words("{count} runs each", "各{count}回"),
    "runs-unlike": Words("{base} against {count} runs", "{base}回と{count}回"),
    "separator": Words("; ", "、"),
}

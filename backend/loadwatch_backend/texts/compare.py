"""What a comparison says in one sentence."""

from loadwatch_backend.texts.words import Catalogue, Words

COMPARE: Catalogue = {
    "changed": Words("{title} {before} → {after}, {change}", "{title} {before} → {after}({change})"),
    "same": Words("{title} the same ({after})", "{title}は同じ({after})"),
    "unclear": Words(
        "{title} {before} → {after}: cannot tell whether they differ", "{title} {before} → {after}: 差は判断できない"
    ),
    "route-title": Words("{route}: database time a request", "{route}: DB時間/リクエスト"),
    "route-help": Words(
        "Time of the statements that a request of this route asks, over the whole run; none where that could not be "
        "told.",
        "このルートの1リクエストが実行するSQLの時間(試験全体)。判定できない試験には値がない。",
    ),
    "short": Words("{title} {change}", "{title} {change}"),
    "short-same": Words("{title} the same", "{title} は同じ"),
    "short-unclear": Words("{title} cannot be told apart", "{title} の差は判断できない"),
    "unknown": Words("{title}: no figures", "{title}: 値なし"),
    "good answers": Words("good answers", "成功応答"),
    "failed": Words("failed", "失敗率"),
    "times": Words("×{factor}", "{factor}倍"),
    "percent": Words("{sign}{percent}\u00a0%", "{sign}{percent}%"),
    "runs-1": Words("one run each", "各1回"),
    "runs-each": Words("{count} runs each", "各{count}回"),
    "runs-unlike": Words("{base} against {count} runs", "{base}回と{count}回"),
    "separator": Words("; ", "、"),
}

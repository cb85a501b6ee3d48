"""What is said of thresholds: of their measurement, and of what is not written as it should be."""

from loadwatch_backend.texts.words import Catalogue, Words

MEASURED: Catalogue = {
    "after-run": Words(
        "The run is {seconds} s long: the window is after it.",
        "実行の長さは{seconds}秒で、区間はその後にある。",
    ),
    "cut": Words(
        "Up to the end of the run, which is {seconds} s long.",
        "実行の終わりまで(長さ{seconds}秒)。",
    ),
    "no-result": Words(
        "There is no result of a load tool for this window.",
        "この区間には負荷生成ツールの結果がない。",
    ),
    "no-samples": Words("No samples in the window.", "区間内にサンプルがない。"),
    "worst": Words("The worst of {count} series: {labels}.", "{count}系列のうち最も悪いもの: {labels}。"),
    "not-told": Words(
        "No requests in the window, or not told.",
        "区間内にリクエストがないか、結果に含まれていない。",
    ),
    "no-requests": Words("No requests in the window.", "区間内にリクエストがない。"),
    "not-kept": Words(
        "Not known over a window: single requests are not kept.",
        "個々のリクエストが保存されていないため、区間の値は分からない。",
    ),
    "too-few": Words(
        "Too few requests to tell: {count}, at least {least} are needed.",
        "リクエストが少なく判定できない({count}件。{least}件以上が必要)。",
    ),
    "no-target": Words("The run has no target rate.", "実行に目標レートがない。"),
    "not-measured": Words("It could not be measured.", "測定できなかった。"),
    "between": Words(
        "Between {low} and {high} s by the percentiles of each second; single requests are not kept.",
        "毎秒のパーセンタイルによれば{low}〜{high}秒の間。個々のリクエストは保存されていない。",
    ),
    "not-analysed": Words("The run has not been analysed yet.", "実行はまだ分析されていない。"),
}

UNREADABLE: Catalogue = {
    "stands": Words(
        "Threshold {text}, column {column}: {found} stands where {expected} is expected.",
        "しきい値 {text} の{column}文字目: {found}の位置には{expected}が必要。",
    ),
    "piece": Words("`{text}`", "`{text}`という文字列"),
    "end": Words("the end", "末尾"),
    "nothing-more": Words(
        "nothing more, or `over steady`, `over whole` or `over 60s..120s`",
        "文の終わり、または `over steady`、`over whole`、`over 60s..120s`",
    ),
    "metric": Words(
        "one of {metrics}, another percentile such as p99.9, or {functions}(signal id or PromQL in quotes)",
        "{metrics} のいずれか、p99.9 などのパーセンタイル、または {functions}(シグナルのIDか引用符付きのPromQL)",
    ),
    "signal": Words(
        "the id of a signal (GET /api/signals lists them) or PromQL in double quotes",
        "シグナルのID(GET /api/signals が一覧を返す)か二重引用符付きのPromQL",
    ),
    "close": Words("`)`", "閉じ括弧 `)`"),
    "promql": Words("PromQL that can be evaluated: {detail}", "評価できるPromQL({detail})"),
    "instant": Words(
        "PromQL whose value is an instant vector or a scalar",
        "値がインスタントベクターかスカラーのPromQL",
    ),
    "operator": Words("one of < <= > >= ==", "< <= > >= == のいずれか"),
    "number": Words("a number such as 300ms, or target", "300ms などの数値か target"),
    "float": Words("a number that a float can hold", "浮動小数点数で表せる数値"),
    "target": Words("`target`", "`target` という語"),
    "no-target": Words(
        "a value without `target`, which is a rate and fits rates only",
        "`target` を含まない値(`target` はレートにだけ使える)",
    ),
    "time-unit": Words("a time with its unit ({units}), as {example}", "単位({units})付きの時間(例: {example})"),
    "unit": Words("one of the units {units}", "単位 {units} のいずれか"),
    "window": Words(
        "steady, whole, or seconds since the run's start such as 60s..120s",
        "steady、whole、または 60s..120s のような開始からの秒数",
    ),
    "time": Words("a time such as 120s", "120s などの時間"),
    "order": Words("a window that ends after its start", "始まりより後に終わる区間"),
    "long": Words("a time of less than 292 years, as 120s", "292年未満の時間(例: 120s)"),
    "no-finding": Words(
        "There is no finding {finding}; docs/reference/findings.md lists all.",
        "診断 {finding} は存在しない。一覧は docs/reference/findings.md にある。",
    ),
}

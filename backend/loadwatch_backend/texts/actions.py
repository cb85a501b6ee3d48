"""What is said of actions and their scores."""

from loadwatch_backend.texts.words import Catalogue, Words

ACTIONS: Catalogue = {
    "title": Words("Actions", "アクション"),
    "earlier": Words("What this run says of earlier actions", "以前のアクションに対するこの実行の判定"),
    "open": Words("open", "未完了"),
    "done": Words("done", "完了"),
    "dropped": Words("dropped", "取りやめ"),
    "due": Words("due {day}", "期限 {day}"),
    "held": Words("Held", "達成"),
    "missed": Words("Missed", "未達"),
    "cannot-tell": Words("Cannot tell", "判定不能"),
    "by": Words("by {run}", "{run} による判定"),
    "after": Words("decided after {run}", "{run} の後に決定"),
    "gone": Words("a run that was deleted or is not here", "削除されたか、ここにない実行"),
    "steady": Words("over the steady window", "定常区間"),
    "whole": Words("over the whole run", "実行全体"),
    "part": Words("over {window}", "区間 {window}"),
    "reason.aborted": Words("the run was aborted", "実行が中断された"),
    "reason.no-requests": Words("no requests in the window", "区間内にリクエストがない"),
    "reason.not-analysed": Words("the run could not be analysed", "実行を分析できなかった"),
    "reason.other-targets": Words(
        "no target was watched in both runs: another environment",
        "両方の実行で監視された対象がない(別の環境)",
    ),
    "reason.unreadable": Words("the expectation cannot be read", "期待する効果を解釈できない"),
    "reason.not-measured": Words("it was not measured", "計測されていない"),
    "reason.not-checked": Words("what the finding needs was not measured", "診断に必要な値が計測されていない"),
    "reason.not-there-before": Words(
        "the run of the action did not have the finding either",
        "アクションを決めた実行にもその診断結果がなかった",
    ),
    "reason.generator-saturated": Words("the load generator was the limit", "負荷生成ツールが限界だった"),
    "reason.load-lower": Words("the load was lower", "負荷が低かった"),
    "reason.load-higher": Words("the load was higher", "負荷が高かった"),
    "reason.load-unknown": Words("the load of both runs is not known", "両方の実行の負荷が分からない"),
    "load.target-rate": Words("target rate {before} → {now}", "目標レート {before} → {now}"),
    "load.users": Words("users {before} → {now}", "ユーザー数 {before} → {now}"),
    "load.rate": Words("requests sent {before} → {now}", "送信リクエスト {before} → {now}"),
}

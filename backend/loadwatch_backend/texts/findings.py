"""What is said around findings; each finding's own words stand with its detector."""

from loadwatch_backend.texts.words import Catalogue, Words

FINDINGS: Catalogue = {
    "title": Words("Findings", "診断結果"),
    "first": Words("What ran out first", "最初に尽きたもの"),
    "none": Words("No limit found; {count} things were checked.", "上限に達したものはない。{count}項目を確認した。"),
    "only_muted": Words(
        "{count} found that people have muted, and nothing else.",
        "検出{count}件はミュートされており、ほかにはない。",
    ),
    "cannot_tell": Words(
        "Cannot tell what ran out: not measured is what these collectors bring: {missing}.",
        "何が尽きたか判定できない。次のコレクターのデータがない: {missing}",
    ),
    "cannot_tell_nothing": Words(
        "Cannot tell what ran out: nothing that was measured could be checked.",
        "何が尽きたか判定できない。計測された中に確認できる項目がない。",
    ),
    "more": Words("and {count} more", "ほか{count}件"),
    "critical": Words("Critical", "重大"),
    "warning": Words("Warning", "警告"),
    "info": Words("Note", "参考"),
    "certain": Words("certain", "確実"),
    "likely": Words("likely", "可能性が高い"),
    "possible": Words("possible", "可能性がある"),
    "span": Words("{start} to {end}", "{start}～{end}"),
    "because": Words("because of: {causes}", "原因: {causes}"),
    "confirmed": Words("confirmed", "確認済み"),
    "rejected": Words("rejected", "却下"),
    "muted": Words("muted", "ミュート中"),
    "limit": Words("Limit", "上限"),
    "demand": Words("Demand", "需要"),
    "effect": Words("Effect", "影響"),
    "chart": Words("{low} to {high}", "{low}～{high}"),
    "chart_limit": Words("limit {limit}", "上限{limit}"),
    "why": Words("What happens", "何が起きているか"),
    "steps": Words("What to do", "次にすること"),
    "rule": Words("Rule of thumb", "経験則"),
    "source": Words("Source: {source}", "出典: {source}"),
    "refuted": Words("What would show that this is wrong", "これが誤りだと示すもの"),
    "observations": Words("Full without harm", "上限に達したが影響なし"),
    "checked": Words("Checked and was not it ({count})", "確認した結果、該当しなかったもの({count})"),
    "unchecked": Words("Could not be checked ({count})", "確認できなかったもの({count})"),
    "needs": Words("needs {metrics}", "必要: {metrics}"),
}

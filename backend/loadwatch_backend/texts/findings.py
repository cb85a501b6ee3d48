"""What is said around findings; each finding's own words stand with its detector."""

from loadwatch_backend.texts.words import Catalogue, Words

FINDINGS: Catalogue = {
    "title": Words("Findings", "診断結果"),
    "first": Words("What ran out first", "最初に尽きたもの"),
    "headline_none": Words("No limit did harm", "影響の出た上限はない"),
    "checked_count": Words("{count} checks.", "{count}項目を確認。"),
    "headline_full": Words("Nothing suffered", "影響なし"),
    "headline_muted": Words("Only what is muted", "ミュート中のもののみ"),
    "muted_count": Words(
        "{count} found that people have muted or rejected.", "検出{count}件はミュートまたは却下済み。"
    ),
    "headline_cannot-tell": Words("Cannot tell what ran out", "何が尽きたか判定できない"),
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
    "observations": Words("Full, but nothing suffered", "上限に達したが影響なし"),
    "checked": Words("Checked and was not it ({count})", "確認した結果、該当しなかったもの({count})"),
    "unchecked": Words("Could not be checked ({count})", "確認できなかったもの({count})"),
    "needs": Words("needs {metrics}", "必要: {metrics}"),
}

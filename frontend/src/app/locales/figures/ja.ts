import type { figures as english } from "./en";

/** 実行のページと会議で最初に読む数値とグラフの文言。 */
export const figures: typeof english = {
  title: "この実行の数値",
  name_ok_rate: "成功応答",
  name_error_rate: "失敗",
  name_stored: "DBに保存",
  name_mean: "平均応答時間",
  name_max: "最大応答時間",
  latency: "応答時間 {{name}}",
  window_steady: "定常区間",
  window_whole: "全体",
  window_soFar: "現時点まで",
  of_target: "目標 {{value}}",
  of_accepted: "受付 {{value}} 件中",
  of_answered: "正常応答 {{value}} 件中",
  "note_no-result": "読み取れる結果がない",
  "note_not-measured": "計測なし",
  "note_not-counted": "行数が数えられていない",
  note_mixed: "隣り合う実行の行を含む可能性あり",
  baseline: "ベースライン {{value}}",
  harm: "影響",
  partHelp: "{{text}} 各{{step}}の最大値。",
};

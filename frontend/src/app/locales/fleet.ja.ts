/** 遅れて届く値と、複数インスタンスの表示の文言。 */
export const fleet = {
  label: "{{group}}のインスタンス",
  total: "合計",
  each: "個別",
  spread: "ばらつき",
  of_sum: "{{count}}台の合計",
  of_mean: "{{count}}台の平均",
  of_highest: "{{count}}台の最大",
  of_lowest: "{{count}}台の最小",
  band: "{{count}}台の最小～最大",
  middle: "中央値",
  outlier: "⚠ {{name}} が外れています",
  writer: "{{title}}：ライター",
  readers: "{{title}}：リーダー（{{count}}台）",
  others: "{{title}}：その他",
  notYet: "{{source}} の最新値は {{time}} で、この期間より前です。期間を長くしてください。",
  asOf: "{{source}}、{{age}}前",
};

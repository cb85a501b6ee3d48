/** English texts of values that come late, and of several instances together. */
export const fleet = {
  label: "Instances of {{group}}",
  total: "Total",
  each: "Each",
  spread: "Spread",
  of_sum: "Total of {{count}}",
  of_mean: "Mean of {{count}}",
  of_highest: "Highest of {{count}}",
  of_lowest: "Lowest of {{count}}",
  band: "Lowest to highest of {{count}}",
  middle: "Median",
  outlier: "⚠ {{name}} stands out",
  writer: "{{title}}: writer",
  readers: "{{title}}: readers ({{count}})",
  others: "{{title}}: others",
  notYet: "The newest value from {{source}} is of {{time}}, before this range. Choose a longer range.",
  asOf: "{{source}}, {{age}} ago",
} as const;

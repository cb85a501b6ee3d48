/** Texts of what the store of samples holds. */
export const store = {
  title: "Store of samples",
  loading: "Loading the store's figures",
  failed: "The store's figures cannot be read",
  elsewhere:
    "The samples are in another engine: ask that one, which LOADWATCH_STORE_URL names, for their size. How long they are kept is its own setting: LOADWATCH_RETENTION_DAYS does nothing, and the windows of runs are not kept beyond it.",
  damaged: "A part of the samples is damaged on the disk",
  damagedLead:
    "All other samples are answered, and new ones are stored. Queries of what is named here fail. Nothing is sealed or deleted meanwhile.",
  damagedPart: "Table {{table}}: {{count}} damaged, {{first}} to {{last}}",
  damagedNowhere: "Table {{table}}: {{count}} damaged",
  damagedUnknown: "an unknown number",
  damagedMore: "and {{more}} more",
  jumped: "Nothing is deleted for its age now",
  jumpedAhead:
    "This machine's clock has jumped {{span}} ahead, or is so far ahead of the newest sample at the start. The new time is believed once it has lasted for 15 minutes. If it is wrong, set the clock right before that.",
  jumpedBehind:
    "This machine's clock has jumped {{span}} back, or is so far behind the newest sample at the start. The new time is believed once it has lasted for 15 minutes. If it is wrong, set the clock right before that.",
  damagedDo: "Restore a backup. Without one, stop the server and copy what can be read into a new file:",
  file: "On disk",
  disk: "Free on the disk",
  series: "Series",
  seriesOf: "{{series}} of {{limit}}",
  oldest: "Oldest sample",
  newest: "Newest sample",
  kept: "Kept for",
  rollupsKept: "Rollups kept for",
  samples: "Samples",
  more: "The command loadwatch store names the metrics, jobs and labels that take the most.",
};

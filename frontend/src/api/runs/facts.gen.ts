/** Written by `make generate`; do not edit. */

/**
 * What can be said of a run. `most` bounds how many characters a text has, or how many there are of several; `query` is
 * its name in the query of an import, "" where that takes none.
 */
export const FACTS = [
  { name: "name", kind: "text", most: 200, query: "name", typed: true, listed: true },
  { name: "scenario", kind: "text", most: 200, query: "scenario", typed: true, listed: true },
  { name: "scenario_version", kind: "text", most: 200, query: "scenario_version", typed: true, listed: true },
  { name: "tool", kind: "text", most: 200, query: "", typed: false, listed: true },
  { name: "target_rate", kind: "number", most: 200, query: "target_rate", typed: true, listed: true },
  { name: "target_duration_seconds", kind: "number", most: 200, query: "", typed: false, listed: false },
  { name: "commit", kind: "text", most: 200, query: "commit", typed: true, listed: true },
  { name: "branch", kind: "text", most: 200, query: "branch", typed: true, listed: true },
  { name: "dirty", kind: "flag", most: 200, query: "", typed: false, listed: true },
  { name: "tags", kind: "texts", most: 20, query: "tag", typed: true, listed: true },
  { name: "parameters", kind: "pairs", most: 100, query: "parameter", typed: false, listed: true },
  { name: "links", kind: "links", most: 20, query: "", typed: true, listed: false },
  { name: "author", kind: "text", most: 200, query: "", typed: true, listed: true },
  { name: "host", kind: "text", most: 200, query: "", typed: false, listed: false },
  { name: "command", kind: "texts", most: 1000, query: "", typed: false, listed: false },
  { name: "thresholds", kind: "texts", most: 50, query: "threshold", typed: true, listed: false },
  { name: "expectations", kind: "texts", most: 20, query: "", typed: false, listed: false },
] as const;

/** Written by `make generate`; do not edit. */

/**
 * What can be said of a run. `most` bounds how many characters a text has, or how many there are of several; `query` is
 * its name in the query of an import, "" where that takes none; `facet` is what lists call its values in use.
 */
export const FACTS = [
  { name: "name", kind: "text", most: 200, query: "name", typed: true, listed: true, facet: "" },
  { name: "scenario", kind: "text", most: 200, query: "scenario", typed: true, listed: true, facet: "scenarios" },
  { name: "scenario_version", kind: "text", most: 200, query: "scenario_version", typed: true, listed: true, facet: "" },
  { name: "tool", kind: "text", most: 200, query: "", typed: false, listed: true, facet: "tools" },
  { name: "target_rate", kind: "number", most: 200, query: "target_rate", typed: true, listed: true, facet: "" },
  { name: "concurrency", kind: "number", most: 200, query: "concurrency", typed: false, listed: false, facet: "" },
  { name: "target_duration_seconds", kind: "number", most: 200, query: "", typed: false, listed: false, facet: "" },
  { name: "commit", kind: "text", most: 200, query: "commit", typed: true, listed: true, facet: "" },
  { name: "branch", kind: "text", most: 200, query: "branch", typed: true, listed: true, facet: "branches" },
  { name: "dirty", kind: "flag", most: 200, query: "", typed: false, listed: true, facet: "" },
  { name: "tags", kind: "texts", most: 20, query: "tag", typed: true, listed: true, facet: "tags" },
  { name: "parameters", kind: "pairs", most: 100, query: "parameter", typed: false, listed: true, facet: "parameters" },
  { name: "links", kind: "links", most: 20, query: "", typed: true, listed: false, facet: "" },
  { name: "author", kind: "text", most: 200, query: "", typed: true, listed: true, facet: "authors" },
  { name: "host", kind: "text", most: 200, query: "", typed: false, listed: false, facet: "" },
  { name: "command", kind: "texts", most: 1000, query: "", typed: false, listed: false, facet: "" },
  { name: "thresholds", kind: "texts", most: 50, query: "threshold", typed: true, listed: false, facet: "" },
  { name: "expectations", kind: "texts", most: 20, query: "", typed: false, listed: false, facet: "" },
  { name: "own_figures", kind: "texts", most: 20, query: "figure", typed: false, listed: false, facet: "" },
] as const;

/** The form of what people say of a run: fields as they are typed, and what of them goes to the server. Pure. */

export interface FactsDraft {
  readonly name: string;
  readonly scenario: string;
  readonly scenarioVersion: string;
  readonly targetRate: string;
  readonly commit: string;
  readonly branch: string;
  readonly author: string;
  readonly tags: readonly string[];
  readonly thresholds: readonly string[];
  /** One address a line, a title may follow it. */
  readonly links: string;
}

export const EMPTY_FACTS: FactsDraft = {
  ...{ name: "", scenario: "", scenarioVersion: "", targetRate: "", commit: "", branch: "", author: "" },
  ...{ tags: [], thresholds: [], links: "" },
};

interface RunFacts {
  readonly name: string;
  readonly scenario: string;
  readonly scenario_version: string;
  readonly target_rate?: number | null;
  readonly commit: string;
  readonly branch: string;
  readonly author: string;
  readonly tags?: readonly string[];
  readonly links?: readonly { readonly url: string; readonly title: string }[];
  readonly thresholds: readonly { readonly expression: string }[];
}

export function factsOf(run: RunFacts): FactsDraft {
  return {
    name: run.name,
    scenario: run.scenario,
    scenarioVersion: run.scenario_version,
    targetRate: run.target_rate === null || run.target_rate === undefined ? "" : String(run.target_rate),
    commit: run.commit,
    branch: run.branch,
    author: run.author,
    tags: run.tags ?? [],
    thresholds: run.thresholds.map(({ expression }) => expression),
    links: (run.links ?? []).map(({ url, title }) => (title === "" ? url : `${url} ${title}`)).join("\n"),
  };
}

/** A rate as typed: `600`, `1.5k`; undefined when it is none, null when the field is empty. */
export function readRate(text: string): number | null | undefined {
  const match = /^\s*(\d+(?:[.,]\d+)?)\s*([kM]?)\s*(?:\/s|rps)?\s*$/.exec(text);
  if (text.trim() === "") return null;
  if (match === null) return undefined;
  const factor = { "": 1, k: 1e3, M: 1e6 }[match[2] ?? ""] ?? 1;
  return Number((match[1] ?? "").replace(",", ".")) * factor;
}

export function readLinks(text: string): { url: string; title: string }[] | undefined {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const links = lines.map((line) => {
    const [url = "", ...words] = line.split(/\s+/);
    return { url, title: words.join(" ") };
  });
  return links.every(({ url }) => /^https?:\/\/\S+$/.test(url)) ? links : undefined;
}

/** Fields that cannot be sent as they are. */
export function factsProblems(facts: FactsDraft): readonly ("targetRate" | "links")[] {
  return [
    ...(readRate(facts.targetRate) === undefined ? (["targetRate"] as const) : []),
    ...(readLinks(facts.links) === undefined ? (["links"] as const) : []),
  ];
}

/** The body of a change; only what differs, so that a field that somebody else changes meanwhile stays. */
export function factsPatch(before: FactsDraft, after: FactsDraft) {
  const differs = (field: keyof FactsDraft) => JSON.stringify(before[field]) !== JSON.stringify(after[field]);
  return {
    ...(differs("name") && { name: after.name.trim() }),
    ...(differs("scenario") && { scenario: after.scenario.trim() }),
    ...(differs("scenarioVersion") && { scenario_version: after.scenarioVersion.trim() }),
    ...(differs("targetRate") && { target_rate: readRate(after.targetRate) ?? null }),
    ...(differs("commit") && { commit: after.commit.trim() }),
    ...(differs("branch") && { branch: after.branch.trim() }),
    ...(differs("author") && { author: after.author.trim() }),
    ...(differs("tags") && { tags: [...after.tags] }),
    ...(differs("thresholds") && { thresholds: [...after.thresholds] }),
    ...(differs("links") && { links: readLinks(after.links) ?? [] }),
  };
}

/** What an import is told beside its file; empty fields are left to the file. */
export function importFacts(facts: FactsDraft) {
  const rate = readRate(facts.targetRate);
  const texts = {
    name: facts.name.trim(),
    scenario: facts.scenario.trim(),
    scenario_version: facts.scenarioVersion.trim(),
    commit: facts.commit.trim(),
    branch: facts.branch.trim(),
  };
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== "")),
    ...(typeof rate === "number" && { target_rate: rate }),
    ...(facts.tags.length > 0 && { tags: facts.tags }),
    ...(facts.thresholds.length > 0 && { thresholds: facts.thresholds }),
  };
}

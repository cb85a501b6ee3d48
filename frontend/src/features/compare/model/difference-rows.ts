/** What was different between the groups: facts of the runs, then their targets' configuration. Pure. */
import type { CompareGroup, Comparison } from "@/api/compare/types";
import { FACTS } from "@/api/runs/facts.gen";
import type { ConfigurationChange, RunLine } from "@/api/runs/types";
import { shortCommit } from "@/lib/run-text";

type ListedFact = Extract<(typeof FACTS)[number], { readonly listed: true }>;

export interface DifferenceRow {
  readonly key: string;
  /** The fact of the run itself; null for a setting of a target. */
  readonly fact: ListedFact["name"] | null;
  readonly target: string;
  /** Of a setting or a parameter. */
  readonly name: string;
  readonly unit: string;
  /** By group, the base first; null where it is not set. */
  readonly values: readonly (string | null)[];
}

export interface Differences {
  /** Facts that somebody chose: commit, parameters, tool. */
  readonly facts: readonly DifferenceRow[];
  readonly deliberate: readonly DifferenceRow[];
  /** What drifted by itself, the important first. */
  readonly drift: readonly DifferenceRow[];
  /** Labels of the groups that could not be compared with the base for want of a snapshot. */
  readonly missing: readonly string[];
}

export function differences({ groups, runs, configuration }: Comparison): Differences {
  const settings = settingRows(groups, configuration);
  return {
    facts: factRows(groups, runs),
    deliberate: settings.filter(({ change }) => change.deliberate).map(({ row }) => row),
    drift: settings
      .filter(({ change }) => !change.deliberate)
      .sort((a, b) => Number(b.change.important) - Number(a.change.important))
      .map(({ row }) => row),
    missing: configuration.flatMap(({ run, missing }) =>
      missing === null ? [] : [groups.find(({ id }) => id === run)?.label ?? run],
    ),
  };
}

/** What leads; other facts follow. */
const FIRST: readonly ListedFact["name"][] = ["commit", "dirty", "branch", "parameters", "target_rate", "tool"];
/** What a run is called and by whom: it differs and explains nothing. */
const NAMES: readonly ListedFact["name"][] = ["name", "author", "tags"];

const LISTED = FACTS.filter((fact) => fact.listed);
const COMPARED = [
  ...FIRST.flatMap((first) => LISTED.filter(({ name }) => name === first)),
  ...LISTED.filter(({ name }) => ![...FIRST, ...NAMES].includes(name)),
];

function factRows(groups: readonly CompareGroup[], runs: readonly RunLine[]): DifferenceRow[] {
  const firsts = groups.map(({ id }) => runs.find((run) => run.id === id));
  const row = (fact: ListedFact["name"], name: string, read: (run: RunLine) => string | null): DifferenceRow => ({
    ...{ key: `${fact} ${name}`, fact, target: "", name, unit: "" },
    values: firsts.map((run) => (run === undefined ? null : read(run))),
  });
  const keys = [...new Set(firsts.flatMap((run) => Object.keys(run?.parameters ?? {})))].sort();
  return COMPARED.flatMap(({ kind, name }) =>
    kind === "pairs"
      ? keys.map((key) => row(name, key, (run) => run[name][key] ?? null))
      : [row(name, "", (run) => String((name === "commit" ? shortCommit(run[name]) : run[name]) ?? "") || null)],
  ).filter(({ values }) => new Set(values).size > 1);
}

interface SettingRow {
  readonly row: DifferenceRow;
  readonly change: ConfigurationChange;
}

function settingRows(groups: readonly CompareGroup[], configuration: Comparison["configuration"]): SettingRow[] {
  const found = new Map<string, { change: ConfigurationChange; values: (string | null)[] }>();
  for (const { run, changes } of configuration) {
    const place = groups.findIndex(({ id }) => id === run);
    if (place < 0) continue;
    for (const change of changes) {
      const key = JSON.stringify([change.target, change.section, change.key]);
      // Whoever is not named for a setting has the base's value.
      const held = found.get(key) ?? { change, values: groups.map(() => change.before) };
      held.values[place] = change.after;
      found.set(key, held);
    }
  }
  return [...found].map(([key, { change, values }]) => ({
    change,
    row: { key, fact: null, target: change.target, name: change.key, unit: change.unit, values },
  }));
}

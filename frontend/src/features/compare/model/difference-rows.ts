/** What was different between the groups: facts of the runs, then their targets' configuration. Pure. */
import type { CompareGroup, Comparison } from "@/api/compare/types";
import type { ConfigurationChange, RunLine } from "@/api/runs/types";
import { shortCommit } from "@/lib/run-text";

export interface DifferenceRow {
  readonly key: string;
  /** The target of a setting; empty for facts of the run itself. */
  readonly target: string;
  readonly section: string;
  readonly name: string;
  readonly unit: string;
  /** By group, the base first; null where it is not set. */
  readonly values: readonly (string | null)[];
}

export interface Differences {
  /** Facts that somebody chose: commit, parameters, tool. `name` is a code, or `parameter` with the section as key. */
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

function factRows(groups: readonly CompareGroup[], runs: readonly RunLine[]): DifferenceRow[] {
  const firsts = groups.map(({ id }) => runs.find((run) => run.id === id));
  const row = (name: string, section: string, read: (run: RunLine) => string | null): DifferenceRow => ({
    ...{ key: `${name} ${section}`, target: "", section, name, unit: "" },
    values: firsts.map((run) => (run === undefined ? null : read(run))),
  });
  const keys = [...new Set(firsts.flatMap((run) => Object.keys(run?.parameters ?? {})))].sort();
  const text = (value: string) => (value === "" ? null : value);
  return [
    row("commit", "", (run) => text(shortCommit(run.commit))),
    row("dirty", "", (run) => (run.dirty === null ? null : String(run.dirty))),
    row("branch", "", (run) => text(run.branch)),
    ...keys.map((key) => row("parameter", key, (run) => run.parameters[key] ?? null)),
    row("target_rate", "", (run) => (run.target_rate === null ? null : String(run.target_rate))),
    row("tool", "", (run) => text(run.tool)),
    row("scenario", "", (run) => text(run.scenario)),
    row("version", "", (run) => text(run.scenario_version)),
  ].filter(({ values }) => new Set(values).size > 1);
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
    row: { key, target: change.target, section: change.section, name: change.key, unit: change.unit, values },
  }));
}
